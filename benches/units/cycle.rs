//! A cycle over 1,000 units that are off.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use futures_util::FutureExt as _;
use tokio::runtime::{Builder, Runtime};
use workagent::daemon::assembly::{Assembly, Options};
use workagent::daemon::paths::Paths;
use workagent::model::cycle::CycleSummary;
use workagent::model::environment::Environment;
use workagent::model::time::{Clock, Timestamp};
use workagent::secret::Scrubber;

use super::folder::Folder;
use super::{median, quantile, timed};

const COUNT: usize = 1_000;

/// All runtimes of which there is one, so that nothing takes part.
const ROOMS: [&str; 6] = ["ingest", "worker", "review", "outbound", "pending", "scheduler"];

/// A bundle of which every part is off, and the runtime it would run on.
struct Off {
    tokio: Runtime,
    assembly: Assembly,
    _places: (Folder, tempfile::TempDir),
}

impl Off {
    fn new() -> Self {
        let connectors = (0..COUNT).map(|number| {
            let text = "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://example.org/\"\n[install]\nenabled = false\n";
            (format!("feed-{number}.connector.toml"), text.to_owned())
        });
        let rooms = ROOMS.iter().map(|room| {
            let text = format!("[runtime]\nruntime = \"{room}\"\n[install]\nenabled = false\n");
            (format!("{room}.runtime.toml"), text)
        });
        let folder = Folder::of(connectors.chain(rooms));
        let compiled = folder.compile();
        let tokio = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let state = tempfile::tempdir().expect("a temporary directory");
        let options = Options {
            environment: Environment::default(),
            paths: Paths::below(state.path()).expect("its paths"),
            compiled,
            pinned: None,
            clock: Clock::system(),
            scrubber: Scrubber::default(),
        };
        let assembly = tokio.block_on(Assembly::open(options)).expect("an assembly");
        Self { tokio, assembly, _places: (folder, state) }
    }

    /// One cycle. It ends in the first poll: nothing in it waits for anything, so nothing can run beside it.
    fn cycle(&self) -> CycleSummary {
        self.assembly.bundle.app.cycle().now_or_never().expect("a cycle that waits for nothing")
    }

    /// Tasks on the runtime that have not ended. On one thread, none that was begun in a cycle can have.
    fn tasks(&self) -> usize {
        self.tokio.metrics().num_alive_tasks()
    }
}

/// `cycle/noop_1k`.
pub fn bench(c: &mut Criterion) {
    let off = Off::new();
    let _in_it = off.tokio.enter();
    c.benchmark_group("cycle").bench_function("noop_1k", |b| b.iter(|| black_box(off.cycle())));
}

/// Prints the median and what else must hold.
pub fn ratios() {
    let off = Off::new();
    let _in_it = off.tokio.enter();
    let before = off.tasks();
    let mut times: Vec<Duration> = (0..500).map(|_| timed(|| off.cycle())).collect();
    let spawned = off.tasks() - before;
    let without_times = |mut summary: CycleSummary| {
        (summary.started_at, summary.ended_at) = (Timestamp(0), Timestamp(0));
        serde_json::to_string(&summary).expect("a summary")
    };
    let first = without_times(off.cycle());
    assert!((0..100).all(|_| without_times(off.cycle()) == first), "the summary is not stable");
    let (p50, p99) = (median(&mut times), quantile(&mut times, 0.99));
    let parts = off.cycle().runtimes.len();
    println!(
        "cycle/noop_1k: p50 {p50:.1?}, p99 {p99:.1?}, goal 100 us; {parts} parts, {spawned} tasks spawned, the same \
         summary 100 times"
    );
}
