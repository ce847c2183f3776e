//! `workagent list-unit-files`: what lies on the search path, and whether it takes part. No daemon is asked.

use clap::Args;
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, count};
use super::units::flag::Flag;
use super::units::names::Selection;
use super::units::{UnitSet, all_names, why_off};
use crate::daemon::exit;
use crate::unit::edit::{self, Said};
use crate::unit::files::UnitFiles;
use crate::unit::kinds;
use crate::unit::plan::{OffState, UnitName};

/// `workagent list-unit-files`
#[derive(Debug, Args)]
pub struct ListUnitFilesArgs {
    /// Only units in this state: enabled, disabled, static, template, masked, bad (may be given more than once)
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    state: Vec<String>,
    #[command(flatten)]
    selection: Selection,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the files of a unit say about taking part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// Switched on.
    Enabled,
    /// Switched off.
    Disabled,
    /// On by nature; no file says anything.
    Static,
    /// Runs by its instances.
    Template,
    /// Off for good.
    Masked,
    /// Has errors.
    Bad,
}

impl FileState {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Static => "static",
            Self::Template => "template",
            Self::Masked => "masked",
            Self::Bad => "bad",
        }
    }

    /// Of a unit.
    #[must_use]
    pub fn of(set: &UnitSet, name: &UnitName) -> Self {
        if name.is_template() {
            return Self::Template;
        }
        let files = set.files(name);
        match why_off(&set.compiled, name).map(|off| off.state) {
            Some(OffState::Masked) => Self::Masked,
            Some(OffState::BadSetting) => Self::Bad,
            Some(OffState::Disabled) => Self::Disabled,
            // Whether it can run is another question.
            Some(OffState::Dependency | OffState::Condition | OffState::Stopped) | None => {
                match Flag::Enabled.now(&files, name.kind) {
                    (true, Some(_)) => Self::Enabled,
                    (true, None) => Self::Static,
                    (false, _) => Self::Disabled,
                }
            }
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Enabled => "32",
            Self::Disabled => "33",
            Self::Masked | Self::Bad => "31",
            Self::Static | Self::Template => "0",
        }
    }
}

/// One row, and one object of `--json`.
#[derive(Debug, Serialize)]
struct Row {
    unit: String,
    state: FileState,
    /// As it is shipped, before anybody changed it: the lowest file of the name.
    preset: FileState,
    /// Where the whole unit stands.
    path: Option<String>,
    /// What is laid over it, in order.
    drop_ins: Vec<String>,
}

/// Runs the command.
pub fn command(args: ListUnitFilesArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let selected = args.selection.ready()?;
    let set = UnitSet::read(context);
    let rows: Vec<Row> = all_names(&set)
        .iter()
        .filter(|name| selected.has(&name.to_string()))
        .map(|name| row(&set, name))
        .filter(|row| args.state.is_empty() || args.state.iter().any(|word| word == row.state.word()))
        .collect();
    if args.json {
        context.out.write_all(pretty(&rows).as_bytes())?;
    } else {
        let text = shown(&rows, context.paint(), context.width());
        context.page(&text);
    }
    Ok(exit::OK)
}

/// How a unit is before anybody changed it.
#[must_use]
pub fn preset(files: &UnitFiles<'_>, name: &UnitName) -> FileState {
    let lowest =
        files.replaced.iter().copied().find(|file| matches!(file.role, crate::unit::load::Role::Main(_)));
    let default = kinds::spec(name.kind).enabled;
    match lowest.or(files.main).map(|file| edit::said(&file.text, "enabled")) {
        _ if name.is_template() => FileState::Template,
        Some(Said::Flag(true)) => FileState::Enabled,
        Some(Said::Flag(false)) => FileState::Disabled,
        _ if default => FileState::Static,
        _ => FileState::Disabled,
    }
}

fn row(set: &UnitSet, name: &UnitName) -> Row {
    let files = set.files(name);
    Row {
        unit: name.to_string(),
        state: FileState::of(set, name),
        preset: preset(&files, name),
        path: files.main.map(|file| file.path.display().to_string()),
        drop_ins: files.drop_ins.iter().map(|file| file.path.display().to_string()).collect(),
    }
}

fn shown(rows: &[Row], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["UNIT FILE", "STATE", "PRESET", "DROP-INS"]);
    for row in rows {
        let drop_ins = match row.drop_ins.len() {
            0 => "-".to_owned(),
            some => some.to_string(),
        };
        table.row([row.unit.as_str().into(), painted(row.state), painted(row.preset), drop_ins.into()]);
    }
    let mut out = String::new();
    if !rows.is_empty() {
        out.push_str(&table.render(paint, width));
        out.push('\n');
    }
    out.push_str(&format!("{} listed.\n", count(rows.len(), "unit file")));
    out
}

fn painted(state: FileState) -> Cell {
    match state.code() {
        "0" => state.word().into(),
        code => Cell::painted(code, state.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_state_preset_and_drop_ins() {
        let row = |unit: &str, state, preset, count: usize| Row {
            unit: unit.into(),
            state,
            preset,
            path: None,
            drop_ins: vec!["x".into(); count],
        };
        let rows = [
            row("github@.connector", FileState::Template, FileState::Template, 0),
            row("inbox.connector", FileState::Enabled, FileState::Disabled, 2),
            row("worker.runtime", FileState::Static, FileState::Static, 0),
        ];
        insta::assert_snapshot!(shown(&rows, Paint { colour: false }, 80), @r#"
        UNIT FILE          STATE     PRESET    DROP-INS
        github@.connector  template  template  -
        inbox.connector    enabled   disabled  2
        worker.runtime     static    static    -

        3 unit files listed.
        "#);
        assert_eq!(shown(&[], Paint { colour: false }, 80), "0 unit files listed.\n");
    }
}
