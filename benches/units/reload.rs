//! One of 1,000 unit files is saved by rename: how long until the new bundle is live, with the watcher and the reloader
//! of the daemon, and what was left alone meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use workagent::bundle::RunningBundle;
use workagent::control::api::Present;
use workagent::control::manager::{Manager as _, Why};
use workagent::daemon::assembly::{Assembly, Options};
use workagent::daemon::lock::InstanceLock;
use workagent::daemon::logging::Log;
use workagent::daemon::paths::Paths;
use workagent::daemon::reload::{Reloader, Rooms, Start};
use workagent::daemon::service_manager::ServiceManager;
use workagent::daemon::unit_source::UnitSource;
use workagent::daemon::watch::{WatchOptions, Watcher};
use workagent::diag::Severity;
use workagent::model::environment::Environment;
use workagent::model::live::Live;
use workagent::model::time::{Clock, Timestamp};
use workagent::runtime::RuntimeRecord;
use workagent::secret::Scrubber;
use workagent::supervise::Board;
use workagent::unit::compile::{CompileEnv, Compiler, LastGood};
use workagent::unit::plan::{ConnectorUnit, Plan, Standing};
use workagent::unit::search::SearchPath;

use super::{median, quantile, ratio, timed};

/// Unit files.
pub const COUNT: usize = 1_000;

/// Saves in the ratios.
const ROUNDS: usize = 60;

/// A unit of ten as in the other benches, but for the connectors, which look at folders of their own, now and then.
pub fn local(number: usize, root: &Path) -> (String, String) {
    let group = number / 10;
    match number % 10 {
        0..4 => (format!("in-{number}.connector.toml"), connector(root, "4h")),
        4 | 5 => (format!("env-{number}.env.toml"), format!("[set]\nTEAM = \"team-{number}\"\n")),
        6 | 7 => (
            format!("engine-{number}.engine.toml"),
            format!(
                "[engine]\nengine = \"template\"\nenv = [\"env-{}\"]\n\n[template]\ntext = \"Hello\"\n",
                group * 10 + 4
            ),
        ),
        _ => (
            format!("route-{number}.route.toml"),
            format!(
                "[route]\npriority = {number}\nengines = [\"engine-{}\"]\n\n[match]\nconnector = [\"in-{}\"]\n",
                group * 10 + 6,
                group * 10
            ),
        ),
    }
}

/// A connector; how often it looks is what is edited.
pub fn connector(root: &Path, every: &str) -> String {
    format!(
        "# What comes in.\n[connector]\nplatform = \"directory\"\noutbound = \"never\"\n\n[directory]\npath = \"{}\"\n\n\
         [schedule]\nevery = \"{every}\"\nat_start = false\n\n[install]\nenabled = true\n",
        root.join("in").display()
    )
}

/// As editors save: a file beside it, then a rename.
pub fn save(path: &Path, text: &str) {
    let beside = path.with_extension("toml~");
    std::fs::write(&beside, text).expect("a file beside it");
    std::fs::rename(&beside, path).expect("a rename");
}

/// The daemon but for its socket and signals.
struct Live1k {
    tokio: Runtime,
    root: tempfile::TempDir,
    reloader: Reloader,
    watcher: Watcher,
    board: Board<RuntimeRecord>,
    present: Live<Present>,
    _lock: InstanceLock,
}

/// A change from the save to the live bundle.
struct Change {
    /// All of it.
    whole: Duration,
    /// From when the watcher said so, with the plan on disk.
    reload: Duration,
    /// From when the watcher said so until it was live; told in whole milliseconds.
    live: Duration,
}

