//! `workagent init`: from nothing to a setup that works. It looks what is on the machine, asks what to connect and who
//! answers, tries the logins, and writes what was accepted: secrets into the store, units into the user's directory.

mod answers;
mod apply;
mod choices;
mod draft;
mod guides;
mod here;
mod interview;
mod log_in;
mod mail_hosts;
mod plan;
mod talk;
mod terminal;
#[cfg(test)]
mod tests;
mod typed_secrets;

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;

use self::answers::Answers;
use self::apply::Written;
use self::draft::Draft;
use self::here::Here;
use self::interview::Interview;
use self::plan::{Change, Planned};
use self::talk::{Answer, Talk};
use self::terminal::Terminal;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, block};
use super::masked::Masking;
use super::service;
use crate::bundle::probe::Seen;
use crate::daemon::exit;
use crate::daemon::service::login_path;
use crate::diag::render::{self, Style};
use crate::model::environment::Environment;
use crate::unit::plan::{Plan, Standing};

/// `workagent init`
#[derive(Debug, Default, Args)]
pub struct InitArgs {
    /// What to connect: mail, github, … or a connector that is there, to change it; asked for if not given
    what: Vec<String>,
    /// Take the answers from this file and ask nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "live"])]
    answers: Option<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print a file for --answers: a template, or with --dry-run the answers that were given; writes nothing
    #[arg(long)]
    print_answers: bool,
    /// End the rehearsal: from now on what you approve is sent
    #[arg(long, conflicts_with = "what")]
    live: bool,
    /// Do not ask whether to install the service
    #[arg(long)]
    no_service: bool,
}

/// Runs the command.
///
/// # Errors
/// There is nobody to ask, an answer is not understood, a login does not work, or something cannot be written.
pub async fn command(args: InitArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if args.print_answers && !args.dry_run {
        context.out.write_all(answers::template().as_bytes())?;
        return Ok(exit::OK);
    }
    if args.answers.is_some() {
        return by_file(&args, context).await;
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let error = CliError::usage("init asks questions, and there is no terminal to ask them at");
        return Err(error.hint(
            "workagent init --print-answers >answers.toml; fill it in; workagent init --answers answers.toml",
        ));
    }
    let paint = Paint { colour: context.colour_err() };
    let width = context.width();
    let out = Masking::new(anstream::stderr(), context.scrubber.clone());
    let mut talk = Talk::new(Box::new(Terminal), Box::new(out), paint, width);
    by_talk(&args, &mut talk, context).await
}

/// Everything that is said comes from a file.
async fn by_file(args: &InitArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let here = Here::look(context).await?;
    let choices = choices::choices(&here, &with_login_path(&context.environment).await).await;
    let Some(file) = &args.answers else { return Ok(exit::USAGE) };
    let Answers { draft, change_existing, verify } =
        answers::read(file, &here, &choices, &context.environment).await?;
    if args.print_answers {
        context.out.write_all(answers::printed(&draft).as_bytes())?;
        return Ok(exit::OK);
    }
    let summary = Summary::of(&draft, &here, context)?;
    let news = here.typed.news(&summary.secrets).await;
    if summary.is_empty() && news.is_empty() && !draft.service {
        writeln!(context.out, "nothing to do: it is all there already")?;
        return Ok(exit::OK);
    }
    let text = summary.text(&draft, &here, &names(&news), context.paint(), context.width());
    context.out.write_all(text.as_bytes())?;
    let changed = summary.planned.iter().find(|one| one.change() == Change::Changed);
    if let Some(changed) = changed.filter(|_| !change_existing) {
        let path = here.short(&changed.file.path);
        let error =
            CliError::new(exit::FAILURE, format!("{path} is there already, and would be changed as shown"));
        return Err(
            error.hint("say change_existing = true under [init], or give what is connected another `name`")
        );
    }
    if args.dry_run {
        context.note("nothing was written (--dry-run)\n");
        return Ok(exit::OK);
    }
    if verify {
        for connect in &draft.connect {
            here.log_in(&summary.plan, &connect.name).await.map_err(|refused| {
                let message = format!("{}.connector: {}; nothing was written", connect.name, refused.text);
                CliError::new(exit::FAILURE, message)
                    .hint("verify = false under [init] writes it all the same")
            })?;
        }
    }
    let written = apply::apply(&summary.planned, news, &here, context).await?;
    finish(&summary, &written, &draft, &here, context).await
}

