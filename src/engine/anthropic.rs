//! Anthropic's Messages API, streamed, with structured output.
//!
//! Current models refuse a temperature, a forced tool and a started answer, so none is ever sent; how much they think is
//! steered by `effort` alone. A key of the API is needed: logins of plans are for the vendor's own programs.

mod answer;
mod errors;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(in crate::engine) use self::answer::Answer;
use super::api::talk::Reader as _;
use super::api::{self, KeyHeader, Server};
use super::prompt::{self, AnswerForm, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine, structured};
use crate::http::HttpRequest;
use crate::model::class::{ErrorClass, PortError};
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunLimits};
use crate::unit::plan::EngineUnit;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "anthropic",
    summary: "Asks Anthropic's Messages API with a key, or a server that speaks it",
    keys: &[
        KeySpec::new("base_url", ValueType::Url, "Where the server is, with or without /v1")
            .specifiers()
            .default("\"https://api.anthropic.com\""),
        KeySpec::new("key", ValueType::Secret, "The API key; a server on this machine may need none"),
        KeySpec::new(
            "max_tokens",
            ValueType::Integer { min: 1, max: 1_000_000 },
            "The most the model may write, thinking included; also what is set aside for a budget",
        )
        .default("8000"),
        KeySpec::new(
            "effort",
            ValueType::Choice(&["low", "medium", "high", "max"]),
            "How much the model thinks; its own default if not given",
        ),
    ],
    check,
    is_local: api::is_local,
    needs_model: true,
    build,
};

/// The only version there is.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Asks the API.
#[derive(Debug)]
pub struct AnthropicEngine {
    server: Server,
    max_tokens: i64,
    effort: Option<String>,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let config = |what: &str| PortError::new(ErrorClass::Config, what);
    let base = api::base_url(settings, "v1", &["/messages"])
        .ok_or_else(|| config("anthropic needs a `base_url`"))?;
    if unit.model.trim().is_empty() {
        return Err(config("anthropic needs `model` in [engine]"));
    }
    let server = Server {
        base,
        model: unit.model.clone(),
        key: settings.secret("key").cloned(),
        key_header: KeyHeader::Own("x-api-key"),
        context,
    };
    let max_tokens = settings.integer("max_tokens").unwrap_or(8000);
    let effort = settings.text("effort").map(str::to_owned);
    Ok(ExecutionEngine::Anthropic(AnthropicEngine { server, max_tokens, effort }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    api::problems(settings).into_iter().chain(api::key_problem(settings)).collect()
}

impl AnthropicEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        self.server.probe("models?limit=1000", api::model_ids, Answer::refusal, &[VERSION]).await
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build_for(request, AnswerForm::Schema);
        let post = HttpRequest::post_json(self.server.url("messages"), &self.body(&prompt));
        let post = api::constant(post, VERSION.0, VERSION.1);
        let mut answer = Answer::default();
        let ended = self.server.ask(post, limits, cancel, &mut answer).await?;
        api::conclude(ended, answer.finish(), answer.usage(), answer.model.clone(), &prompt)
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let format = json!({ "type": "json_schema", "schema": structured::schema() });
        let mut output = json!({ "format": format });
        if let (Some(effort), Some(fields)) = (&self.effort, output.as_object_mut()) {
            fields.insert("effort".into(), effort.as_str().into());
        }
        json!({
            "model": self.server.model,
            "max_tokens": self.max_tokens,
            "stream": true,
            "system": prompt.trusted,
            "messages": [{ "role": "user", "content": prompt.data }],
            "output_config": output,
        })
    }
}
