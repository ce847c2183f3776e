//! `cargo bench --bench bench -- ratios`: the ratios the goals speak of, from one run, as a small table.
#![expect(clippy::print_stdout, reason = "the report is the product")]

use std::time::Duration;

use super::body;
use super::ours::Ours;
use super::raw::Raw;

const ROUNDS: usize = 5;

/// Seconds of a thing done `count` times, the median of [`ROUNDS`].
struct Rates(Vec<(&'static str, Vec<f64>)>);

impl Rates {
    fn note(&mut self, name: &'static str, count: f64, taken: Duration) {
        let rate = count / taken.as_secs_f64();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rates)) => rates.push(rate),
            None => self.0.push((name, vec![rate])),
        }
    }

    fn of(&self, name: &str) -> f64 {
        let mut rates =
            self.0.iter().find(|(known, _)| *known == name).map(|(_, rates)| rates.clone()).unwrap();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap()
    }
}

fn row(goal: &str, what: &str, ours: f64, of: &str, theirs: f64, bar: &str) {
    println!("{goal:4} {what:32} {ours:>10.0}/s  {of:22} {theirs:>10.0}/s  {:>7.2}  {bar}", ours / theirs);
}

/// Bytes this process has handed to the disk so far.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// Times any thread of this process went to sleep by itself so far.
fn sleeps() -> u64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let of = |task: std::io::Result<std::fs::DirEntry>| {
        let status = std::fs::read_to_string(task.ok()?.path().join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    tasks.filter_map(of).sum()
}

/// Prints everything for both modes.
pub fn ratios() {
    for normal in [true, false] {
        println!("\nsynchronous={}", if normal { "NORMAL" } else { "FULL" });
        println!(
            "goal                                          ours  against                    theirs    ratio  goal"
        );
        speed(normal);
    }
    println!("\ngrowth (NORMAL)");
    depth();
    history();
    duplicates();
    bytes();
    idle();
}

fn idle() {
    const SPAN: Duration = Duration::from_secs(5);
    let dir = tempfile::tempdir().unwrap();
    let mut ours = Ours::open(dir.path(), false);
    ours.ingest(1000, 100);
    ours.queue_all();
    ours.work(1, 1000);
    settle();
    let before = sleeps();
    std::thread::sleep(SPAN);
    // One is this thread's own.
    println!("G12  idle: {} voluntary switches in {SPAN:?} (goal 0)", sleeps() - before - 1);
    ours.close();
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
        rates.note("raw/ingest_500", 20_000.0, raw.put(20_000, 500, &body));
        rates.note("ingest_500", 20_000.0, ours.ingest(20_000, 500));
        rates.note("raw/put_1", lone as f64, raw.put(lone, 1, &body));
        rates.note("put_1", lone as f64, ours.ingest(lone.unsigned_abs(), 1));
        let (taken, mut waits) = ours.put_from(64, puts);
        rates.note("put_64", puts as f64, taken);
        waits.sort();
        p99.push(waits.get(waits.len() * 99 / 100).copied().unwrap_or_default());
        raw.queue_all();
        ours.queue_all();
        rates.note("raw/work_1", lone as f64, raw.work(lone, 1));
        rates.note("raw/work_50", 10_000.0, raw.work(10_000, 50));
        rates.note("work_1", 8192.0, ours.work(1, 8192));
        rates.note("work_4", 8192.0, ours.work(4, 8192));
        ours.close();
    }
    p99.sort();
    let of = |name| rates.of(name);
    row("G1", "ingest, 500 a page", of("ingest_500"), "raw/ingest_500", of("raw/ingest_500"), ">= 0.7");
    row("", "put, one waiting", of("put_1"), "raw/put_1", of("raw/put_1"), "");
    let bar = if normal { ">= 2.2 (4.5)" } else { ">= 7" };
    row("G2", "put, 64 waiting", of("put_64"), "raw/put_1", of("raw/put_1"), bar);
    let bar = if normal { ">= 4" } else { ">= 8" };
    row("G3", "claim + end, 1 worker", of("work_1"), "raw/work_1", of("raw/work_1"), bar);
    row("G3", "claim + end, 1 worker", of("work_1"), "raw/work_50", of("raw/work_50"), ">= 0.65");
    row("G4", "claim + end, 4 workers", of("work_4"), "work_1", of("work_1"), ">= 1.0");
    println!(
        "G9   put, 64 waiting: p99 {:?} (goal <= 5 ms at NORMAL)",
        p99.get(p99.len() / 2).copied().unwrap_or_default()
    );
}

/// The copy of the log that follows a pause is over.
fn settle() {
    std::thread::sleep(Duration::from_secs(3));
}

/// Seconds for 512 claims and ends.
fn some_work(ours: &Ours) -> f64 {
    let mut taken: Vec<f64> = (0..ROUNDS).map(|_| ours.work(1, 512).as_secs_f64()).collect();
    taken.sort_by(f64::total_cmp);
    taken.get(ROUNDS / 2).copied().unwrap_or_default()
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
        let mut left = finished;
        while left > 0 {
            ours.ingest(20_000, 1000);
            ours.queue_all();
            ours.work(1, 20_000);
            left -= 20_000;
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
    let bytes = written() - before;
    println!(
        "G6   10 000 known items: {taken:?}, {bytes} bytes written, {} seen (goal <= 100 ms, 0)",
        report.seen_items
    );
    let start = ours.ingest(100_000, 200);
    println!("G6   100 000 new items in pages of 200: {start:?} (goal <= 3 s)");
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
