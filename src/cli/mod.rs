//! The command line: one file per command, one row in `Command`.

pub mod analyze;
pub mod backend;
pub mod case;
pub mod completions;
pub mod context;
pub mod demo;
pub mod error;
pub mod explain;
pub mod look;
pub mod manual;
pub mod new;
pub mod outbox;
pub mod pause;
pub mod review;
pub mod run;
pub mod schema;
pub mod secret;
pub mod status;
pub mod validate;

use std::io::Write;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::daemon::exit;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use context::{Context, GlobalArgs};
use error::CliError;

/// systemd and launchd for your work agent: unit files, durable cases, reviewed replies
#[derive(Debug, Parser)]
#[command(name = "workagent", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon in the foreground, or one cycle
    Run(run::RunArgs),
    /// Show what each unit is doing, with ages
    Status(status::StatusArgs),
    /// Check all unit files and show every finding
    Validate(validate::ValidateArgs),
    /// Tell what a finding of validate means
    Explain(explain::ExplainArgs),
    /// Write a new unit file with all its keys in comments
    New(new::NewArgs),
    /// Print or write JSON schemas of unit files, for editors
    Schema(schema::SchemaArgs),
    /// Show the reference of all keys
    Manual(manual::ManualArgs),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Look into the units: graph, order, exposure
    Analyze(analyze::AnalyzeArgs),
    /// Look at drafts and decide
    Review(review::ReviewArgs),
    /// Look at cases and their whole record
    Case(case::CaseArgs),
    /// Look at what is being sent
    Outbox(outbox::OutboxArgs),
    /// Stop claiming and sending, until resumed
    Pause,
    /// Go on after a pause
    Resume,
    /// Run one cycle of a unit now
    Kick(pause::KickArgs),
    /// Store, list and remove secrets
    Secret(secret::SecretArgs),
    /// Show the whole way on made-up mail, without an account or network
    Demo(demo::DemoArgs),
}

/// The command line as it is defined, for man pages and completions.
#[must_use]
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Runs the command line to its exit code. Data goes to `out`, everything else to standard error.
pub fn main(
    args: impl IntoIterator<Item = std::ffi::OsString>,
    environment: Environment,
    out: &mut dyn Write,
) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data; a wrong command line is not.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::OK };
        }
    };
    let clock = Clock::system();
    let mut context = Context { environment, global: cli.global, clock, out };
    match dispatch(cli.command, &mut context) {
        Ok(code) => code,
        Err(error) => {
            say(&error);
            error.code
        }
    }
}

fn dispatch(command: Command, context: &mut Context<'_>) -> Result<u8, CliError> {
    match command {
        // Pure: no runtime, no daemon.
        Command::Validate(args) => validate::command(args, context),
        Command::Explain(args) => explain::command(&args, context),
        Command::New(args) => new::command(&args, context),
        Command::Schema(args) => schema::command(&args, context),
        Command::Manual(args) => manual::command(&args, context),
        Command::Completions(args) => completions::command(&args, context),
        Command::Analyze(args) => analyze::command(args, context),
        Command::Secret(args) => secret::command(args, context),
        // The daemon, with its own threads.
        Command::Run(args) => threads(2)?.block_on(run::command(args, context)),
        Command::Demo(args) => threads(2)?.block_on(demo::command(args, context)),
        // One request to the daemon.
        Command::Status(args) => threads(1)?.block_on(status::command(args, context)),
        Command::Review(args) => threads(1)?.block_on(review::command(args, context)),
        Command::Case(args) => threads(1)?.block_on(case::command(args, context)),
        Command::Outbox(args) => threads(1)?.block_on(outbox::command(args, context)),
        Command::Pause => threads(1)?.block_on(pause::pause(context)),
        Command::Resume => threads(1)?.block_on(pause::resume(context)),
        Command::Kick(args) => threads(1)?.block_on(pause::kick(args, context)),
    }
}

fn threads(count: usize) -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(count)
        .enable_all()
        .build()
        .map_err(|error| CliError::doing("start the threads", &error))
}

/// The error, a blank line, the hint.
fn say(error: &CliError) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "error: {}", error.message);
    if let Some(hint) = &error.hint {
        let _ = writeln!(err, "\nhint: {hint}");
    }
}
