//! `workagent revert`: a unit as it was before you changed it: your drop-ins and your copy over a lower file go.

use std::io::BufRead as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::list_unit_files::FileState;
use super::units::{Own, UnitSet, names, write};
use crate::daemon::exit;
use crate::unit::load::{Role, Target};
use crate::unit::plan::UnitName;

/// `workagent revert UNIT…`
#[derive(Debug, Args)]
pub struct RevertArgs {
    /// The units
    #[arg(required = true, value_name = "UNIT")]
    units: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Print JSON
    #[arg(long, requires = "yes")]
    json: bool,
}

/// One unit, as an object of `--json`.
#[derive(Debug, Serialize)]
struct Reverted {
    unit: String,
    removed: Vec<String>,
    /// What its files say now.
    state: FileState,
}

/// Runs the command.
pub fn command(args: RevertArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let owns: Vec<Own> = [set.own(false), set.own(true)].into_iter().filter_map(Result::ok).collect();
    let names = args.units.iter().map(|word| names::find(&set, word)).collect::<Result<Vec<_>, _>>()?;
    let mut all = Vec::new();
    for name in names {
        let paths = mine(&set, &owns, &name);
        if paths.is_empty() && !args.json {
            writeln!(context.out, "{name}: nothing of yours changes it")?;
        }
        all.push((name, paths));
    }
    let total: usize = all.iter().map(|(_, paths)| paths.len()).sum();
    if total > 0 && !args.json {
        writeln!(context.out, "this removes:")?;
        for path in all.iter().flat_map(|(_, paths)| paths) {
            let link = if path.is_symlink() { " (the link, not what it leads to)" } else { "" };
            writeln!(context.out, "  {}{link}", set.short(path))?;
        }
    }
    if total > 0 && !args.yes && !agreed(context)? {
        writeln!(context.out, "nothing was removed")?;
        return Ok(exit::FAILURE);
    }
    for path in all.iter().flat_map(|(_, paths)| paths) {
        write::remove(path)?;
    }
    let after = UnitSet::read(context);
    let mut rows = Vec::new();
    for (name, paths) in &all {
        let state = FileState::of(&after, name);
        if !args.json && !paths.is_empty() {
            writeln!(context.out, "{name} is reverted: {}", state.word())?;
        }
        let removed = paths.iter().map(|path| path.display().to_string()).collect();
        rows.push(Reverted { unit: name.to_string(), removed, state });
    }
    if args.json {
        context.out.write_all(pretty(&rows).as_bytes())?;
    }
    Ok(exit::OK)
}

/// The user's drop-ins of a unit, and their whole file of it where there is a lower one to fall back to.
fn mine(set: &UnitSet, owns: &[Own], name: &UnitName) -> Vec<PathBuf> {
    let files = set.files(name);
    let every = || files.all().chain(files.replaced.iter().copied());
    let own = |file: &&crate::unit::load::UnitFile| owns.iter().any(|own| own.has(file));
    let below = every().any(|file| matches!(file.role, Role::Main(_)) && !own(&file));
    let mut paths: Vec<PathBuf> = every()
        .filter(own)
        .filter(|file| match &file.role {
            Role::Main(of) => below && of == name,
            Role::Mask(of) => of == name,
            Role::DropIn { target, .. } => *target == Target::Unit(name.clone()),
        })
        .map(|file| file.path.clone())
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

fn agreed(context: &mut Context<'_>) -> Result<bool, CliError> {
    context.out.flush()?;
    context.note("go on? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
