//! `engine/spawn`: one child from start to swept tree, against a plain spawn with three pipes in the same run.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench ends at the first fault and prints its figures"
)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use criterion::Criterion;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use workagent::process::{ChildEnv, ChildLimits, ChildSpec, ProcessRoom};

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

/// The medians, taken in turns, and their ratio.
pub fn ratios() {
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
