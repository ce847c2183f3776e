//! Folders of made-up units.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toml::de::DeTable;
use workagent::catalog::CATALOG;
use workagent::unit::registry::Registry;
use workagent::unit::search::SearchPath;
use workagent::unit::{self, CompileEnv, Compiled};

/// A folder of units as a person writes them: of ten files four feeds, two env units, two engines and two routes.
pub struct Folder {
    dir: TempDir,
    files: usize,
    registry: Registry,
}

impl Folder {
    /// As a person writes them, so many.
    pub fn mixed(count: usize) -> Self {
        Self::of((0..count).map(mixed))
    }

    /// Files by name and text.
    pub fn of(units: impl IntoIterator<Item = (String, String)>) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut files = 0;
        for (name, text) in units {
            fs::write(dir.path().join(name), text).expect("a unit file");
            files += 1;
        }
        Self { dir, files, registry: CATALOG.registry() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What `workagent validate` and the start of the daemon do.
    pub fn compile(&self) -> Compiled {
        let path = SearchPath { builtin: false, dirs: vec![self.dir.path().to_owned()], files: Vec::new() };
        let loaded = unit::load(&path, &[]);
        unit::compile(&loaded, &self.registry, &env())
    }

    /// The floor: the same files, listed, read and parsed.
    pub fn raw(&self) -> usize {
        let mut names: Vec<PathBuf> = fs::read_dir(self.dir.path())
            .expect("the directory")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        names.sort();
        assert_eq!(names.len(), self.files);
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

/// One of ten: four feeds, two env units, two engines and two routes.
fn mixed(number: usize) -> (String, String) {
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