impl Live1k {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        for name in ["units", "in"] {
            std::fs::create_dir(root.path().join(name)).expect("a folder");
        }
        for (name, text) in (0..COUNT).map(|number| local(number, root.path())) {
            std::fs::write(root.path().join("units").join(name), text).expect("a unit file");
        }
        let tokio = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let entered = tokio.enter();
        let environment = Environment::of([("PATH", "/usr/bin:/bin")]);
        let paths = Paths::below(root.path()).expect("its paths");
        let search = search(root.path());
        let mut files = UnitSource::new(search.clone(), &environment, &paths);
        let (clock, scrubber) = (Clock::system(), Scrubber::default());
        let compiled = files.look(clock.now());
        let error = compiled.findings.iter().find(|finding| finding.severity == Severity::Error);
        assert!(error.is_none(), "{error:?}");
        let options = Options { environment, paths, compiled, pinned: None, clock, scrubber };
        let assembly = tokio.block_on(Assembly::open(options)).expect("an assembly");
        let present = assembly.api_state().present;
        let Assembly { bundle, store, compiled, secrets, environment, clock, lock, .. } = assembly;
        let board = bundle.board.clone();
        let running = RunningBundle::start(bundle);
        let service = ServiceManager::of(&Environment::default());
        let mut watcher = Watcher::new(search, WatchOptions::default());
        let log = Log::unheard(clock.clone());
        let rooms = Rooms {
            store,
            secrets,
            environment,
            clock,
            service,
            watched: watcher.modes(),
            log,
            told: Arc::default(),
        };
        let reloader = Reloader::new(rooms, Start { files, compiled, running }, present.clone());
        // The first look comes by itself.
        tokio.block_on(watcher.changed());
        drop(entered);
        Self { tokio, root, reloader, watcher, board, present, _lock: lock }
    }

    /// Saves the first connector, and waits for what comes of it.
    fn change(&mut self, every: &str) -> Change {
        let Self { tokio, root, reloader, watcher, .. } = self;
        let path = root.path().join("units/in-0.connector.toml");
        let text = connector(root.path(), every);
        tokio.block_on(async {
            let at = Instant::now();
            save(&path, &text);
            watcher.changed().await;
            let seen = Instant::now();
            let view = reloader.reload(Why::Watch, false).await.expect("a reload");
            let (whole, reload) = (at.elapsed(), seen.elapsed());
            let change = Change { whole, reload, live: Duration::from_millis(view.took_ms) };
            let touched: Vec<&str> = view.changes.iter().map(|change| change.unit.as_str()).collect();
            assert_eq!((touched.as_slice(), view.outcome.word()), (["in-0.connector"].as_slice(), "applied"));
            change
        })
    }

    /// When each unit that has a driver was entered last, and when it is due: both are new for one that began again.
    fn lives(&self) -> BTreeMap<String, (Timestamp, Option<Timestamp>)> {
        let all = self.board.all();
        all.into_iter().map(|(unit, status)| (unit, (status.since, status.next_due))).collect()
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.present.get().plan)
    }

    /// Stops, and lends the folder.
    fn stop(self, then: impl FnOnce(&Path)) {
        let outcome = self.tokio.block_on(self.reloader.stop(&CancellationToken::new()));
        assert!(outcome.graceful);
        then(self.root.path());
    }
}

fn search(root: &Path) -> SearchPath {
    SearchPath { builtin: true, dirs: vec![root.join("units")], files: Vec::new() }
}

/// Two values in turn, so that each save is a change.
fn every(round: usize) -> &'static str {
    ["2h", "3h"][round % 2]
}

/// `units/reload_1k`: with the wait for quiet in it.
pub fn bench(c: &mut Criterion) {
    let mut live = Live1k::new();
    let round = std::cell::Cell::new(0);
    let mut group = c.benchmark_group("units");
    group.sample_size(20);
    group.bench_function("reload_1k", |b| {
        let next = || every(round.replace(round.get() + 1));
        b.iter_batched(next, |every| live.change(every), BatchSize::PerIteration);
    });
    group.finish();
    live.stop(|_| {});
}

