//! Findings for machines. The form is stable: keys are added, never renamed; `version` counts what breaks.

use serde::Serialize;

use super::{Counts, Finding, Severity, SourceMap, Span};

/// The whole answer of `validate --json`.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// Of this form.
    pub version: u32,
    /// All findings.
    pub findings: Vec<JsonFinding<'a>>,
    /// Files looked at.
    pub files: usize,
    /// Findings by severity.
    #[serde(flatten)]
    pub counts: Counts,
    /// Findings that were cut because their file has too many.
    pub cut: usize,
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct JsonFinding<'a> {
    /// The rule.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// The sentence.
    pub message: &'a str,
    /// Where.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// What stands there.
    pub label: &'a str,
    /// Further places.
    pub related: Vec<JsonLabel<'a>>,
    /// Notes.
    pub notes: &'a [String],
    /// How to mend it.
    pub suggestion: Option<JsonSuggestion<'a>>,
}

/// A place; lines and columns (in characters) from 1, the end column is behind the last character. A whole file has none.
#[derive(Debug, Serialize)]
pub struct JsonPlace {
    /// The file.
    pub file: String,
    /// First line.
    pub line: Option<u32>,
    /// First column.
    pub column: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Behind the last column.
    pub end_column: Option<u32>,
}

/// A further place.
#[derive(Debug, Serialize)]
pub struct JsonLabel<'a> {
    /// Where.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// What stands there.
    pub message: &'a str,
}

/// How to mend a finding.
#[derive(Debug, Serialize)]
pub struct JsonSuggestion<'a> {
    /// In words.
    pub message: &'a str,
    /// The place to replace and the text to put there, where it is known exactly.
    pub edit: Option<JsonEdit<'a>>,
}

/// An exact edit.
#[derive(Debug, Serialize)]
pub struct JsonEdit<'a> {
    /// What to replace.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// By what.
    pub replacement: &'a str,
}

/// The answer for these findings.
#[must_use]
pub fn report<'a>(findings: &'a [Finding], sources: &SourceMap, files: usize, cut: usize) -> Report<'a> {
    let findings_json = findings.iter().map(|finding| one(finding, sources)).collect();
    Report { version: 1, findings: findings_json, files, counts: Counts::of(findings), cut }
}

fn one<'a>(finding: &'a Finding, sources: &SourceMap) -> JsonFinding<'a> {
    let label =
        |label: &'a super::Label| JsonLabel { place: place(label.span, sources), message: &label.text };
    let suggestion = finding.suggestion.as_ref().map(|suggestion| JsonSuggestion {
        message: &suggestion.text,
        edit: suggestion
            .patch
            .as_ref()
            .map(|patch| JsonEdit { place: place(patch.span, sources), replacement: &patch.replacement }),
    });
    JsonFinding {
        code: finding.check.code,
        severity: finding.severity,
        message: &finding.title,
        place: place(finding.span, sources),
        label: &finding.label,
        related: finding.labels.iter().map(label).collect(),
        notes: &finding.notes,
        suggestion,
    }
}

fn place(span: Span, sources: &SourceMap) -> JsonPlace {
    let file = sources.path(span.source).display().to_string();
    if span == Span::file(span.source) {
        return JsonPlace { file, line: None, column: None, end_line: None, end_column: None };
    }
    let (line, column) = sources.position(span);
    let (end_line, end_column) = sources.end_position(span);
    JsonPlace {
        file,
        line: Some(line),
        column: Some(column),
        end_line: Some(end_line),
        end_column: Some(end_column),
    }
}
