//! Any agent that speaks the Agent Client Protocol: one engine, a preset for each that is known.
//!
//! The draft comes from a call of our tool `submit_draft`, or from between the marks that the prompt asks for; never
//! from what else the agent said, because errors and notices of vendors come as answers too. The agent is offered no
//! files and no terminal, and asks the unit, not a person, for permission.

mod answer;
mod client;
mod errors;
mod locks;
mod messages;
mod permission;
mod presets;
mod settings;
mod wire;

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::client::{Client, Sign, Task, Turn};
use self::permission::{Otherwise, Policy};
use self::presets::Preset;
use self::settings::Wanted;
use super::confine::rights;
use super::ended::{by_us, naturally, with_hint};
use super::handover::Handover;
use super::prompt::{self, AnswerForm, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, mcp_supply, port_failure, structured};
use crate::model::class::PortError;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, EngineResult, RunFailure, RunLimits};
use crate::model::text::short_size;
use crate::model::time::short_span;
use crate::process::{
    ChildEnd, ChildEnv, ChildLimits, ChildReport, ChildSpec, Dialogue, EnvValue, Heard, env, lookup,
};
use crate::unit::plan::{EngineUnit, EnvUnit, SandboxRule};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "acp",
    summary: "Talks with an agent over the Agent Client Protocol: Gemini, opencode, Qwen, Copilot and others",
    keys: &[
        KeySpec::new(
            "preset",
            ValueType::Choice(presets::NAMES),
            "Which agent; sets its program, arguments and mode, and trust in the empty directory of the run. With \
             custom the unit says all of it",
        )
        .required(),
        KeySpec::new(
            "program",
            ValueType::Text,
            "An absolute path, or a name that is looked up on the PATH of the child, instead of the preset's",
        )
        .specifiers(),
        KeySpec::new(
            "args",
            ValueType::List,
            "Arguments instead of the preset's. Never a secret: command lines are visible to everybody",
        )
        .specifiers(),
        KeySpec::new(
            "mode",
            ValueType::Text,
            "The mode of the session instead of the preset's. An agent that does not offer it is not run",
        ),
        KeySpec::new(
            "config",
            ValueType::List,
            "Other choices of the session, each as \"NAME=VALUE\". An agent that does not offer one is not run",
        ),
        KeySpec::new(
            "auth_method",
            ValueType::Text,
            "The way to log in that is asked for before each session, as the agent names it. Without it the agent uses \
             the login that it has: which account pays is never changed by itself",
        ),
        KeySpec::new(
            "permission",
            ValueType::Choice(&["reject", "ask"]),
            "What happens when the agent asks for permission: with reject it is told no and goes on, with ask the run \
             ends and the case waits with the question",
        )
        .default("\"reject\""),
        mcp_supply::KEY,
        mcp_supply::ALLOW,
        KeySpec::new(
            "submit",
            ValueType::Bool,
            "Offer the tool submit_draft, through which a draft comes in safely. Without it, it is read from between \
             marks in the answer",
        )
        .default("true"),
        KeySpec::new(
            "no_progress_timeout",
            ValueType::Duration { min_s: 1, max_s: 86_400 },
            "Time in which the agent gives signs of life but gets nowhere",
        )
        .default("\"5m\""),
        KeySpec::new(
            "local",
            ValueType::Bool,
            "Say that the agent hands nothing to other machines, so that private routes may use it",
        )
        .default("false"),
    ],
    check,
    is_local: |settings| settings.flag("local"),
    needs_model: false,
    build,
};

/// One line of an agent: an answer comes in many, but tools print into them.
const LINE_BYTES_MAX: usize = limits::CHILD_LINE_BYTES_MAX / 4;

