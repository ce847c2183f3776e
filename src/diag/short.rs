//! Findings in one line each: for editors and greps, and as workflow commands for GitHub's CI.

use std::fmt::Write as _;

use super::{Finding, Severity, SourceMap, Span};
use crate::model::text;

/// `path:line:column: error[code]: sentence`; no line and column for a whole file.
#[must_use]
pub fn lines(findings: &[Finding], sources: &SourceMap) -> String {
    let mut out = String::new();
    for finding in findings {
        let path = clean(&sources.path(finding.span.source).display().to_string());
        let place = match position(finding.span, sources) {
            Some((line, column)) => format!("{path}:{line}:{column}"),
            None => path,
        };
        let (severity, code) = (finding.severity.word(), finding.check.code);
        let _ = writeln!(out, "{place}: {severity}[{code}]: {}", clean(&finding.title));
    }
    out
}

/// `::error file=…,line=…,col=…,title=code::sentence`
#[must_use]
pub fn github(findings: &[Finding], sources: &SourceMap) -> String {
    let mut out = String::new();
    for finding in findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let _ = write!(
            out,
            "::{command} file={}",
            property(&sources.path(finding.span.source).display().to_string())
        );
        if let Some((line, column)) = position(finding.span, sources) {
            let (end_line, end_column) = sources.end_position(finding.span);
            let _ = write!(out, ",line={line},col={column}");
            if end_line == line {
                let _ = write!(out, ",endLine={line},endColumn={end_column}");
            }
        }
        let mut sentence = finding.title.clone();
        if let Some(suggestion) = &finding.suggestion {
            let _ = write!(sentence, " ({})", suggestion.text);
        }
        let _ = writeln!(out, ",title={}::{}", property(finding.check.code), data(&sentence));
    }
    out
}

fn position(span: Span, sources: &SourceMap) -> Option<(u32, u32)> {
    (span != Span::file(span.source)).then(|| sources.position(span))
}

fn clean(foreign: &str) -> String {
    text::clean(foreign).replace('\n', " ")
}

fn data(foreign: &str) -> String {
    clean(foreign).replace('%', "%25")
}

fn property(foreign: &str) -> String {
    data(foreign).replace(':', "%3A").replace(',', "%2C")
}
