//! Engines: the closed set of executors, one file each, the prompt, the router.

pub mod acp;
pub mod after;
mod agent;
pub mod anthropic;
mod api;
pub mod claude;
pub mod codex;
pub mod command;
mod confine;
pub mod dialect;
mod effects;
mod ended;
#[cfg(test)]
mod fixtures;
pub mod gemini;
pub mod handover;
mod listen;
pub mod mcp_supply;
pub mod notices;
pub mod openai_chat;
pub mod openai_responses;
pub mod prompt;
pub mod router;
pub mod structured;
pub mod template;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::effect::Offer;
use crate::model::environment::Environment;
use crate::model::item::Item;
use crate::model::limits;
use crate::model::run::{
    EngineError, EngineOutcome, EngineRequest, EngineResult, RunFailure, RunLimits, Usage,
};
use crate::model::text::{clean, short_size};
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::secret::SecretStore;
use crate::unit::plan::EngineUnit;
use crate::unit::schema::{KeyProblem, KeySpec};
use crate::unit::value::Settings;

/// A configured executor. A closed set: the compiler leads to every place a new one touches.
/// An engine never sends; it returns a draft or a classed error.
#[derive(Debug)]
pub enum ExecutionEngine {
    /// Runs Claude Code.
    Claude(Box<claude::ClaudeEngine>),
    /// Runs Codex CLI.
    Codex(Box<codex::CodexEngine>),
    /// Renders a template.
    Template(template::TemplateEngine),
    /// Runs a program.
    Command(command::CommandEngine),
    /// Talks with an agent over the Agent Client Protocol.
    Acp(acp::AcpEngine),
    /// Asks a server that speaks Chat Completions.
    OpenAiChat(openai_chat::OpenAiChatEngine),
    /// Asks Anthropic's Messages API.
    Anthropic(anthropic::AnthropicEngine),
    /// Asks `OpenAI`'s Responses API.
    OpenAiResponses(openai_responses::OpenAiResponsesEngine),
    /// Asks the Gemini API.
    Gemini(gemini::GeminiEngine),
}

/// What an engine gets to be built. Building spawns nothing and reads no secret.
#[derive(Clone)]
pub struct EngineContext {
    /// Where secret values come from, read at each run.
    pub secrets: Arc<dyn SecretStore>,
    /// HTTP clients.
    pub http: HttpRoom,
    /// Child processes.
    pub process: ProcessRoom,
    /// The daemon's environment, out of which that of children is made.
    pub environment: Environment,
    /// Now.
    pub clock: Clock,
}

impl fmt::Debug for EngineContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineContext")
    }
}

/// One row of the catalog.
pub struct EngineSpec {
    /// The word in `[engine] engine`, and the name of its own table (a hyphen stays a hyphen).
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// The engine stays on this machine with these settings: a private route may use it. Pure.
    pub is_local: fn(&Settings) -> bool,
    /// `[engine] model` must be given.
    pub needs_model: bool,
    /// Builds an engine.
    pub build: fn(&EngineUnit, EngineContext) -> Result<ExecutionEngine, PortError>,
}

impl ExecutionEngine {
    /// Present, right version, logged in? Short. The text is for people: "ollama 0.9 at 127.0.0.1:11434".
    ///
    /// # Errors
    /// Why a run would fail, as far as can be told without one.
    pub async fn probe(&self) -> Result<String, EngineError> {
        match self {
            Self::Claude(engine) => engine.probe().await,
            Self::Codex(engine) => engine.probe().await,
            Self::Template(engine) => engine.probe().await,
            Self::Command(engine) => engine.probe().await,
            Self::Acp(engine) => engine.probe().await,
            Self::OpenAiChat(engine) => engine.probe().await,
            Self::Anthropic(engine) => engine.probe().await,
            Self::OpenAiResponses(engine) => engine.probe().await,
            Self::Gemini(engine) => engine.probe().await,
        }
    }

