//! The command line: one file per command, one row in `Command`.

pub mod analyze;
pub mod backend;
pub mod backlog;
pub mod backup;
pub mod case;
pub mod cat;
pub mod completions;
pub mod confined;
mod context;
pub mod cost;
pub mod demo;
mod digest;
pub mod doctor;
pub mod edit;
pub mod enable;
pub mod env;
pub mod error;
pub mod explain;
pub mod init;
pub mod is_state;
pub mod list_dependencies;
pub mod list_timers;
pub mod list_unit_files;
pub mod list_units;
pub mod log_level;
pub mod logs;
pub mod look;
pub mod manual;
pub mod masked;
pub mod mcp;
pub mod metrics;
pub mod new;
pub mod open;
pub mod orders;
pub mod outbox;
pub mod pager;
pub mod pair;
pub mod pause;
pub mod plan;
pub mod purge;
pub mod reload;
pub mod repairs;
pub mod replay;
pub mod restore;
pub mod revert;
pub mod review;
pub mod route;
pub mod run;
pub mod schema;
mod screen;
pub mod secret;
pub mod service;
pub mod show;
mod span;
pub mod status;
pub mod top;
mod trust;
mod tty;
pub mod unit_diff;
pub mod unit_paths;
pub mod units;
mod unusable;
pub mod validate;

