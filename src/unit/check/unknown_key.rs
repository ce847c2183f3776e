//! `unknown-key`: a key that means nothing here.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::layout::Layout;
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unknown-key",
    severity: Severity::Error,
    summary: "a key that means nothing here",
    why: "A misspelt or misplaced key would do nothing, and its owner would believe for months that it works.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[route]
engines = ["template"]

[match]
conector = ["inbox"]
"#,
        after: r#"[route]
engines = ["template"]

[match]
connector = ["*"]
"#,
    }),
};

/// What is known of an unknown key.
pub(crate) struct Guess {
    /// The table and key that were most likely meant.
    pub meant: Option<(&'static str, &'static str)>,
}

/// Looks for what was meant: the same key in another table, a like one here, a like one elsewhere.
pub(crate) fn guess(table: &str, key: &str, layout: &Layout) -> Guess {
    let elsewhere = layout.tables().filter(|spec| spec.name != table);
    let moved = elsewhere.clone().find_map(|spec| spec.key(key).map(|found| (spec.name, found.name)));
    let here = || {
        let spec = layout.table(table)?;
        words::closest(key, spec.keys.iter().map(|spec| spec.name))
            .and_then(|name| spec.key(name))
            .map(|found| (spec.name, found.name))
    };
    let near = || {
        let all: Vec<_> =
            elsewhere.clone().flat_map(|spec| spec.keys.iter().map(|key| (spec.name, key.name))).collect();
        let name = words::closest(key, all.iter().map(|(_, name)| *name))?;
        all.into_iter().find(|(_, found)| *found == name)
    };
    Guess { meant: moved.or_else(here).or_else(near) }
}

/// The finding. `table` is empty for keys above the first header.
pub(crate) fn finding(table: &str, key: &str, span: Span, guess: &Guess, layout: &Layout) -> Finding {
    let shown = words::shown(key);
    let path = if table.is_empty() { shown } else { format!("{table}.{shown}") };
    let finding = Finding::new(&CHECK, span, format!("unknown key `{path}`"));
    let finding = if table.is_empty() {
        finding.label("stands above the first table")
    } else {
        finding.label(format!("not a key of `[{table}]`"))
    };
    match guess.meant {
        Some((place, name)) if place == table => {
            finding.fix(format!("did you mean `{place}.{name}`?"), span, name)
        }
        Some((place, name)) if name == key => finding.help(format!("this key belongs into `[{place}]`")),
        Some((place, name)) => finding.help(format!("did you mean `{name}` in `[{place}]`?")),
        None => match layout.table(table) {
            Some(spec) if !spec.keys.is_empty() => finding
                .note(format!("`[{table}]` takes {}", words::all_of(spec.keys.iter().map(|key| key.name)))),
            _ => finding,
        },
    }
}
