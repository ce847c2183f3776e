//! Servers that speak Chat Completions: the vendor's, gateways, and local ones (Ollama, llama.cpp, LM Studio, vLLM).

mod answer;
mod errors;
mod stream;

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use self::answer::Answer;
use super::prompt::{self, Prompt};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, port_failure};
use crate::http::{Credentials, HttpRequest};
use crate::model::class::{ErrorClass, PortError};
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure, RunLimits};
use crate::model::secret_ref::SecretRef;
use crate::secret::scrub::Scrubber;
use crate::secret::{SecretError, SecretValue};
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
    is_local: |settings| base_url(settings).is_some_and(|url| is_loopback(&url)),
    needs_model: true,
    build,
};

/// A server that is there answers its list of models at once.
const PROBE: Duration = Duration::from_secs(2);

/// A server far away needs a handshake or two.
const PROBE_FAR: Duration = Duration::from_secs(10);

/// Models named in a probe's text.
const MODELS_SHOWN_MAX: usize = 5;

/// Asks a server.
#[derive(Debug)]
pub struct OpenAiChatEngine {
    base: Url,
    model: String,
    key: Option<SecretRef>,
    max_tokens: Option<i64>,
    temperature: Option<f64>,
    context: EngineContext,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    let config = |what: &str| Err(PortError::new(ErrorClass::Config, what));
    let Some(base) = base_url(settings) else { return config("openai-chat needs a `base_url`") };
    if unit.model.trim().is_empty() {
        return config("openai-chat needs `model` in [engine]");
    }
    Ok(ExecutionEngine::OpenAiChat(OpenAiChatEngine {
        base,
        model: unit.model.clone(),
        key: settings.secret("key").cloned(),
        max_tokens: settings.integer("max_tokens"),
        temperature: settings.text("temperature").and_then(temperature),
        context,
    }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut problem = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    match settings.text("base_url").map(Url::parse) {
        Some(Ok(url)) if !matches!(url.scheme(), "http" | "https") => {
            problem("base_url", "is not http or https");
        }
        Some(Ok(url)) if !url.username().is_empty() || url.password().is_some() => {
            problem("base_url", "holds a user or password; put the key into `key`");
        }
        Some(Ok(url)) if url.scheme() == "http" && !is_loopback(&url) && settings.secret("key").is_some() => {
            problem("base_url", "is plain http to another machine; a key is only sent over https");
        }
        _ => {}
    }
    if settings.text("temperature").is_some_and(|text| temperature(text).is_none()) {
        problem("temperature", "is not a number from 0 to 2");
    }
    problems
}

fn temperature(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number| (0.0..=2.0).contains(number))
}

/// The URL in front of `/chat/completions`: `/v1` is added unless the path names a version already.
fn base_url(settings: &Settings) -> Option<Url> {
    let mut url = Url::parse(settings.text("base_url")?).ok()?;
    let path = url.path().trim_end_matches('/').trim_end_matches("/chat/completions").to_owned();
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    url.set_path(&if path.split('/').any(is_version) { path } else { format!("{path}/v1") });
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl OpenAiChatEngine {
    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url
    }

    async fn key(&self) -> Result<Option<SecretValue>, EngineError> {
        let Some(reference) = &self.key else { return Ok(None) };
        match self.context.secrets.read(reference).await {
            Ok(value) => Ok(Some(value)),
            Err(error @ SecretError::Missing { .. }) => Err(failed(RunFailure::Auth, error.to_string())),
            Err(error) => Err(failed(RunFailure::Network, error.to_string())),
        }
    }

    /// GET of the list of models. Nobody there is an answer of its own: a local server that does not run.
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        let key = self.key().await?;
        let scrubber = Masking::of(key.as_ref());
        let near = is_loopback(&self.base);
        let request = HttpRequest::get(self.url("models"))
            .credentials(key.map(Credentials::Bearer))
            .total(if near { PROBE } else { PROBE_FAR });
        let place = self.base.host_str().unwrap_or_default();
        let place = self.base.port().map_or_else(|| place.to_owned(), |port| format!("{place}:{port}"));
        let response = match self.context.http.send(request).await {
            Ok(response) => response,
            Err(error) => {
                let error = port_failure(&error);
                let failure = if near { RunFailure::Config } else { error.failure };
                return Err(
                    scrubber.mask(failed(failure, format!("no server runs at {place}: {}", error.detail)))
                );
            }
        };
        if !(200..300).contains(&response.status) {
            let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
            return Err(scrubber.mask(stream::refused(
                response.status,
                &response.headers,
                &body,
                &self.context.clock,
            )));
        }
        let list: Value = response.json().map_err(|error| scrubber.mask(port_failure(&error)))?;
        let names: Vec<&str> = list
            .get("data")
            .and_then(Value::as_array)
            .map(|models| models.iter().filter_map(|model| model.get("id")?.as_str()).collect())
            .unwrap_or_default();
        let wanted = self.model.as_str();
        let has = names.iter().any(|name| *name == wanted || name.strip_suffix(":latest") == Some(wanted));
        Ok(if has || names.is_empty() {
            format!("{wanted} at {place}")
        } else {
            let shown = names.iter().take(MODELS_SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
            let shown = crate::model::text::one_line(&shown, 300);
            format!("{place} answers, but does not list `{wanted}`; it lists {shown}")
        })
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build(request);
        let key = self.key().await?;
        let scrubber = Masking::of(key.as_ref());
        let post = HttpRequest::post_json(self.url("chat/completions"), &self.body(&prompt))
            .reading()
            .credentials(key.map(Credentials::Bearer))
            .total(limits.total);
        let mut answer = Answer::default();
        let talk = stream::talk(&self.context, post, limits, &mut answer);
        let ended = tokio::select! {
            ended = talk => ended,
            () = cancel.cancelled() => Err((RunFailure::Cancelled, "it was cancelled".to_owned())),
        };
        let usage = answer.usage.clone();
        let outcome =
            ended.and_then(|()| answer.finish()).and_then(|text| prompt::read_answer(text, &prompt.draft));
        match outcome {
            Ok(result) => {
                let mut remarks = prompt.remarks.clone();
                remarks.extend(prompt_was_cut(&prompt, usage.input_tokens));
                Ok(EngineOutcome { usage, remarks, ..EngineOutcome::of(result) })
            }
            Err((failure, detail)) => Err(scrubber.mask(EngineError { failure, detail, usage })),
        }
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let mut body = json!({
            "model": self.model,
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

/// Keeps the key out of error texts: servers like to repeat it.
struct Masking(Scrubber);

impl Masking {
    fn of(key: Option<&SecretValue>) -> Self {
        let scrubber = Scrubber::new();
        if let Some(key) = key {
            scrubber.register(key);
        }
        Self(scrubber)
    }

    fn mask(&self, error: EngineError) -> EngineError {
        EngineError { detail: self.0.scrub_owned(error.detail), ..error }
    }
}

#[cfg(test)]
mod tests;
