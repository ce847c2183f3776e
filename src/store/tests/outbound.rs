//! Actions: journaled, sent once, known again.

use super::*;
use crate::model::ids::ActionId;
use crate::model::outbound::{ActionState, Payload, Receipt};

fn payload() -> Payload {
    Payload { marker: "<wa-1@example.org>".into(), bytes: b"Subject: Re: plan\r\n\r\nYes.\r\n\0".to_vec() }
}

fn receipt() -> Receipt {
    Receipt { remote_id: "remote-7".into(), evidence: "250 queued as 7".into() }
}

impl Bench {
    /// One item up to its approved action, whose time has come.
    async fn approved(&self) -> (ActionId, CaseId) {
        let draft = self.drafted("a").await;
        let id = self.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
        self.clock.advance(HOLD);
        (id, draft.case)
    }

    async fn sending(&self) -> (ActionId, CaseId) {
        let (id, case) = self.approved().await;
        self.store.mark_sending(id, payload()).await.unwrap().expect("still approved");
        (id, case)
    }

    async fn action_state(&self, id: ActionId) -> ActionState {
        let all = self.store.actions(None, 100).await.unwrap();
        all.into_iter().find(|action| action.id == id).unwrap().state
    }
}

#[tokio::test]
async fn held_back_until_its_time() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let id = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    assert!(bench.store.due_actions(ActionState::Approved, 10, &[]).await.unwrap().is_empty());
    assert_eq!(bench.store.next_due(Due::Actions(&[])).await.unwrap(), Some(START.plus(HOLD)));
    bench.clock.advance(HOLD);
    let due = bench.store.due_actions(ActionState::Approved, 10, &[]).await.unwrap();
    assert_eq!(due.iter().map(|action| action.id).collect::<Vec<_>>(), [id]);
}

#[tokio::test]
async fn sent_once_with_its_receipt() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.store.mark_sent(id, receipt()).await.unwrap();
    let action = bench.store.actions(Some(ActionState::Sent), 10).await.unwrap().remove(0);
    assert_eq!((action.payload, action.receipt, action.attempts), (Some(payload()), Some(receipt()), 1));
    assert_eq!(bench.case(case).await.state, CaseState::Sent);
    assert_eq!(bench.events(case).await[4..], ["approved", "sending", "sent"]);
    // A second receipt, a second try, a late doubt: none of them moves it.
    assert!(why(bench.store.mark_sent(id, receipt()).await).contains("is sent and cannot be sent"));
    assert_eq!(bench.store.mark_sending(id, payload()).await.unwrap(), None);
    assert!(bench.store.mark_uncertain(id, START, "late").await.is_err());
    assert!(why(bench.store.cancel_action(id).await).contains("is sent and cannot be cancelled"));
}

#[tokio::test]
async fn the_first_payload_stays() {
    let bench = Bench::new().await;
    let (id, _) = bench.sending().await;
    bench.store.mark_not_sent(id, START, "connection refused").await.unwrap();
    let other = Payload { marker: "<other@example.org>".into(), bytes: b"other".to_vec() };
    let again = bench.store.mark_sending(id, other).await.unwrap().unwrap();
    assert_eq!((again.payload, again.attempts), (Some(payload()), 2));
    assert_eq!(again.last_error.as_deref(), Some("connection refused"));
}

#[tokio::test]
async fn surely_not_sent_is_tried_later() {
    let bench = Bench::new().await;
    let (id, _) = bench.sending().await;
    let later = START.plus(HOLD * 3);
    bench.store.mark_not_sent(id, later, "refused").await.unwrap();
    assert!(bench.store.due_actions(ActionState::Approved, 10, &[]).await.unwrap().is_empty());
    assert_eq!(bench.store.next_due(Due::Actions(&[])).await.unwrap(), Some(later));
    let action = bench.store.actions(None, 1).await.unwrap().remove(0);
    assert_eq!(action.sending_at, None);
}

#[tokio::test]
async fn uncertain_is_asked_about_then_held() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.store.mark_uncertain(id, bench.clock.now(), "no answer").await.unwrap();
    let due = bench.store.due_actions(ActionState::Uncertain, 10, &[]).await.unwrap();
    assert_eq!(due[0].sending_at, Some(bench.clock.now()));
    bench.store.mark_uncertain(id, bench.clock.now().plus(HOLD), "not there yet").await.unwrap();
    assert!(bench.store.due_actions(ActionState::Uncertain, 10, &[]).await.unwrap().is_empty());
    bench.store.mark_held(id, "the server cannot be asked").await.unwrap();
    assert_eq!(bench.case(case).await.state, CaseState::Approved);
    // A late "surely not" must not undo what now is the user's.
    assert!(bench.store.mark_not_sent(id, START, "late").await.is_err());
    assert_eq!(bench.action_state(id).await, ActionState::Held);
}

