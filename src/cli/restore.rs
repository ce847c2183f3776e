//! `workagent restore`: a backup, or a copy of the database, takes the place of what is there.

use std::path::PathBuf;

use clap::Args;

use super::backend::assembly_error;
use super::backup::{Places, failed, passphrase};
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::unusable::quoted;
use crate::daemon::assembly::AssemblyError;
use crate::daemon::backup::{self, Plan, Restore, Restored, Target};
use crate::daemon::exit;
use crate::daemon::lock::{InstanceLock, LockError};

/// `workagent restore`
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// A backup, or a copy of the database from before a migration
    file: PathBuf,
    /// Check everything and say what would be done; replace nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace unit files that are there; without it they are put back only where there are none
    #[arg(long)]
    units: bool,
    /// Take secrets out of the backup too, with its passphrase; values that are stored here stay
    #[arg(long)]
    secrets: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Refused while a daemon runs.
pub async fn command(args: RestoreArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let places = Places::of(context)?;
    let now = context.clock.now();
    let _lock = InstanceLock::acquire(&places.paths, &places.database, now).map_err(|error| {
        let held = matches!(error, LockError::Held { .. });
        let told = assembly_error(AssemblyError::Lock(error));
        let hint = "stop it first: `systemctl --user stop workagent`, or end `workagent run`";
        if held {
            CliError { message: told.message.replacen("start: ", "restore: ", 1), ..told }.hint(hint)
        } else {
            told
        }
    })?;
    // Asked for before anything is done: without it half would be back.
    let passphrase = if args.secrets && !args.dry_run { Some(passphrase(false)?) } else { None };
    let target = Target {
        state: places.paths.state.clone(),
        database: places.database.clone(),
        plans: places.paths.plans(),
        units: places.units.own_dir().map(PathBuf::from),
        home: places.units.home.clone(),
        clock: context.clock.clone(),
    };
    let wish = Restore { dry_run: args.dry_run, units: args.units };
    let file = std::path::absolute(&args.file).map_err(|error| CliError::doing("find the backup", &error))?;
    let restored = backup::restore(&file, &target, wish)
        .await
        .map_err(|error| failed(&format!("put {} back", args.file.display()), error, &places))?;
    let secrets = match (&passphrase, &restored.sealed_secrets) {
        (Some(_), None) => Some("there are no secrets in it".to_owned()),
        (Some(passphrase), Some(sealed)) => {
            let doing = "take the secrets (the record is back already)";
            let folder = tempfile::tempdir().map_err(|error| CliError::doing(doing, &error))?;
            let path = folder.path().join("secrets.age");
            write_private(&path, sealed).map_err(|error| CliError::doing(doing, &error))?;
            let file = places.secrets(context);
            let (names, key) = file.file().carry_in(path, passphrase.clone()).map_err(|error| {
                CliError::doing(doing, &error).hint("workagent restore once more with the right passphrase")
            })?;
            let made = key.map(|key| format!("; made the key {}", key.display())).unwrap_or_default();
            Some(format!("{} secrets taken{made}", names.len()))
        }
        (None, Some(_)) => Some("secrets are in it: --secrets takes them, with its passphrase".to_owned()),
        (None, None) => None,
    };
    let text = if args.json { pretty(&restored) } else { shown(&restored, args.dry_run, secrets.as_deref()) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn write_private(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

fn shown(restored: &Restored, dry_run: bool, secrets: Option<&str>) -> String {
    let done = if dry_run { "would go back" } else { "is back" };
    let mut lines = vec![match &restored.manifest {
        Some(manifest) => format!(
            "the backup of {} from {} is whole (workagent {}, schema {})",
            restored.copied_at,
            crate::cli::look::line(&manifest.host, 40),
            manifest.program,
            restored.schema
        ),
        None => format!("the copy of {} is whole (schema {})", restored.copied_at, restored.schema),
    }];
    lines.push(format!("the record {done}: {}", restored.database.display()));
    for (name, plan) in [("unit files", restored.units), ("kept plans", restored.plans)] {
        match plan {
            Plan::Absent => {}
            Plan::PutBack => {
                lines.push(format!("{name}: {}", if dry_run { "would go back" } else { "back" }));
            }
            Plan::Kept => {
                lines.push(format!("{name}: those that are here stay; --units replaces them"));
            }
        }
    }
    lines.extend(secrets.map(str::to_owned));
    for path in &restored.aside {
        lines.push(format!("what was there is kept: {}", path.display()));
    }
    lines.push(String::new());
    let since = restored.copied_at;
    lines.push(format!("What happened after {since} is forgotten, so nothing of before goes out by itself:"));
    if restored.sends_in_doubt > 0 {
        lines.push(format!(
            "  {} sends were under way: the platform is asked, the rest is held for you",
            restored.sends_in_doubt
        ));
    }
    lines.push(format!(
        "  drafts for what came in until now are for you to decide ({} wait)",
        restored.drafts_open
    ));
    if !restored.foreign_paths.is_empty() {
        lines.push(format!(
            "  these name the home directory of the other machine: {}",
            restored.foreign_paths.join(", ")
        ));
    }
    if restored.manifest.is_some() {
        lines.push("  let no daemon run on a machine that it came from: it would send too".to_owned());
    }
    if dry_run {
        lines.push(format!("Nothing was changed. `workagent restore {}` does it", quoted(&restored.from)));
    } else {
        lines.push("Next: `workagent validate`, then start the daemon".to_owned());
    }
    lines.join("\n") + "\n"
}
