//! What keeps engines from being given cases, over restarts.

use super::*;
use crate::model::run::RunFailure;

const ACCOUNT: &str = "claude";

/// "e until 30 s: network: down", as far as the engine `e` of the account rests.
async fn shown(bench: &Bench) -> String {
    let rests = bench.store.rests().await.unwrap();
    let rest = rests.of("e", ACCOUNT).map(|rest| {
        let whose = if rest.shared { ACCOUNT } else { "e" };
        format!("{whose} for {} s: {}", rest.until.since(bench.clock.now()).as_secs(), rest.reason)
    });
    match rest {
        Some(rest) => rest,
        None if rests.is_probed("e") => "probed".to_owned(),
        None if rests.is_doubted("e") => "doubted".to_owned(),
        None => "free".to_owned(),
    }
}

#[tokio::test]
async fn rests_survive_and_end() {
    let mut bench = Bench::new().await;
    bench.store.set_cooldown("e", START.plus(HOLD), "config: no file").await.unwrap();
    bench.reopen().await;
    assert_eq!(shown(&bench).await, "e for 30 s: config: no file");
    bench.store.rest_account(ACCOUNT, START.plus(HOLD * 600), "usage-limit: resets at noon").await.unwrap();
    bench.reopen().await;
    assert_eq!(shown(&bench).await, "claude for 18000 s: usage-limit: resets at noon");
    bench.clock.advance(HOLD * 600);
    assert_eq!(shown(&bench).await, "free");
}

#[tokio::test]
async fn a_breaker_survives_and_is_forgotten_when_the_engine_works() {
    let mut bench = Bench::new().await;
    for _ in 0..3 {
        let failure = RunFailure::Network;
        bench.store.engine_failed("e", CaseId(1), &failure, "network: down").await.unwrap();
    }
    bench.reopen().await;
    assert_eq!(shown(&bench).await, "e for 60 s: network: down");
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(shown(&bench).await, "probed");
    bench.store.engine_works("e").await.unwrap();
    assert_eq!(shown(&bench).await, "free");
}

#[tokio::test]
async fn what_is_mended_ends_and_a_limit_does_not() {
    let bench = Bench::new().await;
    let later = START.plus(HOLD);
    for (account, left) in
        [("billing: empty", "free"), ("usage-limit: noon", "claude for 30 s: usage-limit: noon")]
    {
        bench.store.set_cooldown("e", later, "auth: no login").await.unwrap();
        bench.store.rest_account(ACCOUNT, later, account).await.unwrap();
        bench.store.end_mendable("e", ACCOUNT, &["auth", "config", "billing"]).await.unwrap();
        assert_eq!(shown(&bench).await, left);
    }
}

#[tokio::test]
async fn cases_that_wait_for_an_engine_wake_with_it() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    let park = AfterFailure::Park { reason: "limit".into(), until: Some(START.plus(HOLD)) };
    bench.store.finish_run(failed(&lease, run, park)).await.unwrap();
    bench.store.rest_account(ACCOUNT, START.plus(HOLD), "usage-limit: noon").await.unwrap();
    bench.store.end_rests(vec!["other".into(), "e".into()], ACCOUNT).await.unwrap();
    assert_eq!(shown(&bench).await, "free");
    assert_eq!(bench.store.wake_due(START).await.unwrap(), 1);
}

#[tokio::test]
async fn cases_given_up_for_an_ill_engine_are_tried_again() {
    let bench = Bench::new().await;
    let mut cases = Vec::new();
    for key in ["a", "b", "c"] {
        let (lease, run) = bench.running(key).await;
        let id = lease.case.id;
        let shut =
            bench.store.engine_failed("e", id, &RunFailure::Protocol, "protocol: no JSON").await.unwrap();
        assert_eq!(shut.is_some(), key == "c");
        let next = AfterFailure::Park { reason: "protocol".into(), until: shut };
        bench.store.finish_run(failed(&lease, run, next)).await.unwrap();
        cases.push(id);
    }
    for id in cases {
        assert_eq!(bench.case(id).await.until, Some(START.plus(Duration::from_secs(60))));
    }
}

#[tokio::test]
async fn queued_cases_are_passed_on_and_others_are_not() {
    let bench = Bench::new().await;
    bench.read(["a", "b"].map(item).to_vec()).await;
    bench.route().await;
    let taken = bench.claim().await.case.id;
    let waiting = bench.store.waiting_for("e", 10).await.unwrap();
    assert_eq!(waiting.len(), 1);
    let to = |id| (id, "f".to_owned(), "fell back from e: usage-limit".to_owned());
    assert_eq!(bench.store.pass_on("e", vec![to(waiting[0].0), to(taken)]).await.unwrap(), 1);
    let case = bench.case(waiting[0].0).await;
    assert_eq!((case.engine.as_deref(), case.state), (Some("f"), CaseState::Queued));
    assert_eq!(bench.events(case.id).await, ["item", "routed", "queued"]);
}
