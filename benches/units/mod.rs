//! Units: what a compile, a reload, a command and a cycle over them cost.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench ends at the first fault and prints its figures"
)]

mod compile;
mod cycle;
mod daemon;
pub mod folder;
mod peers;
mod reload;

use std::time::{Duration, Instant};

use criterion::Criterion;

pub use peers::peers;

/// Under criterion.
pub fn bench(c: &mut Criterion) {
    compile::bench(c);
    reload::bench(c);
    cycle::bench(c);
}

/// The ratios the goals speak of.
pub fn ratios() {
    compile::ratios();
    cycle::ratios();
    reload::ratios();
    daemon::ratios();
}

/// How long it takes.
fn timed<T>(act: impl FnOnce() -> T) -> Duration {
    let at = Instant::now();
    std::hint::black_box(act());
    at.elapsed()
}

/// The processor time of this thread that it takes.
fn busy<T>(act: impl FnOnce() -> T) -> Duration {
    let now = || {
        let at = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(at.tv_sec.unsigned_abs(), u32::try_from(at.tv_nsec).expect("under a second"))
    };
    let before = now();
    std::hint::black_box(act());
    now() - before
}

/// The value below which this part (0..1) of the others lies.
fn quantile(times: &mut [Duration], part: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * part).round() as usize]
}

fn median(times: &mut [Duration]) -> Duration {
    quantile(times, 0.5)
}

/// One in terms of the other.
fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
