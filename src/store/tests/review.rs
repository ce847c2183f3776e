//! Drafts and decisions. The first decision wins, and is about exact bytes.

use super::*;
use crate::model::draft::DraftState;
use crate::model::outbound::ActionState;
use crate::model::pause::Pause;

#[tokio::test]
async fn an_approval_makes_one_action() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let id = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    let record = bench.store.case_record(draft.case).await.unwrap();
    assert_eq!(record.case.state, CaseState::Approved);
    assert_eq!(record.drafts[0].state, DraftState::Approved);
    let action = &record.actions[0];
    assert_eq!((action.id, action.state, action.not_before), (id, ActionState::Approved, START.plus(HOLD)));
    assert_eq!((&action.body, &action.envelope, &action.hash), (&draft.body, &draft.envelope, &draft.hash));
    assert!(crate::model::marker::is_key(&action.key), "{}", action.key);
    assert!(action.key.starts_with(&format!("wa-{}-", id.0)));
}

#[tokio::test]
async fn the_first_decision_wins() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let (one, two, three) = tokio::join!(
        bench.store.approve(draft.id, &draft.hash, HOLD, "cli", false),
        bench.store.approve(draft.id, &draft.hash, HOLD, "web", false),
        bench.store.reject(draft.id, "no", false),
    );
    let won = [one.is_ok(), two.is_ok(), three.is_ok()].iter().filter(|won| **won).count();
    assert_eq!(won, 1);
    assert!(bench.store.actions(None, 10).await.unwrap().len() <= 1);
}

#[tokio::test]
async fn an_older_version_cannot_be_approved() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let edited = bench.store.edit_draft(draft.id, &draft.hash, "No.".into(), None).await.unwrap();
    assert_eq!((edited.body.as_str(), edited.engine_body.as_str()), ("No.", "Yes."));
    let old = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await;
    assert!(why(old).starts_with("the draft changed"));
    let old = bench.store.edit_draft(draft.id, &draft.hash, "Perhaps.".into(), None).await;
    assert!(why(old).starts_with("the draft changed"));
    assert!(bench.store.actions(None, 10).await.unwrap().is_empty());
    assert_eq!(bench.store.draft(draft.id).await.unwrap(), edited);
    bench.store.approve(draft.id, &edited.hash, HOLD, "me", false).await.unwrap();
    assert_eq!(bench.store.actions(None, 10).await.unwrap()[0].body, "No.");
}

#[tokio::test]
async fn a_draft_made_again_cannot_be_approved_from_an_old_screen() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![answer("b", "a")]).await;
    bench.route().await;
    let lease = bench.claim().await;
    let run = bench.begin(&lease).await;
    bench.store.finish_run(reply(&lease, run, "Yes, both.")).await.unwrap();
    let old = bench.store.approve(draft.id, &draft.hash, HOLD, "me", true).await;
    assert!(why(old).starts_with("the draft changed"));
}

#[tokio::test]
async fn a_stale_draft_needs_a_second_yes() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![answer("b", "a")]).await;
    let refused = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await;
    assert!(why(refused).contains("something new came"));
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", true).await.unwrap();
    assert_eq!(bench.case(draft.case).await.state, CaseState::Approved);
    assert!(bench.store.new_cases(10).await.unwrap().is_empty());
}

#[tokio::test]
async fn approving_a_stale_draft_takes_the_case_from_its_worker() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![answer("b", "a")]).await;
    bench.route().await;
    let lease = bench.claim().await;
    let run = bench.begin(&lease).await;
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", true).await.unwrap();
    let late = bench.store.finish_run(reply(&lease, run, "late")).await;
    assert!(matches!(late, Err(StoreError::LeaseLost(_))));
    let record = bench.store.case_record(draft.case).await.unwrap();
    assert_eq!(record.runs[1].outcome, "interrupted");
    assert_eq!(record.drafts.len(), 1);
}

#[tokio::test]
async fn rejected_for_another_try_carries_the_note() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.store.reject(draft.id, "shorter, please", true).await.unwrap();
    let case = bench.case(draft.case).await;
    assert_eq!((case.state, case.attempts, case.attempts_extra), (CaseState::Queued, 1, 1));
    assert_eq!(bench.store.notes_on(draft.case).await.unwrap(), ["shorter, please"]);
    assert_eq!(bench.claim().await.case.attempts, 2);
}

#[tokio::test]
async fn rejected_for_good_is_dismissed() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.store.reject(draft.id, "", false).await.unwrap();
    assert_eq!(bench.case(draft.case).await.state, CaseState::Dismissed);
    assert!(why(bench.store.reject(draft.id, "", false).await).contains("already rejected"));
}

