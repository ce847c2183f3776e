//! Leases, runs, attempts.

use super::*;

#[tokio::test]
async fn one_item_to_its_draft() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    assert_eq!(draft.body, "Yes.");
    assert_eq!(draft.remarks, ["short"]);
    assert_eq!(bench.case(draft.case).await.state, CaseState::Review);
    assert_eq!(bench.events(draft.case).await, ["item", "routed", "claimed", "draft"]);
    let record = bench.store.case_record(draft.case).await.unwrap();
    assert_eq!(record.runs.len(), 1);
    assert_eq!(record.runs[0].outcome, "reply");
    assert_eq!(record.items[0].title, "About a");
}

#[tokio::test]
async fn claims_by_priority_then_age() {
    let bench = Bench::new().await;
    bench.read(["a", "b", "c"].map(item).to_vec()).await;
    let to = |priority| Admission::Queue {
        route: "r".into(),
        engine: "e".into(),
        priority,
        instead: None,
        why: String::new(),
    };
    let admissions = vec![(CaseId(1), to(0)), (CaseId(2), to(5)), (CaseId(3), to(0))];
    bench.store.admit(admissions).await.unwrap();
    let leases = bench.store.claim("e", 10, LEASE).await.unwrap();
    assert_eq!(leases.iter().map(|lease| lease.case.id.0).collect::<Vec<_>>(), [2, 1, 3]);
    assert_eq!(leases[0].case.attempts, 1);
    assert!(bench.store.claim("e", 10, LEASE).await.unwrap().is_empty());
    assert!(bench.store.claim("other", 10, LEASE).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_case_is_admitted_once() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    bench.route().await;
    let park = Admission::Park { reason: "late".into(), until: None };
    bench.store.admit(vec![(CaseId(1), park)]).await.unwrap();
    assert_eq!(bench.case(CaseId(1)).await.state, CaseState::Queued);
    assert_eq!(bench.events(CaseId(1)).await, ["item", "routed"]);
}

#[tokio::test]
async fn a_lost_lease_writes_nothing() {
    let bench = Bench::new().await;
    let (old, run) = bench.running("a").await;
    bench.clock.advance(LEASE * 2);
    assert_eq!(bench.store.reap(CASE_ATTEMPTS_MAX).await.unwrap(), 1);
    let new = bench.claim().await;
    let before = bench.store.case_record(new.case.id).await.unwrap();

    assert!(matches!(bench.store.finish_run(reply(&old, run, "late")).await, Err(StoreError::LeaseLost(_))));
    let begun = bench.store.begin_run(old.case.id, old.token, "e", 1, Allowance::default()).await;
    assert!(matches!(begun, Err(StoreError::LeaseLost(_))));
    let given = bench.store.give_back(old.case.id, old.token, Some(run), "late").await;
    assert!(matches!(given, Err(StoreError::LeaseLost(_))));
    let lost = bench.store.renew(vec![(old.case.id, old.token)], LEASE).await.unwrap();
    assert_eq!(lost, [old.case.id]);
    assert_eq!(bench.store.case_record(new.case.id).await.unwrap(), before);
    assert!(bench.store.renew(vec![(new.case.id, new.token)], LEASE).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_renewed_lease_lives() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.clock.advance(LEASE / 2);
    bench.store.renew(vec![(lease.case.id, lease.token)], LEASE).await.unwrap();
    bench.clock.advance(LEASE * 3 / 4);
    assert_eq!(bench.store.reap(CASE_ATTEMPTS_MAX).await.unwrap(), 0);
    assert!(bench.store.finish_run(reply(&lease, run, "in time")).await.unwrap().is_some());
}

#[tokio::test]
async fn finishes_of_one_lease_count_once() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    let (one, two) = tokio::join!(
        bench.store.finish_run(reply(&lease, run, "one")),
        bench.store.finish_run(reply(&lease, run, "two"))
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(bench.store.open_drafts(true).await.unwrap().len(), 1);
}

/// Ends one run so, and gives the case.
async fn ended(end: impl FnOnce(&Lease, RunId) -> FinishRun) -> Case {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.store.finish_run(end(&lease, run)).await.unwrap();
    bench.case(lease.case.id).await
}

#[tokio::test]
async fn nothing_to_do_closes() {
    let case =
        ended(|lease, run| finish(lease, run, RunEnd::NothingToDo { reason: "a thank-you".into() })).await;
    assert_eq!(case.state, CaseState::Closed);
}

#[tokio::test]
async fn a_question_parks_for_the_user() {
    let case = ended(|lease, run| finish(lease, run, RunEnd::Question { text: "which day?".into() })).await;
    assert_eq!(
        (case.state, case.reason.as_deref(), case.until),
        (CaseState::Parked, Some("which day?"), None)
    );
}

#[tokio::test]
async fn failures_go_where_they_are_sent() {
    let until = Some(START.plus(HOLD));
    let park = AfterFailure::Park { reason: "limit".into(), until };
    let case = ended(|lease, run| failed(lease, run, park)).await;
    assert_eq!((case.state, case.reason.as_deref(), case.until), (CaseState::Parked, Some("limit"), until));

    let other = AfterFailure::Requeue { engine: "f".into(), reason: "e is down".into() };
    let case = ended(|lease, run| failed(lease, run, other)).await;
    assert_eq!((case.state, case.engine.as_deref()), (CaseState::Queued, Some("f")));

    let dead = AfterFailure::Dead { reason: "never".into() };
    let case = ended(|lease, run| failed(lease, run, dead)).await;
    assert_eq!((case.state, case.reason.as_deref()), (CaseState::Dead, Some("never")));
}

#[tokio::test]
async fn parked_cases_wake_in_time() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    let until = START.plus(HOLD);
    let park = AfterFailure::Park { reason: "limit".into(), until: Some(until) };
    bench.store.finish_run(failed(&lease, run, park)).await.unwrap();
    assert_eq!(bench.store.next_due(Due::Parked).await.unwrap(), Some(until));
    assert_eq!(bench.store.wake_due(START).await.unwrap(), 0);
    bench.clock.advance(HOLD);
    assert_eq!(bench.store.wake_due(START).await.unwrap(), 1);
    assert_eq!(bench.case(lease.case.id).await.state, CaseState::New);
    assert_eq!(bench.store.next_due(Due::Parked).await.unwrap(), None);
}

#[tokio::test]
async fn attempts_count_for_ever_and_a_retry_buys_one() {
    let mut bench = Bench::new().await;
    let (mut lease, mut run) = bench.running("poison").await;
    let park = AfterFailure::Park { reason: "exit".into(), until: None };
    let mut attempts = Vec::new();
    loop {
        attempts.push((lease.case.attempts, lease.case.is_used_up(CASE_ATTEMPTS_MAX)));
        bench.store.finish_run(failed(&lease, run, park.clone())).await.unwrap();
        if attempts.len() == 6 {
            break;
        }
        bench.store.retry_case(lease.case.id).await.unwrap();
        // Pressing it again buys nothing.
        assert!(why(bench.store.retry_case(lease.case.id).await).contains("cannot be retried"));
        bench.reopen().await;
        bench.route().await;
        lease = bench.claim().await;
        run = bench.begin(&lease).await;
    }
    let counted: Vec<u32> = attempts.iter().map(|(attempts, _)| *attempts).collect();
    assert_eq!(counted, [1, 2, 3, 4, 5, 6]);
    let case = bench.case(lease.case.id).await;
    assert_eq!((case.attempts, case.attempts_extra), (6, 5));
}

#[tokio::test]
async fn a_manual_retry_of_a_used_up_case_is_one_try() {
    let bench = Bench::new().await;
    bench.running("a").await;
    for attempt in 1..CASE_ATTEMPTS_MAX {
        bench.clock.advance(LEASE * 2);
        bench.store.reap(CASE_ATTEMPTS_MAX).await.unwrap();
        assert_eq!(bench.claim().await.case.attempts, attempt + 1);
    }
    for _ in 0..2 {
        bench.clock.advance(LEASE * 2);
        bench.store.reap(CASE_ATTEMPTS_MAX).await.unwrap();
        let case = bench.case(CaseId(1)).await;
        assert_eq!(case.state, CaseState::Parked, "{case:?}");
        bench.store.retry_case(CaseId(1)).await.unwrap();
        bench.route().await;
        bench.claim().await;
    }
}

#[tokio::test]
async fn given_back_without_a_run_is_no_attempt() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    bench.route().await;
    let lease = bench.claim().await;
    bench.store.give_back(lease.case.id, lease.token, None, "stopping").await.unwrap();
    let lease = bench.claim().await;
    assert_eq!(lease.case.attempts, 1);
    let run = bench.begin(&lease).await;
    bench.store.give_back(lease.case.id, lease.token, Some(run), "stopping").await.unwrap();
    assert_eq!(bench.claim().await.case.attempts, 2);
    let runs = bench.store.case_record(lease.case.id).await.unwrap().runs;
    assert_eq!(runs.iter().map(|run| run.outcome.as_str()).collect::<Vec<_>>(), ["interrupted"]);
}

