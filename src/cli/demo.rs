//! `workagent demo`: the whole way on made-up mail, without an account or network.

mod scene;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::backend::{Backend, assembly_error};
use super::case::show;
use super::context::Context;
use super::error::CliError;
use super::look::Paint;
use super::review::{Console, Walked, walk};
use crate::bundle::RunningBundle;
use crate::control::api;
use crate::control::client::Client;
use crate::control::wire::ListQuery;
use crate::daemon::assembly::{self, Assembly};
use crate::daemon::exit;
use crate::daemon::paths::Paths;
use crate::diag::Counts;
use crate::model::case::{Case, CaseState};
use crate::model::environment::Environment;
use crate::model::outbound::ActionState;
use crate::store::Store;
use crate::unit::search::SearchPath;
use scene::{CASES, EXPECTED, SHOWN_TITLE, Scene};

/// `workagent demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Approve every draft and check the outcome
    #[arg(long)]
    yes: bool,
    /// Write the demo into this empty or new directory instead of a temporary one
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Longest wait for any one step; steps take fractions of a second.
const STEP_MAX: Duration = Duration::from_secs(20);

/// How often the demo looks whether a step is done.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Longest wait for an orderly stop.
const STOP_MAX: Duration = Duration::from_secs(5);

/// Runs the command.
pub async fn command(args: DemoArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paint = Paint { colour: context.colour() };
    let scene = Scene { root: directory(args.dir)? };
    let root = scene.root.display().to_string();
    scene.write(context.clock.now())?;
    writeln!(context.out, "{}", paint.bold("workagent demo: from mail to sent reply, on made-up mail"))?;
    writeln!(context.out, "everything lies in {root}\n")?;
    done(context, paint, "wrote 4 mails, a feed with 2 entries, a note and 6 unit files")?;

    let assembly = assemble(&scene, context).await?;
    let errors = Counts::of(&assembly.compiled.findings).errors;
    let units = assembly.compiled.plan.sources.len();
    done(
        context,
        paint,
        &format!(
            "compiled {units} unit files, {errors} errors: plan {}",
            short(&assembly.compiled.plan.hash)
        ),
    )?;

    let store = assembly.store.clone();
    let backend =
        Backend::Daemon(Client::in_process(api::router(assembly.api_state()), assembly.scrubber.clone()));
    let running = RunningBundle::start(assembly.bundle);
    let outcome = story(args.yes, &scene, context, &backend, &store, paint).await;
    running.stop(STOP_MAX, &CancellationToken::new()).await;
    store.close().await;
    let code = outcome?;
    epilogue(context, paint, &root)?;
    Ok(code)
}

/// What happens between start and stop.
async fn story(
    yes: bool,
    scene: &Scene,
    context: &mut Context<'_>,
    backend: &Backend,
    store: &Store,
    paint: Paint,
) -> Result<u8, CliError> {
    until(store, "the cases to be worked on", settled).await?;
    let cases: Vec<Case> =
        backend.get(&ListQuery { state: None, limit: Some(100), label: None }.path("/v1/cases")).await?;
    let waiting = cases.iter().filter(|case| case.state == CaseState::Review).count();
    done(
        context,
        paint,
        &format!("found {} items, made {} cases, drafted {waiting} replies", cases.len(), cases.len()),
    )?;
    for case in cases.iter().filter(|case| case.state == CaseState::Dismissed) {
        let why = case.reason.as_deref().unwrap_or_default();
        writeln!(
            context.out,
            "      {} {} {}",
            paint.dim(case.id),
            case.title,
            paint.dim(format!("({why})"))
        )?;
    }
    writeln!(context.out, "\n{}", paint.bold("Now you decide: nothing leaves without it."))?;
    let mut console = if yes { Console::Yes } else { Console::terminal() };
    let walked = walk(backend, context, &mut console).await?;
    write!(context.out, "\n{walked}")?;
    until(store, "the replies to be sent", sent).await?;
    let verdict = verify(scene, context, paint, walked)?;
    if let Some(case) = cases.iter().find(|case| case.title == SHOWN_TITLE) {
        writeln!(context.out, "\n{}", paint.bold("The whole record of one case:"))?;
        let record = backend.get(&format!("/v1/cases/{}", case.id)).await?;
        let text = show(&record, context.clock.now(), context.width(), paint);
        context.out.write_all(text.as_bytes())?;
    }
    Ok(verdict)
}

