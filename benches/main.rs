//! Benches: the product against the raw limit in the same run.
//!
//! `cargo bench` runs them under criterion; `cargo bench --bench bench -- ratios` prints the ratios the goals speak of,
//! `-- peers` those against other programs.

mod ingest;
mod queue;
mod spawn;
mod units;

fn main() {
    workagent::store::tune_allocator();
    if std::env::args().any(|argument| argument == "ratios") {
        queue::ratios();
        ingest::ratios();
        units::ratios();
        spawn::ratios();
        return;
    }
    if std::env::args().any(|argument| argument == "peers") {
        units::peers();
        return;
    }
    let mut criterion = criterion::Criterion::default().configure_from_args();
    queue::bench(&mut criterion);
    units::bench(&mut criterion);
    spawn::bench(&mut criterion);
    criterion.final_summary();
}
