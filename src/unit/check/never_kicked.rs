//! `never-kicked`: an `on_failure` that nothing comes of.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "never-kicked",
    severity: Severity::Warning,
    summary: "an `on_failure` that nothing comes of",
    why: "Whoever wrote it believes that somebody is told. Connectors, engines and runtimes can fail; connectors, timers and \
          runtimes can be kicked.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[unit]
on_failure = ["template.engine"]

[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = true
"#,
        after: r#"[unit]
on_failure = ["inbox.connector"]

[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = true
"#,
    }),
};

/// The finding in a unit that never fails.
pub(crate) fn never_fails(unit: &UnitName, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{unit}` never fails by itself"))
        .label("so this is never kicked")
        .help("say it in the connector, engine or runtime that can fail")
}

/// The finding for a unit that cannot be kicked.
pub(crate) fn no_kick(target: &UnitName, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{target}` has nothing that a kick could run"))
        .help("name a connector, a timer or a runtime")
}

/// The finding for a unit that names itself.
pub(crate) fn itself(span: Span) -> Finding {
    Finding::new(&CHECK, span, "a unit is not kicked by its own failure")
        .help("it is tried again as its `[restart]` says; take the name out")
}
