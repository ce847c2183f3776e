//! The queue: the store beside the raw limit, in one run.
#![expect(clippy::unwrap_used, reason = "a bench ends at the first fault")]

mod ours;
mod ratios;
mod raw;

use std::time::Duration;

use criterion::{Criterion, Throughput};

use ours::Ours;
pub use ours::item;
pub use ratios::ratios;
use raw::Raw;

/// A case's worth of JSON, as the store keeps it.
fn body() -> String {
    serde_json::to_string(&item(1)).unwrap()
}

fn per(total: Duration, count: u64, iterations: u64) -> Duration {
    Duration::from_secs_f64(total.as_secs_f64() * iterations as f64 / count as f64)
}

/// Everything under criterion, `synchronous=NORMAL`; the unit is one item or one case.
pub fn bench(c: &mut Criterion) {
    let body = body();
    let mut group = c.benchmark_group("queue");
    group.throughput(Throughput::Elements(1)).sample_size(10).measurement_time(Duration::from_secs(3));

    let dir = tempfile::tempdir().unwrap();
    let mut raw = Raw::open(dir.path(), true);
    let mut store = Ours::open(dir.path(), true);
    group.bench_function("raw/ingest_500", |b| {
        b.iter_custom(|n| per(raw.put(2000, 500, &body), 2000, n));
    });
    group.bench_function("ingest_500", |b| b.iter_custom(|n| per(store.ingest(2000, 500), 2000, n)));
    group.bench_function("raw/put_1", |b| b.iter_custom(|n| per(raw.put(500, 1, &body), 500, n)));
    group.bench_function("put_1", |b| b.iter_custom(|n| per(store.ingest(500, 1), 500, n)));
    group.bench_function("put_64", |b| {
        b.iter_custom(|n| per(store.put_from(64, 3200).0, 3200, n));
    });
    raw.queue_all();
    store.queue_all();
    for (name, batch, count) in [("raw/work_1", 1, 500), ("raw/work_50", 50, 2000)] {
        group.bench_function(name, |b| {
            b.iter_custom(|n| {
                raw.put(count, 500, &body);
                raw.queue_all();
                per(raw.work(count, batch), count.unsigned_abs(), n)
            });
        });
    }
    for (name, workers) in [("work_1", 1), ("work_4", 4)] {
        group.bench_function(name, |b| {
            b.iter_custom(|n| {
                store.ingest(2048, 500);
                store.queue_all();
                per(store.work(workers, 2048), 2048, n)
            });
        });
    }
    group.bench_function("dup_10k", |b| {
        b.iter_custom(|n| {
            let (taken, report) = store.again(1, 10_000);
            assert_eq!(report.seen_items, 10_000);
            per(taken, 10_000, n)
        });
    });
    group.finish();
    store.close();
}
