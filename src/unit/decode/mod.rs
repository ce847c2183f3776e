//! Tree → typed values. Parsing is the only way in: what comes out needs no second check.

pub(crate) mod duration;
mod list;
mod moments;
mod path;
mod secret;
mod size;
pub(crate) mod specifier;
mod tests_of;
mod text;

use std::borrow::Cow;
use std::path::Path;

pub use duration::parse as parse_duration;
pub use specifier::SPECIFIERS;

use super::check::{bad_specifier, bad_value, out_of_range, wrong_type};
use super::compile::CompileEnv;
use super::plan::{EdgeKind, UnitName};
use super::report::Report;
use super::schema::{KeySpec, Tested, ValueType};
use super::tree::{Data, Node};
use super::value::Value;
use super::words;
use crate::diag::Span;
use crate::model::log_filter::LogFilter;

/// The key whose value is decoded, and what its value may refer to.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    /// The unit.
    pub unit: &'a UnitName,
    /// The table.
    pub table: &'static str,
    /// The key.
    pub key: &'a str,
    /// Where relative paths begin.
    pub dir: &'a Path,
    /// Home and state directory.
    pub env: &'a CompileEnv,
}

impl At<'_> {
    /// "schedule.every"
    pub fn path(&self) -> String {
        format!("{}.{}", self.table, self.key)
    }
}

/// A unit named by a value.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// What the name means.
    pub edge: EdgeKind,
    /// The unit named.
    pub target: UnitName,
    /// Where.
    pub span: Span,
    /// By which key: "route.engines".
    pub path: String,
    /// The name was written with its kind.
    pub full: bool,
}

/// Decodes a value. `None` after at least one finding.
pub(crate) fn decode(
    at: At<'_>,
    spec: &KeySpec,
    node: &Node,
    report: &mut Report,
    references: &mut Vec<Reference>,
) -> Option<Value> {
    match (&spec.value, &node.data) {
        (ValueType::Bool, Data::Bool(flag)) => Some(Value::Bool(*flag)),
        (ValueType::Integer { min, max }, Data::Integer(number)) => {
            integer(at, node.span, *number, (*min, *max), report)
        }
        (ValueType::Size, Data::Integer(Some(number))) if *number >= 0 => {
            Some(Value::Size(number.unsigned_abs()))
        }
        (ValueType::Usd, Data::Integer(Some(number))) => usd(at, node.span, &number.to_string(), report),
        (ValueType::Usd, Data::Float(text)) => usd(at, node.span, text, report),
        (ValueType::Secret, _) => secret::decode(at, spec, node, report).map(Value::Secret),
        (ValueType::EnvMap, Data::Table(table)) => list::env_map(at, table, report).map(Value::Map),
        (
            ValueType::List
            | ValueType::Units(_)
            | ValueType::Choices(_)
            | ValueType::Calendars
            | ValueType::Tests(_)
            | ValueType::Windows,
            Data::List(items),
        ) => list::decode(at, spec, items, report, references).map(Value::List),
        (
            ValueType::Text
            | ValueType::Duration { .. }
            | ValueType::Size
            | ValueType::Usd
            | ValueType::Path
            | ValueType::Url
            | ValueType::Host
            | ValueType::Choice(_)
            | ValueType::Unit(_)
            | ValueType::LogFilter
            | ValueType::Backlog
            | ValueType::Calendars
            | ValueType::Tests(_)
            | ValueType::Windows,
            Data::Text(value),
        ) => {
            if !text::is_clean(at, node.span, value, false, report) {
                return None;
            }
            let value = expanded(at, spec, node.span, value, report)?;
            scalar(at, &spec.value, node.span, &value, report, references)
        }
        _ => {
            // A password of digits under the wrong key must not show either.
            if crate::diag::mask::telling_name(at.key) {
                report.hide(node.span);
            }
            report.push(wrong_type::finding(&at.path(), &spec.value, node));
            None
        }
    }
}

/// A text with its specifiers filled in, if its key takes any. A path's are filled in where its `~` is.
fn expanded<'a>(
    at: At<'_>,
    spec: &KeySpec,
    span: Span,
    text: &'a str,
    report: &mut Report,
) -> Option<Cow<'a, str>> {
    if !spec.specifiers || spec.value == ValueType::Path {
        return Some(Cow::Borrowed(text));
    }
    match specifier::expand(at, text, spec.value == ValueType::Url) {
        Ok(text) => Some(Cow::Owned(text)),
        Err(why) => {
            report.push(bad_specifier::finding(&at.path(), span, &why));
            None
        }
    }
}