    /// One run. `run_dir` is an empty directory of mode 0700 made for this attempt. Ends by itself within
    /// `limits.total` plus the kill grace; ends soon after `cancel` with `RunFailure::Cancelled`.
    ///
    /// # Errors
    /// The run gave no outcome. A non-answer (error text, cut text, empty, over the cap) is an error, never a draft.
    pub async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let outcome = match self {
            Self::Claude(engine) => engine.run(request, limits, run_dir, cancel).await,
            Self::Codex(engine) => engine.run(request, limits, run_dir, cancel).await,
            Self::Template(engine) => engine.run(request).await,
            Self::Command(engine) => engine.run(request, limits, run_dir, cancel).await,
            Self::Acp(engine) => engine.run(request, limits, run_dir, cancel).await,
            Self::OpenAiChat(engine) => engine.run(request, limits, cancel).await,
            Self::Anthropic(engine) => engine.run(request, limits, cancel).await,
            Self::OpenAiResponses(engine) => engine.run(request, limits, cancel).await,
            Self::Gemini(engine) => engine.run(request, limits, cancel).await,
        };
        outcome.and_then(|outcome| checked(outcome, Item::offered(&request.items)))
    }
}

/// The last look at what any engine says, before it can become a draft.
fn checked(outcome: EngineOutcome, offers: &[Offer]) -> Result<EngineOutcome, EngineError> {
    let outcome = if offers.is_empty() { outcome } else { effects::taken_out(outcome) };
    let refuse = |failure, detail: String| Err(EngineError { failure, detail, usage: outcome.usage.clone() });
    let result = match outcome.result {
        EngineResult::Reply(text) => {
            let text = clean(&text).trim().to_owned();
            if text.is_empty() && outcome.effects.is_empty() {
                return refuse(RunFailure::Empty, "the reply was empty".to_owned());
            }
            if text.len() > limits::DRAFT_BYTES_MAX {
                let (size, most) =
                    (short_size(text.len() as u64), short_size(limits::DRAFT_BYTES_MAX as u64));
                return refuse(RunFailure::Protocol, format!("the reply has {size}, the most is {most}"));
            }
            if let Some((notice, failure)) = notices::notice(&text) {
                return refuse(failure, format!("instead of a reply came a notice, \"{notice}…\""));
            }
            EngineResult::Reply(text)
        }
        EngineResult::NothingToDo(reason) => EngineResult::NothingToDo(clean(&reason)),
        EngineResult::Question(question) => EngineResult::Question(clean(&question)),
    };
    Ok(EngineOutcome { result, ..outcome })
}

/// A failure that cost nothing that we know of.
fn failed(failure: RunFailure, detail: impl Into<String>) -> EngineError {
    EngineError { failure, detail: detail.into(), usage: Usage::default() }
}

/// An error of a port, in the words of runs.
fn port_failure(error: &PortError) -> EngineError {
    let failure = match error.class {
        ErrorClass::Config => RunFailure::Config,
        ErrorClass::Auth => RunFailure::Auth,
        ErrorClass::RateLimited { until } => RunFailure::RateLimited(until),
        ErrorClass::Permanent => RunFailure::BadRequest,
        // A run has no effect outside, so not knowing whether it happened is no worse than that it did not.
        ErrorClass::Network { .. } | ErrorClass::Uncertain => RunFailure::Network,
        ErrorClass::Bug => RunFailure::Protocol,
    };
    failed(failure, chain(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let result = EngineResult::Reply(text.into());
        let outcome = checked(EngineOutcome::of(result), &[]);
        let shown = match outcome.map(|outcome| outcome.result) {
            Ok(EngineResult::Reply(text)) => format!("reply {text:?}"),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("{}: {error}", error.failure.word()),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_notice_is_no_reply() {
        check("Dear Pat,\r\nyes.\n", r#"reply "Dear Pat,\nyes.""#);
        check(" \u{b}\n", "empty: the reply was empty");
        check("[API Error: 401 …]", r#"auth: instead of a reply came a notice, "[API Error: 401…""#);
        check(
            "You've hit your 5-hour limit · resets 9:13am (UTC)",
            r#"usage-limit: instead of a reply came a notice, "You've hit your…""#,
        );
    }

    #[test]
    fn an_endless_reply_is_no_reply() {
        check(&"x".repeat(limits::DRAFT_BYTES_MAX + 1), "protocol: the reply has 256 KB, the most is 256 KB");
    }
}
