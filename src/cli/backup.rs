//! `workagent backup`: everything that is needed to go on elsewhere, in one file.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::analyze::compiled;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{ago, table};
use super::secret::ask;
use super::units::UnitSet;
use super::unusable::unusable_store;
use crate::daemon::backup::{self, BackupError, Made, Sources};
use crate::daemon::exit;
use crate::daemon::mark;
use crate::daemon::paths::Paths;
use crate::daemon::secrets::Around;
use crate::model::text::short_size;
use crate::secret::SecretValue;
use crate::secret::secrets::Secrets;

/// `workagent backup`
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The file to write; `backups` in the state directory by default
    file: Option<PathBuf>,
    /// What becomes of secret values
    #[arg(long, value_enum, default_value_t = SecretsArg::None)]
    secrets: SecretsArg,
    /// Only list the copies that can be put back
    #[arg(long, conflicts_with_all = ["file", "secrets"])]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SecretsArg {
    /// They stay here; unit files name them
    None,
    /// They go along, closed with a passphrase that is asked for or read from standard input
    Encrypted,
}

/// Where things lie that a backup is made of and goes back to.
pub(super) struct Places {
    pub paths: Paths,
    pub units: UnitSet,
    pub database: PathBuf,
}

impl Places {
    pub(super) fn of(context: &Context<'_>) -> Result<Self, CliError> {
        let paths = context.paths()?;
        let units = UnitSet::read(context);
        let daemon = &units.compiled.plan.daemon;
        let database = daemon.store_path.clone().unwrap_or_else(|| paths.database());
        Ok(Self { paths, units, database })
    }

    pub(super) fn secrets(&self, context: &Context<'_>) -> Secrets {
        let around = Around {
            environment: context.environment.clone(),
            scrubber: context.scrubber.clone(),
            clock: context.clock.clone(),
            ask: true,
        };
        crate::daemon::secrets::open(&self.paths, &compiled(context).plan, around)
    }
}

/// Runs the command. Works beside a running daemon.
pub async fn command(args: BackupArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let places = Places::of(context)?;
    if args.list {
        return list(&places, args.json, context);
    }
    let now = context.clock.now();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let to = args.file.unwrap_or_else(|| backup::usual_path(&places.paths.state, &host, now));
    let secrets = match args.secrets {
        SecretsArg::None => None,
        SecretsArg::Encrypted => Some(sealed(&places, context)?),
    };
    let sources = Sources {
        database: places.database.clone(),
        expected: mark::expected(&places.paths.state),
        units: places.units.own_dir().map(PathBuf::from),
        plans: places.paths.plans(),
        secrets,
        host,
        home: places.units.home.clone(),
        now,
    };
    let made = backup::make(sources, &to).await.map_err(|error| failed("make a backup", error, &places))?;
    let text = if args.json { pretty(&made) } else { shown(&made) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// All secrets, closed with a passphrase that is asked for.
fn sealed(places: &Places, context: &Context<'_>) -> Result<Vec<u8>, CliError> {
    let passphrase = passphrase(true)?;
    let doing = "close the secrets with the passphrase";
    let folder = tempfile::tempdir().map_err(|error| CliError::doing(doing, &error))?;
    let path = folder.path().join("secrets.age");
    let secrets = places.secrets(context);
    secrets.file().carry_out(path.clone(), passphrase).map_err(|error| {
        let hint = error.hint();
        CliError::doing(doing, &error).hint(hint)
    })?;
    std::fs::read(&path).map_err(|error| CliError::doing(doing, &error))
}

/// The passphrase of a backup: at a terminal without echo, and twice where nothing else would find a slip.
pub(super) fn passphrase(twice: bool) -> Result<SecretValue, CliError> {
    let first = ask("the backup's passphrase")?;
    let first = SecretValue::new(first.expose_to_the_wire().trim_end_matches(['\n', '\r']).to_owned());
    if first.expose_to_the_wire().is_empty() {
        return Err(CliError::usage("the passphrase is empty"));
    }
    if twice && std::io::stdin().is_terminal() {
        let second = ask("the backup's passphrase, once more")?;
        if second.expose_to_the_wire().trim_end_matches(['\n', '\r']) != first.expose_to_the_wire() {
            return Err(CliError::usage("the two are not the same"));
        }
    }
    Ok(first)
}

/// A failure; of a database that cannot be used it says the same as every other command.
pub(super) fn failed(doing: &str, error: BackupError, places: &Places) -> CliError {
    match error {
        BackupError::Store(source) if source.unusable() == Some(places.database.as_path()) => {
            unusable_store(source, &places.paths, &places.database)
        }
        BackupError::Store(ref source) if source.unusable().is_some() => {
            CliError { code: exit::DATABASE, ..CliError::doing(doing, &error) }
        }
        BackupError::Unfit { .. } | BackupError::Newer { .. } => {
            CliError { code: exit::DATABASE, ..CliError::doing(doing, &error) }
        }
        _ => CliError::doing(doing, &error),
    }
}

fn shown(made: &Made) -> String {
    let count = |part: &str| {
        made.manifest.files.iter().filter(|entry| entry.name.starts_with(&format!("{part}/"))).count()
    };
    let secrets = match made.manifest.secrets {
        backup::SecretsKept::None => "no secrets: unit files name them, their values stay here",
        backup::SecretsKept::Encrypted => "secrets, closed with the passphrase",
    };
    format!(
        "{}  {}\n  the record, checked; {} unit files, {} plans; {secrets}\n",
        made.path.display(),
        short_size(made.size_bytes),
        count("units"),
        count("plans"),
    )
}

fn list(places: &Places, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let kept = backup::kept(&places.paths.state, &places.database);
    let now = context.clock.now();
    let rows: Vec<Vec<String>> = kept
        .iter()
        .map(|copy| {
            let what = copy.schema.map_or("cannot be read".to_owned(), |schema| format!("schema {schema}"));
            vec![ago(copy.at, now), what, copy.path.display().to_string()]
        })
        .collect();
    let text = match (json, kept.is_empty()) {
        (true, _) => pretty(&kept),
        (false, true) => "no copies; `workagent backup` makes one\n".to_owned(),
        (false, false) => table(&rows),
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}
