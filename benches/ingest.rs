//! `ingest/100k`: items from a scripted source through the sync loop and the ingest runtime into the record, in pages of
//! 50: how many a second, and whether the last cost what the first did.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench ends at the first fault and prints its figures"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::runtime::Builder;
use workagent::model::class::PortError;
use workagent::model::item::{Cursor, Page, PollRequest};
use workagent::model::live::Live;
use workagent::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use workagent::model::secret_ref::SecretRef;
use workagent::model::time::{Clock, Timestamp};
use workagent::platform::Connector;
use workagent::runtime::ingest::IngestRuntime;
use workagent::runtime::sync::{SyncLoop, SyncParts};
use workagent::secret::{Scrubber, SecretError, SecretStore, SecretValue};
use workagent::store::{Store, StoreOptions};
use workagent::supervise::Cycle as _;
use workagent::unit::plan::Standing;

use crate::queue::item;
use crate::units::folder::Folder;

const ITEMS: u64 = 100_000;
const PAGE: u64 = 50;

/// Items whose times are compared: the first and the last of them.
const STRETCH: u64 = 10_000;

const CONNECTOR: &str = "[connector]\nplatform = \"feed\"\nbacklog = \"all\"\n[feed]\nurl = \"https://example.org/\"\n[install]\nenabled = true\n";
const ENGINE: &str =
    "[engine]\nengine = \"template\"\n[template]\ntext = \"Yes.\"\n[install]\nenabled = true\n";
const ROUTE: &str = "[route]\nengines = [\"polite\"]\n[install]\nenabled = true\n";

/// A source of so many items.
struct Source;

impl Connector for Source {
    fn identity(&self) -> String {
        "me".to_owned()
    }

    fn destination(&self) -> String {
        String::new()
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async { Ok(String::new()) })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        let from: u64 = request.cursor.map_or(0, |cursor| cursor.0.parse().unwrap());
        let to = (from + PAGE).min(ITEMS);
        let page = Page {
            items: (from..to).map(item).collect(),
            cursor: Some(Cursor(to.to_string())),
            more: to < ITEMS,
            ..Page::default()
        };
        Box::pin(async { Ok(page) })
    }

    fn prepare(&self, _: &OutboundAction, _: Timestamp) -> Result<Payload, PortError> {
        unreachable!("nothing is sent")
    }

    fn deliver<'a>(
        &'a self,
        _: &'a OutboundAction,
        _: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        unreachable!("nothing is sent")
    }

    fn confirm<'a>(
        &'a self,
        _: &'a OutboundAction,
        _: &'a Payload,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        unreachable!("nothing is sent")
    }
}

/// A store with nothing in it.
pub struct NoSecrets;

impl SecretStore for NoSecrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move { Err(SecretError::Missing { name: reference.to_string() }) })
    }
}

/// Prints the figures.
pub fn ratios() {
    let names = ["inbox.connector.toml", "polite.engine.toml", "all.route.toml"].map(str::to_owned);
    let folder = Folder::of(names.into_iter().zip([CONNECTOR, ENGINE, ROUTE].map(str::to_owned)));
    let plan = folder.compile().plan;
    let Some(Standing::Active(unit)) = plan.connectors.get("inbox") else { panic!("the connector is off") };
    let dir = tempfile::tempdir().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let path = dir.path().join("ours.db");
    let before = resident();
    let mut times = runtime.block_on(async {
        let clock = Clock::system();
        let options = StoreOptions { path: path.clone(), normal: false, clock: clock.clone() };
        let store = Store::open(options).await.unwrap();
        let sync = SyncLoop::new(SyncParts {
            unit: Arc::clone(unit),
            connector: Arc::new(Source),
            store: store.clone(),
            secrets: Arc::new(NoSecrets),
            scrubber: Scrubber::default(),
            clock,
            generation: Live::new(1),
        });
        let ingest = IngestRuntime::new(store.clone(), &plan);
        let mut times: Vec<(u64, Duration)> = Vec::new();
        let mut seen = 0;
        while seen < ITEMS {
            let start = Instant::now();
            sync.activate().await;
            ingest.activate().await;
            let taken = start.elapsed();
            // Each item is a case of its own.
            let now = store.counts().await.unwrap().cases.iter().map(|(_, count)| count).sum();
            assert!(now > seen, "no pass without items");
            times.push((now - seen, taken));
            seen = now;
        }
        store.close().await;
        times
    });
    let whole: Duration = times.iter().map(|(_, taken)| *taken).sum();
    let part = |times: &[(u64, Duration)]| {
        let (mut count, mut span) = (0, Duration::ZERO);
        for (items, taken) in times {
            if count >= STRETCH {
                break;
            }
            count += items;
            span += *taken;
        }
        span.as_secs_f64() / count as f64
    };
    let first = part(&times);
    times.reverse();
    let last = part(&times);
    println!(
        "ingest/100k: {:.0} items/s in pages of {PAGE}, each durable; last {STRETCH} ÷ first {:.2} (goal 1.2); {} MB \
         of memory more, {} MB on disk",
        ITEMS as f64 / whole.as_secs_f64(),
        last / first,
        (resident().saturating_sub(before)) >> 20,
        std::fs::metadata(path).unwrap().len() >> 20,
    );
}

/// Bytes of memory of this process.
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
