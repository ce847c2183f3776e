//! A person answered by hand: said so, or seen in the thread.

use std::time::Duration;

use super::*;
use crate::model::draft::DraftState;

/// A message of the account's own in the thread of `a`, at this distance from the item that the draft answers.
fn own(key: &str, at: Timestamp) -> Item {
    Item { disposition: Disposition::Own, at: Some(at), ..answer(key, "a") }
}

async fn drafted() -> (Bench, Draft) {
    let bench = Bench::new().await;
    bench.read(vec![Item { at: Some(START), ..item("a") }]).await;
    bench.route().await;
    let lease = bench.claim().await;
    let run = bench.begin(&lease).await;
    bench.store.finish_run(reply(&lease, run, "Yes.")).await.unwrap();
    let draft = bench.store.open_drafts(false).await.unwrap().remove(0);
    (bench, draft)
}

#[tokio::test]
async fn what_a_person_says_ends_the_case_and_withdraws_the_draft() {
    let (bench, draft) = drafted().await;
    bench.store.take_over_case(draft.case, "terminal").await.unwrap();
    let case = bench.case(draft.case).await;
    assert_eq!(
        (case.state, case.reason.as_deref()),
        (CaseState::Closed, Some("answered by hand, says terminal"))
    );
    assert_eq!(bench.store.draft(draft.id).await.unwrap().state, DraftState::Superseded);
    let refused = bench.store.approve(draft.id, &draft.hash, HOLD, "me", true).await;
    assert!(why(refused).contains("superseded"));
    assert!(bench.store.actions(None, 10).await.unwrap().is_empty());
    // A further message is work again.
    bench.read(vec![answer("b", "a")]).await;
    assert_eq!(bench.case(draft.case).await.state, CaseState::New);
}

#[tokio::test]
async fn what_is_on_its_way_is_cancelled_first() {
    let (bench, draft) = drafted().await;
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    assert!(why(bench.store.take_over_case(draft.case, "page").await).contains("cancel the action first"));
}

#[tokio::test]
async fn a_later_message_of_ones_own_in_the_thread_is_the_answer() {
    let (bench, draft) = drafted().await;
    bench.read(vec![own("mine", START.plus(Duration::from_secs(1)))]).await;
    let case = bench.case(draft.case).await;
    assert_eq!(case.state, CaseState::Closed);
    assert!(case.reason.unwrap().starts_with("answered by hand: yours came in the thread (i"));
    assert_eq!(bench.store.draft(draft.id).await.unwrap().state, DraftState::Superseded);
    assert!(bench.events(draft.case).await.iter().any(|event| event.starts_with("taken over")));
    // What was withdrawn by mistake comes back.
    bench.store.retry_case(draft.case).await.unwrap();
    assert_ne!(bench.case(draft.case).await.state, CaseState::Closed);
}

#[tokio::test]
async fn an_older_one_that_is_read_late_and_one_elsewhere_are_not() {
    let (bench, draft) = drafted().await;
    let elsewhere = Item { threads: vec!["<other@example.org>".into()], ..own("x", START.plus(HOLD)) };
    bench.read(vec![own("early", START.minus(Duration::from_secs(1))), own("same", START), elsewhere]).await;
    assert_eq!(bench.case(draft.case).await.state, CaseState::Review);
    assert_eq!(bench.store.draft(draft.id).await.unwrap().state, DraftState::Open);
}

#[tokio::test]
async fn what_has_no_time_is_compared_with_nothing() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![own("mine", START.plus(HOLD))]).await;
    assert_eq!(bench.case(draft.case).await.state, CaseState::Review);
}
