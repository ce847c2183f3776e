//! `engine/spawn`: one child from start to swept tree, against a plain spawn with three pipes in the same run.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench ends at the first fault and prints its figures"
)]

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::Criterion;
use futures_util::{StreamExt as _, stream};
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use workagent::catalog::CATALOG;
use workagent::engine::{EngineContext, ExecutionEngine};
use workagent::http::HttpRoom;
use workagent::model::environment::Environment;
use workagent::model::ids::CaseId;
use workagent::model::run::{EngineRequest, EngineResult, PromptSlot, RunLimits};
use workagent::model::time::Clock;
use workagent::process::{ChildEnv, ChildLimits, ChildSpec, ProcessRoom};
use workagent::unit::plan::Standing;

use crate::ingest::{NoSecrets, resident};
use crate::queue::item;
use crate::units::folder::Folder;

const LONG: Duration = Duration::from_secs(60);

/// Children of each kind in the ratios.
const ROUNDS: usize = 500;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn plain() {
    #[expect(clippy::disallowed_methods, reason = "what the process room is measured against")]
    let mut command = tokio::process::Command::new("/bin/true");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().await.unwrap();
}

async fn ours(room: &ProcessRoom) {
    let spec = ChildSpec {
        program: "/bin/true".into(),
        args: Vec::new(),
        env: ChildEnv::default(),
        cwd: "/".into(),
        stdin: Vec::new(),
        limits: ChildLimits {
            first_output: LONG,
            idle: LONG,
            total: LONG,
            line_bytes_max: 1 << 20,
            stdout_bytes_max: 1 << 20,
        },
    };
    room.run(spec, &CancellationToken::new(), &mut |_| {}).await.unwrap();
}

/// Under criterion.
pub fn bench(criterion: &mut Criterion) {
    let (runtime, dir) = (runtime(), tempfile::tempdir().unwrap());
    let room = ProcessRoom::new(dir.path().to_owned());
    let mut group = criterion.benchmark_group("engine/spawn");
    group.bench_function("plain", |bench| bench.iter(|| runtime.block_on(plain())));
    group.bench_function("room", |bench| bench.iter(|| runtime.block_on(ours(&room))));
    group.finish();
}

/// Runs of an engine in the ratios, and so many at once.
const RUNS: usize = 1_000;
const AT_ONCE: usize = 4;

/// Output of one run, which is counted and thrown away.
const FLOOD_BYTES: u64 = 200 * 1024 * 1024;

/// What the medians say, then whole runs of the engine `command` against the same loop in plain tokio.
pub fn ratios() {
    children();
    runs();
    flood();
}

/// A whole engine: prompt, environment, run directory, watching, reading the answer, sweeping.
struct Bench {
    engine: ExecutionEngine,
    dir: tempfile::TempDir,
}

impl Bench {
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let unit = format!(
            "[engine]\nengine = \"command\"\nconcurrency = 4\n[command]\nprogram = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n[install]\nenabled = true\n"
        );
        let folder = Folder::of([("hand.engine.toml".to_owned(), unit)]);
        let plan = folder.compile().plan;
        let Some(Standing::Active(unit)) = plan.engines.get("hand") else { panic!("the engine is off") };
        let context = EngineContext {
            secrets: Arc::new(NoSecrets),
            http: HttpRoom::default(),
            process: ProcessRoom::new(dir.path().join("children")),
            environment: Environment::of([("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent")]),
            clock: Clock::system(),
        };
        let engine = (CATALOG.engine("command").unwrap().build)(unit, context).unwrap();
        Self { engine, dir }
    }

    async fn run(&self, number: usize) -> bool {
        let run_dir = self.dir.path().join(format!("run-{number}"));
        std::fs::create_dir(&run_dir).unwrap();
        let limits = RunLimits { first_event: LONG, idle: LONG, total: LONG };
        let outcome = self.engine.run(&request(), limits, &run_dir, &CancellationToken::new()).await;
        std::fs::remove_dir_all(&run_dir).unwrap();
        matches!(outcome.map(|outcome| outcome.result), Ok(EngineResult::Reply(text)) if text == "Yes.")
    }
}

fn request() -> EngineRequest {
    EngineRequest {
        session: None,
        prompt: PromptSlot::default(),
        case: CaseId(1),
        connector: "mail".into(),
        attempt: 1,
        instruction: String::new(),
        items: vec![item(1)],
        items_total: 1,
        notes: Vec::new(),
    }
}

const SCRIPT: &str = "cat >/dev/null; echo Yes.";

async fn plain_run(prompt: &[u8]) {
    #[expect(clippy::disallowed_methods, reason = "what the engine is measured against")]
    let mut command = tokio::process::Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that ends without reading is no fault here.
    let _ = stdin.write_all(prompt).await;
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.stdout, b"Yes.\n");
}

fn runs() {
    let runtime = runtime();
    let bench = Bench::new(SCRIPT);
    let prompt = vec![b'x'; 2_000];
    let (plain, ours) = runtime.block_on(async {
        let (mut plain, mut ours) = (Duration::ZERO, Duration::ZERO);
        // In turns of a hundred, so that both meet the same weather.
        for turn in 0..RUNS / 100 {
            let start = Instant::now();
            stream::iter(0..100).for_each_concurrent(AT_ONCE, |_| plain_run(&prompt)).await;
            plain += start.elapsed();
            let start = Instant::now();
            let run = |number| bench.run(turn * 100 + number);
            let well =
                stream::iter(0..100).map(run).buffer_unordered(AT_ONCE).all(|well| async move { well }).await;
            assert!(well, "a run without its answer");
            ours += start.elapsed();
        }
        (plain, ours)
    });
    println!(
        "engine/run: {RUNS} runs, {AT_ONCE} at a time: plain {:.2?} each, engine {:.2?} each, ratio {:.2} (goal 1.3)",
        plain / u32::try_from(RUNS).unwrap(),
        ours / u32::try_from(RUNS).unwrap(),
        ours.as_secs_f64() / plain.as_secs_f64()
    );
}

fn flood() {
    let runtime = runtime();
    let bench =
        Bench::new(&format!("cat >/dev/null; head -c {FLOOD_BYTES} /dev/zero | tr '\\0' 'a' | fold -w 4000"));
    let before = resident();
    let most = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    runtime.block_on(async {
        let seen = Arc::clone(&most);
        let watch = async move {
            loop {
                seen.fetch_max(resident(), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            well = bench.run(0) => assert!(!well, "a flood is no reply"),
            () = watch => {}
        }
    });
    println!(
        "engine/flood: a program that writes {} MB: ended after {:.2?}, at most {:.1} MB of memory more (goal 20)",
        FLOOD_BYTES >> 20,
        start.elapsed(),
        most.load(Ordering::Relaxed).saturating_sub(before) as f64 / (1 << 20) as f64,
    );
}

/// The medians, taken in turns, and their ratio.
fn children() {
    let (runtime, dir) = (runtime(), tempfile::tempdir().unwrap());
    let room = ProcessRoom::new(dir.path().to_owned());
    let (mut plain_times, mut our_times) = (Vec::new(), Vec::new());
    runtime.block_on(async {
        for _ in 0..ROUNDS {
            let start = Instant::now();
            plain().await;
            plain_times.push(start.elapsed());
            let start = Instant::now();
            ours(&room).await;
            our_times.push(start.elapsed());
        }
    });
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    let (plain, ours) = (median(&mut plain_times), median(&mut our_times));
    println!(
        "engine/spawn: plain {plain:?}, room {ours:?}, ratio {:.2}",
        ours.as_secs_f64() / plain.as_secs_f64()
    );
}