/// Talks with an agent.
#[derive(Debug)]
pub struct AcpEngine {
    preset: &'static Preset,
    program: String,
    args: Vec<String>,
    wanted: Wanted,
    auth_method: String,
    policy: Policy,
    servers: Vec<mcp_supply::McpServer>,
    submit: bool,
    sandbox: SandboxRule,
    no_progress: std::time::Duration,
    env: Vec<Arc<EnvUnit>>,
    context: EngineContext,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let text = |key: &str| settings.text(key).unwrap_or_default().to_owned();
    let preset = presets::find(&text("preset")).unwrap_or(&presets::ANY);
    let or = |given: String, preset: &str| if given.is_empty() { preset.to_owned() } else { given };
    let args = match settings.get("args") {
        Some(_) => settings.list("args").to_vec(),
        None => preset.args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    let pair = |entry: &str| entry.split_once('=').map(|(id, value)| (id.trim().into(), value.trim().into()));
    let mut config: Vec<(String, String)> =
        preset.config.iter().map(|(id, value)| ((*id).to_owned(), (*value).to_owned())).collect();
    for (id, value) in settings.list("config").iter().filter_map(|entry| pair(entry)) {
        config.retain(|(known, _)| *known != id);
        config.push((id, value));
    }
    let ask = settings.text("permission") == Some("ask");
    Ok(ExecutionEngine::Acp(AcpEngine {
        preset,
        program: or(text("program"), preset.program),
        args,
        wanted: Wanted { mode: or(text("mode"), preset.mode), model: unit.model.clone(), config },
        auth_method: text("auth_method"),
        policy: Policy {
            allow: settings.list("allow").to_vec(),
            otherwise: if ask { Otherwise::Ask } else { Otherwise::Reject },
        },
        servers: mcp_supply::of(settings),
        submit: !matches!(settings.get("submit"), Some(crate::unit::value::Value::Bool(false))),
        no_progress: settings.duration("no_progress_timeout").unwrap_or(limits::ENGINE_NO_PROGRESS),
        sandbox: unit.sandbox.clone(),
        env: unit.child_env(),
        context,
    }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = mcp_supply::check(settings);
    let mut problem = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    let program = settings.text("program").unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        problem(
            "program",
            "is an absolute path or a name without `/`; relative paths mean nothing to a daemon",
        );
    }
    if settings.text("preset") == Some(presets::CUSTOM) && program.is_empty() {
        problem("program", "is needed where the preset is `custom`");
    }
    if settings.list("config").iter().any(|entry| !entry.contains('=')) {
        problem("config", "has an entry without `=`; write \"NAME=VALUE\"");
    }
    problems
}

impl AcpEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        let env = self.child_env(None).await?;
        let program = self.program.as_ref();
        let program = lookup::find(program, &env).map_err(|error| port_failure(&error))?;
        lookup::check(&program, &env).map_err(|error| port_failure(&error))?;
        Ok(format!("{} can be started", program.display()))
    }

