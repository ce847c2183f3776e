//! Claude Code as an engine: one process a run, without tools, with schema output.
//!
//! The draft is the object that the program checked against our schema (`structured_output`), never what it printed.

use std::ffi::OsString;
use std::path::Path;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use super::agent::{self, Agent, Known, Wishes};
use super::confine::rights;
use super::dialect::{Dialect, Heard, Transcript};
use super::listen::{Start, left_behind, listen};
use super::prompt::{self, AnswerForm, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, mcp_supply, structured};
use crate::model::class::PortError;
use crate::model::money::to_usd;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure, RunLimits, Usage};
use crate::process::EnvValue;
use crate::unit::plan::{EngineUnit, SandboxRule};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "claude",
    summary: "Runs Claude Code, without tools, on an API key or a subscription",
    keys: &[
        agent::PROGRAM,
        agent::AUTH,
        KeySpec::new(
            "key",
            ValueType::Secret,
            "The API key; with auth = \"subscription\" the token that `claude setup-token` prints, if `home` has no login",
        ),
        agent::HOME,
        agent::SESSIONS,
        KeySpec::new(
            "base_url",
            ValueType::Url,
            "Another server that speaks the Messages API, such as a gateway",
        )
        .specifiers(),
        KeySpec::new(
            "max_turns",
            ValueType::Integer { min: 1, max: 100 },
            "Turns of one run; the structured answer is a turn of its own",
        )
        .default("6"),
        KeySpec::new(
            "max_usd",
            ValueType::Text,
            "What one run may cost in dollars, by the program's own estimate: \"0.50\"; no limit if not given",
        ),
        KeySpec::new(
            "tools",
            ValueType::List,
            "Tools that it may use, by the program's names; none by default. A call that would need a permission is \
             refused and told to the reviewer. What strangers write can make it call them",
        ),
        mcp_supply::KEY,
        mcp_supply::ALLOW,
    ],
    check,
    // A vendor's program is not vouched for, whatever server it is told to ask.
    is_local: |_| false,
    needs_model: false,
    build,
};

static WISHES: Wishes = Wishes {
    name: "claude",
    home: "CLAUDE_CONFIG_DIR",
    api_key: "ANTHROPIC_API_KEY",
    token: Some("CLAUDE_CODE_OAUTH_TOKEN"),
    api_keys_read: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    api_keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    tokens: &["CLAUDE_CODE_OAUTH_TOKEN"],
    scratch: &["CLAUDE_CODE_TMPDIR", "TMPDIR"],
    set: &[
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // The house has one retry loop, and it is not in here; two get over a hiccup within seconds.
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ],
    login_file: ".credentials.json",
    login_command: "claude /login",
    known: Known { from: [2, 1, 332], below: [2, 2, 0] },
};

/// The trusted part of the prompt, in the run directory: instructions and notes are nobody's business, and command lines
/// are everybody's.
const SYSTEM_FILE: &str = "system-prompt.txt";

/// The servers that the unit names, in the run directory.
const MCP_FILE: &str = "mcp.json";

/// Runs Claude Code.
#[derive(Debug)]
pub struct ClaudeEngine {
    sandbox: SandboxRule,
    agent: Agent,
    model: String,
    base_url: Option<String>,
    max_turns: i64,
    max_usd: Option<f64>,
    tools: Vec<String>,
    servers: Vec<mcp_supply::McpServer>,
    allow: Vec<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of every engine's build")]
fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    Ok(ExecutionEngine::Claude(Box::new(ClaudeEngine {
        sandbox: unit.sandbox.clone(),
        agent: Agent::new(unit, &WISHES, context),
        model: unit.model.trim().to_owned(),
        base_url: settings.text("base_url").map(str::to_owned),
        max_turns: settings.integer("max_turns").unwrap_or(6),
        // What the budget allows for one run is where it is to stop.
        max_usd: unit.money.budget.per_run.map(to_usd),
        tools: settings.list("tools").to_vec(),
        servers: mcp_supply::of(settings),
        allow: mcp_supply::claude_tools(settings.list(mcp_supply::ALLOW.name)),
    })))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = agent::problems(settings);
    problems.extend(mcp_supply::check(settings));
    if settings.text("max_usd").is_some_and(|text| dollars(text).is_none()) {
        let message = "is no amount of dollars from 0.001 to 1000, such as \"0.50\"".to_owned();
        problems.push(KeyProblem { key: "max_usd", message });
    }
    // They go onto a command line, where one that begins with a hyphen is an option.
    if settings.list("tools").iter().any(|tool| tool.starts_with('-') || tool.trim().is_empty()) {
        problems.push(KeyProblem { key: "tools", message: "holds what is no name of a tool".to_owned() });
    }
    problems
}

fn dollars(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|amount| (0.001..=1000.0).contains(amount))
}

