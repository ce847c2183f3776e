//! `cargo bench --bench bench -- ratios`: the ratios the goals speak of, from one run, as a small table.
//!
//! Beside the clock it shows processor time, which other work on the machine disturbs less.
#![expect(clippy::print_stdout, reason = "the report is the product")]

use std::time::Duration;

use super::body;
use super::ours::Ours;
use super::raw::Raw;

const ROUNDS: usize = 5;

/// Of each thing, round by round: how many a second, and the processor time of one in microseconds.
struct Rates(Vec<(&'static str, Vec<f64>, Vec<f64>)>);

impl Rates {
    /// Times `act`, which does a thing `count` times.
    fn note(&mut self, name: &'static str, count: f64, act: impl FnOnce() -> Duration) {
        let before = busy();
        let taken = act();
        let each_us = (busy() - before) as f64 / 1000.0 / count;
        let rate = count / taken.as_secs_f64();
        match self.0.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, rates, costs)) => {
                rates.push(rate);
                costs.push(each_us);
            }
            None => self.0.push((name, vec![rate], vec![each_us])),
        }
    }

    fn of(&self, name: &str) -> (f64, f64) {
        let (_, rates, costs) = self.0.iter().find(|(known, ..)| *known == name).unwrap();
        (median(rates), median(costs))
    }

    fn row(&self, goal: &str, what: &str, ours: &str, theirs: &str, bar: &str) {
        let ((rate, cost), (base, base_cost)) = (self.of(ours), self.of(theirs));
        let ratio = rate / base;
        println!(
            "{goal:4} {what:23} {rate:>7.0}/s {cost:>6.1} us   {theirs:14} {base:>7.0}/s {base_cost:>6.1} us \
             {ratio:>7.2}  {bar}"
        );
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// A number of every thread of this process, summed.
fn over_threads(file: &str, number: impl Fn(&str) -> Option<u64>) -> u64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let of = |task: std::io::Result<std::fs::DirEntry>| {
        number(&std::fs::read_to_string(task.ok()?.path().join(file)).ok()?)
    };
    tasks.filter_map(of).sum()
}

/// Nanoseconds on a processor so far.
fn busy() -> u64 {
    over_threads("schedstat", |text| text.split(' ').next()?.parse().ok())
}

/// Times a thread went to sleep by itself so far.
fn sleeps() -> u64 {
    over_threads("status", |text| {
        text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
    })
}

/// Bytes this process has handed to the disk so far.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// Prints everything for both modes.
pub fn ratios() {
    for normal in [true, false] {
        println!("\nsynchronous={}", if normal { "NORMAL" } else { "FULL" });
        println!(
            "goal what                       ours, processor   against          raw, processor    ratio  goal"
        );
        speed(normal);
    }
    println!("\ngrowth, bytes, rest (NORMAL)");
    depth();
    history();
    duplicates();
    bytes();
    idle();
}

fn speed(normal: bool) {
    let body = body();
    let mut rates = Rates(Vec::new());
    let mut p99 = Vec::new();
    for _ in 0..ROUNDS {
        let dir = tempfile::tempdir().unwrap();
        let mut raw = Raw::open(dir.path(), normal);
        let mut ours = Ours::open(dir.path(), normal);
        let (puts, lone) = if normal { (12_800, 1000) } else { (6400, 400) };
        rates.note("raw/ingest_500", 20_000.0, || raw.put(20_000, 500, &body));
        rates.note("ingest_500", 20_000.0, || ours.ingest(20_000, 500));
        rates.note("raw/put_1", lone as f64, || raw.put(lone, 1, &body));
        rates.note("put_1", lone as f64, || ours.ingest(lone.unsigned_abs(), 1));
        let mut waits = Vec::new();
        rates.note("put_64", puts as f64, || {
            let (taken, each) = ours.put_from(64, puts);
            waits = each;
            taken
        });
        waits.sort();
        p99.push(waits.get(waits.len() * 99 / 100).map_or(0.0, Duration::as_secs_f64) * 1000.0);
        raw.queue_all();
        ours.queue_all();
        rates.note("raw/work_1", lone as f64, || raw.work(lone, 1));
        rates.note("raw/work_50", 10_000.0, || raw.work(10_000, 50));
        rates.note("work_1", 8192.0, || ours.work(1, 8192));
        rates.note("work_4", 8192.0, || ours.work(4, 8192));
        ours.close();
    }
    rates.row("G1", "ingest, 500 a page", "ingest_500", "raw/ingest_500", ">= 0.7");
    rates.row("", "put, one waiting", "put_1", "raw/put_1", "");
    rates.row("G2", "put, 64 waiting", "put_64", "raw/put_1", if normal { ">= 2.2 (4.5)" } else { ">= 7" });
    rates.row("G3", "claim + end, 1 worker", "work_1", "raw/work_1", if normal { ">= 4" } else { ">= 8" });
    rates.row("G3", "claim + end, 1 worker", "work_1", "raw/work_50", ">= 0.65");
    rates.row("G4", "claim + end, 4 workers", "work_4", "work_1", ">= 1.0");
    println!("G9   put, 64 waiting: p99 {:.1} ms (goal <= 5 at NORMAL)", median(&p99));
}