#[tokio::test]
async fn deferred_drafts_come_back() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.store.defer(draft.id, START.plus(HOLD)).await.unwrap();
    assert!(bench.store.open_drafts(false).await.unwrap().is_empty());
    assert_eq!(bench.store.open_drafts(true).await.unwrap().len(), 1);
    assert_eq!(bench.store.counts().await.unwrap().drafts_open, 0);
    assert_eq!(bench.store.next_due(Due::Drafts).await.unwrap(), Some(START.plus(HOLD)));
    bench.clock.advance(HOLD);
    assert_eq!(bench.store.open_drafts(false).await.unwrap().len(), 1);
    let counts = bench.store.counts().await.unwrap();
    assert_eq!((counts.drafts_open, counts.oldest_draft_at), (1, Some(START)));
}

#[tokio::test]
async fn a_dismissed_case_leaves_the_list() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.store.dismiss_case(draft.case, "answered by phone").await.unwrap();
    assert!(bench.store.open_drafts(true).await.unwrap().is_empty());
    let refused = bench.store.approve(draft.id, &draft.hash, HOLD, "me", true).await;
    assert!(why(refused).starts_with("the draft changed"));
    let case = bench.case(draft.case).await;
    assert_eq!((case.state, case.reason.as_deref()), (CaseState::Dismissed, Some("answered by phone")));
}

#[tokio::test]
async fn open_drafts_survive_a_restart_to_the_letter() {
    let mut bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.reopen().await;
    assert_eq!(bench.store.open_drafts(false).await.unwrap(), std::slice::from_ref(&draft));
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let bench = Bench::new().await;
    use crate::model::ids::{ActionId, DraftId};
    assert_eq!(why(bench.store.draft(DraftId(9)).await), "there is no draft d9");
    assert_eq!(why(bench.store.case_record(CaseId(9)).await), "there is no case c9");
    assert_eq!(why(bench.store.cancel_action(ActionId(9)).await), "there is no action a9");
    assert_eq!(why(bench.store.retry_case(CaseId(9)).await), "there is no case c9");
}

#[tokio::test]
async fn lists_and_counts() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.clock.advance(HOLD);
    bench.read(vec![item("b"), item("c")]).await;
    let all = bench.store.cases(None, 10).await.unwrap();
    assert_eq!(all.iter().map(|case| case.id.0).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(bench.store.cases(None, 1).await.unwrap().len(), 1);
    let review = bench.store.cases(Some(CaseState::Review), 10).await.unwrap();
    assert_eq!(review.iter().map(|case| case.id).collect::<Vec<_>>(), [draft.case]);
    let counts = bench.store.counts().await.unwrap();
    let of = |state| counts.cases.iter().find(|(known, _)| *known == state).unwrap().1;
    assert_eq!((of(CaseState::New), of(CaseState::Review), of(CaseState::Closed)), (2, 1, 0));
    assert_eq!(counts.cases.len(), CaseState::ALL.len());
    assert_eq!(counts.actions.len(), ActionState::ALL.len());
}

#[tokio::test]
async fn flags_and_generations_survive() {
    let mut bench = Bench::new().await;
    assert_eq!(bench.store.generation("h1").await.unwrap(), 1);
    assert_eq!(bench.store.generation("h1").await.unwrap(), 1);
    assert_eq!(bench.store.generation("h2").await.unwrap(), 2);
    let until = START.plus(Duration::from_secs(60));
    bench.store.pause(None, Pause { since: START, until: None }).await.unwrap();
    bench.store.pause(Some("e.engine"), Pause { since: START, until: Some(until) }).await.unwrap();
    bench.reopen().await;
    assert_eq!(bench.store.generation("h1").await.unwrap(), 3);
    let pauses = bench.store.pauses().await.unwrap();
    assert_eq!(pauses.all, Some(Pause { since: START, until: None }));
    assert_eq!(pauses.of("e.engine").unwrap().until, Some(until));
    bench.clock.advance(Duration::from_secs(60));
    assert!(bench.store.pauses().await.unwrap().of("e.engine").is_none(), "it ended by itself");
    bench.store.resume(None).await.unwrap();
    assert!(bench.store.pauses().await.unwrap().is_empty());
    // What an earlier version wrote.
    bench.store.set_flag("paused", Some("2026-11-30T08:00:00Z")).await.unwrap();
    assert!(bench.store.pauses().await.unwrap().all.is_some());
}
