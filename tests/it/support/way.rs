//! The whole way in one process: real units, real record, real connectors on files; cycles are run by hand and the clock
//! moves only when told.

use std::path::{Path, PathBuf};

use workagent::daemon::assembly::{Assembly, Options, compile_units};
use workagent::daemon::paths::Paths;
use workagent::diag::Counts;
use workagent::model::case::Case;
use workagent::model::cycle::CycleSummary;
use workagent::model::draft::Draft;
use workagent::model::environment::Environment;
use workagent::model::outbound::OutboundAction;
use workagent::model::time::{Clock, Timestamp};
use workagent::secret::Scrubber;
use workagent::store::StoreError;
use workagent::unit::search::SearchPath;

pub const START: Timestamp = Timestamp(1_796_025_600_000);

/// A folder with units and a Maildir, and the bundle built from them.
pub struct Way {
    root: tempfile::TempDir,
    pub clock: Clock,
    more: Vec<(String, String)>,
    assembly: Option<Assembly>,
}

pub const INBOX: &str = r#"
[connector]
platform = "maildir"
backlog = "all"
hold = "0s"
[maildir]
path = "{root}/in"
address = ["me@example.org"]
out = "{root}/out"
[install]
enabled = true
"#;

pub const POLITE: &str = r#"
[engine]
engine = "template"
[template]
text = "Thank you for {{ title }}."
[install]
enabled = true
"#;

pub const ROUTE: &str = r#"
[route]
engines = ["polite"]
[match]
connector = ["inbox"]
[install]
enabled = true
"#;

/// An engine that is a shell command; it gets the prompt on its standard input.
pub fn shell(script: &str) -> String {
    format!(
        "[engine]\nengine = \"command\"\n[command]\nprogram = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n[install]\nenabled = true\n"
    )
}

pub fn mail(id: &str, subject: &str, extra: &str) -> String {
    format!(
        "From: Pat <pat@example.org>\nTo: me@example.org\nSubject: {subject}\nMessage-ID: <{id}@example.org>\n\
         Date: Mon, 30 Nov 2026 08:00:00 +0000\n{extra}\nHello, what about {subject}?\n"
    )
}

impl Way {
    pub async fn new(units: &[(&str, &str)]) -> Self {
        Self::with_environment(units, &[]).await
    }

    /// The same with more variables in the daemon's environment.
    pub async fn with_environment(units: &[(&str, &str)], more: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp", "units"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut way = Self { root, clock: Clock::manual(START), more, assembly: None };
        for (name, text) in units {
            way.unit(name, text);
        }
        way.start().await;
        way
    }

    /// The usual three units.
    pub async fn usual() -> Self {
        Self::of_inbox(INBOX).await
    }

    /// The usual three units, with another inbox.
    pub async fn of_inbox(inbox: &str) -> Self {
        Self::new(&[
            ("inbox.connector.toml", inbox),
            ("polite.engine.toml", POLITE),
            ("answers.route.toml", ROUTE),
        ])
        .await
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    pub fn unit(&self, name: &str, text: &str) {
        let text = text.replace("{root}", &self.path().display().to_string());
        std::fs::write(self.path().join("units").join(name), text).unwrap();
    }

    pub fn deliver(&self, name: &str, text: &str) {
        std::fs::write(self.path().join("in/new").join(format!("{name}.host")), text).unwrap();
    }

    /// Builds the bundle from what the folder says now, as a restarted daemon would.
    pub async fn start(&mut self) {
        if let Some(assembly) = self.assembly.take() {
            assembly.store.close().await;
        }
        let paths = Paths::below(self.path()).unwrap();
        let search = SearchPath { builtin: false, dirs: vec![self.path().join("units")], files: Vec::new() };
        let usual = [("PATH", "/usr/bin:/bin"), ("WAY_TOKEN", "way-token-0123456789")];
        let more = self.more.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let environment = Environment::of(usual.into_iter().chain(more));
        let compiled = compile_units(&search, &environment, paths.state.clone());
        assert_eq!(Counts::of(&compiled.findings).errors, 0, "{:?}", compiled.findings);
        let (clock, scrubber) = (self.clock.clone(), Scrubber::default());
        let options = Options { environment, paths, compiled, pinned: None, clock, scrubber };
        self.assembly = Some(Assembly::open(options).await.unwrap());
    }

    pub fn assembly(&self) -> &Assembly {
        self.assembly.as_ref().unwrap()
    }

    pub async fn cycle(&self) -> CycleSummary {
        self.assembly().bundle.app.cycle().await
    }

    pub async fn cases(&self) -> Vec<Case> {
        let mut cases = self.assembly().store.cases(None, 1000).await.unwrap();
        cases.sort_by_key(|case| case.id);
        cases
    }

    /// `c1 review`, one line a case, with the reason where there is one.
    pub async fn shown(&self) -> String {
        let line = |case: &Case| match &case.reason {
            Some(reason) => format!("{} {}: {reason}\n", case.id, case.state.word()),
            None => format!("{} {}\n", case.id, case.state.word()),
        };
        self.cases().await.iter().map(line).collect()
    }

    pub async fn drafts(&self) -> Vec<Draft> {
        self.assembly().store.open_drafts(false).await.unwrap()
    }

    pub async fn approve(&self, draft: &Draft) -> Result<(), StoreError> {
        self.assembly().bundle.desk.approve(draft.id, &draft.hash, "test", false).await.map(drop)
    }

    pub async fn actions(&self) -> Vec<OutboundAction> {
        self.assembly().store.actions(None, 1000).await.unwrap()
    }

    pub fn sent(&self) -> Vec<PathBuf> {
        ["new", "cur"].iter().flat_map(|folder| files(&self.path().join("out").join(folder))).collect()
    }
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
