//! A report that can be shown to strangers: what a maintainer asks for, without whom one works with.
//!
//! Names of units are numbered, texts of settings give way to the name of their key wherever they stand, folders of this
//! machine to `~`, `$STATE` and the like; then everything passes the scrubber, which knows every stored value.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::facts::Facts;
use super::verdict::Level;
use super::{Report, Row};
use crate::cli::units::UnitSet;
use crate::control::wire::StatusView;
use crate::model::text::one_line;
use crate::model::time::short_span;
use crate::secret::SecretValue;
use crate::unit::compile::KeyOrigin;

/// Shorter texts (`me`, `on`) are words of the report itself.
const TEXT_BYTES_MIN: usize = 4;

/// One line of an error.
const LINE_BYTES_MAX: usize = 600;

/// Keys whose values are words of workagent's own.
const WORDS: [&str; 14] = [
    "platform",
    "engine",
    "outbound",
    "backlog",
    "security",
    "mode",
    "level",
    "format",
    "synchronous",
    "runtime",
    "channel",
    "kind",
    "billing",
    "privacy",
];

/// The report.
pub(super) fn text(facts: &Facts, checks: &Report, set: &UnitSet, keep_names: bool) -> String {
    let veil = Veil::new(facts, set, keep_names);
    let mut out = format!(
        "workagent report\nversion {}, {} on {}\nmade {}\n",
        facts.version,
        system(),
        std::env::consts::ARCH,
        facts.now
    );
    out.push_str(if keep_names {
        "names of units are kept; texts of settings, folders and secrets are masked\n"
    } else {
        "units are numbered; texts of settings, folders and secrets are masked\n"
    });
    out.push_str("\n== checks\n");
    for row in &checks.checks {
        let Row { check, verdict, .. } = row;
        let word = match verdict.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
            Level::NotApplicable => "-",
        };
        let _ = writeln!(out, "{word:<8} {check:<17} {}", veil.over(&verdict.looked_at));
        for wrong in &verdict.wrong {
            let _ = writeln!(out, "{:<8} {:<17} {}", "", "", veil.over(wrong));
        }
    }
    out.push_str("\n== daemon\n");
    match &facts.daemon {
        Ok(Some(daemon)) => {
            let _ = writeln!(out, "runs version {}", daemon.version);
            match &daemon.status {
                Some(status) => told(status, &veil, &mut out),
                None => out.push_str("it does not tell how it is\n"),
            }
        }
        Ok(None) => out.push_str("does not run\n"),
        Err(trouble) => {
            let _ = writeln!(out, "cannot be asked: {}", veil.over(&trouble.text));
        }
    }
    out.push_str("\n== findings of unit files\n");
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &set.compiled.findings {
        *codes.entry(finding.check.code).or_default() += 1;
    }
    for (code, times) in codes {
        let _ = writeln!(out, "{times:>4} {code}");
    }
    out.push_str("\n== settings that differ from the defaults\n");
    for (name, origins) in set.compiled.origins.iter() {
        let own: Vec<&KeyOrigin> = origins.iter().filter(|origin| is_own(set, origin)).collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}", veil.unit(&name.to_string()));
        for origin in own {
            let key = veil.over(&origin.key);
            let _ = writeln!(out, "    {}.{key} = {}", origin.table, shown(origin));
        }
    }
    // Last, over the whole: a value may have been split over several places.
    facts.scrubber.scrub_owned(out)
}

/// Written in a file of the user's or the machine's, not in the binary.
fn is_own(set: &UnitSet, origin: &KeyOrigin) -> bool {
    origin.span.is_some_and(|span| {
        !set.compiled.sources.path(span.source).to_string_lossy().contains(crate::unit::BUILT_IN)
    })
}

/// Numbers, flags, spans, sizes and words of our own as they are; of texts only that there is one.
fn shown(origin: &KeyOrigin) -> String {
    let value = origin.value.trim();
    let bare = value.trim_matches('"');
    let is_span = bare.len() > 1
        && bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_digit() || "smhdKMGB".contains(c));
    let is_number = value.parse::<f64>().is_ok() || matches!(value, "true" | "false");
    let is_word = WORDS.contains(&origin.key.as_str())
        && bare.len() < 32
        && bare.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if is_number || is_span || is_word {
        return value.to_owned();
    }
    match value.chars().next() {
        Some('{') => "{ … }".to_owned(),
        Some('[') => "[ … ]".to_owned(),
        _ => "\"…\"".to_owned(),
    }
}

fn told(status: &StatusView, veil: &Veil, out: &mut String) {
    let age = status.started_at.map_or_else(|| "?".to_owned(), |at| short_span(status.now.since(at)));
    let _ = writeln!(
        out,
        "for {age}, generation {}, {:?}, paused: {}",
        status.generation, status.mode, status.paused
    );
    for (what, counts) in [("cases", &status.counts.cases), ("sends", &status.counts.actions)] {
        let counts: Vec<String> =
            counts.iter().filter(|(_, n)| **n > 0).map(|(word, n)| format!("{n} {word}")).collect();
        let _ = writeln!(
            out,
            "{what}: {}",
            if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
        );
    }
    let _ =
        writeln!(out, "drafts open: {}; unit file errors: {}", status.counts.drafts_open, status.findings);
    for unit in status.units.iter().filter(|unit| unit.enabled) {
        let health = unit.health.map(|health| health.word()).unwrap_or_default();
        let _ = writeln!(out, "{:<26} {:?}, {health}", veil.unit(&unit.unit), unit.active);
        if let Some(error) = &unit.last_error {
            let _ = writeln!(
                out,
                "    {} in a row, {}: {}",
                unit.failures_in_a_row,
                error.class,
                veil.over(&error.message)
            );
        }
    }
}

