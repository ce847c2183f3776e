//! The edits that findings propose, made: only those that leave no choice.

use std::ops::Range;

use super::{Finding, SourceId, SourceMap};

/// Rules whose edits mean what the writer meant and nothing else. Not among them: names of other units (who answers is not
/// guessed), secrets (they are changed at their source), units of time.
const SAFE: [&str; 5] = ["unknown-key", "unknown-table", "bad-value", "placeholder", "wrong-type"];

/// A file's text with the safe edits of its findings made, and how many there were. `None`: there are none. An edit that
/// touches a secret or another edit is left out.
#[must_use]
pub fn apply(findings: &[Finding], source: SourceId, sources: &SourceMap) -> Option<(String, usize)> {
    let hidden: Vec<Range<usize>> = sources.hidden(source).collect();
    let text = sources.text(source);
    let mut edits: Vec<(Range<usize>, &str)> = findings
        .iter()
        .filter(|finding| SAFE.contains(&finding.check.code))
        .filter_map(|finding| finding.suggestion.as_ref()?.patch.as_ref())
        .filter(|patch| patch.span.source == source)
        .map(|patch| (patch.span.range(), patch.replacement.as_str()))
        .filter(|(range, _)| {
            !hidden.iter().any(|secret| secret.start < range.end && range.start < secret.end)
        })
        // "60" could be minutes as well.
        .filter(|(range, by)| {
            text.get(range.clone()).is_none_or(|was| by.trim_matches('"') != format!("{was}s"))
        })
        .collect();
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits.dedup();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut count = 0;
    for (range, by) in edits {
        if range.start < done || range.is_empty() {
            continue;
        }
        let Some(kept) = text.get(done..range.start) else { continue };
        out.push_str(kept);
        out.push_str(by);
        done = range.end;
        count += 1;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (count > 0).then_some((out, count))
}
