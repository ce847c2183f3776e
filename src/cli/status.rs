//! `workagent status`: the command, and which exit code it ends with.

mod screen;
#[cfg(test)]
mod tests;
mod wrap;

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::list_unit_files::{FileState, preset};
use super::orders::unit_of;
use super::units::UnitSet;
use crate::control::wire::{StatusView, UnitView};
use crate::model::exit;
use crate::unit::plan::UnitName;
use screen::{Screen, UnitFilesView};

/// `workagent status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this unit, closely: `inbox.connector`, or `inbox` if only one unit has the name
    unit: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Without a daemon it says so first, and shows what unit files and record say by themselves.
pub async fn command(args: StatusArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let mut view: StatusView = backend.get("/v1/status").await?;
    backend.close().await;
    if let Some(wanted) = &args.unit {
        let name = unit_of(&view, wanted)?;
        view.units.retain(|unit| unit.unit == name);
    }
    let screen = Screen::new(view.now, context.colour(), context.width());
    let text = match (args.json, args.unit.is_some()) {
        (true, _) => pretty(&view),
        (false, false) => screen.overview(&view),
        (false, true) => screen.closely(&view, &files(&view, context)),
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit_code(&view))
}

/// Of each unit its files, and what they say of its taking part.
fn files(view: &StatusView, context: &Context<'_>) -> Vec<UnitFilesView> {
    let set = UnitSet::read(context);
    let of = |unit: &UnitView| {
        let name = UnitName::parse(&unit.unit)?;
        let files = set.files(&name);
        let main = files.main?;
        Some(UnitFilesView {
            path: set.short(&main.path),
            state: FileState::of(&set, &name).word(),
            preset: preset(&files, &name).word(),
            drop_ins: files.drop_ins.iter().map(|file| set.short(&file.path)).collect(),
        })
    };
    view.units.iter().map(|unit| of(unit).unwrap_or_default()).collect()
}

/// The code `status` ends with, readable by scripts in the manner of `systemctl status`: 0 all is well,
/// [`exit::NOT_WELL`] (3) something enabled is not well or a unit file has errors, [`exit::NOT_RUNNING`] (69) there is no
/// daemon, which is more than not being well: nothing is done at all. systemctl uses 3 for both; here they are told
/// apart.
#[must_use]
pub fn exit_code(view: &StatusView) -> u8 {
    match (view.running, view.is_well()) {
        (false, _) => exit::NOT_RUNNING,
        (true, true) => exit::OK,
        (true, false) => exit::NOT_WELL,
    }
}