/// `Debian GNU/Linux 12 (bookworm), Linux 6.1.0`.
fn system() -> String {
    let name = rustix::system::uname();
    let kernel = format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy());
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let pretty = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    match pretty {
        Some(pretty) => format!("{}, {kernel}", one_line(pretty.trim_matches('"'), 80)),
        None => kernel,
    }
}

/// What is put in the place of what.
struct Veil {
    /// Full names of units to what they are called here.
    units: BTreeMap<String, String>,
    /// The longest first, so that a folder goes before the home that it lies in.
    texts: Vec<(String, String)>,
}

impl Veil {
    fn new(facts: &Facts, set: &UnitSet, keep_names: bool) -> Self {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut units = BTreeMap::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for (name, origins) in set.compiled.origins.iter() {
            let is_own = origins.iter().any(|origin| is_own(set, origin));
            if is_own && !keep_names {
                let number = numbers.entry(name.kind.word().to_owned()).or_default();
                *number += 1;
                let numbered = format!("{}-{number}", name.kind.word());
                units.insert(name.to_string(), format!("{numbered}.{}", name.kind.word()));
                texts.insert(name.name.clone(), numbered);
            }
            for origin in origins.iter().filter(|origin| self::is_own(set, origin)) {
                if shown(origin).contains('…') {
                    for text in quoted(&origin.value) {
                        texts.insert(text, format!("({}.{})", origin.table, origin.key));
                    }
                }
            }
        }
        let mut root = |path: Option<&Path>, name: &str| {
            if let Some(path) = path {
                texts.insert(path.display().to_string(), name.to_owned());
            }
        };
        root(facts.home.as_deref(), "~");
        root(Some(&facts.paths.state), "$STATE");
        root(Some(&facts.paths.config), "$CONFIG");
        root(Some(&facts.paths.runtime), "$RUNTIME");
        root(set.own_dir(), "$UNITS");
        for (variable, name) in [("USER", "(user)"), ("LOGNAME", "(user)")] {
            if let Some(user) = facts.environment.get(variable) {
                texts.insert(user.to_owned(), name.to_owned());
            }
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        texts.insert(host, "(host)".to_owned());
        // What units take from the environment is a value like any other.
        for (_, origins) in set.compiled.origins.iter() {
            for origin in origins.iter() {
                let name = origin.value.split_once("env = \"").and_then(|(_, rest)| rest.split('"').next());
                if let Some(value) = name.and_then(|name| facts.environment.get(name)) {
                    facts.scrubber.register(&SecretValue::new(value.to_owned()));
                }
            }
        }
        let mut texts: Vec<_> = texts.into_iter().filter(|(text, _)| text.len() >= TEXT_BYTES_MIN).collect();
        texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Self { units, texts }
    }

    fn unit(&self, name: &str) -> String {
        self.units.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// A text of ours or of others, in one line.
    fn over(&self, text: &str) -> String {
        let mut text = one_line(text, LINE_BYTES_MAX);
        for (own, place) in &self.texts {
            if text.contains(own.as_str()) {
                text = text.replace(own.as_str(), place);
            }
        }
        without_addresses(&text)
    }
}

/// The texts in a TOML value; of URLs also their host.
fn quoted(value: &str) -> Vec<String> {
    let parts = value.split('"').enumerate().filter(|(nth, _)| nth % 2 == 1).map(|(_, part)| part.to_owned());
    let mut found: Vec<String> = parts.collect();
    let hosts: Vec<String> =
        found.iter().filter_map(|text| url::Url::parse(text).ok()?.host_str().map(str::to_owned)).collect();
    found.extend(hosts);
    found
}

/// Mail addresses give way to `…@…`.
fn without_addresses(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, behind) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        let edge = before.char_indices().rev().find(|(_, c)| !is_part(*c));
        let start = edge.map_or(0, |(place, c)| place + c.len_utf8());
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        // A template, as in `work@.connector`, has nothing of a host behind it.
        if start < before.len() && behind.starts_with(char::is_alphanumeric) {
            out.push_str(before.get(..start).unwrap_or_default());
            out.push_str("…@…");
        } else {
            out.push_str(before);
            out.push('@');
            out.push_str(behind.get(..end).unwrap_or_default());
        }
        rest = behind.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_give_way() {
        for (text, expected) in [
            ("mail from <ann.b@example.org>, a@b.c", "mail from <…@…>, …@…"),
            ("work@.connector and @ alone", "work@.connector and @ alone"),
            ("none", "none"),
        ] {
            assert_eq!(without_addresses(text), expected);
        }
    }

    #[test]
    fn settings_show_no_text() {
        let shown = |key: &str, value: &str| {
            shown(&KeyOrigin {
                table: "t".into(),
                key: key.into(),
                value: value.into(),
                span: None,
                shadows: Default::default(),
            })
        };
        assert_eq!(shown("every", "\"30s\""), "\"30s\"");
        assert_eq!(shown("platform", "\"imap\""), "\"imap\"");
        assert_eq!(shown("port", "993"), "993");
        assert_eq!(shown("host", "\"mail.example.org\""), "\"…\"");
        assert_eq!(shown("token", "{ secret = \"a/b\" }"), "{ … }");
        assert_eq!(shown("reasons", "[\"x\"]"), "[ … ]");
    }

    #[test]
    fn texts_of_a_value() {
        assert_eq!(quoted("\"https://a.example/x\""), ["https://a.example/x", "a.example"]);
        assert_eq!(quoted("[\"a\", \"b\"]"), ["a", "b"]);
    }
}
