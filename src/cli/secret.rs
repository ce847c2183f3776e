//! `workagent secret`: values go in by prompt or standard input, never by argument, and never come out again.

mod login;

pub(super) use login::text as login_text;

use std::io::{IsTerminal as _, Read as _, Write as _};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{ago, table};
use crate::daemon::exit;
use crate::model::time::Timestamp;
use crate::secret::secrets::Secrets;
use crate::secret::{SecretError, SecretValue, SetError};

/// `workagent secret …`
#[derive(Debug, Args)]
pub struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Debug, Subcommand)]
enum SecretCommand {
    /// Store a value, asked for at the terminal or read from standard input
    Set {
        /// The name that units refer to: { secret = "NAME" }
        name: String,
    },
    /// Log in at the platform of a connector, with a client of your own, and store the token
    ///
    /// Shows a code to type, or an address to open; the token is stored under the name that the connector's unit gives,
    /// and renewed by itself where the platform allows it. The unit's `[oauth]` table names your client.
    Login {
        /// The connector
        connector: String,
    },
    /// List names and ages, never values
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a value
    Remove {
        /// The name
        name: String,
    },
}

/// One secret, as an object of `list --json`.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    set_at: Timestamp,
}

/// A value is a line or a key, not a file.
const VALUE_BYTES_MAX: u64 = 64 * 1024;

/// Runs the command. Works beside a running daemon, which reads a changed value at its next use.
pub fn command(args: SecretArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paths = context.paths()?;
    paths.make().map_err(|error| CliError::doing("prepare the directories", &error))?;
    let (file, key) = (paths.secrets_file(), paths.secrets_key());
    let secrets = Secrets::new(file, key, context.environment.clone(), context.scrubber.clone());
    let now = context.clock.now();
    match args.command {
        SecretCommand::Set { name } => {
            let value = ask(&name)?;
            context.scrubber.register(&value);
            let outcome = secrets.file().set(&name, &value, now).map_err(set_error)?;
            writeln!(context.out, "stored {name} in {}", secrets.file().describe())?;
            if let Some(path) = outcome.key_made {
                let path = path.display();
                writeln!(context.out, "note: made the key {path}; keep a copy of it apart from the secrets")?;
            }
            if !outcome.masked {
                writeln!(context.out, "note: the value is too short to be masked in logs")?;
            }
        }
        SecretCommand::Login { connector } => return login::command(&connector, &secrets, context),
        SecretCommand::List { json: true } => {
            let entries = secrets.file().list().map_err(read_error)?;
            let listed: Vec<Listed> =
                entries.into_iter().map(|entry| Listed { name: entry.name, set_at: entry.set_at }).collect();
            write!(context.out, "{}", pretty(&listed))?;
        }
        SecretCommand::List { json: false } => {
            let entries = secrets.file().list().map_err(read_error)?;
            if entries.is_empty() {
                writeln!(context.out, "no secrets are stored in {}", secrets.file().describe())?;
            }
            let rows: Vec<Vec<String>> = entries
                .into_iter()
                .map(|entry| vec![entry.name, format!("set {}", ago(entry.set_at, now))])
                .collect();
            write!(context.out, "{}", table(&rows))?;
        }
        SecretCommand::Remove { name } => {
            if !secrets.file().remove(&name).map_err(read_error)? {
                return Err(CliError::new(exit::FAILURE, format!("no secret is stored under `{name}`")));
            }
            writeln!(context.out, "removed {name}")?;
        }
    }
    Ok(exit::OK)
}

/// The value, without echo at a terminal.
pub(super) fn ask(name: &str) -> Result<SecretValue, CliError> {
    let mut text = String::new();
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let mut err = anstream::stderr().lock();
        write!(err, "value of {name} (not shown): ")?;
        err.flush()?;
        let _quiet = Quiet::new();
        stdin.read_line(&mut text)?;
        writeln!(err)?;
    } else {
        stdin.take(VALUE_BYTES_MAX).read_to_string(&mut text)?;
    }
    Ok(SecretValue::new(text))
}

/// Echo off while it lives.
struct Quiet(Option<rustix::termios::Termios>);

impl Quiet {
    fn new() -> Self {
        let before = rustix::termios::tcgetattr(std::io::stdin()).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(rustix::termios::LocalModes::ECHO);
            let _ =
                rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, &quiet);
        }
        Self(before)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ =
                rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }
}

fn set_error(error: SetError) -> CliError {
    match error {
        SetError::Refused { why } => CliError::usage(why),
        SetError::Store(error) => read_error(error),
    }
}

fn read_error(error: SecretError) -> CliError {
    let hint = error.hint();
    CliError::doing("use the secret store", &error).hint(hint)
}
