//! Codex CLI as an engine: one process a run, in a read-only sandbox, with schema output.
//!
//! The draft is the file that the program writes its last message to, checked against our schema; never what it printed.

mod session;

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use self::session::Session;
use super::agent::{self, Agent, Auth, Known, Wishes};
use super::confine::rights;
use super::dialect::{Dialect, Heard, Transcript};
use super::listen::{Start, left_behind, listen};
use super::prompt::{self, AnswerForm, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, mcp_supply, structured};
use crate::model::class::PortError;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure, RunLimits};
use crate::unit::plan::{EngineUnit, SandboxRule};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "codex",
    summary: "Runs Codex CLI, in a read-only sandbox, on an API key or a subscription",
    keys: &[
        agent::PROGRAM,
        agent::AUTH,
        KeySpec::new("key", ValueType::Secret, "The API key, for auth = \"api-key\""),
        agent::HOME,
        agent::SESSIONS,
        KeySpec::new(
            "base_url",
            ValueType::Url,
            "Another server that speaks the Responses API; for auth = \"api-key\"",
        )
        .specifiers(),
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
    name: "codex",
    home: "CODEX_HOME",
    api_key: "CODEX_API_KEY",
    token: None,
    // `codex exec` does not send OPENAI_API_KEY.
    api_keys_read: &["CODEX_API_KEY"],
    api_keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    tokens: &[],
    scratch: &["TMPDIR"],
    set: &[],
    login_file: "auth.json",
    login_command: "codex login",
    known: Known { from: [0, 171, 0], below: [0, 172, 0] },
};

/// Where the vendor's own API is. It is named like any other server, because only then the program's own retries (thirty
/// requests for one turn) can be turned down.
const VENDOR: &str = "https://api.openai.com/v1";

const SCHEMA_FILE: &str = "schema.json";
const ANSWER_FILE: &str = "answer.json";

/// Runs Codex CLI.
#[derive(Debug)]
pub struct CodexEngine {
    sandbox: SandboxRule,
    agent: Agent,
    model: String,
    base_url: String,
    /// The servers that the unit names, as configuration.
    servers: Vec<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of every engine's build")]
fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    Ok(ExecutionEngine::Codex(Box::new(CodexEngine {
        sandbox: unit.sandbox.clone(),
        agent: Agent::new(unit, &WISHES, context),
        model: unit.model.trim().to_owned(),
        base_url: unit.settings.text("base_url").unwrap_or(VENDOR).trim_end_matches('/').to_owned(),
        servers: mcp_supply::codex_overrides(
            &mcp_supply::of(&unit.settings),
            unit.settings.list(mcp_supply::ALLOW.name),
        ),
    })))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = agent::problems(settings);
    problems.extend(mcp_supply::check(settings));
    let subscription = Auth::of(settings) == Auth::Subscription;
    for key in ["key", "base_url"] {
        if subscription && settings.get(key).is_some() {
            let message = "is for auth = \"api-key\"; a subscription has its login in `home`".to_owned();
            problems.push(KeyProblem { key, message });
        }
    }
    problems
}