    /// With the preset's own variables below those of env units.
    async fn child_env(&self, tmp: Option<&Path>) -> Result<ChildEnv, EngineError> {
        let EngineContext { environment, secrets, .. } = &self.context;
        let mut built = env::build(environment, &self.env, secrets.as_ref())
            .await
            .map_err(|error| port_failure(&error))?;
        let lock = self.preset.lock.of(&self.policy.allow).env;
        let lock = lock.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in self.preset.env.iter().copied().chain(lock) {
            built.0.entry(name.to_owned()).or_insert_with(|| EnvValue::Plain(value.into()));
        }
        let set = |name: &str| self.env.iter().any(|unit| unit.set.contains_key(name));
        // Some write the request into files there when something fails; those go with the run.
        if let Some(tmp) = tmp.filter(|_| !set("TMPDIR")) {
            built.0.insert("TMPDIR".to_owned(), EnvValue::Plain(tmp.into()));
        }
        Ok(built)
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        run_limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        if cancel.is_cancelled() {
            return Err(failed(RunFailure::Cancelled, "it was cancelled before it began"));
        }
        let form = if self.submit { AnswerForm::ToolOrMarks } else { AnswerForm::Marks };
        let prompt = prompt::build_for(request, form);
        let place = Place::make(run_dir, self.submit.then_some(&prompt)).map_err(|error| {
            failed(RunFailure::Config, format!("make a place in {}: {error}", run_dir.display()))
        })?;
        let mut args: Vec<OsString> = self.args.iter().map(Into::into).collect();
        if let Some((argument, text)) = self.preset.lock.of(&self.policy.allow).file {
            let file = place.keep("lock.toml", &text).map_err(|error| {
                failed(RunFailure::Config, format!("write into {}: {error}", run_dir.display()))
            })?;
            args.extend([argument.into(), file.into()]);
        }
        let spec = ChildSpec {
            program: self.program.clone().into(),
            args,
            env: self.child_env(Some(&place.tmp)).await?,
            cwd: place.work.clone(),
            stdin: Vec::new(),
            limits: ChildLimits {
                first_output: run_limits.first_event,
                idle: run_limits.idle,
                total: run_limits.total,
                line_bytes_max: LINE_BYTES_MAX,
                stdout_bytes_max: limits::CHILD_STDOUT_BYTES_MAX,
            },
        };
        let mut servers = self.servers.clone();
        if let Some(handover) = &place.handover {
            servers.push(handover.server(self.context.process.own_program()));
        }
        let task = Task {
            cwd: place.work.clone(),
            servers,
            prompt: prompt.text(),
            session: request.session.clone(),
            wanted: self.wanted.clone(),
            auth_method: self.auth_method.clone(),
            login: self.preset.login,
            policy: self.policy.clone(),
        };
        let mut client = Client::new(task, self.context.clock.clone());
        let homes = presets::homes(self.preset, &spec.env);
        for home in &homes {
            // Confined, it could not make them itself. Where that fails it says so in its own words.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(home);
        }
        let own: Vec<&Path> = std::iter::once(run_dir).chain(homes.iter().map(PathBuf::as_path)).collect();
        let process = &self.context.process;
        let confined = process.confined(spec, &rights(&self.sandbox, &own)).await;
        let (spec, unconfined) = confined.map_err(|error| port_failure(&error))?;
        let dialogue = process.talk(spec, self.no_progress, cancel).await;
        let dialogue = dialogue.map_err(|error| port_failure(&error))?;
        let (due, report) = talk(&mut client, dialogue).await;
        let ended = Ended { client, due, report, limits: run_limits, no_progress: self.no_progress };
        let mut outcome = ended.outcome(prompt, place.handover.as_ref())?;
        outcome.remarks.extend(unconfined.map(str::to_owned));
        Ok(outcome)
    }
}

/// Listens and answers until the turn is over; then the agent is ended.
async fn talk(client: &mut Client, mut dialogue: Dialogue) -> (Option<ChildEnd>, ChildReport) {
    let mut due = None;
    loop {
        for line in client.take_out() {
            // Closed: what it said last is still to be heard, and its end says the rest.
            let _ = dialogue.say(&line);
        }
        if client.is_over() {
            break;
        }
        match dialogue.next().await {
            Heard::Line(line) => {
                if client.hear(&line) == Sign::Progress {
                    dialogue.progress();
                }
            }
            Heard::Skipped => client.lost_a_line(),
            Heard::Due(end) => {
                due = Some(end);
                client.cancel();
            }
            Heard::Over => break,
        }
    }
    (due, dialogue.close().await)
}

/// The directories of one run.
struct Place {
    /// Empty; where the agent works.
    work: PathBuf,
    /// For what it writes down in passing.
    tmp: PathBuf,
    handover: Option<Handover>,
}

impl Place {
    fn make(run_dir: &Path, prompt: Option<&Prompt>) -> std::io::Result<Self> {
        let place = Self { work: run_dir.join("work"), tmp: run_dir.join("tmp"), handover: None };
        for dir in [&place.work, &place.tmp] {
            DirBuilder::new().mode(0o700).create(dir)?;
        }
        let Some(prompt) = prompt else { return Ok(place) };
        let handover = Handover::make(run_dir.join("mcp"), &prompt.case_text())?;
        Ok(Self { handover: Some(handover), ..place })
    }