/// The talk, from greeting to the last line.
async fn by_talk(args: &InitArgs, talk: &mut Talk<'_>, context: &mut Context<'_>) -> Result<u8, CliError> {
    let here = Here::look(context).await?;
    let mut draft = Draft::default();
    let choices = if args.live {
        draft.rehearsal = Some(false);
        Vec::new()
    } else {
        talk.say("Looking at what is here …\n")?;
        let choices = choices::choices(&here, &with_login_path(&context.environment).await).await;
        greet(talk, &here)?;
        choices
    };
    let what = args.what.join(" ");
    let mut again = false;
    loop {
        let ask_service = !args.no_service;
        let mut interview = Interview { talk, here: &here, ask_service, choices: &choices, draft };
        if !args.live && !interview.hold(&what, again).await? {
            return left(talk);
        }
        draft = interview.draft;
        let summary = Summary::of(&draft, &here, context)?;
        let news = here.typed.news(&summary.secrets).await;
        if summary.is_empty() && news.is_empty() && !draft.service {
            talk.say("\nnothing to do: it is all there already\n")?;
            return Ok(exit::OK);
        }
        let text = summary.text(&draft, &here, &names(&news), talk.paint, talk.width);
        talk.say(&text)?;
        if args.dry_run {
            if args.print_answers {
                context.out.write_all(answers::printed(&draft).as_bytes())?;
            }
            talk.say("nothing was written (--dry-run)\n")?;
            return Ok(exit::OK);
        }
        let help = "yes writes what is shown above. no leaves everything as it is. < goes back to the last question.";
        match talk.yes("Write this", true, help)? {
            Answer::Is(true) => {
                let written = apply::apply(&summary.planned, news, &here, context).await?;
                return finish(&summary, &written, &draft, &here, context).await;
            }
            Answer::Back if !args.live => again = true,
            Answer::Is(false) | Answer::Leave | Answer::Back => return left(talk),
        }
    }
}

/// The environment with the login shell's PATH behind its own: where an agent is when nothing runs in a terminal.
async fn with_login_path(environment: &Environment) -> Environment {
    let login = login_path::capture(environment).await;
    let own = environment.get("PATH").unwrap_or_default();
    let path = if own.is_empty() { login } else { format!("{own}:{login}") };
    let others = environment.iter().filter(|(name, _)| *name != "PATH");
    let others = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Environment::of(others.chain([("PATH".into(), path.into())]))
}

fn left(talk: &mut Talk<'_>) -> Result<u8, CliError> {
    talk.say("nothing was written\n")?;
    Ok(exit::FAILURE)
}

fn greet(talk: &mut Talk<'_>, here: &Here) -> Result<(), CliError> {
    let name = talk.paint.bold("workagent init").to_string();
    talk.say(&format!("\n{name}\n"))?;
    let text = format!(
        "Units go to {}, secrets into {}. Nothing is written before you have seen all of it and said yes. Enter takes what \
         stands in brackets, ? helps, < goes back, Ctrl-C leaves.",
        here.short(&here.own.dir),
        here.secrets.describe_default()
    );
    talk.tell("", &here.with_short_home(&text))
}

fn names<A, B>(news: &[(String, A, B)]) -> Vec<String> {
    news.iter().map(|(name, _, _)| name.clone()).collect()
}

/// What would be written, compiled.
struct Summary {
    planned: Vec<Planned>,
    /// All secrets that the units name.
    secrets: Vec<String>,
    plan: Plan,
    sources: crate::diag::SourceMap,
}

impl Summary {
    /// # Errors
    /// What was said makes no units without errors.
    fn of(draft: &Draft, here: &Here, context: &Context<'_>) -> Result<Self, CliError> {
        let planned = plan::plan(draft, here)?;
        let files: Vec<_> = planned.iter().map(|one| one.file.clone()).collect();
        let (compiled, errors) = here.errors(&files);
        if !errors.is_empty() {
            let style = Style { colour: context.colour_err(), width: context.width() };
            context.note(&render::render(&errors, &compiled.sources, style));
            let message = "what was said makes no units without errors; nothing was written";
            return Err(CliError::new(exit::FAILURE, message));
        }
        let mut secrets: Vec<String> =
            draft.connect.iter().flat_map(|connect| connect.secrets.values().cloned()).collect();
        secrets.extend(draft.engine.iter().flat_map(|engine| engine.secrets.values().cloned()));
        secrets.sort();
        secrets.dedup();
        Ok(Self { planned, secrets, plan: compiled.plan, sources: compiled.sources })
    }