#[tokio::test]
async fn a_person_releases_a_held_one() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    assert!(
        why(bench.store.release_action(id, true, None).await).contains("is sending and cannot be released")
    );
    bench.store.mark_held(id, "cannot tell").await.unwrap();
    bench.store.release_action(id, false, None).await.unwrap();
    assert_eq!(bench.store.due_actions(ActionState::Approved, 10, &[]).await.unwrap().len(), 1);
    bench.store.mark_sending(id, payload()).await.unwrap().unwrap();
    bench.store.mark_held(id, "cannot tell").await.unwrap();
    bench.store.release_action(id, true, None).await.unwrap();
    assert_eq!(bench.action_state(id).await, ActionState::Sent);
    assert_eq!(bench.case(case).await.state, CaseState::Sent);
}

#[tokio::test]
async fn a_permanent_failure_is_dead() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.store.mark_dead(id, "550 no such user").await.unwrap();
    let case = bench.case(case).await;
    assert_eq!((case.state, case.reason.as_deref()), (CaseState::Dead, Some("550 no such user")));
}

#[tokio::test]
async fn taken_back_in_time() {
    let bench = Bench::new().await;
    let (id, case) = bench.approved().await;
    bench.store.cancel_action(id).await.unwrap();
    assert_eq!(bench.case(case).await.state, CaseState::Dismissed);
    assert_eq!(bench.store.mark_sending(id, payload()).await.unwrap(), None);
}

#[tokio::test]
async fn taken_back_too_late() {
    let bench = Bench::new().await;
    let (id, _) = bench.sending().await;
    assert!(why(bench.store.cancel_action(id).await).contains("is sending and cannot be cancelled"));
}

#[tokio::test]
async fn a_case_on_its_way_out_cannot_be_dismissed() {
    let bench = Bench::new().await;
    let (_, case) = bench.approved().await;
    assert!(why(bench.store.dismiss_case(case, "").await).contains("cancel the action first"));
}

#[tokio::test]
async fn what_came_meanwhile_is_not_lost() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.read(vec![answer("b", "a")]).await;
    assert_eq!(bench.case(case).await.state, CaseState::Approved);
    bench.store.mark_sent(id, receipt()).await.unwrap();
    assert_eq!(bench.case(case).await.state, CaseState::New);
    assert_eq!(bench.store.new_cases(10).await.unwrap()[0].newest.key, "b");
}

#[tokio::test]
async fn sent_cases_close_in_time() {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.store.mark_sent(id, receipt()).await.unwrap();
    let sent_at = bench.clock.now();
    assert_eq!(bench.store.wake_due(sent_at).await.unwrap(), 0);
    assert_eq!(bench.case(case).await.state, CaseState::Sent);
    bench.store.wake_due(sent_at.plus(HOLD)).await.unwrap();
    assert_eq!(bench.case(case).await.state, CaseState::Closed);
}

/// Sends one answer, then reads this item.
async fn read_back(item: Item) -> (PageReport, Bench, CaseId) {
    let bench = Bench::new().await;
    let (id, case) = bench.sending().await;
    bench.store.mark_sent(id, receipt()).await.unwrap();
    let report = bench.read(vec![item]).await;
    (report, bench, case)
}

#[tokio::test]
async fn our_own_is_known_again() {
    let by_key = Item { key: "remote-7".into(), ..item("x") };
    let by_identity = Item { identities: vec!["remote-7".into()], ..item("x") };
    let by_marker =
        Item { threads: vec!["<wa-1@example.org>".into(), "<a@example.org>".into()], ..item("x") };
    for item in [by_key, by_identity, by_marker] {
        let (report, bench, case) = read_back(item).await;
        assert_eq!(report, PageReport { own_items: 1, ..PageReport::default() });
        assert_eq!(bench.case(case).await.state, CaseState::Sent);
    }
}

#[tokio::test]
async fn an_answer_to_ours_finds_the_case() {
    // It names nothing of the thread but our own message.
    let answer = Item { threads: vec!["<x@example.org>".into(), "<wa-1@example.org>".into()], ..item("x") };
    let (report, bench, case) = read_back(answer).await;
    assert_eq!((report.new_items, report.cases_joined), (1, 1));
    assert_eq!(bench.case(case).await.state, CaseState::New);
}

#[tokio::test]
async fn the_same_mark_elsewhere_is_not_ours() {
    let bench = Bench::new().await;
    let (id, _) = bench.sending().await;
    bench.store.mark_sent(id, receipt()).await.unwrap();
    let other = PageCommit {
        connector: "other".into(),
        ..page(vec![Item { key: "remote-7".into(), ..item("x") }], "c")
    };
    assert_eq!(bench.store.commit_page(other).await.unwrap().new_items, 1);
}
