//! Findings: messages about unit files, with the exact place, and their three dresses: for people, for machines, for CI.

pub mod fix;
pub mod json;
pub mod mask;
pub mod render;
pub mod short;
pub mod source;

use std::cmp::Ordering;

use serde::Serialize;

pub use source::{Source, SourceId, SourceMap, Span};

use crate::model::limits;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The unit is quarantined.
    Error,
    /// The unit runs, but hardly as its owner thinks.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A kind of finding, with its own documentation.
#[derive(Debug)]
pub struct Check {
    /// The stable name, kebab-case.
    pub code: &'static str,
    /// The level it is reported with, unless a finding says otherwise.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Why it is bad, for people.
    pub why: &'static str,
    /// A unit file that has it, and the same one mended.
    pub example: Option<Example>,
}

/// A faulty unit file and the same one mended.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The file's name.
    pub file: &'static str,
    /// With the fault.
    pub before: &'static str,
    /// Without it.
    pub after: &'static str,
}

/// One message. Its texts never hold a secret value; source lines are masked when they are shown.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What kind.
    pub check: &'static Check,
    /// How bad.
    pub severity: Severity,
    /// One short lower-case sentence.
    pub title: String,
    /// Where.
    pub span: Span,
    /// What stands there, a few words; may be empty.
    pub label: String,
    /// Further places that have to do with it.
    pub labels: Vec<Label>,
    /// Where the requirement comes from, what happens now.
    pub notes: Vec<String>,
    /// How to mend it.
    pub suggestion: Option<Suggestion>,
}

/// A further place.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// A few words.
    pub text: String,
}

/// How to mend a finding.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// "write `every`".
    pub text: String,
    /// The edit, where we know it exactly.
    pub patch: Option<Patch>,
}

/// An exact edit.
#[derive(Clone, Debug)]
pub struct Patch {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
}

impl Finding {
    /// A finding with the check's own severity.
    #[must_use]
    pub fn new(check: &'static Check, span: Span, title: impl Into<String>) -> Self {
        Self {
            check,
            severity: check.severity,
            title: title.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            suggestion: None,
        }
    }

    /// With a few words at the place itself.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// With a further place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With a hint how to mend it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.suggestion = Some(Suggestion { text: text.into(), patch: None });
        self
    }

    /// With a hint and the exact edit.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        let patch = Some(Patch { span, replacement: replacement.into() });
        self.suggestion = Some(Suggestion { text: text.into(), patch });
        self
    }
}

/// Numbers of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Infos.
    pub infos: usize,
}

impl Counts {
    /// Counts findings.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
        }
    }
}

/// Sorts findings by file, place and code, drops repeats, and cuts each file's to
/// `limits::FINDINGS_PER_FILE_MAX`, errors first. Returns how many were cut in which file.
pub fn settle(findings: &mut Vec<Finding>, sources: &SourceMap) -> Vec<(SourceId, usize)> {
    let by_path = |a: &Finding, b: &Finding| -> Ordering {
        sources.path(a.span.source).cmp(sources.path(b.span.source)).then(a.span.source.cmp(&b.span.source))
    };
    let by_place = |a: &Finding, b: &Finding| -> Ordering {
        by_path(a, b)
            .then(a.span.start.cmp(&b.span.start))
            .then(a.span.end.cmp(&b.span.end))
            .then(a.check.code.cmp(b.check.code))
            .then_with(|| a.title.cmp(&b.title))
    };
    // Errors first, so that a cut never hides an error behind a warning.
    findings.sort_by(|a, b| by_path(a, b).then(a.severity.cmp(&b.severity)).then_with(|| by_place(a, b)));
    findings.dedup_by(|a, b| a.span == b.span && a.check.code == b.check.code && a.title == b.title);
    let mut cut = Vec::new();
    let mut current: Option<(SourceId, usize)> = None;
    findings.retain(|finding| {
        let source = finding.span.source;
        let seen = match &mut current {
            Some((at, seen)) if *at == source => {
                *seen += 1;
                *seen
            }
            _ => {
                current = Some((source, 1));
                1
            }
        };
        if seen <= limits::FINDINGS_PER_FILE_MAX {
            return true;
        }
        match cut.last_mut() {
            Some((at, count)) if *at == source => *count += 1,
            _ => cut.push((source, 1)),
        }
        false
    });
    findings.sort_by(by_place);
    cut
}
