//! `workagent enable`, `disable`, `mask`, `unmask`: one key in a file of the user's own, comments and layout kept.

use clap::Args;
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::reload;
use super::units::flag::{Flag, Step};
use super::units::{UnitSet, findings_of, has_errors, names, write};
use crate::control::wire::units::{ReloadView, UnitOrder};
use crate::daemon::exit;
use crate::diag::render::{self, Style};
use crate::model::item::Backlog;
use crate::unit::plan::{Kind, OffState, Standing, UnitName};

/// `workagent enable NAME…` and its like.
#[derive(Debug, Args)]
pub struct FlagArgs {
    /// The units: `inbox.connector`, `inbox`, `github@work`
    #[arg(required = true, value_name = "UNIT")]
    units: Vec<String>,
    /// Only until the machine is switched off: write into the runtime directory
    #[arg(long)]
    runtime: bool,
    /// Have the running daemon take it over at once, and wait for that
    #[arg(long)]
    now: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is to become of the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// `enabled = true`.
    Enable,
    /// `enabled = false`.
    Disable,
    /// `masked = true`.
    Mask,
    /// `masked = false`.
    Unmask,
}

impl Wish {
    fn flag(self) -> (Flag, bool) {
        match self {
            Self::Enable => (Flag::Enabled, true),
            Self::Disable => (Flag::Enabled, false),
            Self::Mask => (Flag::Masked, true),
            Self::Unmask => (Flag::Masked, false),
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Enable => "enabled",
            Self::Disable => "disabled",
            Self::Mask => "masked",
            Self::Unmask => "no longer masked",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Mask => "mask",
            Self::Unmask => "unmask",
        }
    }
}

/// What became of one unit: a row of `--json`.
#[derive(Debug, Serialize)]
struct Done {
    unit: String,
    changed: bool,
    /// Files written, whole paths.
    wrote: Vec<String>,
    /// Files removed, whole paths.
    removed: Vec<String>,
    /// Errors in its files now.
    errors: usize,
}

/// Runs the command.
pub async fn command(wish: Wish, args: FlagArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let before = UnitSet::read(context);
    // All names first: a misspelt last one must not leave the others half done.
    let units = args.units.iter().map(|word| find(&before, wish, word)).collect::<Result<Vec<_>, _>>()?;
    let mut done = Vec::new();
    for name in &units {
        let one = one(wish, name, args.runtime, context)?;
        if !args.json {
            say(wish, &one, context, &before)?;
        }
        done.push(one);
    }
    let after = UnitSet::read(context);
    let mut broken = false;
    for (name, done) in units.iter().zip(&mut done) {
        let findings = findings_of(&after.compiled, &after.files(name));
        done.errors = crate::diag::Counts::of(&findings).errors;
        broken |= has_errors(&findings) && wish == Wish::Enable;
        let style = Style { colour: context.colour_err(), width: context.width() };
        context.note(&render::render(&findings, &after.compiled.sources, style));
        if wish == Wish::Enable && is_masked(&after, name) {
            broken = true;
            context.note(&format!("{name} is masked and stays off: workagent unmask {name}\n"));
        }
        if wish == Wish::Enable && done.changed && takes_backlog(&after, name) {
            context.note(&format!(
                "{name} works on what is there already, too (its `backlog`): workagent backlog {name} counts that\n"
            ));
        }
    }
    if args.json {
        context.out.write_all(pretty(&done).as_bytes())?;
    }
    let code = if args.now { now(wish, &units, args.json, context).await? } else { exit::OK };
    Ok(if broken { exit::FAILURE } else { code })
}

fn find(set: &UnitSet, wish: Wish, word: &str) -> Result<UnitName, CliError> {
    let name = names::find(set, word)?;
    if name.is_template() {
        let error = CliError::usage(format!("{name} is a template: it is its instances that run"));
        let stem = name.name.trim_end_matches('@');
        return Err(error.hint(format!("give an instance a name: workagent {} {stem}@work", wish.word())));
    }
    Ok(name)
}

/// A connector that is on and does not only take what comes from now on.
fn takes_backlog(set: &UnitSet, name: &UnitName) -> bool {
    let unit = set.compiled.plan.connectors.get(&name.name).filter(|_| name.kind == Kind::Connector);
    matches!(unit, Some(Standing::Active(unit)) if unit.backlog != Backlog::New)
}

fn is_masked(set: &UnitSet, name: &UnitName) -> bool {
    set.compiled.plan.why_off(name).is_some_and(|off| off.state == OffState::Masked)
}

fn one(wish: Wish, name: &UnitName, runtime: bool, context: &Context<'_>) -> Result<Done, CliError> {
    // Read anew: what was written for the one before may count for this one too.
    let set = UnitSet::read(context);
    let own = set.own(runtime)?;
    let (flag, value) = wish.flag();
    let mut done =
        Done { unit: name.to_string(), changed: false, wrote: Vec::new(), removed: Vec::new(), errors: 0 };
    for step in flag.plan(&set, &own, name, value)? {
        match step {
            Step::Write(file) => {
                write::write(&file.path, &file.text)?;
                done.wrote.push(file.path.display().to_string());
            }
            Step::Remove(path) => {
                write::remove(&path)?;
                done.removed.push(path.display().to_string());
            }
        }
        done.changed = true;
    }
    Ok(done)
}

fn say(wish: Wish, done: &Done, context: &mut Context<'_>, set: &UnitSet) -> Result<(), CliError> {
    let Done { unit, changed, wrote, removed, .. } = done;
    if !changed {
        let text = match wish {
            Wish::Unmask => format!("{unit} is not masked"),
            _ => format!("{unit} is {} already", wish.done()),
        };
        writeln!(context.out, "{text}")?;
        return Ok(());
    }
    writeln!(context.out, "{unit} is {} now", wish.done())?;
    for (word, paths) in [("wrote", wrote), ("removed", removed)] {
        for path in paths {
            writeln!(context.out, "  {word} {}", set.short(std::path::Path::new(path)))?;
        }
    }
    Ok(())
}

/// Has the daemon take it over.
async fn now(wish: Wish, units: &[UnitName], json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let mut view: ReloadView = backend.post("/v1/reload?dry_run=false", &()).await?;
    if wish == Wish::Enable {
        for name in units {
            // A stop by hand outlives the change of the file.
            let path = format!("/v1/units/{name}/{}", UnitOrder::Start.word());
            let started: ReloadView = backend.post(&path, &()).await?;
            view.changes.extend(started.changes);
        }
    }
    if !json {
        let text = reload::shown(&view, context.paint(), context.width());
        context.out.write_all(text.as_bytes())?;
    }
    // The watcher may have been faster; then there is nothing left to do, and that is fine.
    Ok(match view.outcome.exit() {
        exit::NOT_WELL => exit::OK,
        code => code,
    })
}
