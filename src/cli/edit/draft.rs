//! What is edited, what it would mean, and what of it is kept.

use std::collections::BTreeSet;

use crate::cli::error::CliError;
use crate::cli::units::{Own, UnitSet};
use crate::daemon::exit;
use crate::diag::{Finding, Severity};
use crate::unit::Compiled;
use crate::unit::load::{Role, UnitFile};
use crate::unit::plan::UnitName;

/// The name of the drop-in, as systemctl has it.
const FILE: &str = "override.toml";

/// What stands below is for the eye.
const MARKER: &str = "### What follows is only to look at; it is not kept ###";

/// A file being edited.
pub struct Draft {
    /// The file, with the text it has now; empty if it is not there.
    pub file: UnitFile,
    /// It is there.
    exists: bool,
    /// Shown above the text, not kept.
    head: String,
    /// Shown below the text, not kept.
    tail: String,
}

/// What a text would mean.
pub struct Look {
    /// The findings about the file, and new errors elsewhere.
    pub findings: Vec<Finding>,
    /// Errors that are not there now.
    pub new_errors: usize,
    /// For the places.
    pub compiled: Compiled,
}

impl Draft {
    /// A drop-in or, if `full`, a whole copy.
    ///
    /// # Errors
    /// There is nothing to copy.
    pub fn new(set: &UnitSet, own: &Own, name: &UnitName, full: bool) -> Result<Self, CliError> {
        let files = set.files(name);
        if full && files.main.is_some_and(|main| matches!(main.role, Role::Mask(_))) {
            let error = CliError::new(exit::FAILURE, format!("{name} is masked by a link to /dev/null"));
            return Err(error.hint(format!("workagent unmask {name}")));
        }
        if full {
            let there = files.all().find(|file| file.path == own.main(name, "").path);
            let source = there.or(files.main).ok_or_else(|| {
                CliError::new(exit::FAILURE, format!("the file of {name} cannot be read"))
                    .hint("workagent validate says why")
            })?;
            let file = own.main(name, &source.text);
            return Ok(Self { file, exists: there.is_some(), head: String::new(), tail: String::new() });
        }
        let fresh = own.drop_in(name, FILE, "");
        let there = files.all().find(|file| file.path == fresh.path).cloned();
        let head = format!("### {name}: keys written here count more than those below\n");
        let mut tail = format!("\n{MARKER}\n");
        for layer in files.all().filter(|layer| layer.path != fresh.path) {
            tail.push_str(&format!("\n### {}\n", set.short(&layer.path)));
            for line in set.masked(layer).lines() {
                tail.push_str(format!("# {line}").trim_end());
                tail.push('\n');
            }
        }
        Ok(Self { exists: there.is_some(), file: there.unwrap_or(fresh), head, tail })
    }

    /// What the editor gets.
    #[must_use]
    pub fn offered(&self) -> String {
        let blank = if self.tail.is_empty() || !self.file.text.is_empty() { "" } else { "\n" };
        format!("{}{blank}{}{}", self.head, self.file.text, self.tail)
    }

    /// Nobody touched it.
    #[must_use]
    pub fn is_as_offered(&self, text: &str) -> bool {
        text == self.offered()
    }

    /// Somebody wrote where nothing is kept.
    #[must_use]
    pub fn is_below_the_mark(&self, text: &str) -> bool {
        text.split_once(MARKER).is_some_and(|(_, below)| !self.tail.ends_with(below))
    }

    /// What of an edited text is kept.
    #[must_use]
    pub fn kept(&self, text: &str) -> String {
        if self.tail.is_empty() {
            return text.to_owned();
        }
        let above = text.split(MARKER).next().unwrap_or_default();
        let own = above.strip_prefix(self.head.as_str()).unwrap_or(above);
        let own = own.trim_matches('\n');
        if own.trim().is_empty() { String::new() } else { format!("{own}\n") }
    }

    /// It says what the file says.
    #[must_use]
    pub fn is_unchanged(&self, text: &str) -> bool {
        let same = text.trim() == self.file.text.trim();
        same && (self.exists || self.tail.is_empty() || text.trim().is_empty())
    }

    /// What it would mean among all other units.
    #[must_use]
    pub fn look(&self, set: &UnitSet, text: &str) -> Look {
        let compiled = set.with(UnitFile { text: text.into(), ..self.file.clone() });
        let before: BTreeSet<_> = errors(&set.compiled).map(|finding| key(&set.compiled, finding)).collect();
        let is_new = |finding: &Finding| {
            finding.severity == Severity::Error && !before.contains(&key(&compiled, finding))
        };
        let new_errors = compiled.findings.iter().filter(|finding| is_new(finding)).count();
        let here = |finding: &Finding| {
            let mut spans =
                std::iter::once(finding.span).chain(finding.labels.iter().map(|label| label.span));
            spans.any(|span| compiled.sources.path(span.source) == self.file.path)
        };
        let told = compiled.findings.iter().filter(|finding| here(finding) || is_new(finding));
        Look { findings: told.cloned().collect(), new_errors, compiled }
    }

    /// The file is not as it was when the editor was opened.
    #[must_use]
    pub fn changed_meanwhile(&self) -> bool {
        let now = std::fs::read_to_string(&self.file.path).ok();
        let was = self.exists.then(|| self.file.text.to_string());
        now != was
    }
}

fn errors(compiled: &Compiled) -> impl Iterator<Item = &Finding> {
    compiled.findings.iter().filter(|finding| finding.severity == Severity::Error)
}

/// What makes an error the same one after its line moved.
fn key(compiled: &Compiled, finding: &Finding) -> (&'static str, String, std::path::PathBuf) {
    let path = compiled.sources.path(finding.span.source).to_owned();
    (finding.check.code, finding.title.clone(), path)
}
