//! Read, parse, check, graph and plan of N files, against reading and parsing the same files and nothing else; how it
//! grows with their number, and what their ties to each other cost.

use std::hint::black_box;

use criterion::Criterion;

use super::folder::Folder;
use super::{busy, median, ratio, timed};

const SIZES: [(usize, &str); 3] = [(10, "10"), (1_000, "1k"), (10_000, "10k")];

/// Units in each shape of a graph.
const TIED: usize = 1_000;

/// `units/compile_*`, `units/raw_read_parse_*` and `units/graph_*`.
pub fn bench(c: &mut Criterion) {
    for (count, name) in SIZES {
        let folder = Folder::mixed(count);
        let mut group = c.benchmark_group("units");
        group.sample_size(if count > 1_000 { 10 } else { 30 });
        group.bench_function(format!("compile_{name}"), |b| b.iter(|| black_box(folder.compile())));
        group.bench_function(format!("raw_read_parse_{name}"), |b| b.iter(|| black_box(folder.raw())));
        group.finish();
    }
    for (name, ties) in SHAPES {
        let folder = tied(ties, true);
        let mut group = c.benchmark_group("units");
        group.sample_size(30);
        group.bench_function(format!("graph_{name}_1k"), |b| b.iter(|| black_box(folder.compile())));
        group.finish();
    }
}

/// Prints the medians and their ratios, all taken in turn in this run.
pub fn ratios() {
    let folders: Vec<Folder> = SIZES.iter().map(|(count, _)| Folder::mixed(*count)).collect();
    let mut grown = Vec::new();
    for ((count, name), folder) in SIZES.iter().zip(&folders) {
        let compiled = folder.compile();
        assert!(compiled.findings.is_empty(), "{:?}", compiled.findings.first());
        let rounds = if *count > 1_000 { 7 } else { 21 };
        let (mut whole, mut raw, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            whole.push(timed(|| folder.compile()));
            raw.push(timed(|| folder.raw()));
            cpu.push(busy(|| folder.compile()));
        }
        let (whole, raw, cpu) = (median(&mut whole), median(&mut raw), median(&mut cpu));
        let ratio = ratio(whole, raw);
        println!(
            "units/compile_{name}: {whole:.2?} ({cpu:.2?} of the processor), reading and parsing alone {raw:.2?}: \
             {ratio:.2}x"
        );
        grown.push((whole, cpu));
    }
    let (clock, processor) = (ratio(grown[2].0, grown[1].0), ratio(grown[2].1, grown[1].1));
    println!(
        "units/growth: 10,000 units cost {clock:.1}x of 1,000 ({processor:.1}x of the processor), goal 12"
    );

    for (name, ties) in SHAPES {
        let folders = [tied(ties, true), tied(ties, false)];
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..21 {
            for (folder, times) in folders.iter().zip(&mut times) {
                times.push(busy(|| folder.compile()));
            }
        }
        let [time, untied] = times.map(|mut times| median(&mut times));
        let ratio = ratio(time, untied);
        println!(
            "units/graph_{name}_1k: {time:.2?} of the processor, {ratio:.2} of {untied:.2?} for units that say as much and \
             need nobody, goal 1.3"
        );
    }
}

/// Which units, all of them before it, a unit needs.
type Ties = fn(usize) -> Vec<usize>;

const SHAPES: [(&str, Ties); 2] = [
    ("chain", |number| number.checked_sub(1).into_iter().collect()),
    ("dag", |number| {
        let mut ties = [number.checked_sub(1), Some(number / 2), Some(number / 3)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        ties.retain(|tie| *tie < number);
        ties.dedup();
        ties
    }),
];

/// Engines that need each other; or, not `really`, say as many words of the same length that tie nobody, so that what is
/// compared is the graph and not the text.
fn tied(ties: Ties, really: bool) -> Folder {
    let folder = Folder::of((0..TIED).map(|number| {
        let named: Vec<String> = ties(number).iter().map(|tie| format!("\"e-{tie}.engine\"")).collect();
        let list = named.join(", ");
        let unit = if really {
            format!("requires = [{list}]\nafter = [{list}]\n")
        } else {
            let comma = if list.is_empty() { "" } else { ", " };
            format!("documentation = [{list}{comma}{list}]\n")
        };
        let text =
            format!("[unit]\n{unit}\n[engine]\nengine = \"template\"\n\n[template]\ntext = \"Hello\"\n");
        (format!("e-{number}.engine.toml"), text)
    }));
    let compiled = folder.compile();
    assert!(compiled.findings.is_empty(), "{:?}", compiled.findings.first());
    assert_eq!(compiled.plan.off().count(), 0);
    folder
}
