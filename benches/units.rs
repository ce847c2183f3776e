//! Units: read, parse, check, graph and plan of N files, against reading and parsing the same files and nothing else.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench ends at the first fault"
)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use criterion::Criterion;
use tempfile::TempDir;
use toml::de::DeTable;
use workagent::catalog::CATALOG;
use workagent::unit::registry::Registry;
use workagent::unit::search::SearchPath;
use workagent::unit::{self, CompileEnv, Compiled};

const SIZES: [(usize, &str); 3] = [(10, "10"), (1_000, "1k"), (10_000, "10k")];

/// A folder of units as a person writes them: of ten files four feeds, two env units, two engines and two routes.
struct Folder {
    dir: TempDir,
    files: Vec<PathBuf>,
    registry: Registry,
}

impl Folder {
    fn new(count: usize) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let files: Vec<PathBuf> = (0..count)
            .map(|number| {
                let (name, text) = synthetic(number);
                let path = dir.path().join(name);
                fs::write(&path, text).expect("a unit file");
                path
            })
            .collect();
        Self { dir, files, registry: CATALOG.registry() }
    }

    /// What `workagent validate` and the start of the daemon do.
    fn compile(&self) -> Compiled {
        let path = SearchPath { builtin: false, dirs: vec![self.dir.path().to_owned()], files: Vec::new() };
        let loaded = unit::load(&path, &[]);
        unit::compile(&loaded, &self.registry, &env())
    }

    /// The floor: the same files, listed, read and parsed.
    fn raw(&self) -> usize {
        let mut names: Vec<PathBuf> = fs::read_dir(self.dir.path())
            .expect("the directory")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        names.sort();
        assert_eq!(names.len(), self.files.len());
        names.iter().map(|path| keys(path)).sum()
    }
}

fn keys(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("a unit file");
    let (table, errors) = DeTable::parse_recoverable(&text);
    assert!(errors.is_empty());
    table.get_ref().len()
}

fn env() -> CompileEnv {
    CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into(), ..CompileEnv::default() }
}

fn synthetic(number: usize) -> (String, String) {
    let group = number / 10;
    match number % 10 {
        0..4 => (
            format!("feed-{number}.connector.toml"),
            format!(
                "# The news of team {number}.\n[unit]\ndescription = \"News {number}\"\n\n[connector]\nplatform = \"feed\"\n\
                 outbound = \"never\"\nbacklog = \"7d\"\n\n[feed]\nurl = \"https://example.org/{number}/feed.xml\"\n\
                 max_items_new = 20\n\n[schedule]\nevery = \"30m\"\n\n[install]\nenabled = true\n"
            ),
        ),
        4 | 5 => (
            format!("env-{number}.env.toml"),
            format!(
                "[set]\nTEAM = \"team-{number}\"\nAPI = {{ secret = \"team/{number}\" }}\n\n[pass]\nnames = [\"TERM\"]\n"
            ),
        ),
        6 | 7 => (
            format!("engine-{number}.engine.toml"),
            format!(
                "[unit]\ndescription = \"Answers {number}\"\n\n[engine]\nengine = \"template\"\nenv = [\"env-{}\"]\n\
                 concurrency = 2\ntimeout = \"5m\"\n\n[template]\ntext = \"Hello {{{{ name }}}}\"\n",
                group * 10 + 4
            ),
        ),
        _ => (
            format!("route-{number}.route.toml"),
            format!(
                "[route]\npriority = {number}\nengines = [\"engine-{}\", \"engine-{}\"]\non = [\"network\", \"overloaded\"]\n\
                 prompt = \"Answer briefly.\"\n\n[match]\nconnector = [\"feed-{}\"]\nlabels = [\"team-{number}\"]\n",
                group * 10 + 6,
                group * 10 + 7,
                group * 10
            ),
        ),
    }
}

/// `units/compile_*` and `raw/read_parse_*`.
pub fn bench(c: &mut Criterion) {
    for (count, name) in SIZES {
        let folder = Folder::new(count);
        let mut group = c.benchmark_group("units");
        group.sample_size(if count > 1_000 { 10 } else { 30 });
        group.bench_function(format!("compile_{name}"), |b| b.iter(|| black_box(folder.compile())));
        group.bench_function(format!("raw_read_parse_{name}"), |b| b.iter(|| black_box(folder.raw())));
        group.finish();
    }
}

/// Prints the medians and their ratio, both taken in turn in this run.
pub fn ratios() {
    for (count, name) in SIZES {
        let folder = Folder::new(count);
        let compiled = folder.compile();
        assert!(compiled.findings.is_empty(), "{:?}", compiled.findings.first());
        let rounds = if count > 1_000 { 5 } else { 15 };
        let (mut whole, mut raw) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let at = Instant::now();
            black_box(folder.compile());
            whole.push(at.elapsed());
            let at = Instant::now();
            black_box(folder.raw());
            raw.push(at.elapsed());
        }
        whole.sort();
        raw.sort();
        let (whole, raw) = (whole[rounds / 2], raw[rounds / 2]);
        let ratio = whole.as_secs_f64() / raw.as_secs_f64();
        println!("units/compile_{name}: {whole:.2?}, reading and parsing alone {raw:.2?}: {ratio:.2}x");
    }
}