    /// Writes a file that the agent is given beside its directory.
    fn keep(&self, name: &str, text: &str) -> std::io::Result<PathBuf> {
        let file = self.tmp.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&file)?.write_all(text.as_bytes())?;
        Ok(file)
    }
}

/// A talk that is over.
struct Ended {
    client: Client,
    due: Option<ChildEnd>,
    report: ChildReport,
    limits: RunLimits,
    no_progress: std::time::Duration,
}

impl Ended {
    /// In the order of distrust: what we did ourselves, then how the turn ended, then whether there is a draft.
    fn outcome(self, prompt: Prompt, handover: Option<&Handover>) -> Result<EngineOutcome, EngineError> {
        let usage = self.client.usage();
        let error = |failure, detail: String| EngineError { failure, detail, usage: usage.clone() };
        let result = match (self.client.turn(), self.due) {
            (Some(Turn::Asks(what)), _) => {
                let question = format!("{} asks to be allowed to {what}", self.name());
                return Ok(self.with(EngineOutcome::of(EngineResult::Question(question)), Vec::new()));
            }
            (_, Some(end)) => Err(self.hinted(self.ended_by_us(end))),
            // Its own words say more than what it printed beside them.
            (Some(Turn::Failed(failure, detail)), None) => Err((failure.clone(), detail.clone())),
            // What was skipped may have been a part of the draft.
            (Some(Turn::Done), None) if self.report.lines_skipped > 0 => Err(client::lost()),
            (Some(Turn::Done), None) => Ok(()),
            (None, None) => Err(self.hinted(self.ended_by_itself())),
        };
        if let Err((failure, detail)) = result {
            return Err(error(failure, detail));
        }
        let outcome = match handover.and_then(Handover::take) {
            Some(answer) => structured::read(&answer),
            None => match self.client.answer().text() {
                Some(text) => prompt::read_answer(text, &prompt.draft)
                    .map(EngineOutcome::of)
                    .map_err(|(failure, detail)| failed(failure, detail)),
                None => {
                    let most = short_size(answer::KEPT_BYTES_MAX as u64);
                    Err(failed(RunFailure::Protocol, format!("its answer is longer than {most}")))
                }
            },
        };
        let outcome = outcome.map_err(|failure| EngineError { usage: usage.clone(), ..failure })?;
        Ok(self.with(outcome, prompt.remarks))
    }

    fn hinted(&self, (failure, detail): (RunFailure, String)) -> (RunFailure, String) {
        (failure, with_hint(&detail, &self.report))
    }

    fn name(&self) -> String {
        self.client.facts().program.unwrap_or_else(|| "The agent".to_owned())
    }

    /// An outcome with everything that is known beside it.
    fn with(&self, outcome: EngineOutcome, mut remarks: Vec<String>) -> EngineOutcome {
        remarks.extend(outcome.remarks);
        remarks.extend(self.client.answer().remarks());
        if self.report.swept > 0 {
            remarks.push(format!("the agent left {} processes behind; they were ended", self.report.swept));
        }
        EngineOutcome { remarks, usage: self.client.usage(), facts: self.client.facts(), ..outcome }
    }

    fn ended_by_us(&self, end: ChildEnd) -> (RunFailure, String) {
        if end == ChildEnd::TimedOutProgress {
            return (RunFailure::TimeoutIdle, format!("it got nowhere for {}", short_span(self.no_progress)));
        }
        by_us(end, self.limits).unwrap_or_else(|| naturally(end))
    }

    /// It was gone before its turn was over.
    fn ended_by_itself(&self) -> (RunFailure, String) {
        match self.report.end {
            ChildEnd::Exited(0) => (RunFailure::Protocol, "it ended before it had answered".to_owned()),
            end => {
                let (failure, what) = self.ended_by_us(end);
                (failure, format!("{what} before it had answered"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
