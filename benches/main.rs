//! Benches: the product against the raw limit in the same run.
//!
//! `cargo bench` runs them under criterion; `cargo bench --bench bench -- ratios` prints the ratios the goals speak of,
//! `-- ratios spawn` those of one room, `-- peers` those against other programs.

mod ingest;
mod queue;
mod spawn;
mod units;

fn main() {
    workagent::store::tune_allocator();
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.iter().any(|argument| argument == "ratios") {
        let rooms: [(&str, fn()); 4] = [
            ("queue", queue::ratios),
            ("ingest", ingest::ratios),
            ("units", units::ratios),
            ("spawn", spawn::ratios),
        ];
        let named = rooms.iter().any(|(room, _)| given.iter().any(|argument| argument == room));
        for (room, ratios) in rooms {
            if !named || given.iter().any(|argument| argument == room) {
                ratios();
            }
        }
        return;
    }
    if given.iter().any(|argument| argument == "peers") {
        units::peers();
        return;
    }
    let mut criterion = criterion::Criterion::default().configure_from_args();
    queue::bench(&mut criterion);
    units::bench(&mut criterion);
    spawn::bench(&mut criterion);
    criterion.final_summary();
}
