//! `workagent secret`: values go in by prompt or standard input, never by argument, and never come out again.

mod ask;
mod list;
mod login;

pub(super) use login::text as login_text;

use clap::{Args, Subcommand};

pub(super) use self::ask::ask;
use super::analyze::compiled;
use super::backend::{Backend, present_environment, running};
use super::context::Context;
use super::error::CliError;
use super::look::line;
use crate::control::wire::secrets::{RotatedView, SecretName};
use crate::daemon::exit;
use crate::daemon::paths::Paths;
use crate::daemon::secrets::Around;
use crate::model::class::chain;
use crate::model::time::short_span;
use crate::secret::secrets::Secrets;
use crate::secret::{SecretError, SetError, SetOutcome, name};
use crate::unit::plan::{NewValue, Plan, Standing};

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
    /// List names, where they are kept, ages, who reads them; never values
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read a value and tell that it is there, how old it is and who uses it; a locked keyring may ask for its password
    Test {
        /// The name
        name: String,
    },
    /// Replace a value now, as its unit says: `how = "command"`, "oauth" or "ask"
    Rotate {
        /// The name
        name: String,
    },
    /// Remove a value
    Remove {
        /// The name
        name: String,
    },
}

/// Runs the command. Works beside a running daemon, which is told of what changed.
pub fn command(args: SecretArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    super::threads(2)?.block_on(run(args, context))
}

async fn run(args: SecretArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paths = context.paths()?;
    paths.make().map_err(|error| CliError::doing("prepare the directories", &error))?;
    match args.command {
        SecretCommand::List { json } => list::command(json, context).await,
        SecretCommand::Rotate { name } => rotate(&name, &paths, context).await,
        SecretCommand::Set { name } => {
            let secrets = open(&paths, &compiled(context).plan, context).await;
            set(&name, &secrets, &paths, context).await
        }
        SecretCommand::Login { connector } => {
            let secrets = open(&paths, &compiled(context).plan, context).await;
            let code = login::command(&connector, &secrets, context).await?;
            changed(&paths).await;
            Ok(code)
        }
        SecretCommand::Test { name } => {
            let plan = compiled(context).plan;
            let secrets = open(&paths, &plan, context).await;
            test(&name, &plan, &secrets, &paths, context).await
        }
        SecretCommand::Remove { name } => {
            let secrets = open(&paths, &compiled(context).plan, context).await;
            if !secrets.remove(&name).await.map_err(set_error)? {
                return Err(CliError::new(exit::FAILURE, format!("no secret is stored under `{name}`")));
            }
            changed(&paths).await;
            writeln!(context.out, "removed {name}")?;
            Ok(exit::OK)
        }
    }
}

/// The stores as the daemon has them, for a person who sits in front of them.
pub(super) async fn open(paths: &Paths, plan: &Plan, context: &Context<'_>) -> Secrets {
    let environment = present_environment(context, paths).await;
    let around =
        Around { environment, scrubber: context.scrubber.clone(), clock: context.clock.clone(), ask: true };
    crate::daemon::secrets::open(paths, plan, around)
}

/// Tells a running daemon, if there is one, so that what waits for the secret does not wait for its next look.
pub(super) async fn changed(paths: &Paths) {
    if let Ok(Some(client)) = running(paths).await
        && let Err(error) = client.post::<(), ()>("/v1/secrets/changed", &()).await
    {
        tracing::debug!("tell the daemon that a secret changed: {}", chain(&error));
    }
}

async fn set(
    name: &str,
    secrets: &Secrets,
    paths: &Paths,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    // Before anybody types a value.
    name::check(name).map_err(set_error)?;
    let place = secrets.place(name).map_err(read_error)?;
    if !place.backend.can_be_written() {
        let backend = place.backend.word();
        let error = CliError::usage(format!("{name} is not stored from here: its backend is {backend}"));
        return Err(error.hint(format!("workagent secret test {name} shows whether it is there")));
    }
    let value = ask(name)?;
    context.scrubber.register(&value);
    let outcome = secrets.put(name, value, None, None).await.map_err(set_error)?;
    stored(name, secrets, outcome.as_ref(), context)?;
    changed(paths).await;
    Ok(exit::OK)
}

/// What is said of a value that was stored.
fn stored(
    name: &str,
    secrets: &Secrets,
    outcome: Option<&SetOutcome>,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    let place = secrets.describe(name).map_err(read_error)?;
    writeln!(context.out, "stored {name} in {place}")?;
    let Some(SetOutcome { masked, key_made, .. }) = outcome else { return Ok(()) };
    if let Some(path) = key_made {
        let path = path.display();
        writeln!(context.out, "note: made the key {path}; keep a copy of it apart from the secrets")?;
    }
    if !masked {
        writeln!(context.out, "note: the value is too short to be masked in logs")?;
    }
    Ok(())
}

async fn test(
    name: &str,
    plan: &Plan,
    secrets: &Secrets,
    paths: &Paths,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let kept = secrets.kept(name).await.map_err(read_error)?;
    let now = context.clock.now();
    let mut said = vec![format!("{name} is there, in {}", secrets.describe(name).map_err(read_error)?)];
    if kept.token.version > 0 {
        said.push(format!("version {}", kept.token.version));
    }
    if let Some(at) = kept.set_at {
        said.push(format!("set {} ago", short_span(now.since(at))));
    }
    writeln!(context.out, "{}", line(&said.join(", "), 300))?;
    match plan.secret_users().remove(name) {
        Some(users) => {
            let users: Vec<String> = users.into_iter().collect();
            writeln!(context.out, "read by {}", users.join(", "))?;
        }
        None => writeln!(context.out, "no unit that is on reads it")?,
    }
    // A keyring that was unlocked for this is open for the daemon too.
    changed(paths).await;
    Ok(exit::OK)
}

async fn rotate(name: &str, paths: &Paths, context: &mut Context<'_>) -> Result<u8, CliError> {
    let plan = compiled(context).plan;
    let by_hand = match plan.secret_unit(name) {
        Some(Standing::Active(unit)) => unit.how == NewValue::Ask,
        Some(Standing::Off(_)) => false,
        None => true,
    };
    if by_hand {
        let secrets = open(paths, &plan, context).await;
        return set(name, &secrets, paths, context).await;
    }
    let backend = Backend::connect(context).await?;
    let asked = SecretName { name: name.to_owned() };
    let rotated = backend.post::<_, RotatedView>("/v1/secrets/rotate", &asked).await;
    backend.close().await;
    let RotatedView { version, units } = rotated?;
    writeln!(context.out, "replaced {name}, now version {version}")?;
    if !units.is_empty() {
        writeln!(context.out, "used from the next request on by {}", units.join(", "))?;
    }
    Ok(exit::OK)
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
