//! What stays of runs: the session to go on in, the model, labels; and runs that are only replays.

use super::*;
use crate::model::run::RunFacts;
use crate::store::ReplayEnd;

/// A run of engine `e` on the case of `a` that ends so; the case is ready for the next one.
async fn ended(
    bench: &Bench,
    lease: &Lease,
    run: RunId,
    end: RunEnd,
    session: Option<&str>,
) -> (Lease, RunId) {
    let facts = RunFacts {
        session: session.map(str::to_owned),
        model: session.map(|_| "large".to_owned()),
        program: None,
    };
    bench.store.finish_run(FinishRun { facts, ..finish(lease, run, end) }).await.unwrap();
    if bench.store.retry_case(lease.case.id).await.is_err() {
        let draft = bench.store.open_drafts(true).await.unwrap().remove(0);
        bench.store.reject(draft.id, "again", true).await.unwrap();
    }
    bench.route().await;
    let lease = bench.claim().await;
    let run = bench.begin(&lease).await;
    (lease, run)
}

#[tokio::test]
async fn a_session_is_gone_on_in_until_it_may_be_at_fault() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    let case = lease.case.id;
    let question = || RunEnd::Question { text: "which day?".into() };
    let failed = |word: &str| RunEnd::Failed {
        word: word.into(),
        detail: String::new(),
        next: AfterFailure::Park { reason: String::new(), until: None },
    };
    assert_eq!(bench.store.last_session(case, "e").await.unwrap(), None);
    let (lease, run) = ended(&bench, &lease, run, question(), Some("s1")).await;
    assert_eq!(bench.store.last_session(case, "e").await.unwrap().as_deref(), Some("s1"));
    assert_eq!(bench.store.last_session(case, "other").await.unwrap(), None);
    let (lease, run) = ended(&bench, &lease, run, failed("network"), None).await;
    assert_eq!(bench.store.last_session(case, "e").await.unwrap().as_deref(), Some("s1"));
    let (lease, run) = ended(&bench, &lease, run, failed("protocol"), None).await;
    assert_eq!(bench.store.last_session(case, "e").await.unwrap(), None);
    ended(&bench, &lease, run, question(), Some("s2")).await;
    assert_eq!(bench.store.last_session(case, "e").await.unwrap().as_deref(), Some("s2"));
    let record = bench.store.case_record(case).await.unwrap();
    assert_eq!(record.runs[0].facts.model.as_deref(), Some("large"));
}

#[tokio::test]
async fn a_run_keeps_what_names_its_prompt_and_plan() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.store.keep_prompt(run, "answer kindly".into()).await.unwrap();
    let record = bench.store.case_record(lease.case.id).await.unwrap();
    let expected = "537a";
    assert_eq!(record.runs[0].prompt_hash.as_deref().map(|hash| &hash[..4]), Some(expected));
    assert_eq!(record.runs[0].prompt_hash.as_ref().map(String::len), Some(64));
    let kept = bench.store.prompt_of(lease.case.id, Some(run)).await.unwrap().unwrap();
    assert_eq!(kept.prompt, "answer kindly");
}

#[tokio::test]
async fn a_day_is_what_happened_in_it() {
    let bench = Bench::new().await;
    let (first, _) = bench.running("a").await;
    let middle = bench.store.time().plus(Duration::from_secs(60));
    bench.clock.advance(Duration::from_secs(120));
    let (second, _) = bench.running("b").await;
    let end = bench.store.time().plus(Duration::from_secs(60));
    let ids = |(lines, cases): (Vec<JournalLine>, Vec<Case>)| {
        assert!(lines.iter().any(|line| line.event == "item"), "{lines:?}");
        cases.iter().map(|case| case.id).collect::<Vec<_>>()
    };
    let day = async |from, to| ids(bench.store.day(from, to, 100).await.unwrap());
    assert_eq!(day(Timestamp(0), middle).await, [first.case.id]);
    assert_eq!(day(middle, end).await, [second.case.id]);
    assert_eq!(day(Timestamp(0), end).await, [first.case.id, second.case.id]);
    assert_eq!(bench.store.day(Timestamp(0), end, 1).await.unwrap().0.len(), 1);
    assert!(bench.store.day(end, end, 100).await.unwrap().0.is_empty());
}

#[tokio::test]
async fn labels_of_an_engine_stay_with_the_case() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    assert!(lease.case.labels.is_empty());
    let labels = Some(vec!["billing".to_owned(), "it's urgent".to_owned()]);
    bench.store.finish_run(FinishRun { labels: labels.clone(), ..reply(&lease, run, "Yes.") }).await.unwrap();
    assert_eq!(Some(bench.case(lease.case.id).await.labels), labels);
}

#[tokio::test]
async fn a_replay_leaves_its_case_alone_and_counts_as_a_run() {
    let mut bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let before = bench.case(draft.case).await;
    let id = bench.store.ask_replay(draft.case, "e", None).await.unwrap();
    assert_eq!(bench.store.replays_waiting().await.unwrap().len(), 1);
    let allowance =
        || Allowance { runs: Some((2, START, START.plus(HOLD))), reserve: Ok(0), caps: Vec::new() };
    let run = bench.store.begin_replay(id, "e", 1, allowance()).await.unwrap().unwrap();
    assert_eq!(bench.store.begin_replay(id, "e", 1, allowance()).await.unwrap(), None, "only once");
    let end = ReplayEnd { outcome: "reply".into(), body: "No.".into(), ..ReplayEnd::default() };
    bench.store.end_replay(id, Some(run), end).await.unwrap();
    let replay = bench.store.replay(id).await.unwrap();
    assert_eq!((replay.state.as_str(), replay.body.as_str(), replay.run), ("done", "No.", Some(run)));
    assert_eq!(bench.case(draft.case).await, before);
    assert_eq!(bench.store.open_drafts(true).await.unwrap(), std::slice::from_ref(&draft));

    // The draft's run and the replay's are the two of this day.
    let id = bench.store.ask_replay(draft.case, "e", None).await.unwrap();
    assert_eq!(bench.store.begin_replay(id, "e", 1, allowance()).await.unwrap(), None);
    assert_eq!(bench.store.replay(id).await.unwrap().outcome, "over-budget");

    // One that was under way when the program died has ended.
    let id = bench.store.ask_replay(draft.case, "f", None).await.unwrap();
    bench.store.begin_replay(id, "f", 1, allowance()).await.unwrap().unwrap();
    bench.reopen().await;
    bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap();
    assert_eq!(bench.store.replay(id).await.unwrap().outcome, "interrupted");
}
