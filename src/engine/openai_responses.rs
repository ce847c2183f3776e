//! `OpenAI`'s Responses API, streamed, with structured output. Nothing is kept at the far side (`store` is false).

mod answer;

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
    name: "openai-responses",
    summary: "Asks OpenAI's Responses API with a key, or a server that speaks it",
    keys: &[
        KeySpec::new("base_url", ValueType::Url, "Where the server is, with or without /v1")
            .specifiers()
            .default("\"https://api.openai.com\""),
        KeySpec::new("key", ValueType::Secret, "The API key; a server on this machine may need none"),
        KeySpec::new(
            "max_tokens",
            ValueType::Integer { min: 16, max: 1_000_000 },
            "The most the model may write, reasoning included; also what is set aside for a budget",
        )
        .default("8000"),
        KeySpec::new(
            "effort",
            ValueType::Choice(&["none", "minimal", "low", "medium", "high", "xhigh"]),
            "How much the model reasons; its own default if not given, and not every model takes every word",
        ),
    ],
    check,
    is_local: api::is_local,
    needs_model: true,
    build,
};

/// Asks the API.
#[derive(Debug)]
pub struct OpenAiResponsesEngine {
    server: Server,
    max_tokens: i64,
    effort: Option<String>,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let config = |what: &str| PortError::new(ErrorClass::Config, what);
    let base = api::base_url(settings, "v1", &["/responses"])
        .ok_or_else(|| config("openai-responses needs a `base_url`"))?;
    if unit.model.trim().is_empty() {
        return Err(config("openai-responses needs `model` in [engine]"));
    }
    let server = Server {
        base,
        model: unit.model.clone(),
        key: settings.secret("key").cloned(),
        key_header: KeyHeader::Bearer,
        context,
    };
    let max_tokens = settings.integer("max_tokens").unwrap_or(8000);
    let effort = settings.text("effort").map(str::to_owned);
    Ok(ExecutionEngine::OpenAiResponses(OpenAiResponsesEngine { server, max_tokens, effort }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    api::problems(settings).into_iter().chain(api::key_problem(settings)).collect()
}

impl OpenAiResponsesEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        self.server.probe("models", api::model_ids, Answer::refusal, &[]).await
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build_for(request, AnswerForm::Schema);
        let post = HttpRequest::post_json(self.server.url("responses"), &self.body(&prompt));
        let mut answer = Answer::default();
        let ended = self.server.ask(post, limits, cancel, &mut answer).await?;
        api::conclude(ended, answer.finish(), answer.usage.clone(), answer.model.clone(), &prompt)
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let format = json!({ "type": "json_schema", "name": "answer", "strict": true, "schema": structured::schema() });
        let mut body = json!({
            "model": self.server.model,
            "instructions": prompt.trusted,
            "input": prompt.data,
            "max_output_tokens": self.max_tokens,
            "text": { "format": format },
            "store": false,
            "stream": true,
        });
        if let (Some(effort), Some(fields)) = (&self.effort, body.as_object_mut()) {
            fields.insert("reasoning".into(), json!({ "effort": effort }));
        }
        body
    }
}
