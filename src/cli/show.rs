//! `workagent show`: every key of a unit with the value that counts, and with `--origin` where it comes from.

use clap::Args;
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, path};
use super::units::{UnitSet, names, place};
use crate::daemon::exit;
use crate::diag::mask::Masked;
use crate::diag::{SourceMap, Span};
use crate::model::text;
use crate::unit::compile::KeyOrigin;
use crate::unit::plan::UnitName;

/// `workagent show UNIT`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The unit
    unit: String,
    /// With the place of each value, and what it replaces in lower files
    #[arg(long)]
    origin: bool,
    /// Only this key: `schedule.every`, `every` (may be given more than once)
    #[arg(long = "property", short, value_name = "KEY", value_delimiter = ',')]
    properties: Vec<String>,
    /// Only the values
    #[arg(long, conflicts_with_all = ["origin", "json"])]
    value: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One key, as an object of `--json`.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    /// `schedule.every`.
    key: String,
    /// As TOML, in one line.
    value: String,
    /// `FILE:LINE:COLUMN`; none is the default.
    origin: Option<String>,
    /// The same of what it replaces, the nearest first.
    shadows: Vec<String>,
}

/// Runs the command.
pub fn command(args: ShowArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let name = names::find(&set, &args.unit)?;
    let mut rows = rows(&set, &name)?;
    if !args.properties.is_empty() {
        let wanted = |row: &Row| {
            let bare = row.key.rsplit_once('.').map_or(row.key.as_str(), |(_, key)| key);
            args.properties.iter().any(|word| *word == row.key || word == bare)
        };
        let known: Vec<String> = rows.iter().map(|row| row.key.clone()).collect();
        rows.retain(wanted);
        if rows.is_empty() {
            let words = args.properties.join("`, `");
            let error = CliError::usage(format!("{name} has no key `{}`", super::look::line(&words, 80)));
            let like = args
                .properties
                .iter()
                .find_map(|word| crate::unit::closest(word, known.iter().map(String::as_str)));
            return Err(match like {
                Some(key) => error.hint(format!("did you mean {key}?")),
                None => error.hint(format!("workagent show {name} names them all")),
            });
        }
    }
    if args.json {
        context.out.write_all(pretty(&rows).as_bytes())?;
        return Ok(exit::OK);
    }
    let text = if args.value {
        rows.iter().map(|row| format!("{}\n", row.value)).collect()
    } else if args.origin {
        origins(&rows, context.paint(), set.home.as_deref())
    } else {
        rows.iter().map(|row| format!("{} = {}\n", row.key, row.value)).collect()
    };
    context.page(&text);
    Ok(exit::OK)
}

fn rows(set: &UnitSet, name: &UnitName) -> Result<Vec<Row>, CliError> {
    let Some(origins) = set.compiled.origins.get(name) else {
        let error = CliError::new(exit::FAILURE, format!("{name} could not be read"));
        return Err(error.hint("workagent validate says why"));
    };
    Ok(origins.iter().map(|origin| row(&set.compiled.sources, origin)).collect())
}

fn row(sources: &SourceMap, origin: &KeyOrigin) -> Row {
    let KeyOrigin { table, key, value, span, shadows } = origin;
    let shown = |span: &Span| place(sources, *span, None);
    let key = if table.is_empty() { key.clone() } else { format!("{table}.{key}") };
    // A literal where a reference should stand is an error that is told elsewhere; it is not told in full here.
    let line = format!("{key} = {value}");
    let hidden = span.is_some_and(|span| {
        sources
            .hidden(span.source)
            .any(|range| range.start < span.range().end && span.range().start < range.end)
    });
    let masked = Masked::new(&line, hidden.then(|| key.len() + 3..line.len())).text;
    let value = masked.strip_prefix(&format!("{key} = ")).unwrap_or("…");
    let value = text::visible(&text::clean(value));
    Row { key, value, origin: span.as_ref().map(shown), shadows: shadows.iter().map(shown).collect() }
}

/// Key and value in one column, the place in the other; what is replaced on lines of its own.
fn origins(rows: &[Row], paint: Paint, home: Option<&std::path::Path>) -> String {
    let short = |place: &str| path(std::path::Path::new(place), home);
    let mut table = Table::bare(2);
    for row in rows {
        let origin = row.origin.as_deref().map_or_else(|| "default".to_owned(), short);
        let code = if row.origin.is_some() { "36" } else { "2" };
        table
            .row([format!("{} = {}", row.key, row.value).into(), Cell::painted(code, format!("# {origin}"))]);
        for shadow in &row.shadows {
            table.row([Cell::default(), Cell::painted("2", format!("#   over {}", short(shadow)))]);
        }
    }
    table.render(paint, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_their_places_and_no_token() {
        let mut sources = SourceMap::default();
        let low = sources.add("/etc/a.toml".into(), "[x]\nevery = \"5m\"\n".into());
        let high = sources.add("/home/me/b.toml".into(), "[x]\nevery = \"1m\"\npass = \"hunter2\"\n".into());
        sources.hide(Span::new(high, &(24..33)));
        let key = |key: &str, value: &str, span, shadows| KeyOrigin {
            table: "x".into(),
            key: key.into(),
            value: value.into(),
            span,
            shadows,
        };
        let origins_of = [
            key("every", "\"1m\"", Some(Span::new(high, &(12..16))), vec![Span::new(low, &(12..16))]),
            key("idle", "true", None, vec![]),
            key("pin", "\"hunter2\"", Some(Span::new(high, &(24..33))), vec![]),
        ];
        let rows: Vec<Row> = origins_of.iter().map(|origin| row(&sources, origin)).collect();
        let text = origins(&rows, Paint { colour: false }, Some(std::path::Path::new("/home/me")));
        insta::assert_snapshot!(text, @r#"
        x.every = "1m"  # ~/b.toml:2:9
                        # over /etc/a.toml:2:9
        x.idle = true   # default
        x.pin = "…"     # ~/b.toml:3:8
        "#);
    }
}
