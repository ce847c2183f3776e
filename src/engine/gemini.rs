//! Gemini's `streamGenerateContent`, with structured output.

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
    name: "gemini",
    summary: "Asks Google's Gemini API with a key",
    keys: &[
        KeySpec::new("base_url", ValueType::Url, "Where the server is, with or without /v1beta")
            .specifiers()
            .default("\"https://generativelanguage.googleapis.com\""),
        KeySpec::new("key", ValueType::Secret, "The API key; a server on this machine may need none"),
        KeySpec::new(
            "max_tokens",
            ValueType::Integer { min: 1, max: 1_000_000 },
            "The most the model may write, thoughts included; also what is set aside for a budget",
        )
        .default("8000"),
    ],
    check,
    is_local: api::is_local,
    needs_model: true,
    build,
};

/// Asks the API.
#[derive(Debug)]
pub struct GeminiEngine {
    server: Server,
    max_tokens: i64,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let config = |what: &str| PortError::new(ErrorClass::Config, what);
    let base =
        api::base_url(settings, "v1beta", &["/models"]).ok_or_else(|| config("gemini needs a `base_url`"))?;
    let model = unit.model.trim().trim_start_matches("models/").to_owned();
    if model.is_empty() {
        return Err(config("gemini needs `model` in [engine]"));
    }
    let key = settings.secret("key").cloned();
    let server = Server { base, model, key, key_header: KeyHeader::Own("x-goog-api-key"), context };
    let max_tokens = settings.integer("max_tokens").unwrap_or(8000);
    Ok(ExecutionEngine::Gemini(GeminiEngine { server, max_tokens }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    api::problems(settings).into_iter().chain(api::key_problem(settings)).collect()
}

/// `{"models": [{"name": "models/gemini-3.8-flash"}]}`
fn model_names(list: &Value) -> Vec<&str> {
    let models = list.get("models").and_then(Value::as_array);
    let names = models.into_iter().flatten().filter_map(|model| model.get("name")?.as_str());
    names.map(|name| name.trim_start_matches("models/")).collect()
}

impl GeminiEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        self.server.probe("models?pageSize=1000", model_names, Answer::refusal, &[]).await
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build_for(request, AnswerForm::Schema);
        let path = format!("models/{}:streamGenerateContent?alt=sse", self.server.model);
        let post = HttpRequest::post_json(self.server.url(&path), &self.body(&prompt));
        let mut answer = Answer::default();
        let ended = self.server.ask(post, limits, cancel, &mut answer).await?;
        api::conclude(ended, answer.finish(), answer.usage.clone(), answer.model.clone(), &prompt)
    }

    fn body(&self, prompt: &Prompt) -> Value {
        json!({
            "systemInstruction": { "parts": [{ "text": prompt.trusted }] },
            "contents": [{ "role": "user", "parts": [{ "text": prompt.data }] }],
            "generationConfig": {
                "maxOutputTokens": self.max_tokens,
                "responseMimeType": "application/json",
                "responseJsonSchema": structured::schema(),
            },
        })
    }
}
