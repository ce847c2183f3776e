//! What waits, for what; what was told where.

use super::*;
use crate::model::parked::{Parked, Waits};

async fn one(bench: &Bench) -> Parked {
    let mut all = bench.store.parked(10).await.unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// The reason of a case parked by the end of a run.
async fn after(end: RunEnd) -> Waits {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.store.finish_run(finish(&lease, run, end)).await.unwrap();
    one(&bench).await.waits
}

fn failure(word: &str) -> RunEnd {
    let next = AfterFailure::Park { reason: word.into(), until: None };
    RunEnd::Failed { word: word.into(), detail: "no".into(), next }
}

#[tokio::test]
async fn each_way_of_parking_says_what_for() {
    assert_eq!(after(RunEnd::Question { text: "which day?".into() }).await, Waits::Question);
    assert_eq!(after(failure("usage-limit")).await, Waits::Quota);
    assert_eq!(after(failure("auth")).await, Waits::NeedsAuth);
    assert_eq!(after(failure("exit")).await, Waits::Failed);
}

#[tokio::test]
async fn what_no_route_takes_is_unrouted() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    let new = bench.store.new_cases(1).await.unwrap();
    let park = Admission::Park { reason: "no route".into(), until: None };
    bench.store.admit(vec![(new[0].case.id, park)]).await.unwrap();
    let parked = one(&bench).await;
    assert_eq!((parked.waits, parked.reason.as_str()), (Waits::Unrouted, "no route"));
}

#[tokio::test]
async fn a_case_over_its_budget_says_so() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    bench.route().await;
    let lease = bench.claim().await;
    let until = START.plus(HOLD);
    let none_left = Allowance { runs: Some((0, START, until)), ..Allowance::default() };
    bench.store.begin_run(lease.case.id, lease.token, "e", 1, none_left).await.unwrap();
    let parked = one(&bench).await;
    assert_eq!((parked.waits, parked.until), (Waits::Budget, Some(until)));
}

#[tokio::test]
async fn a_deferred_draft_waits_until_then() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    assert_eq!(bench.store.parked(10).await.unwrap(), []);
    let until = START.plus(HOLD);
    bench.store.defer(draft.id, until).await.unwrap();
    let parked = one(&bench).await;
    assert_eq!((parked.waits, parked.draft, parked.until), (Waits::Deferred, Some(draft.id), Some(until)));
    bench.clock.advance(HOLD * 2);
    assert_eq!(bench.store.parked(10).await.unwrap(), []);
}

#[tokio::test]
async fn who_waits_for_a_person_comes_first() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    let until = START.plus(HOLD);
    let wait = AfterFailure::Wait { reason: "limit".into(), until };
    bench.store.finish_run(failed(&lease, run, wait)).await.unwrap();
    let (lease, run) = bench.running("b").await;
    bench.store.finish_run(finish(&lease, run, RunEnd::Question { text: "?".into() })).await.unwrap();
    let waits: Vec<Waits> = bench.store.parked(10).await.unwrap().iter().map(|one| one.waits).collect();
    assert_eq!(waits, [Waits::Question, Waits::Failed]);
}

#[tokio::test]
async fn what_needs_the_user_is_told_once_on_each_channel_and_anew_when_it_comes_back() {
    let bench = Bench::new().await;
    let say = async |channel: &str, subjects: &[&str]| {
        let subjects = subjects.iter().map(|key| (*key).to_owned()).collect();
        let untold = bench.store.untold(channel, subjects).await.unwrap();
        let untold: Vec<String> = untold.into_iter().map(|(subject, _)| subject).collect();
        bench.store.note_told(channel, untold.clone()).await.unwrap();
        untold
    };
    assert_eq!(say("phone", &["auth:a", "quota:b"]).await, ["auth:a", "quota:b"]);
    assert!(say("phone", &["auth:a", "quota:b"]).await.is_empty());
    assert_eq!(say("desk", &["auth:a"]).await, ["auth:a"]);
    // Mended for a while.
    assert!(say("phone", &["auth:a"]).await.is_empty());
    assert_eq!(say("phone", &["auth:a", "quota:b"]).await, ["quota:b"]);
}
