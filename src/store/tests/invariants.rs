//! Random lives of a store: whatever comes in whatever order, nothing is lost and nothing is sent twice.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::super::state::{action_moves, case_may};
use super::*;
use crate::model::draft::DraftState;
use crate::model::ids::ActionId;
use crate::model::outbound::{ActionState, Payload, Receipt};

#[derive(Clone, Debug)]
enum Step {
    /// An item with this number, answering that one.
    Read {
        item: u8,
        answers: Option<u8>,
        automatic: bool,
    },
    Change {
        item: u8,
    },
    Route,
    Claim {
        many: usize,
    },
    /// How the oldest lease ends.
    End(u8),
    GiveBack,
    Approve {
        stale_ok: bool,
    },
    Reject {
        retry: bool,
    },
    Dismiss {
        case: i64,
    },
    Retry {
        case: i64,
    },
    Cancel,
    /// One step of every action on the wire; the number says what the wire does.
    Wire(u8),
    Release {
        was_sent: bool,
    },
    Sleep {
        minutes: u64,
    },
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12u8, proptest::option::of(0..12u8), proptest::bool::weighted(0.2))
            .prop_map(|(item, answers, automatic)| Step::Read { item, answers, automatic }),
        1 => (0..12u8).prop_map(|item| Step::Change { item }),
        4 => Just(Step::Route),
        4 => (1..4usize).prop_map(|many| Step::Claim { many }),
        5 => any::<u8>().prop_map(Step::End),
        1 => Just(Step::GiveBack),
        4 => any::<bool>().prop_map(|stale_ok| Step::Approve { stale_ok }),
        1 => any::<bool>().prop_map(|retry| Step::Reject { retry }),
        1 => (1..12i64).prop_map(|case| Step::Dismiss { case }),
        1 => (1..12i64).prop_map(|case| Step::Retry { case }),
        1 => Just(Step::Cancel),
        5 => any::<u8>().prop_map(Step::Wire),
        1 => any::<bool>().prop_map(|was_sent| Step::Release { was_sent }),
        1 => (1..90u64).prop_map(|minutes| Step::Sleep { minutes }),
        1 => Just(Step::Crash),
    ]
}

/// A life so far, and what the outside saw of it.
struct Life {
    bench: Bench,
    leases: Vec<(Lease, RunId)>,
    work: HashSet<String>,
    /// Texts on the wire, by action key.
    delivered: HashMap<String, u32>,
    cases: HashMap<i64, CaseState>,
    actions: HashMap<i64, ActionState>,
}

impl Life {
    async fn step(&mut self, step: Step) {
        let store = self.bench.store.clone();
        match step {
            Step::Read { item: number, answers, automatic } => {
                let key = number.to_string();
                let mut new = match answers {
                    Some(other) => answer(&key, &other.to_string()),
                    None => item(&key),
                };
                if automatic {
                    new.disposition = Disposition::NoReply { reason: "automatic".into() };
                }
                let report = self.bench.read(vec![new]).await;
                if report.new_items == 1 {
                    self.work.insert(key);
                }
            }
            Step::Change { item: number } => {
                let key = number.to_string();
                if self.work.contains(&key) {
                    let revision = self.bench.clock.now().0.to_string();
                    self.bench.clock.advance(Duration::from_millis(1));
                    self.bench.read(vec![Item { revision, ..item(&key) }]).await;
                }
            }
            Step::Route => self.bench.route().await,
            Step::Claim { many } => {
                for lease in store.claim("e", many, LEASE).await.unwrap() {
                    let run = self.bench.begin(&lease).await;
                    self.leases.push((lease, run));
                }
            }
            Step::End(how) => self.end(how).await,
            Step::GiveBack => {
                if let Some((lease, run)) = self.leases.pop() {
                    let _ = store.give_back(lease.case.id, lease.token, Some(run), "stop").await;
                }
            }
            Step::Approve { stale_ok } => {
                if let Some(draft) = store.open_drafts(true).await.unwrap().first() {
                    let approved = store.approve(draft.id, &draft.hash, HOLD, "me", stale_ok).await;
                    assert_eq!(approved.is_ok(), stale_ok || !draft.stale, "{approved:?}");
                }
            }
            Step::Reject { retry } => {
                if let Some(draft) = store.open_drafts(true).await.unwrap().last() {
                    store.reject(draft.id, "no", retry).await.unwrap();
                }
            }
            Step::Dismiss { case } => {
                let _ = store.dismiss_case(CaseId(case), "enough").await;
            }
            Step::Retry { case } => {
                let _ = store.retry_case(CaseId(case)).await;
            }
            Step::Cancel => {
                if let Some(action) = store.actions(Some(ActionState::Approved), 1).await.unwrap().first() {
                    store.cancel_action(action.id).await.unwrap();
                }
            }
            Step::Wire(what) => self.wire(what).await,
            Step::Release { was_sent } => {
                for action in store.actions(Some(ActionState::Held), 9).await.unwrap() {
                    // The person looks before they answer.
                    let there = self.delivered.contains_key(&action.key);
                    store.release_action(action.id, there || was_sent, None).await.unwrap();
                }
            }
            Step::Sleep { minutes } => {
                self.bench.clock.advance(Duration::from_secs(minutes * 60));
                store.reap(CASE_ATTEMPTS_MAX).await.unwrap();
                store.wake_due(self.bench.clock.now().minus(Duration::from_secs(3600))).await.unwrap();
            }
            Step::Crash => {
                self.bench.reopen().await;
                self.bench.store.recover(CASE_ATTEMPTS_MAX).await.unwrap();
                self.leases.clear();
            }
        }
    }