    fn is_empty(&self) -> bool {
        self.planned.iter().all(|one| one.change() == Change::Same)
    }

    /// For people: files, secrets, what follows.
    fn text(&self, draft: &Draft, here: &Here, news: &[String], paint: Paint, width: usize) -> String {
        let mut out = format!("\n{}\n", paint.bold("This will be written:"));
        out.push_str(&plan::shown(&self.planned, here, &self.sources, paint, width));
        if !news.is_empty() {
            // One whose unit is off is told when it is to be stored.
            let places: BTreeSet<String> =
                news.iter().filter_map(|name| here.secrets.describe(name).ok()).collect();
            let places = here.with_short_home(&places.into_iter().collect::<Vec<_>>().join("; "));
            out.push_str(&format!("secret    {}\n", paint.bold(news.join(", "))));
            out.push_str(&block(&format!("into {places}"), "    ", width.max(60), 6));
        }
        out.push_str("then\n");
        let mut line = |text: &str| out.push_str(&block(text, "    ", width.max(60), 6));
        line("all units are compiled once more and their logins tried, as `workagent validate --probe` does");
        if let Some(engine) = &draft.engine {
            let local =
                matches!(self.plan.engines.get(&engine.name), Some(Standing::Active(unit)) if unit.local);
            match local {
                true => line(&format!("{} answers; texts of cases stay on this machine", engine.name)),
                false => line(&format!("{} answers; texts of cases go where it sends them", engine.name)),
            }
        }
        if draft.service {
            line("the daemon becomes a service of yours: workagent service install");
        }
        match self.plan.daemon.rehearsal {
            true => line("it is a rehearsal: what you approve is held, nothing is sent"),
            false => line("what you approve is sent, after the undo window"),
        }
        out
    }
}

/// Tries what was written, and says what to type next.
async fn finish(
    summary: &Summary,
    written: &Written,
    draft: &Draft,
    here: &Here,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let paint = context.paint();
    for name in &written.secrets {
        writeln!(context.out, "stored {name}")?;
    }
    for path in &written.files {
        writeln!(context.out, "wrote  {}", here.short(path))?;
    }
    if let Some(path) = &written.key_made {
        let path = here.short(path);
        writeln!(
            context.out,
            "made   {path}\n       (opens the secrets: keep a copy of it apart from them)"
        )?;
    }
    let tried = tried(summary, draft, here).await;
    let mut missing = false;
    for Seen { unit, result, .. } in &tried {
        missing |= result.is_err();
        let (mark, text) = match result {
            Ok(text) => (paint.green("ok    ").to_string(), text),
            Err(text) => (paint.red("not yet").to_string(), text),
        };
        writeln!(context.out, "{mark} {unit}")?;
        context.out.write_all(block(text, "       ", context.width(), 4).as_bytes())?;
    }
    let mut runs = here.daemon;
    if draft.service {
        match service::install(context).await {
            Ok(_) => runs = true,
            Err(error) => {
                missing = true;
                let text = format!("service: {}; later: workagent service install\n", error.message);
                context.note(&text);
            }
        }
    }
    writeln!(context.out, "\n{}", paint.bold("Next:"))?;
    if runs {
        writeln!(context.out, "  workagent status    what the running daemon makes of it")?;
    } else {
        writeln!(context.out, "  workagent run       the daemon, in another terminal")?;
    }
    writeln!(context.out, "  workagent review    the drafts, one after another, for your decision")?;
    Ok(if missing { exit::NOT_WELL } else { exit::OK })
}

/// What was set up, each unit once: its login, or why not.
async fn tried(summary: &Summary, draft: &Draft, here: &Here) -> Vec<Seen> {
    let mut plan = summary.plan.clone();
    plan.connectors.retain(|name, _| draft.connect.iter().any(|connect| connect.name == *name));
    plan.engines.retain(|name, _| draft.engine.iter().any(|engine| engine.name == *name));
    let mut seen = here.try_all(&plan).await;
    // A secret that is missing is told by the login that needs it.
    seen.retain(|look| look.what != "secret");
    seen
}