fn scalar(
    at: At<'_>,
    value: &ValueType,
    span: Span,
    given: &str,
    report: &mut Report,
    references: &mut Vec<Reference>,
) -> Option<Value> {
    let bad = |report: &mut Report, problem: &str| {
        report.push(bad_value::finding(&at.path(), span, problem));
    };
    match value {
        ValueType::Duration { min_s, max_s } => duration::decode(at, span, given, (*min_s, *max_s), report),
        ValueType::Backlog if matches!(given, "new" | "all") => Some(Value::Text(given.to_owned())),
        ValueType::Backlog => duration::backlog(at, span, given, report),
        ValueType::Size => match size::parse(given) {
            Some(bytes) => Some(Value::Size(bytes)),
            None => {
                bad(report, "not a size; write `\"64K\"`, `\"8M\"`, `\"1G\"` or a number of bytes");
                None
            }
        },
        ValueType::Usd => usd(at, span, given, report),
        ValueType::Choice(words) if words.contains(&given) => Some(Value::Text(given.to_owned())),
        ValueType::Choice(words) => {
            report.push(bad_value::choice(&at.path(), span, given, words));
            None
        }
        ValueType::Path => match path::decode(at, given) {
            Ok(path) => Some(Value::Path(path)),
            Err(path::Wrong::Path(why)) => {
                bad(report, &why);
                None
            }
            Err(path::Wrong::Specifier(why)) => {
                report.push(bad_specifier::finding(&at.path(), span, &why));
                None
            }
        },
        ValueType::Url => text::url(at, span, given, report).map(Value::Text),
        ValueType::Host => text::host(given).map(Value::Text).map_err(|why| bad(report, why)).ok(),
        ValueType::Calendars | ValueType::Windows => {
            moments::decode(at, value, span, given, report).map(|text| Value::List(vec![text]))
        }
        ValueType::Tests(tested) => {
            tests_of::decode(at, *tested, span, given, report).map(|text| Value::List(vec![text]))
        }
        ValueType::LogFilter => match given.parse::<LogFilter>() {
            Ok(filter) => Some(Value::Text(filter.to_string())),
            Err(why) => {
                bad(report, &why.to_string());
                None
            }
        },
        ValueType::Unit(kind) => list::unit_name(at, kind, span, given, report, references).map(Value::Text),
        _ => Some(Value::Text(given.to_owned())),
    }
}

fn usd(at: At<'_>, span: Span, text: &str, report: &mut Report) -> Option<Value> {
    let micro = crate::model::money::parse_usd(text);
    if micro.is_none() {
        let problem =
            "not an amount in US dollars; write `\"0.50\"` or `5`, with at most six digits behind the point";
        report.push(bad_value::finding(&at.path(), span, problem));
    }
    micro.map(Value::Usd)
}

fn integer(
    at: At<'_>,
    span: Span,
    number: Option<i64>,
    (min, max): (i64, i64),
    report: &mut Report,
) -> Option<Value> {
    match number {
        Some(number) if (min..=max).contains(&number) => Some(Value::Integer(number)),
        outside => {
            let small = outside.is_some_and(|number| number < min);
            report.push(out_of_range::finding(&at.path(), span, &min.to_string(), &max.to_string(), small));
            None
        }
    }
}

/// What a type takes, for people: "a duration such as `\"30s\"`".
pub(crate) fn expected(value: &ValueType) -> String {
    match value {
        ValueType::Text => "a text".to_owned(),
        ValueType::Bool => "`true` or `false`".to_owned(),
        ValueType::Integer { min, max } => format!("a whole number from {min} to {max}"),
        ValueType::Duration { .. } => "a duration such as `\"30s\"`, `\"5m\"`, `\"2h\"`".to_owned(),
        ValueType::Size => "a size such as `\"64K\"` or `\"8M\"`".to_owned(),
        ValueType::Usd => "an amount in US dollars such as `\"0.50\"`".to_owned(),
        ValueType::Path => "a path such as `\"~/mail\"`".to_owned(),
        ValueType::Url => "a URL such as `\"https://example.org/feed.xml\"`".to_owned(),
        ValueType::Host => "a host name such as `\"mail.example.org\"`".to_owned(),
        ValueType::Choice(words) => words::any_of(words.iter().copied()),
        ValueType::List => "a list of texts such as `[\"a\", \"b\"]`".to_owned(),
        ValueType::Units("unit") => "a list of unit names such as `[\"inbox.connector\"]`".to_owned(),
        ValueType::Units(kind) => format!("a list of names of {kind} units such as `[\"a\", \"b\"]`"),
        ValueType::Unit(kind) => format!("the name of one {kind} unit"),
        ValueType::Choices(words) => format!("a list of {}", words::any_of(words.iter().copied())),
        ValueType::Secret => "`{ secret = \"NAME\" }` or `{ env = \"NAME\" }`".to_owned(),
        ValueType::EnvMap => "a table of names and texts".to_owned(),
        ValueType::LogFilter => "a level such as `\"info\"`, or a list of them by unit".to_owned(),
        ValueType::Backlog => "`\"new\"`, `\"all\"` or an age such as `\"7d\"`".to_owned(),
        ValueType::Calendars => "a calendar such as `\"Mon..Fri 09:00\"`, or a list of them".to_owned(),
        ValueType::Tests(Tested::Path) => "a path such as `\"~/mail\"`, or a list of them".to_owned(),
        ValueType::Tests(Tested::Unit) => {
            "the name of a unit such as `\"inbox.connector\"`, or a list of them".to_owned()
        }
        ValueType::Tests(Tested::Word(words)) => {
            format!("{}, or a list of them", words::any_of(words.iter().copied()))
        }
        ValueType::Tests(Tested::Text) => "a text, or a list of them".to_owned(),
        ValueType::Windows => "hours such as `\"Mon..Fri 08:00-19:00\"`, or a list of them".to_owned(),
    }
}
