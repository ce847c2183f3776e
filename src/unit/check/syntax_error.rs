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

/// Our words for the parser's messages: how theirs begins, what we say, what we advise. Theirs are never shown, so that
/// no future one can leak a source line.
const WORDS: &[(&str, &str, &str)] = &[
    ("string values must be quoted", UNQUOTED, "write `\"…\"` around it"),
    ("invalid boolean", UNQUOTED, "write `\"…\"` around it; only `true` and `false` stand without"),
    ("invalid float", UNQUOTED, "write `\"…\"` around it"),
    ("invalid date", UNQUOTED, "write `\"…\"` around it"),
    ("invalid time", UNQUOTED, "write `\"…\"` around it"),
    ("missing assignment", NO_VALUE, "write `key = value`"),
    ("key with no value", NO_VALUE, "write `key = value`; a key with other characters stands in quotes"),
    ("missing value", NO_VALUE, "write `key = value`, or take the key out"),
    ("extra `=`", "one `=` too many", "write `key = value`"),
    (
        "unexpected key or value",
        "more on the line than one value",
        "write one key on a line; a comment begins with `#`",
    ),
    (
        "unexpected content",
        "more on the line than one value",
        "write one key on a line; a comment begins with `#`",
    ),
    ("unclosed array", "a list that is not closed", "close it with `]`"),
    ("unclosed table", "a table header that is not closed", "write `[name]` on a line of its own"),
    ("unclosed inline table", "a `{` that is not closed", "close it with `}`"),
    ("missing comma", "a missing comma", "put a comma between the two"),
    ("extra comma", "one comma too many", "take it out"),
    ("invalid basic string", NOT_CLOSED, "close it with `\"`; a line break needs `\"\"\"`"),
    ("invalid literal string", NOT_CLOSED, "close it with `'`; a line break needs `'''`"),
    ("invalid multi-line", NOT_CLOSED, "close it with the three quotes it began with"),
    ("missing escaped value", ESCAPE, "write a backslash as `\\\\`, or use '…' quotes"),
    ("too few unicode value digits", ESCAPE, "write a backslash as `\\\\`, or use '…' quotes"),
    ("invalid unquoted key", "a key with a character that needs quotes", "put the key in quotes"),
    ("unquoted keys cannot be empty", "a key or table without a name", "write `key = value` or `[name]`"),
    (
        "unexpected leading zero",
        "a number with a leading zero",
        "take the zero out, or put the value in quotes",
    ),
    ("`_` may only go between digits", "a number with a misplaced `_`", "put `_` between digits only"),
    ("cannot recurse further", "tables or lists nested too deep", "no key of a unit needs such depth"),
    (
        "cannot extend value",
        "a key that is a value in one place and a table in another",
        "keep one of the two",
    ),
];

const UNQUOTED: &str = "a text must stand in quotes";
const NO_VALUE: &str = "a key without a value";
const NOT_CLOSED: &str = "a text that is not closed";
const ESCAPE: &str = "a wrong escape in a text";

/// The finding for one error of the parser.
pub(crate) fn finding(message: &str, text: &str, span: Span) -> Finding {
    let known = WORDS.iter().find(|(prefix, _, _)| message.starts_with(prefix));
    let Some((_, title, help)) = known else {
        return Finding::new(&CHECK, span, "this is not TOML").label("here");
    };
    let rest = text.get(span.range().start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let (title, help) = match *title {
        UNQUOTED if rest.trim().is_empty() => (NO_VALUE, "write `key = value`, or take the key out"),
        UNQUOTED if matches!(rest.trim(), "yes" | "Yes" | "on" | "On" | "True" | "TRUE") => {
            ("not a value", "write `true`")
        }
        UNQUOTED if matches!(rest.trim(), "no" | "No" | "off" | "Off" | "False" | "FALSE") => {
            ("not a value", "write `false`")
        }
        NO_VALUE if rest.trim_start().starts_with(':') || before(text, span).ends_with(':') => {
            ("a `:` in place of `=`", "write `key = value`")
        }
        title => (title, *help),
    };
    Finding::new(&CHECK, span, title).label("here").help(help)
}

fn before(text: &str, span: Span) -> &str {
    text.get(..span.range().start).unwrap_or_default().trim_end()
}
