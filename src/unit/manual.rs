//! The reference manual of all keys, made from the tables that the compiler reads: for `man`, and as plain text.

use std::fmt::Write as _;

use super::decode::expected;
use super::json_schema::tables_of;
use super::kinds::{self, common};
use super::plan::Kind;
use super::registry::Registry;
use super::schema::{KeySpec, TableSpec, ValueType};

/// A piece of the manual. Texts may hold words in backticks.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// A chapter.
    Chapter(String),
    /// A section of a chapter.
    Section(String),
    /// A paragraph.
    Paragraph(String),
    /// A key: its name, what it takes, what it means.
    Key(String, String, String),
    /// Lines as they are.
    Literal(&'static str),
}

/// The whole manual of unit files.
#[must_use]
pub fn blocks(registry: &Registry) -> Vec<Block> {
    let mut out = vec![
        Block::Chapter("Description".to_owned()),
        Block::Paragraph(
            "A unit is a file in TOML that declares one part of the agent. Its name says what it is: \
             `inbox.connector.toml` is the connector `inbox`. Files in `NAME.KIND.d/` (drop-ins) override single keys of \
             a unit, those in `KIND.d/` keys of all units of a kind."
                .to_owned(),
        ),
        Block::Paragraph(
            "Units are looked for in these directories; a file in a later one replaces one of the same name in an earlier \
             one, and drop-ins of all of them are laid over it. `workagent analyze unit-paths` shows the list."
                .to_owned(),
        ),
        Block::Literal(
            "(in the program)\n/usr/lib/workagent/units\n/etc/workagent/units\n~/.config/workagent/units\n\
             $XDG_RUNTIME_DIR/workagent/units",
        ),
        Block::Paragraph(
            "A table overrides key by key; a value or a list replaces what stands below. A drop-in can also change a list, \
             with `{ append = […], prepend = […], remove = […] }`, and `unset = [\"table.key\"]` above the first table \
             returns keys to their defaults. `workagent validate` shows everything that is wrong, `workagent explain \
             CODE` why it is."
                .to_owned(),
        ),
        Block::Paragraph(
            "Durations are written `\"30s\"`, `\"5m\"`, `\"1h30m\"`, `\"7d\"`; sizes `\"64K\"`, `\"8M\"`. A secret is never \
             written into a unit: `{ secret = \"NAME\" }` names one of `workagent secret`, `{ env = \"NAME\" }` a variable \
             of the daemon's environment."
                .to_owned(),
        ),
        Block::Chapter("All units".to_owned()),
    ];
    for spec in common::TABLES {
        table(spec, None, &mut out);
    }
    for kind in Kind::ALL {
        out.push(Block::Chapter(format!("{} units", capital(kind.word()))));
        out.push(Block::Paragraph(format!("`NAME.{}.toml`: {}", kind.word(), kinds::spec(kind).doc)));
        let own = tables_of(kind, registry);
        let own = own.iter().filter(|(spec, _)| !common::TABLES.iter().any(|table| table.name == spec.name));
        for (spec, of) in own {
            table(spec, of.as_deref(), &mut out);
        }
    }
    out
}

fn table(spec: &TableSpec, of: Option<&str>, out: &mut Vec<Block>) {
    out.push(Block::Section(format!("[{}]", spec.name)));
    let doc = spec.doc.trim_end_matches('.');
    out.push(Block::Paragraph(match of {
        Some(of) => format!("With `{of}`. {doc}."),
        None => format!("{doc}."),
    }));
    for key in spec.keys {
        let doc = format!("{}.", key.doc.trim_end_matches('.'));
        out.push(Block::Key(key.name.to_owned(), takes(key), doc));
    }
}

fn takes(key: &KeySpec) -> String {
    let mut takes = expected(&key.value);
    if let ValueType::Size = key.value {
        takes.push_str(", or bytes");
    }
    match (key.required, key.default) {
        (true, _) => takes.push_str("; required"),
        (false, Some(default)) => {
            let _ = write!(takes, "; default `{default}`");
        }
        (false, None) => {}
    }
    takes
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// For `man`: `workagent.units(5)`.
#[must_use]
pub fn roff(blocks: &[Block]) -> String {
    let mut out = String::from(
        ".\\\" Made from the tables of keys by `workagent manual`; not edited by hand.\n\
         .TH WORKAGENT.UNITS 5 \"\" workagent \"Unit files\"\n.nh\n.ad l\n.SH NAME\nworkagent.units \\- unit files of the work agent\n",
    );
    for block in blocks {
        let _ = match block {
            Block::Chapter(text) => writeln!(out, ".SH {}", roff_text(&text.to_uppercase())),
            Block::Section(text) => writeln!(out, ".SS {}", roff_text(text)),
            Block::Paragraph(text) => writeln!(out, ".PP\n{}", roff_text(text)),
            Block::Key(name, takes, doc) => {
                writeln!(out, ".TP\n\\fB{}\\fR: {}\n{}", roff_text(name), roff_text(takes), roff_text(doc))
            }
            Block::Literal(text) => writeln!(out, ".PP\n.RS 4\n.nf\n{}\n.fi\n.RE", roff_text(text)),
        };
    }
    out.push_str(".SH SEE ALSO\n.BR workagent (1)\n");
    out
}

/// Escaped for roff; words in backticks are bold.
fn roff_text(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        // A line must not begin like a request.
        if line.starts_with(['.', '\'']) {
            out.push_str("\\&");
        }
        for c in line.chars() {
            match c {
                '`' => {
                    out.push_str(if code { "\\fR" } else { "\\fB" });
                    code = !code;
                }
                '\\' => out.push_str("\\e"),
                '-' => out.push_str("\\-"),
                '\'' => out.push_str("\\(aq"),
                '~' => out.push_str("\\(ti"),
                '^' => out.push_str("\\(ha"),
                '…' => out.push_str("..."),
                '→' => out.push_str("->"),
                c => out.push(c),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    #[test]
    fn every_key_of_every_kind_and_platform_is_in_it() {
        let registry = CATALOG.registry();
        let text = roff(&blocks(&registry));
        for kind in Kind::ALL {
            for (spec, _) in tables_of(kind, &registry) {
                assert!(text.contains(&format!(".SS [{}]\n", roff_text(spec.name))), "{}", spec.name);
                for key in spec.keys {
                    assert!(text.contains(&format!("\\fB{}\\fR: ", roff_text(key.name))), "{}", key.name);
                }
            }
        }
    }

    #[test]
    fn nothing_in_a_text_is_a_request() {
        assert_eq!(roff_text(".TH 'x' `a-b`\\"), "\\&.TH \\(aqx\\(aq \\fBa\\-b\\fR\\e");
    }
}
