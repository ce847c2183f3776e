//! Servers that speak Chat Completions: the vendor's, gateways, and local ones (Ollama, llama.cpp, LM Studio, vLLM).

mod answer;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

pub(in crate::engine) use self::answer::Answer;
use super::api::{self, KeyHeader, Server, openai_errors};
use super::prompt::{self, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine};
use crate::http::HttpRequest;
use crate::model::class::{ErrorClass, PortError};
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFacts, RunFailure, RunLimits};
use crate::unit::plan::EngineUnit;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "openai-chat",
    summary: "Asks a server that speaks Chat Completions: Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, OpenAI",
    keys: &[
        KeySpec::new(
            "base_url",
            ValueType::Url,
            "Where the server is, with or without /v1: http://127.0.0.1:11434",
        )
        .specifiers()
        .required(),
        KeySpec::new("key", ValueType::Secret, "The API key; local servers need none"),
        KeySpec::new(
            "max_tokens",
            ValueType::Integer { min: 1, max: 1_000_000 },
            "The most the model may write, reasoning included; the server's own limit if not given",
        ),
        KeySpec::new(
            "temperature",
            ValueType::Text,
            "A number from 0 to 2 in quotes, \"0.2\"; not sent if not given, because newer models refuse it",
        ),
    ],
    check,
    is_local: api::is_local,
    needs_model: true,
    build,
};

/// Between two tries while a server loads its model.
const LOADING_WAIT: Duration = Duration::from_secs(1);

/// Asks a server.
#[derive(Debug)]
pub struct OpenAiChatEngine {
    server: Server,
    max_tokens: Option<i64>,
    temperature: Option<f64>,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let config = |what: &str| Err(PortError::new(ErrorClass::Config, what));
    let Some(base) = base_url(settings) else { return config("openai-chat needs a `base_url`") };
    if unit.model.trim().is_empty() {
        return config("openai-chat needs `model` in [engine]");
    }
    let server = Server {
        base,
        model: unit.model.clone(),
        key: settings.secret("key").cloned(),
        key_header: KeyHeader::Bearer,
        context,
    };
    Ok(ExecutionEngine::OpenAiChat(OpenAiChatEngine {
        server,
        max_tokens: settings.integer("max_tokens"),
        temperature: settings.text("temperature").and_then(temperature),
    }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = api::problems(settings);
    if settings.text("temperature").is_some_and(|text| temperature(text).is_none()) {
        problems.push(KeyProblem { key: "temperature", message: "is not a number from 0 to 2".to_owned() });
    }
    problems
}

fn temperature(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number| (0.0..=2.0).contains(number))
}

/// The URL in front of `/chat/completions`.
fn base_url(settings: &Settings) -> Option<Url> {
    api::base_url(settings, "v1", &["/chat/completions"])
}

impl OpenAiChatEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        self.server.probe("models", api::model_ids, openai_errors::failed, &[]).await
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build(request);
        let post = HttpRequest::post_json(self.server.url("chat/completions"), &self.body(&prompt));
        let loaded_by = Instant::now() + limits.first_event;
        let mut answer = Answer::default();
        let ended = loop {
            let ended = self.server.ask(post.clone(), limits, cancel, &mut answer).await?;
            // llama.cpp says so until it has loaded its model: that is its first word still to come, and no failure.
            let loading = matches!(&ended, Err(stopped) if stopped.loading);
            if !loading || Instant::now() + LOADING_WAIT >= loaded_by {
                break ended;
            }
            tokio::select! {
                () = tokio::time::sleep(LOADING_WAIT) => {}
                () = cancel.cancelled() => break Err((RunFailure::Cancelled, "it was cancelled".to_owned()).into()),
            }
        };
        let usage = answer.usage.clone();
        if let Err(stopped) = ended {
            let usage = api::usage_of(&stopped, usage);
            return Err(EngineError { failure: stopped.failure, detail: stopped.detail, usage });
        }
        match answer.finish().and_then(|text| prompt::read_answer(text, &prompt.draft)) {
            Ok(result) => {
                let mut remarks = prompt.remarks.clone();
                remarks.extend(prompt_was_cut(&prompt, usage.input_tokens));
                let facts = RunFacts { model: answer.model.take(), ..RunFacts::default() };
                Ok(EngineOutcome { usage, remarks, facts, ..EngineOutcome::of(result) })
            }
            Err((failure, detail)) => Err(EngineError { failure, detail, usage }),
        }
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let mut body = json!({
            "model": self.server.model,
            "messages": [
                { "role": "system", "content": prompt.trusted },
                { "role": "user", "content": prompt.data },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if let Some(fields) = body.as_object_mut() {
            if let Some(most) = self.max_tokens {
                fields.insert("max_tokens".into(), most.into());
            }
            if let Some(temperature) = self.temperature {
                fields.insert("temperature".into(), temperature.into());
            }
        }
        body
    }
}

/// Ollama cuts a prompt over its context without a word, and answers what is left. A token is about four bytes; ten
/// bytes a token over a whole prompt is no language.
fn prompt_was_cut(prompt: &Prompt, input_tokens: Option<u64>) -> Option<String> {
    let bytes = (prompt.trusted.len() + prompt.data.len()) as u64;
    let tokens = input_tokens.filter(|tokens| *tokens > 0)?;
    (bytes > 8 * 1024 && tokens.saturating_mul(10) < bytes)
        .then(|| format!("the server may have cut the prompt: it counted {tokens} tokens in {bytes} bytes"))
}

#[cfg(test)]
mod tests;