impl ClaudeEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        self.agent.probe().await
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let version = self.agent.version().await?;
        let prompt = prompt::build_for(request, AnswerForm::Schema);
        let session = request.session.as_deref().filter(|_| self.agent.sessions);
        let heard = match self.once(&prompt, session, limits, run_dir, cancel).await {
            // The prompt holds the whole case, so nothing but the program's memory of it is lost.
            Err(error) if session.is_some() && error.detail.contains("No conversation found") => {
                self.once(&prompt, None, limits, run_dir, cancel).await?
            }
            heard => heard?,
        };
        let mut remarks = prompt.remarks;
        remarks.extend(self.agent.version_remark(&version));
        self.outcome(heard, remarks)
    }

    async fn once(
        &self,
        prompt: &Prompt,
        session: Option<&str>,
        limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<Heard, EngineError> {
        self.agent.make_home()?;
        let mut env = self.agent.env(run_dir).await?;
        self.agent.login(&env)?;
        if let Some(url) = &self.base_url {
            env.0.insert("ANTHROPIC_BASE_URL".to_owned(), EnvValue::Plain(url.into()));
        }
        let system = run_dir.join(SYSTEM_FILE);
        std::fs::write(&system, &prompt.trusted)
            .map_err(|error| failed(RunFailure::Config, format!("write {}: {error}", system.display())))?;
        let mut args = self.args(&system, session);
        if !self.servers.is_empty() {
            let servers = run_dir.join(MCP_FILE);
            std::fs::write(&servers, mcp_supply::claude_config(&self.servers).to_string()).map_err(
                |error| failed(RunFailure::Config, format!("write {}: {error}", servers.display())),
            )?;
            args.extend(["--mcp-config".into(), servers.into()]);
            if !self.allow.is_empty() {
                args.extend(["--allowedTools".into(), self.allow.join(",").into()]);
            }
        }
        let start = Start {
            program: self.agent.program.clone(),
            args,
            env,
            cwd: run_dir.to_owned(),
            stdin: prompt.data.clone().into_bytes(),
            rights: rights(&self.sandbox, &[run_dir, &self.agent.home]),
        };
        let clock = self.agent.context.clock.clone();
        let mut transcript = Transcript::new(Dialect::Claude, clock, TimeZone::system());
        if session.is_some() {
            transcript = transcript.going_on_after(Usage::default());
        }
        let listened = listen(&self.agent.context.process, start, limits, cancel, transcript).await?;
        let mut heard = listened.heard;
        heard.remarks.extend(left_behind(listened.swept));
        Ok(heard)
    }

    fn args(&self, system: &Path, session: Option<&str>) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| args.extend(words.iter().map(OsString::from));
        add(&["-p", "--output-format", "stream-json", "--verbose"]);
        // No settings, servers, skills or permissions of anybody but this unit.
        add(&["--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"]);
        add(&["--permission-prompts", "none", "--tools", &self.tools.join(",")]);
        add(&["--max-turns", &self.max_turns.to_string()]);
        if let Some(most) = self.max_usd {
            add(&["--max-budget-usd", &most.to_string()]);
        }
        if !self.model.is_empty() {
            add(&["--model", &self.model]);
        }
        if !self.agent.sessions {
            add(&["--no-session-persistence"]);
        }
        if let Some(session) = session {
            add(&["--resume", session]);
        }
        add(&["--json-schema", &structured::schema().to_string(), "--system-prompt-file"]);
        args.push(system.into());
        args
    }

    fn outcome(&self, heard: Heard, mut remarks: Vec<String>) -> Result<EngineOutcome, EngineError> {
        let Heard { answer, usage, mut facts, remarks: heard_remarks } = heard;
        let with_usage = |error: EngineError| EngineError { usage: usage.clone(), ..error };
        let Some(object) = answer.object else {
            let beside = heard_remarks.iter().fold(String::new(), |text, remark| text + "; " + remark);
            let detail = format!("it gave no structured answer{beside}");
            return Err(with_usage(failed(RunFailure::Protocol, detail)));
        };
        let mut outcome = structured::read(&object).map_err(with_usage)?;
        remarks.extend(heard_remarks);
        remarks.append(&mut outcome.remarks);
        if !self.agent.sessions {
            facts.session = None;
        }
        Ok(EngineOutcome { usage, facts, remarks, ..outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn check_keys(keys: &[(&str, Value)]) -> Vec<&'static str> {
        let settings = keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        check(&Settings(settings)).iter().map(|problem| problem.key).collect()
    }

    #[test]
    fn problems_of_keys() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(check_keys(&[("program", text("/opt/claude"))]), [""; 0]);
        assert_eq!(check_keys(&[("program", text("claude"))]), ["program"]);
        for odd in ["", "free", "-1", "0", "NaN", "inf", "1001"] {
            assert_eq!(check_keys(&[("max_usd", text(odd))]), ["max_usd"], "{odd}");
        }
        assert_eq!(check_keys(&[("max_usd", text("0.50"))]), [""; 0]);
        assert_eq!(check_keys(&[("tools", Value::List(vec!["--dangerous".into()]))]), ["tools"]);
    }
}