use std::io::Write;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::control::wire::units::UnitOrder;
use crate::daemon::exit;
use crate::daemon::logging::install_panic_hook;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::secret::Scrubber;
use context::{Context, GlobalArgs};
use enable::Wish;
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
    /// Set up: asks what to connect and who answers, tries the logins, writes units and secrets
    Init(init::InitArgs),
    /// Run the daemon in the foreground, or one cycle
    Run(run::RunArgs),
    /// Show what each unit is doing, with ages
    Status(status::StatusArgs),
    /// Watch the daemon on a full screen: what needs you, connectors, engines, drafts, what happens
    Top(top::TopArgs),
    /// Check all unit files and show every finding
    Validate(validate::ValidateArgs),
    /// Tell what a finding of validate means
    Explain(explain::ExplainArgs),
    /// Count what is there already, before a connector is switched on
    Backlog(backlog::BacklogArgs),
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
    /// Show why cases go where they go
    Route(route::RouteArgs),
    /// Show the environment of an engine's programs
    Env(env::EnvArgs),
    /// Show what engines cost, and where budgets stand
    Cost(cost::CostArgs),
    /// List everything that needs you, each with the one command that mends it
    Repairs(repairs::RepairsArgs),
    /// How often you left drafts as they were, and what goes by itself
    Trust(trust::TrustArgs),
    /// Tell what happened in a day
    Digest(digest::DigestArgs),
    /// Look at what is being sent
    Outbox(outbox::OutboxArgs),
    /// Print a link that opens the page in a browser on this machine
    ///
    /// Asks the running daemon for it. If the page does not listen yet (`[web] enabled` in the daemon unit), the daemon
    /// begins to, on a free port of 127.0.0.1, and ends once nobody is logged in any more. The link is good for one
    /// minute and one browser, which then stays logged in for some days.
    Open(open::OpenArgs),
    /// Bind a channel to you: by a code, for only that account may then decide on it
    Pair(pair::PairArgs),
    /// Stop claiming and sending, of everything or of one unit, for a while or until resumed
    Pause(pause::PauseArgs),
    /// Go on after a pause
    Resume(pause::ResumeArgs),
    /// Run one cycle of a unit now
    Kick(pause::KickArgs),
    /// Store, list and remove secrets
    Secret(secret::SecretArgs),
    /// Show the whole way on made-up mail, without an account or network
    Demo(demo::DemoArgs),
    /// List units with what they do and how they are
    ListUnits(list_units::ListUnitsArgs),
    /// List unit files and whether they take part
    ListUnitFiles(list_unit_files::ListUnitFilesArgs),
    /// List everything with a schedule, the next first
    ListTimers(list_timers::ListTimersArgs),
    /// Show what a unit needs, or who needs it, as a tree
    ListDependencies(list_dependencies::ListDependenciesArgs),
    /// Show the files of units, one layer after another
    Cat(cat::CatArgs),
    /// Show every key of a unit, and where it comes from
    Show(show::ShowArgs),
    /// Show what your files change in units
    Diff(unit_diff::DiffArgs),
    /// Show where unit files come from
    Paths(unit_paths::PathsArgs),
    /// Edit a unit; what has new errors is not saved
    Edit(edit::EditArgs),
    /// Take back what you changed in units
    Revert(revert::RevertArgs),
    /// Have units take part
    Enable(enable::FlagArgs),
    /// Have units take part no longer
    Disable(enable::FlagArgs),
    /// Switch units off whatever else is said
    Mask(enable::FlagArgs),
    /// Take a mask back
    Unmask(enable::FlagArgs),
    /// Take a stop of units back, or have them try again at once
    Start(orders::OrderArgs),
    /// Stop units until they are started or the daemon is
    Stop(orders::OrderArgs),
    /// Begin units anew
    Restart(orders::OrderArgs),
    /// Forget failures of units and the waits that follow from them
    ResetFailed(orders::ResetArgs),
    /// Stop all units but those of a target
    Isolate(orders::IsolateArgs),
    /// Have the daemon read the unit files again, and show what came of it
    Reload(reload::ReloadArgs),
    /// Look at the plans that ran, compare them, go back to one
    Plan(plan::PlanArgs),
    /// Tell whether units are active: exit code 0 or 3
    IsActive(is_state::IsArgs),
    /// Tell whether units failed: exit code 0 or 1
    IsFailed(is_state::IsArgs),
    /// Tell whether everything is well: exit code 0 or 1, reasons on standard error
    IsHealthy(is_state::IsHealthyArgs),
    /// Tell whether units take part by their files: exit code 0 or 1
    IsEnabled(is_state::IsArgs),
    /// Show the daemon's log
    Logs(logs::LogsArgs),
    /// Show or change what the running daemon logs, of all or of one unit, for a while
    LogLevel(log_level::LogLevelArgs),
    /// Copy record, unit files and plans into one file, also while the daemon runs
    Backup(backup::BackupArgs),
    /// Put a backup back, after everything in it was checked; what is replaced is kept aside
    Restore(restore::RestoreArgs),
    /// Look for what is wrong with this setup, and how to mend it
    Doctor(doctor::DoctorArgs),
    /// Run the daemon as a service of yours: systemd or launchd
    Service(service::ServiceArgs),
    /// Print the state of the daemon for Prometheus
    Metrics,
    /// Let go of everything that came through one connector
    Purge(purge::PurgeArgs),
    /// Serve cases to an agent over MCP: it reads and proposes, and cannot send
    Mcp(mcp::McpArgs),
    /// Become another program with fewer rights: how the daemon starts what it confines
    #[command(hide = true)]
    Confined(confined::ConfinedArgs),
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
    let scrubber = Scrubber::default();
    install_panic_hook(scrubber.clone(), None);
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // What was typed is repeated in it, and may have been a secret. Plain: the codes of a colour would stand before
            // a token like a letter of it.
            let _ = write!(masked::stderr(&scrubber), "{}", error.render());
            return exit::USAGE;
        }
        // Help and version are data.
        Err(error) => {
            let _ = error.print();
            return exit::OK;
        }
    };
    let clock = Clock::system();
    let pages = String::new();
    let mut out = masked::Masking::new(out, scrubber.clone());
    let out: &mut dyn Write = &mut out;
    let mut context = Context { environment, global: cli.global, clock, out, pages, scrubber };
    let ended = dispatch(cli.command, &mut context);
    let ended = ended.and_then(|code| pager::show(&mut context).map(|()| code));
    match ended {
        Ok(code) => code,
        Err(error) => {
            say(&error, &context.scrubber);
            error.code
        }
    }
}

