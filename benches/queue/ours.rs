//! The store as its callers use it.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use tokio::runtime::Runtime;
use workagent::model::case::Lease;
use workagent::model::draft::Envelope;
use workagent::model::ids::CaseId;
use workagent::model::item::{Cursor, Disposition, Item, Party, ReplyWay};
use workagent::model::limits::LEASE;
use workagent::model::run::{RunFacts, Usage};
use workagent::model::time::Clock;
use workagent::store::{Admission, BeginRun, FinishRun, PageCommit, PageReport, RunEnd, Store, StoreOptions};

/// Claimed ahead of the worker, and ended behind it.
const AHEAD: usize = 64;

pub struct Ours {
    pub runtime: Runtime,
    pub store: Store,
    next: u64,
}

pub fn item(number: u64) -> Item {
    Item {
        key: format!("uid:0000000007:{number:010}"),
        revision: "1".into(),
        identities: Vec::new(),
        threads: vec![format!("<{number:010}@example.org>")],
        kind: "mail".into(),
        title: "About the plan".into(),
        author: Some(Party { name: "Pat".into(), address: String::new() }),
        at: None,
        url: None,
        body: "Could you look at this before Thursday, and say whether the second part can stay? ".repeat(2),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::To(Envelope { to: vec!["pat@example.org".into()], ..Envelope::default() }),
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

fn page(items: Vec<Item>, cursor: u64) -> PageCommit {
    PageCommit {
        connector: "mail".into(),
        identity: "me".into(),
        items,
        cursor: Some(Cursor(format!("{{\"uid\":{cursor}}}"))),
        generation: 1,
    }
}

impl Ours {
    pub fn open(dir: &Path, normal: bool) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = StoreOptions { path: dir.join("ours.db"), normal, clock: Clock::system() };
        let store = runtime.block_on(Store::open(options)).unwrap();
        Self { runtime, store, next: 1 }
    }

    pub fn close(&self) {
        self.runtime.block_on(self.store.close());
    }

    fn numbers(&mut self, count: u64) -> std::ops::Range<u64> {
        let first = self.next;
        self.next += count;
        first..self.next
    }

    /// Pages of new items, one after the other.
    pub fn ingest(&mut self, count: u64, batch: u64) -> Duration {
        let mut taken = Duration::ZERO;
        let mut left = count;
        while left > 0 {
            let size = batch.min(left);
            let numbers = self.numbers(size);
            let commit = page(numbers.clone().map(item).collect(), numbers.end);
            let start = Instant::now();
            self.runtime.block_on(self.store.commit_page(commit)).unwrap();
            taken += start.elapsed();
            left -= size;
        }
        taken
    }

    /// One page of things that are all known.
    pub fn again(&self, first: u64, count: u64) -> (Duration, PageReport) {
        let commit = page((first..first + count).map(item).collect(), first + count);
        let start = Instant::now();
        let report = self.runtime.block_on(self.store.commit_page(commit)).unwrap();
        (start.elapsed(), report)
    }

    /// So many tasks, each putting one item after the other and waiting until it is durable. Gives every wait.
    pub fn put_from(&mut self, tasks: u64, count: u64) -> (Duration, Vec<Duration>) {
        let each = count / tasks;
        let plans: Vec<_> = (0..tasks).map(|_| self.numbers(each)).collect();
        let start = Instant::now();
        let waits = self.runtime.block_on(async {
            let handles: Vec<_> = plans
                .into_iter()
                .map(|numbers| {
                    let store = self.store.clone();
                    #[expect(clippy::disallowed_methods, reason = "a bench of concurrent tasks")]
                    tokio::spawn(async move {
                        let mut waits = Vec::new();
                        for number in numbers {
                            let commit = page(vec![item(number)], number);
                            let start = Instant::now();
                            store.commit_page(commit).await.unwrap();
                            waits.push(start.elapsed());
                        }
                        waits
                    })
                })
                .collect();
            let mut waits = Vec::new();
            for handle in handles {
                waits.extend(handle.await.unwrap());
            }
            waits
        });
        (start.elapsed(), waits)
    }

    /// Routes everything new to engine `e`.
    pub fn queue_all(&self) {
        self.runtime.block_on(async {
            loop {
                let cases = self.store.new_cases(5000).await.unwrap();
                if cases.is_empty() {
                    return;
                }
                let to = Admission::Queue {
                    route: "r".into(),
                    engine: "e".into(),
                    priority: 0,
                    instead: None,
                    why: "all of it".into(),
                };
                let all: Vec<(CaseId, Admission)> =
                    cases.into_iter().map(|facts| (facts.case.id, to.clone())).collect();
                self.store.admit(all).await.unwrap();
            }
        });
    }

    /// So many workers with a no-op engine share what is queued, up to `count` cases in all.
    pub fn work(&self, workers: usize, count: usize) -> Duration {
        let start = Instant::now();
        let done: usize = self.runtime.block_on(async {
            let handles: Vec<_> = (0..workers)
                .map(|_| {
                    #[expect(clippy::disallowed_methods, reason = "a bench of concurrent tasks")]
                    tokio::spawn(worker(self.store.clone(), count / workers))
                })
                .collect();
            let mut done = 0;
            for handle in handles {
                done += handle.await.unwrap();
            }
            done
        });
        assert_eq!(done, count / workers * workers, "not enough was queued");
        start.elapsed()
    }
}

async fn worker(store: Store, count: usize) -> usize {
    let mut done = 0;
    let mut claimed = AHEAD.min(count);
    let mut leases = store.claim("e", claimed, LEASE).await.unwrap();
    while !leases.is_empty() {
        let ahead = AHEAD.min(count - claimed);
        claimed += ahead;
        let next =
            async { if ahead == 0 { Vec::new() } else { store.claim("e", ahead, LEASE).await.unwrap() } };
        let ends = join_all(leases.into_iter().map(|lease| one(&store, lease)));
        let (next, ends) = join(next, ends).await;
        done += ends.len();
        leases = next;
    }
    done
}

/// A run of an engine that has nothing to say.
async fn one(store: &Store, lease: Lease) {
    let (case, token) = (lease.case.id, lease.token);
    let BeginRun::Started(run) = store.begin_run(case, token, "e", 1, Default::default()).await.unwrap()
    else {
        return;
    };
    let end = RunEnd::NothingToDo { reason: "no-op".into() };
    let finish = FinishRun {
        case,
        token,
        run,
        end,
        usage: Usage::default(),
        facts: RunFacts::default(),
        labels: None,
        spent_micro_usd: None,
        generation: 1,
    };
    store.finish_run(finish).await.unwrap();
}