#[tokio::test]
async fn the_budget_of_a_day_parks() {
    let bench = Bench::new().await;
    bench.read(["a", "b", "c"].map(item).to_vec()).await;
    bench.route().await;
    let leases = bench.store.claim("e", 10, LEASE).await.unwrap();
    let tomorrow = START.plus(Duration::from_secs(3600));
    let begin = |lease: &Lease| {
        let (case, token) = (lease.case.id, lease.token);
        let store = bench.store.clone();
        async move {
            store
                .begin_run(
                    case,
                    token,
                    "e",
                    1,
                    Allowance { runs: Some((2, START, tomorrow)), ..Allowance::default() },
                )
                .await
                .unwrap()
        }
    };
    // All three at once: the round counts those beside it.
    let (one, two, three) = tokio::join!(begin(&leases[0]), begin(&leases[1]), begin(&leases[2]));
    let all = [one, two, three];
    let over = all
        .iter()
        .position(
            |begun| matches!(begun, BeginRun::OverBudget { until: Some(until), .. } if *until == tomorrow),
        )
        .unwrap();
    assert_eq!(all.iter().filter(|begun| matches!(begun, BeginRun::Started(_))).count(), 2);
    let case = bench.case(leases[over].case.id).await;
    assert_eq!((case.state, case.until, case.attempts), (CaseState::Parked, Some(tomorrow), 0));
}
