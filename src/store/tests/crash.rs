//! What a dead predecessor held. The store is not closed: its handle is dropped, as a kill would.

use super::*;
use crate::model::outbound::{ActionState, Payload};

#[tokio::test]
async fn running_cases_come_back_and_the_try_counts() {
    let mut bench = Bench::new().await;
    let (lease, _) = bench.running("a").await;
    bench.reopen().await;
    let recovery = bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap();
    assert_eq!(recovery, Recovery { requeued: 1, ..Recovery::default() });
    let record = bench.store.case_record(lease.case.id).await.unwrap();
    assert_eq!((record.case.state, record.case.attempts), (CaseState::Queued, 1));
    assert_eq!(record.runs[0].outcome, "interrupted");
    assert!(record.runs[0].ended_at.is_some());
    assert_eq!(bench.claim().await.case.attempts, 2);
}

#[tokio::test]
async fn ten_crashes_do_not_try_for_ever() {
    let mut bench = Bench::new().await;
    bench.running("a").await;
    let (mut parked, mut waits) = (0, Vec::new());
    for _ in 0..10 {
        bench.reopen().await;
        // The machine's clock may have gone anywhere meanwhile.
        parked += bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap().parked;
        let case = bench.case(CaseId(1)).await;
        if let Some(until) = case.until {
            waits.push(until.since(bench.clock.now()).as_secs());
            bench.clock.advance(until.since(bench.clock.now()));
            bench.store.wake_due(Timestamp(0)).await.unwrap();
            bench.route().await;
        }
        if let Some(lease) = bench.store.claim("e", 1, LEASE).await.unwrap().pop() {
            bench.begin(&lease).await;
        }
    }
    assert_eq!(parked, 5);
    assert!(waits.len() == 4 && waits[0] < 30 && waits.is_sorted_by(|a, b| 3 * a < 2 * b), "{waits:?}");
    let case = bench.case(CaseId(1)).await;
    assert_eq!((case.state, case.attempts, case.until), (CaseState::Parked, 2 * CASE_ATTEMPTS_MAX, None));
}

#[tokio::test]
async fn a_send_nobody_saw_the_end_of_is_asked_about_at_once() {
    let mut bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let id = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    bench.clock.advance(HOLD);
    let payload = Payload { marker: "m".into(), bytes: vec![1] };
    bench.store.mark_sending(id, payload).await.unwrap();
    let sending_at = bench.clock.now();
    bench.reopen().await;
    bench.clock.advance(HOLD);
    assert_eq!(bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap().uncertain, 1);
    let due = bench.store.due_actions(ActionState::Uncertain, 10, &[]).await.unwrap();
    assert_eq!((due.len(), due[0].sending_at), (1, Some(sending_at)));
    // A draft that was there is not made again.
    assert!(bench.store.claim("e", 1, LEASE).await.unwrap().is_empty());
}

#[tokio::test]
async fn more_than_one_sweep_holds() {
    let bench = Bench::new().await;
    let count = crate::model::limits::SWEEP_ROWS_MAX * 2 + 3;
    bench.read((0..count).map(|number| item(&number.to_string())).collect()).await;
    for _ in 0..count.div_ceil(100) {
        bench.route().await;
    }
    assert_eq!(bench.store.claim("e", count, LEASE).await.unwrap().len(), count);
    let recovery = bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap();
    assert_eq!(recovery.requeued, count as u64);
}

#[tokio::test]
async fn nothing_to_recover_writes_nothing() {
    let bench = Bench::new().await;
    bench.drafted("a").await;
    assert_eq!(bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap(), Recovery::default());
}

/// Committed is committed: a predecessor that never closed leaves a log, and all of it is there.
#[tokio::test]
async fn what_was_answered_is_there_without_a_close() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let path = bench.dir.path().join("state").join("work.db");
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(elsewhere.path().join("state")).unwrap();
    // What a disk holds at the moment of a kill: database and log as they are.
    for suffix in ["", "-wal"] {
        let name = format!("work.db{suffix}");
        std::fs::copy(path.with_file_name(&name), elsewhere.path().join("state").join(&name)).unwrap();
    }
    let store = open(elsewhere.path(), &bench.clock).await.unwrap();
    assert_eq!(store.draft(draft.id).await.unwrap(), draft);
    store.close().await;
}