impl CodexEngine {
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
        let mut session = request.session.as_deref().filter(|_| self.agent.sessions).map(Session::read);
        let heard = match self.once(&prompt, session.as_ref(), limits, run_dir, cancel).await {
            // The prompt holds the whole case, so nothing but the program's memory of it is lost.
            Err(error) if session.is_some() && error.detail.contains("no rollout found") => {
                session = None;
                self.once(&prompt, None, limits, run_dir, cancel).await?
            }
            heard => heard?,
        };
        let Heard { answer: _, usage, mut facts, remarks: heard_remarks } = heard;
        let with_usage = |error: EngineError| EngineError { usage: usage.clone(), ..error };
        let mut outcome = answer(run_dir).map_err(with_usage)?;
        let mut remarks = prompt.remarks;
        remarks.extend(self.agent.version_remark(&version));
        remarks.extend(heard_remarks);
        remarks.append(&mut outcome.remarks);
        facts.program = Some(format!("codex {version}"));
        facts.model = facts.model.or_else(|| Some(self.model.clone()).filter(|model| !model.is_empty()));
        let kept = facts.session.filter(|_| self.agent.sessions);
        facts.session = kept.map(|id| Session::after(id, session.as_ref(), &usage).to_string());
        Ok(EngineOutcome { usage, facts, remarks, ..outcome })
    }

    async fn once(
        &self,
        prompt: &Prompt,
        session: Option<&Session>,
        limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<Heard, EngineError> {
        self.agent.make_home()?;
        let env = self.agent.env(run_dir).await?;
        self.agent.login(&env)?;
        let schema = run_dir.join(SCHEMA_FILE);
        std::fs::write(&schema, structured::schema().to_string())
            .map_err(|error| failed(RunFailure::Config, format!("write {}: {error}", schema.display())))?;
        let start = Start {
            program: self.agent.program.clone(),
            args: self.args(run_dir, session),
            env,
            cwd: run_dir.to_owned(),
            stdin: prompt.text().into_bytes(),
            rights: rights(&self.sandbox, &[run_dir, &self.agent.home]),
        };
        let clock = self.agent.context.clock.clone();
        let mut transcript = Transcript::new(Dialect::Codex, clock, TimeZone::system());
        if let Some(session) = session {
            transcript = transcript.going_on_after(session.used.clone());
        }
        let listened = listen(&self.agent.context.process, start, limits, cancel, transcript).await?;
        let mut heard = listened.heard;
        heard.remarks.extend(left_behind(listened.swept));
        Ok(heard)
    }

    fn args(&self, run_dir: &Path, session: Option<&Session>) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["exec".into()];
        if session.is_some() {
            args.push("resume".into());
        }
        let mut add = |words: &[&str]| args.extend(words.iter().map(OsString::from));
        add(&["--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules"]);
        if !self.agent.sessions {
            add(&["--ephemeral"]);
        }
        if !self.model.is_empty() {
            add(&["-m", &self.model]);
        }
        let mut configs = vec![
            "sandbox_mode=\"read-only\"".to_owned(),
            // Commands that a model runs see the environment: without our keys in it.
            "shell_environment_policy.inherit=\"core\"".to_owned(),
            "shell_environment_policy.ignore_default_excludes=false".to_owned(),
            "analytics.enabled=false".to_owned(),
            "check_for_update_on_startup=false".to_owned(),
            "features.plugins=false".to_owned(),
        ];
        if self.agent.auth == Auth::ApiKey {
            configs.push("model_provider=\"workagent\"".to_owned());
            configs.push(format!(
                "model_providers.workagent={{name=\"workagent\",base_url={},env_key=\"CODEX_API_KEY\",wire_api=\"responses\",\
                 request_max_retries=1,stream_max_retries=1,stream_idle_timeout_ms=60000}}",
                toml_text(&self.base_url)
            ));
        }
        configs.extend_from_slice(&self.servers);
        for config in &configs {
            add(&["-c", config]);
        }
        args.push("--output-schema".into());
        args.push(run_dir.join(SCHEMA_FILE).into());
        args.push("-o".into());
        args.push(run_dir.join(ANSWER_FILE).into());
        if let Some(session) = session {
            // An id that looks like an option would be one.
            args.push("--".into());
            args.push(session.id.clone().into());
        }
        args.push("-".into());
        args
    }
}

/// A basic string of TOML, in which JSON's escapes are a part.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What stands in the file of the last message; only looked at once the turn ended in order.
fn answer(run_dir: &Path) -> Result<EngineOutcome, EngineError> {
    let path = run_dir.join(ANSWER_FILE);
    let most = structured::BYTES_MAX as u64;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(failed(RunFailure::Protocol, format!("it wrote no file with its answer: {error}")));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => structured::read_text(text),
        Err(_) => Err(failed(RunFailure::Protocol, "the file with its answer is not UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_ref::SecretRef;
    use crate::unit::value::Value;

    #[test]
    fn a_subscription_has_no_key_and_no_other_server() {
        let keys = |auth: &str| {
            let settings = [
                ("program", Value::Text("/opt/codex".into())),
                ("auth", Value::Text(auth.into())),
                ("key", Value::Secret(SecretRef::Stored("openai".into()))),
                ("base_url", Value::Text("http://127.0.0.1:1".into())),
            ];
            let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            check(&Settings(settings)).iter().map(|problem| problem.key).collect::<Vec<_>>()
        };
        assert_eq!(keys("api-key"), [""; 0]);
        assert_eq!(keys("subscription"), ["key", "base_url"]);
    }

    #[test]
    fn a_url_cannot_leave_its_quotes() {
        assert_eq!(toml_text(r#"http://h/"},x={"#), r#""http://h/\"},x={""#);
    }
}