/// Prints the medians, what was left alone, and what reading and compiling all of it anew costs in the same run.
pub fn ratios() {
    let mut live = Live1k::new();
    let (mut whole, mut reload, mut live_after) = (Vec::new(), Vec::new(), Vec::new());
    let (lives, plan) = (live.lives(), live.plan());
    for round in 0..ROUNDS {
        let change = live.change(every(round));
        whole.push(change.whole.saturating_sub(WatchOptions::default().quiet));
        reload.push(change.reload);
        live_after.push(change.live);
    }
    // A driver that begins anew is entered when its turn comes.
    std::thread::sleep(Duration::from_millis(300));
    let (lives, began) = (live.lives(), lives);
    let again: Vec<&String> =
        lives.iter().filter(|(unit, life)| began.get(*unit) != Some(life)).map(|(unit, _)| unit).collect();
    assert_eq!(again, ["in-0.connector"], "of {} units", lives.len());
    let same = same_connectors(&plan, &live.plan());
    live.stop(|root| {
        let mut fresh: Vec<Duration> = (0..11).map(|_| timed(|| from_nothing(root))).collect();
        let (parsed, parts) = parsed_again(root);
        let fresh = median(&mut fresh);
        let (p50, p95, reload) = (median(&mut whole), quantile(&mut whole, 0.95), median(&mut reload));
        let live_after = median(&mut live_after);
        let ratio = ratio(p50, fresh);
        println!(
            "units/reload_1k: live {live_after:.1?} after the watcher spoke, goal 15 ms; save to plan on disk without the \
             wait for quiet p50 {p50:.1?}, p95 {p95:.1?}; the reload alone {reload:.1?}; loading and compiling all anew {fresh:.1?}: {ratio:.2}x"
        );
        println!(
            "units/reload_1k: {} runtimes, 1 began anew in {ROUNDS} saves; {same} connectors are the same parts; of {parts} \
             units {parsed} were parsed again",
            lives.len()
        );
    });
}

/// How many connectors of the two plans are one and the same part.
fn same_connectors(before: &Plan, now: &Plan) -> usize {
    let on = |plan: &Plan, name: &str| -> Option<Arc<ConnectorUnit>> {
        match plan.connectors.get(name)? {
            Standing::Active(unit) => Some(Arc::clone(unit)),
            Standing::Off(_) => None,
        }
    };
    let same = |name: &&String| match (on(before, name), on(now, name)) {
        (Some(one), Some(other)) => Arc::ptr_eq(&one, &other),
        _ => false,
    };
    now.connectors.keys().filter(same).count()
}

/// What a reload would be without memory.
fn from_nothing(root: &Path) -> usize {
    let registry = workagent::catalog::CATALOG.registry();
    let loaded = workagent::unit::load(&search(root), registry.shipped);
    workagent::unit::compile(&loaded, &registry, &env()).canonical.len()
}

fn env() -> CompileEnv {
    CompileEnv { home: Some("/home/me".into()), state_dir: PathBuf::from("/state"), ..CompileEnv::default() }
}

/// Units of which a second compile has another canonical text than the first, by identity: a text is written once for
/// each time that the unit's files were parsed. One file is saved between the two.
fn parsed_again(root: &Path) -> (usize, usize) {
    let registry = workagent::catalog::CATALOG.registry();
    let mut compiler = Compiler::new(registry.clone());
    let mut compile = || {
        let loaded = workagent::unit::load(&search(root), registry.shipped);
        compiler.compile(&loaded, &env(), &LastGood::new())
    };
    let first = compile();
    save(&root.join("units/in-0.connector.toml"), &connector(root, "5h"));
    let second = compile();
    let same =
        |name, text: &Arc<str>| second.canonical.get(name).is_some_and(|other| Arc::ptr_eq(text, other));
    let again = first.canonical.iter().filter(|(name, text)| !same(*name, text)).count();
    assert_eq!(again, 1);
    (again, first.canonical.len())
}