/// The copy of the log that follows a pause is over.
fn settle() {
    std::thread::sleep(Duration::from_secs(3));
}

/// Processor time of 512 claims and ends.
fn some_work(ours: &Ours) -> f64 {
    let costs: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let before = busy();
            ours.work(1, 512);
            (busy() - before) as f64
        })
        .collect();
    median(&costs)
}

fn depth() {
    let cost = |pending: u64| {
        let dir = tempfile::tempdir().unwrap();
        let mut ours = Ours::open(dir.path(), true);
        ours.ingest(pending + 512 * ROUNDS as u64, 1000);
        ours.queue_all();
        settle();
        let cost = some_work(&ours);
        ours.close();
        cost
    };
    let (few, many) = (cost(1000), cost(50_000));
    println!("G5   claim + end with 50 000 pending costs {:.2} of that with 1 000 (goal <= 1.5)", many / few);
}

fn history() {
    let cost = |finished: u64| {
        let dir = tempfile::tempdir().unwrap();
        let mut ours = Ours::open(dir.path(), true);
        for _ in 0..finished / 20_000 {
            ours.ingest(20_000, 1000);
            ours.queue_all();
            ours.work(1, 20_000);
        }
        ours.ingest(512 * ROUNDS as u64 + 1000, 1000);
        ours.queue_all();
        settle();
        let cost = some_work(&ours);
        ours.close();
        cost
    };
    let (none, many) = (cost(0), cost(200_000));
    println!(
        "G5   claim + end with 200 000 finished costs {:.2} of that with none (goal <= 1.5)",
        many / none
    );
}

fn duplicates() {
    let dir = tempfile::tempdir().unwrap();
    let mut ours = Ours::open(dir.path(), true);
    ours.ingest(10_000, 10_000);
    settle();
    let before = written();
    let (taken, report) = ours.again(1, 10_000);
    println!(
        "G6   10 000 known items: {taken:.1?}, {} seen, {} bytes written (goal <= 100 ms, 0)",
        report.seen_items,
        written() - before
    );
    let taken = ours.ingest(100_000, 200);
    println!("G6   100 000 new items in pages of 200: {taken:.1?} (goal <= 3 s)");
    ours.close();
}

fn bytes() {
    const CASES: u64 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let mut ours = Ours::open(dir.path(), true);
    let before = written();
    ours.ingest(CASES, 500);
    let put = written();
    ours.queue_all();
    let queued = written();
    ours.work(1, 20_000);
    let worked = written();
    ours.close();
    let each = |from: u64, to: u64| (to - from) / CASES;
    println!(
        "G8   bytes written a case: put {}, route {}, claim + end {}, closing {} (goal <= 5000 in all)",
        each(before, put),
        each(put, queued),
        each(queued, worked),
        each(worked, written())
    );
}

fn idle() {
    const SPAN: Duration = Duration::from_secs(10);
    let dir = tempfile::tempdir().unwrap();
    let mut ours = Ours::open(dir.path(), false);
    ours.ingest(1000, 100);
    ours.queue_all();
    ours.work(1, 1000);
    settle();
    let before = sleeps();
    std::thread::sleep(SPAN);
    // One is this thread's own.
    println!("G12  idle: {} voluntary switches in {SPAN:?} (goal 0)", (sleeps() - before).saturating_sub(1));
    ours.close();
}
