//! The report as Markdown. Whatever came from outside is escaped: a title must not become a link or a heading.

use std::fmt::Write as _;

use super::{from, heading, story, sums, tells_reason};
use crate::cli::look::line;
use crate::control::wire::digest::DigestView;
use crate::model::money::shown_usd;

const TEXT_COLUMNS_MAX: usize = 200;

pub(super) fn shown(view: &DigestView) -> String {
    let mut out = format!("# {}\n\n{}\n", view.day, escaped(&sums(view)));
    for group in &view.groups {
        let _ = writeln!(out, "\n## {} ({})\n", heading(group.became), group.cases.len());
        for case in &group.cases {
            let _ = writeln!(out, "- **{}** {} ({})", case.id, escaped(&case.title), escaped(&from(case)));
            let _ = writeln!(out, "  {}", escaped(&story(case)));
            if let Some(reason) = case.reason.as_ref().filter(|_| tells_reason(group.became)) {
                let _ = writeln!(out, "  {}", escaped(reason));
            }
        }
    }
    if view.groups.is_empty() {
        out.push_str("\nNothing happened.\n");
    }
    if view.cut {
        out.push_str("\nMore happened than fits in a report: the rest of the day is missing.\n");
    }
    if !view.costs.is_empty() {
        out.push_str("\n## Cost\n\n| engine | runs | USD |\n| --- | ---: | ---: |\n");
        for row in &view.costs {
            let unknown = if row.unknown_runs > 0 { " + ?" } else { "" };
            let cost = shown_usd(row.cost_micro_usd);
            let _ = writeln!(out, "| {} | {} | {cost}{unknown} |", escaped(&row.key), row.runs);
        }
    }
    if !view.waits.is_empty() {
        out.push_str("\n## Now\n\n");
        for wait in &view.waits {
            let _ = writeln!(out, "- {}", escaped(wait));
        }
    }
    out
}

/// One line in which nothing means anything to a Markdown reader.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in line(text, TEXT_COLUMNS_MAX).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    // A bare address is a link to many readers.
    out.replace("://", ":\\//")
}
