//! `unkept-budget`: a cap in dollars over an engine whose runs have no known price.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unkept-budget",
    severity: Severity::Warning,
    summary: "a cap in dollars over an engine whose runs have no known price",
    why: "What a run may cost is set aside before it begins. Where nobody knows that, the cap could be passed, so no run \
          begins and its cases wait.",
    example: Some(Example {
        file: "a.engine.toml",
        before: r#"[engine]
engine = "command"

[command]
program = "/usr/bin/answer"

[budget]
daily_usd = "5"
"#,
        after: r#"[engine]
engine = "command"

[command]
program = "/usr/bin/answer"

[budget]
daily_usd = "5"
per_run_usd = "0.25"
"#,
    }),
};

/// The finding; `cap` is the key that caps, `span` where it stands.
pub(crate) fn finding(span: Span, cap: &str, engine: &UnitName, why: &str) -> Finding {
    let title = format!("`{cap}` cannot be kept over `{engine}`: {why}, so its runs are refused");
    let help = "say what a run may cost with `[budget] per_run_usd`, or the price with `[price] input` and `output` (and \
                `max_tokens`), or `[price] plan = true` if a plan pays";
    Finding::new(&CHECK, span, title).help(help)
}
