//! Tests of the store: one helper that plays the runtimes, many small tests.

mod by_hand;
mod crash;
mod file;
mod invariants;
mod keep;
mod life;
mod locked;
mod money;
mod outbound;
mod parked;
mod plans;
mod records;
mod rests;
mod review;
mod sync;
mod work;

use std::time::Duration;

use super::*;
use crate::model::case::{Case, CaseState, Lease};
use crate::model::draft::{Draft, Envelope};
use crate::model::ids::{CaseId, RunId};
use crate::model::item::{Cursor, Disposition, Item, ReplyWay};
use crate::model::limits::{CASE_ATTEMPTS_MAX, LEASE};
use crate::model::run::{RunFacts, Usage};

const START: Timestamp = Timestamp(1_796_000_000_000);
const HOLD: Duration = Duration::from_secs(30);

/// A store in a directory of its own, with a clock that moves only when told.
struct Bench {
    dir: tempfile::TempDir,
    clock: Clock,
    store: Store,
}

fn item(key: &str) -> Item {
    Item {
        key: key.to_owned(),
        revision: "1".to_owned(),
        identities: Vec::new(),
        threads: vec![format!("<{key}@example.org>")],
        kind: "mail".to_owned(),
        title: format!("About {key}"),
        author: None,
        at: None,
        url: None,
        body: "Could you look at this?".to_owned(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::To(envelope()),
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

fn envelope() -> Envelope {
    Envelope { to: vec!["pat@example.org".to_owned()], subject: "Re: plan".to_owned(), ..Envelope::default() }
}

/// An answer to the item with this key.
fn answer(key: &str, to: &str) -> Item {
    Item { threads: vec![format!("<{key}@example.org>"), format!("<{to}@example.org>")], ..item(key) }
}

fn page(items: Vec<Item>, cursor: &str) -> PageCommit {
    PageCommit {
        connector: "mail".to_owned(),
        identity: "me@example.org".to_owned(),
        items,
        cursor: Some(Cursor(cursor.to_owned())),
        generation: 1,
    }
}

impl Bench {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let store = open(dir.path(), &clock).await.unwrap();
        Self { dir, clock, store }
    }

    /// The next life of the program.
    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = open(self.dir.path(), &self.clock).await.unwrap();
    }

    async fn read(&self, items: Vec<Item>) -> PageReport {
        self.store.commit_page(page(items, "c")).await.unwrap()
    }

    /// Routes everything that is new to engine `e`.
    async fn route(&self) {
        let cases = self.store.new_cases(100).await.unwrap();
        let to = Admission::Queue {
            route: "r".into(),
            engine: "e".into(),
            priority: 0,
            instead: None,
            why: "all of it".into(),
        };
        let admissions = cases.into_iter().map(|facts| (facts.case.id, to.clone())).collect();
        self.store.admit(admissions).await.unwrap();
    }

    async fn claim(&self) -> Lease {
        let mut leases = self.store.claim("e", 1, LEASE).await.unwrap();
        leases.pop().expect("something to claim")
    }

    async fn begin(&self, lease: &Lease) -> RunId {
        match self.store.begin_run(lease.case.id, lease.token, "e", 1, Allowance::default()).await.unwrap() {
            BeginRun::Started(run) => run,
            BeginRun::OverBudget { .. } => panic!("no budget was given"),
        }
    }

    /// One item on its way: read, routed, claimed, begun.
    async fn running(&self, key: &str) -> (Lease, RunId) {
        self.read(vec![item(key)]).await;
        self.route().await;
        let lease = self.claim().await;
        let run = self.begin(&lease).await;
        (lease, run)
    }

    /// One item up to its draft.
    async fn drafted(&self, key: &str) -> Draft {
        let (lease, run) = self.running(key).await;
        let id = self.store.finish_run(reply(&lease, run, "Yes.")).await.unwrap().expect("a draft");
        self.store.draft(id).await.unwrap()
    }

    async fn case(&self, id: CaseId) -> Case {
        self.store.case_record(id).await.unwrap().case
    }

    async fn events(&self, id: CaseId) -> Vec<String> {
        self.store.case_record(id).await.unwrap().journal.into_iter().map(|row| row.event).collect()
    }
}

async fn open(dir: &std::path::Path, clock: &Clock) -> Result<Store> {
    let path = dir.join("state").join("work.db");
    Store::open(StoreOptions { path, normal: true, clock: clock.clone() }).await
}

fn finish(lease: &Lease, run: RunId, end: RunEnd) -> FinishRun {
    FinishRun {
        case: lease.case.id,
        token: lease.token,
        run,
        end,
        usage: Usage::default(),
        facts: RunFacts::default(),
        labels: None,
        spent_micro_usd: None,
        generation: 1,
    }
}

fn reply(lease: &Lease, run: RunId, body: &str) -> FinishRun {
    let end = RunEnd::Draft {
        connector: "mail".into(),
        envelope: envelope(),
        body: body.into(),
        made_by: "template".into(),
        remarks: vec!["short".into()],
    };
    finish(lease, run, end)
}

fn failed(lease: &Lease, run: RunId, next: AfterFailure) -> FinishRun {
    finish(lease, run, RunEnd::Failed { word: "exit".into(), detail: "exit status 3".into(), next })
}

/// The text of a refusal.
fn why<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.expect_err("a refusal").to_string()
}