    async fn end(&mut self, how: u8) {
        if self.leases.is_empty() {
            return;
        }
        let (lease, run) = self.leases.remove(0);
        let soon = Some(self.bench.clock.now().plus(HOLD));
        let end = match how % 7 {
            0 => finish(&lease, run, RunEnd::NothingToDo { reason: "none".into() }),
            1 => finish(&lease, run, RunEnd::Question { text: "which?".into() }),
            2 => failed(&lease, run, AfterFailure::Park { reason: "later".into(), until: soon }),
            3 => failed(&lease, run, AfterFailure::Requeue { engine: "e".into(), reason: "again".into() }),
            4 => failed(&lease, run, AfterFailure::Dead { reason: "never".into() }),
            _ => reply(&lease, run, "Yes."),
        };
        match self.bench.store.finish_run(end).await {
            Ok(_) | Err(StoreError::LeaseLost(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }

    /// Asks before it sends again, as the outbound runtime does.
    async fn wire(&mut self, what: u8) {
        let store = self.bench.store.clone();
        let now = self.bench.clock.now();
        for action in store.due_actions(ActionState::Uncertain, 9, &[]).await.unwrap() {
            let there = self.delivered.contains_key(&action.key);
            match (there, what % 3) {
                (_, 0) => store.mark_held(action.id, "cannot tell").await.unwrap(),
                (true, _) => store.mark_sent(action.id, receipt(action.id)).await.unwrap(),
                (false, _) => store.mark_not_sent(action.id, now, "not there").await.unwrap(),
            }
        }
        for action in store.due_actions(ActionState::Approved, 9, &[]).await.unwrap() {
            let payload = Payload { marker: action.key.clone(), bytes: vec![1] };
            let Some(action) = store.mark_sending(action.id, payload).await.unwrap() else { continue };
            match what % 5 {
                0 => store.mark_not_sent(action.id, now.plus(HOLD), "refused").await.unwrap(),
                1 => store.mark_dead(action.id, "never").await.unwrap(),
                // The answer is lost, and it may or may not have arrived.
                2 => store.mark_uncertain(action.id, now, "no answer").await.unwrap(),
                3 => {
                    *self.delivered.entry(action.key).or_default() += 1;
                    store.mark_uncertain(action.id, now, "no answer").await.unwrap();
                }
                _ => {
                    *self.delivered.entry(action.key).or_default() += 1;
                    store.mark_sent(action.id, receipt(action.id)).await.unwrap();
                }
            }
        }
    }

    async fn check(&mut self) {
        let store = &self.bench.store;
        let cases = store.cases(None, 1000).await.unwrap();
        let mut found = HashSet::new();
        for case in &cases {
            let record = store.case_record(case.id).await.unwrap();
            found.extend(record.items.iter().map(|item| item.key.clone()));
            assert_eq!(usize::try_from(case.items).unwrap(), record.items.len(), "{case:?}");
            let open = record.drafts.iter().filter(|draft| draft.state == DraftState::Open).count();
            assert!(open <= 1, "{case:?} has {open} open drafts");
            let review = case.state == CaseState::Review;
            assert!(!review || open == 1, "{case:?} waits for nothing");
            let live =
                |state| !matches!(state, ActionState::Sent | ActionState::Dead | ActionState::Cancelled);
            let out = record.actions.iter().filter(|action| live(action.state)).count();
            assert_eq!(out, usize::from(case.state == CaseState::Approved), "{case:?}");
            let running = record.runs.iter().filter(|run| run.ended_at.is_none()).count();
            assert!(running <= usize::from(case.state == CaseState::Running), "{case:?}");
            for action in &record.actions {
                let before = self.actions.insert(action.id.0, action.state);
                let ok = before.is_none_or(|was| was == action.state || !action_moves(was).is_empty());
                assert!(ok, "{before:?} -> {:?}: a final state was left", action.state);
            }
            self.cases.insert(case.id.0, case.state);
        }
        assert_eq!(found, self.work, "an item is in no case");
        assert_eq!(cases.len(), self.cases.len(), "a case is gone");
        assert!(self.delivered.values().all(|times| *times == 1), "{:?}", self.delivered);
        let counts = store.counts().await.unwrap();
        let counted: u64 = counts.cases.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, cases.len() as u64);
    }
}

fn receipt(id: ActionId) -> Receipt {
    Receipt { remote_id: format!("remote-{}", id.0), evidence: "250".into() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn nothing_is_lost_and_nothing_is_sent_twice(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut life = Life {
                bench: Bench::new().await,
                leases: Vec::new(),
                work: HashSet::new(),
                delivered: HashMap::new(),
                cases: HashMap::new(),
                actions: HashMap::new(),
            };
            for step in steps {
                life.step(step).await;
                life.check().await;
            }
            life.bench.store.close().await;
        });
    }
}

#[test]
fn every_case_can_come_to_rest() {
    for state in CaseState::ALL {
        assert!(CaseState::ALL.iter().any(|&next| next != state && case_may(state, next)), "{state:?}");
    }
}
