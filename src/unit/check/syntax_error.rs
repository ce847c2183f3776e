//! `syntax-error`: the file is not TOML.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "syntax-error",
    severity: Severity::Error,
    summary: "the file is not TOML",
    why: "What follows the slip may be read wrongly or not at all, so the whole unit is set aside. The rest runs.",
    example: Some(Example {
        file: "a.env.toml",
        before: r#"[set]
PATH = /usr/bin
"#,
        after: r#"[set]
PATH = "/usr/bin"
"#,
    }),
};

/// Our words for the parser's messages. Its own are never shown, so that no future one can leak a source line.
const WORDS: &[(&str, &str, &str)] = &[
    ("string values must be quoted", "a text must stand in quotes", "write `\"…\"` around it"),
    ("missing assignment between key-value pairs", "a key without `=`", "write `key = value`"),
    ("key with no value", "a key without `=`", "write `key = value`"),
    ("missing value", "a key without a value", "write `key = value`, or take the key out"),
    ("extra `=`", "one `=` too many", "write `key = value`"),
    ("unclosed array", "a list that is not closed", "close it with `]`"),
    ("unclosed table", "a table header that is not closed", "write `[name]` on a line of its own"),
    ("unclosed inline table", "a `{` that is not closed", "close it with `}`"),
    ("missing comma", "a missing comma", "put a comma between the two"),
    ("extra comma", "one comma too many", "take it out"),
    (
        "invalid basic string",
        "a text that is not closed or holds a wrong escape",
        "close it with `\"`; write a backslash as `\\\\`",
    ),
    ("invalid unquoted key", "a key with a character that needs quotes", "put the key in quotes"),
    ("unexpected leading zero", "a number with a leading zero", "take the zero out"),
    ("invalid escape", "a wrong escape in a text", "write a backslash as `\\\\`, or use '…' quotes"),
    ("missing escaped value", "a wrong escape in a text", "write a backslash as `\\\\`, or use '…' quotes"),
    ("cannot recurse further", "tables or lists nested too deep", "units need no such depth"),
    (
        "cannot extend value",
        "a key that is a value in one place and a table in another",
        "keep one of the two",
    ),
];

/// The finding for one error of the parser.
pub(crate) fn finding(message: &str, text: &str, span: Span) -> Finding {
    let known = WORDS.iter().find(|(prefix, _, _)| message.starts_with(prefix));
    let (title, help) = match known {
        Some((_, title, help)) => (*title, Some(*help)),
        None if open_quote(text, span) => {
            ("a text that is not closed", Some("close it with the quote it began with"))
        }
        None => ("this is not TOML", None),
    };
    let finding = Finding::new(&CHECK, span, title).label("here");
    match help {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// The place begins with a quote that does not end on its line.
fn open_quote(text: &str, span: Span) -> bool {
    let line = text.get(span.range().start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    ['"', '\''].iter().any(|quote| line.starts_with(*quote) && line.matches(*quote).count() == 1)
}