/// Every approved reply lies exactly once where it belongs.
fn verify(scene: &Scene, context: &mut Context<'_>, paint: Paint, walked: Walked) -> Result<u8, CliError> {
    let mut found = 0;
    let mut twice = false;
    for expected in &EXPECTED {
        let copies = scene.copies(expected)?;
        found += copies;
        twice |= copies > 1;
        if copies == 1 {
            done(context, paint, &format!("the reply to {} is there, once", expected.what))?;
        }
    }
    if found == walked.approved && !twice {
        return Ok(exit::OK);
    }
    let said = format!("{} replies were approved, {found} are there", walked.approved);
    Err(CliError::new(exit::FAILURE, format!("the demo went wrong: {said}")))
}

async fn assemble(scene: &Scene, context: &Context<'_>) -> Result<Assembly, CliError> {
    let paths = Paths::below(&scene.root).map_err(|error| CliError::doing("prepare the demo", &error))?;
    let search = SearchPath { builtin: false, dirs: vec![scene.units()], files: Vec::new() };
    // The demo reads nothing of the user's.
    let environment = Environment::default();
    let compiled = assembly::compile_units(&search, &environment, paths.state.clone());
    let clock = context.clock.clone();
    let scrubber = context.scrubber.clone();
    let options = assembly::Options { environment, paths, compiled, pinned: None, clock, scrubber };
    Assembly::open(options).await.map_err(assembly_error)
}

fn directory(given: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let Some(dir) = given else {
        let made = tempfile::Builder::new().prefix("workagent-demo-").tempdir()?;
        // Kept: the point is to look around in it afterwards.
        return Ok(made.keep());
    };
    std::fs::create_dir_all(&dir)?;
    if std::fs::read_dir(&dir)?.next().is_some() {
        return Err(CliError::usage(format!("{} is not empty", dir.display())).hint("name a new directory"));
    }
    Ok(std::path::absolute(dir)?)
}

/// Nothing is on its way any more before review.
fn settled(counts: &crate::store::Counts) -> bool {
    let count = |state| counts.cases.iter().find(|(s, _)| *s == state).map_or(0, |(_, count)| *count);
    let all: u64 = counts.cases.iter().map(|(_, count)| count).sum();
    all >= CASES && [CaseState::New, CaseState::Queued, CaseState::Running].iter().all(|s| count(*s) == 0)
}

/// Nothing is on its way any more after review.
fn sent(counts: &crate::store::Counts) -> bool {
    let under_way = [ActionState::Approved, ActionState::Sending, ActionState::Uncertain];
    counts.actions.iter().filter(|(state, _)| under_way.contains(state)).all(|(_, count)| *count == 0)
}

async fn until(store: &Store, what: &str, done: fn(&crate::store::Counts) -> bool) -> Result<(), CliError> {
    let looks = STEP_MAX.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..looks {
        let counts = store.counts().await.map_err(|error| CliError::doing("look at the record", &error))?;
        if done(&counts) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(CliError::new(exit::FAILURE, format!("waited {} s for {what}", STEP_MAX.as_secs())))
}

fn done(context: &mut Context<'_>, paint: Paint, what: &str) -> Result<(), CliError> {
    writeln!(context.out, "  {} {what}", paint.green("✓"))?;
    context.out.flush()?;
    Ok(())
}

fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

fn epilogue(context: &mut Context<'_>, paint: Paint, root: &str) -> Result<(), CliError> {
    writeln!(context.out, "\n{}", paint.bold("Look around:"))?;
    writeln!(context.out, "  {root}/units       the six unit files; change one and start again")?;
    writeln!(context.out, "  {root}/mail/out    what was sent")?;
    writeln!(context.out, "  {root}/state       the record")?;
    let here = format!("workagent --unit-dir {root}/units --state-dir {root}/state");
    writeln!(context.out, "  {here} case list    (also: review, status, run)")?;
    writeln!(context.out, "\n{}", paint.bold("With your own mail:"))?;
    writeln!(
        context.out,
        "  workagent secret set mail/me             asks for the password, keeps it encrypted"
    )?;
    writeln!(context.out, "  mkdir -p ~/.config/workagent/units")?;
    writeln!(
        context.out,
        "  cp {root}/units/{{answers.route,polite.engine}}.toml ~/.config/workagent/units/"
    )?;
    writeln!(
        context.out,
        "  then write ~/.config/workagent/units/inbox.connector.toml as README.md shows, and:"
    )?;
    writeln!(context.out, "  workagent validate && workagent run")?;
    Ok(())
}