fn dispatch(command: Command, context: &mut Context<'_>) -> Result<u8, CliError> {
    match command {
        // Pure: no runtime, no daemon.
        Command::Validate(args) => validate::command(args, context),
        Command::Backlog(args) => backlog::command(args, context),
        Command::Explain(args) => explain::command(&args, context),
        Command::New(args) => new::command(&args, context),
        Command::Schema(args) => schema::command(&args, context),
        Command::Manual(args) => manual::command(&args, context),
        Command::Completions(args) => completions::command(&args, context),
        Command::Confined(args) => confined::command(args, context),
        Command::Analyze(args) => analyze::command(args, context),
        Command::Secret(args) => secret::command(args, context),
        Command::ListUnitFiles(args) => list_unit_files::command(args, context),
        Command::ListDependencies(args) => list_dependencies::command(args, context),
        Command::Cat(args) => cat::command(args, context),
        Command::Show(args) => show::command(args, context),
        Command::Diff(args) => unit_diff::command(args, context),
        Command::Paths(args) => threads(1)?.block_on(unit_paths::command(args, context)),
        Command::Edit(args) => edit::command(args, context),
        Command::Revert(args) => revert::command(args, context),
        Command::IsEnabled(args) => is_state::enabled(args, context),
        Command::Init(args) => threads(1)?.block_on(init::command(args, context)),
        // The daemon, with its own threads.
        Command::Run(args) => threads(2)?.block_on(run::command(args, context)),
        Command::Demo(args) => threads(2)?.block_on(demo::command(args, context)),
        // One request to the daemon.
        Command::Status(args) => threads(1)?.block_on(status::command(args, context)),
        Command::Top(args) => threads(1)?.block_on(top::command(args, context)),
        Command::Review(args) => threads(1)?.block_on(review::command(args, context)),
        Command::Case(args) => threads(1)?.block_on(case::command(args, context)),
        Command::Route(args) => threads(1)?.block_on(route::command(args, context)),
        Command::Env(args) => threads(1)?.block_on(env::command(args, context)),
        Command::Cost(args) => threads(1)?.block_on(cost::command(args, context)),
        Command::Trust(args) => threads(1)?.block_on(trust::command(args, context)),
        Command::Repairs(args) => threads(1)?.block_on(repairs::command(args, context)),
        Command::Digest(args) => threads(1)?.block_on(digest::command(args, context)),
        Command::Outbox(args) => threads(1)?.block_on(outbox::command(args, context)),
        Command::Open(args) => threads(1)?.block_on(open::command(args, context)),
        Command::Pair(args) => threads(1)?.block_on(pair::command(args, context)),
        Command::Pause(args) => threads(1)?.block_on(pause::pause(args, context)),
        Command::Resume(args) => threads(1)?.block_on(pause::resume(args, context)),
        Command::Kick(args) => threads(1)?.block_on(pause::kick(args, context)),
        Command::ListUnits(args) => threads(1)?.block_on(list_units::command(args, context)),
        Command::ListTimers(args) => threads(1)?.block_on(list_timers::command(args, context)),
        Command::Enable(args) => threads(1)?.block_on(enable::command(Wish::Enable, args, context)),
        Command::Disable(args) => threads(1)?.block_on(enable::command(Wish::Disable, args, context)),
        Command::Mask(args) => threads(1)?.block_on(enable::command(Wish::Mask, args, context)),
        Command::Unmask(args) => threads(1)?.block_on(enable::command(Wish::Unmask, args, context)),
        Command::Start(args) => threads(1)?.block_on(orders::order(UnitOrder::Start, args, context)),
        Command::Stop(args) => threads(1)?.block_on(orders::order(UnitOrder::Stop, args, context)),
        Command::Restart(args) => threads(1)?.block_on(orders::order(UnitOrder::Restart, args, context)),
        Command::ResetFailed(args) => threads(1)?.block_on(orders::reset(args, context)),
        Command::Isolate(args) => threads(1)?.block_on(orders::isolate(args, context)),
        Command::Reload(args) => threads(1)?.block_on(reload::command(args, context)),
        Command::Plan(args) => threads(1)?.block_on(plan::command(args, context)),
        Command::IsActive(args) => threads(1)?.block_on(is_state::active(args, context)),
        Command::IsFailed(args) => threads(1)?.block_on(is_state::failed(args, context)),
        Command::IsHealthy(args) => threads(1)?.block_on(is_state::healthy(args, context)),
        Command::Logs(args) => threads(1)?.block_on(logs::command(args, context)),
        Command::LogLevel(args) => threads(1)?.block_on(log_level::command(args, context)),
        Command::Backup(args) => threads(1)?.block_on(backup::command(args, context)),
        Command::Restore(args) => threads(1)?.block_on(restore::command(args, context)),
        Command::Doctor(args) => threads(1)?.block_on(doctor::command(args, context)),
        Command::Service(args) => threads(1)?.block_on(service::command(args, context)),
        Command::Metrics => threads(1)?.block_on(metrics::command(context)),
        Command::Purge(args) => threads(1)?.block_on(purge::command(args, context)),
        Command::Mcp(args) => threads(1)?.block_on(mcp::command(args, context)),
    }
}

fn threads(count: usize) -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(count)
        .enable_all()
        .build()
        .map_err(|error| CliError::doing("start the threads", &error))
}

/// The error, a blank line, the hint; nothing where there is nothing to say.
fn say(error: &CliError, scrubber: &Scrubber) {
    if error.message.is_empty() {
        return;
    }
    let mut err = masked::stderr(scrubber);
    let _ = writeln!(err, "error: {}", error.message);
    if let Some(hint) = &error.hint {
        let _ = writeln!(err, "\nhint: {hint}");
    }
}
