//! What engines that ask a server over HTTP share: where it is, its key, the exchange, the probe.

#[cfg(test)]
mod fuzz;
pub(super) mod openai_errors;
pub(super) mod talk;

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use self::talk::{Reader, Refusal};
use super::prompt::Prompt;
use super::{EngineContext, failed, port_failure, structured};
use crate::http::sse::EventTooLong;
use crate::http::{Credentials, HttpRequest, holds_login, is_loopback};
use crate::model::run::{EngineError, EngineOutcome, RunFacts, RunFailure, RunLimits, Usage};
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::secret::scrub::Scrubber;
use crate::secret::{SecretError, SecretValue};
use crate::unit::schema::KeyProblem;
use crate::unit::value::Settings;

/// A failure, and a sentence for people that quotes no answer.
pub(super) type Failed = (RunFailure, String);

impl From<EventTooLong> for Failed {
    fn from(error: EventTooLong) -> Self {
        (RunFailure::Protocol, error.to_string())
    }
}

/// Of a server's own message.
pub(super) const MESSAGE_BYTES_MAX: usize = 400;

/// A server that is there answers its list of models at once.
const PROBE: Duration = Duration::from_secs(2);

/// A server far away needs a handshake or two.
const PROBE_FAR: Duration = Duration::from_secs(10);

/// Models named in a probe's text.
const MODELS_SHOWN_MAX: usize = 5;

/// An exchange that gave no answer.
#[derive(Debug)]
pub(super) struct Stopped {
    pub failure: RunFailure,
    pub detail: String,
    /// Nothing was worked on, so that nothing is billed.
    pub unused: bool,
    /// The server still loads its model: asking again in a moment helps.
    pub loading: bool,
}

impl From<Failed> for Stopped {
    fn from((failure, detail): Failed) -> Self {
        Self { failure, detail, unused: false, loading: false }
    }
}

/// How the key travels: in a header, never in the URL, which ends up in logs.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer …`.
    Bearer,
    /// A header of the vendor's own.
    Own(&'static str),
}

/// A server, with what is needed to ask it.
#[derive(Debug)]
pub(super) struct Server {
    pub base: Url,
    pub model: String,
    pub key: Option<SecretRef>,
    pub key_header: KeyHeader,
    pub context: EngineContext,
}

/// What is wrong with `base_url` and `key`.
pub(super) fn problems(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut problem = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    match settings.text("base_url").map(Url::parse) {
        Some(Ok(url)) if !matches!(url.scheme(), "http" | "https") => {
            problem("base_url", "is not http or https");
        }
        Some(Ok(url)) if holds_login(&url) => {
            problem("base_url", "holds a user or password; put the key into `key`");
        }
        Some(Ok(url)) if url.scheme() == "http" && !is_loopback(&url) && settings.secret("key").is_some() => {
            problem("base_url", "is plain http to another machine; a key is only sent over https");
        }
        _ => {}
    }
    problems
}

/// A vendor's own server wants a key; one on this machine may do without.
pub(super) fn key_problem(settings: &Settings) -> Option<KeyProblem> {
    let far = !is_local(settings);
    (far && settings.secret("key").is_none()).then(|| KeyProblem {
        key: "key",
        message: "is needed by a server elsewhere: `{ secret = \"NAME\" }`".to_owned(),
    })
}

/// The server is on this machine.
pub(super) fn is_local(settings: &Settings) -> bool {
    settings.text("base_url").and_then(|text| Url::parse(text).ok()).is_some_and(|url| is_loopback(&url))
}

/// The URL in front of the API's own paths, ending with its version: `version` is added unless the path names one
/// already; `tail` is what people copy along.
pub(super) fn base_url(settings: &Settings, version: &str, tails: &[&str]) -> Option<Url> {
    let mut url = Url::parse(settings.text("base_url")?).ok()?;
    let mut path = url.path().trim_end_matches('/').to_owned();
    for tail in tails {
        path = path.strip_suffix(tail).unwrap_or(&path).trim_end_matches('/').to_owned();
    }
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    url.set_path(&if path.split('/').any(is_version) { path } else { format!("{path}/{version}") });
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

impl Server {
    /// A URL below the base; `path` may have a query.
    pub(super) fn url(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// "127.0.0.1:11434"
    pub(super) fn place(&self) -> String {
        let place = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| place.to_owned(), |port| format!("{place}:{port}"))
    }

    async fn key(&self) -> Result<Option<SecretValue>, EngineError> {
        let Some(reference) = &self.key else { return Ok(None) };
        match self.context.secrets.read(reference).await {
            Ok(value) => Ok(Some(value)),
            Err(error @ SecretError::Missing { .. }) => Err(failed(RunFailure::Auth, error.to_string())),
            Err(error) => Err(failed(RunFailure::Network, error.to_string())),
        }
    }

    fn credentials(&self, key: Option<SecretValue>) -> Option<Credentials> {
        key.map(|key| match self.key_header {
            KeyHeader::Bearer => Credentials::Bearer(key),
            KeyHeader::Own(name) => Credentials::Header(HeaderName::from_static(name), key),
        })
    }

    /// One request and its answer, within the limits. The usage is known to be nothing where nothing was worked on.
    pub(super) async fn ask<R: Reader>(
        &self,
        request: HttpRequest,
        limits: RunLimits,
        cancel: &CancellationToken,
        reader: &mut R,
    ) -> Result<Result<(), Stopped>, EngineError> {
        let key = self.key().await?;
        let mask = Masking::of(key.as_ref());
        let request = request.credentials(self.credentials(key)).total(limits.total);
        let talk = talk::talk(&self.context, request, limits, reader);
        let ended = tokio::select! {
            ended = talk => ended,
            () = cancel.cancelled() => Err((RunFailure::Cancelled, "it was cancelled".to_owned()).into()),
        };
        Ok(ended.map_err(|stopped| Stopped { detail: mask.0.scrub_owned(stopped.detail), ..stopped }))
    }

    /// Asks for the list of models. Nobody there is an answer of its own: a local server that does not run.
    pub(super) async fn probe(
        &self,
        path: &str,
        names: fn(&Value) -> Vec<&str>,
        refused: fn(&Refusal<'_>) -> Failed,
        headers: &[(&'static str, &'static str)],
    ) -> Result<String, EngineError> {
        let key = self.key().await?;
        let mask = Masking::of(key.as_ref());
        let near = is_loopback(&self.base);
        let mut request = HttpRequest::get(self.url(path))
            .credentials(self.credentials(key))
            .total(if near { PROBE } else { PROBE_FAR });
        for (name, value) in headers {
            request = request.header(HeaderName::from_static(name), value);
        }
        let place = self.place();
        let masked = |error: EngineError| EngineError { detail: mask.0.scrub_owned(error.detail), ..error };
        let response = match self.context.http.send(request).await {
            Ok(response) => response,
            Err(error) => {
                let error = port_failure(&error);
                let failure = if near { RunFailure::Config } else { error.failure };
                let detail = format!("no server runs at {place}: {}", error.detail);
                return Err(masked(failed(failure, detail)));
            }
        };
        if !(200..300).contains(&response.status) {
            let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
            let refusal = Refusal::of(response.status, &response.headers, &body, self.context.clock.now());
            let (failure, detail) = refused(&refusal);
            return Err(masked(failed(failure, detail)));
        }
        let list: Value = response.json().map_err(|error| masked(port_failure(&error)))?;
        let names = names(&list);
        let wanted = self.model.as_str();
        let has = names.iter().any(|name| *name == wanted || name.strip_suffix(":latest") == Some(wanted));
        Ok(if has || names.is_empty() {
            format!("{wanted} at {place}")
        } else {
            let shown = names.iter().take(MODELS_SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
            let shown = one_line(&shown, 300);
            format!("{place} answers, but does not list `{wanted}`; it lists {shown}")
        })
    }
}

/// Names of models in a list as `OpenAI`, its likes and Anthropic give it.
pub(super) fn model_ids(list: &Value) -> Vec<&str> {
    let models = list.get("data").and_then(Value::as_array);
    models
        .map(|models| models.iter().filter_map(|model| model.get("id")?.as_str()).collect())
        .unwrap_or_default()
}

/// The end of a run with a structured answer.
pub(super) fn conclude(
    ended: Result<(), Stopped>,
    finish: Result<&str, Failed>,
    usage: Usage,
    model: Option<String>,
    prompt: &Prompt,
) -> Result<EngineOutcome, EngineError> {
    if let Err(stopped) = ended {
        let usage = usage_of(&stopped, usage);
        return Err(EngineError { failure: stopped.failure, detail: stopped.detail, usage });
    }
    let text = finish.map_err(|(failure, detail)| EngineError { failure, detail, usage: usage.clone() })?;
    let outcome =
        structured::read_text(text).map_err(|error| EngineError { usage: usage.clone(), ..error })?;
    let remarks = [prompt.remarks.clone(), outcome.remarks].concat();
    let facts = RunFacts { model, ..RunFacts::default() };
    Ok(EngineOutcome { usage, remarks, facts, ..outcome })
}

/// Usage of a run that was stopped: known to be nothing where nothing was worked on.
pub(super) fn usage_of(stopped: &Stopped, so_far: Usage) -> Usage {
    if stopped.unused {
        Usage { input_tokens: Some(0), output_tokens: Some(0), ..Usage::default() }
    } else {
        so_far
    }
}

/// A sum of counts of which some may be missing; none at all is none.
pub(super) fn sum(counts: &[Option<u64>]) -> Option<u64> {
    counts.iter().copied().flatten().reduce(u64::saturating_add)
}

/// A count in an object.
pub(super) fn count(object: &Value, name: &str) -> Option<u64> {
    object.get(name).and_then(Value::as_u64)
}

/// A text in an object, empty if there is none.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The data of an event as JSON. What cannot be read may be a part of the text, so the rest is no answer.
pub(super) fn event_json(data: &[u8]) -> Result<Value, Failed> {
    serde_json::from_slice(data)
        .map_err(|_| (RunFailure::Protocol, "a part of the answer cannot be read".to_owned()))
}

/// Appends a piece of the answer's text, within what a structured answer may have.
pub(super) fn push(so_far: &mut String, piece: &str, bytes_max: usize) -> Result<(), Failed> {
    if so_far.len() + piece.len() > bytes_max {
        return Err((RunFailure::Protocol, format!("the answer is longer than {bytes_max} bytes")));
    }
    so_far.push_str(piece);
    Ok(())
}

/// A header that names what may be known.
pub(super) fn constant(request: HttpRequest, name: &'static str, value: &'static str) -> HttpRequest {
    debug_assert!(HeaderValue::from_str(value).is_ok());
    request.header(HeaderName::from_static(name), value)
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value as UnitValue;

    #[test]
    fn base_urls() {
        let check = |given: &str, expected: &str| {
            let settings = Settings([("base_url".to_owned(), UnitValue::Text(given.to_owned()))].into());
            assert_eq!(base_url(&settings, "v1", &["/messages"]).unwrap().as_str(), expected);
        };
        check("https://api.example.org", "https://api.example.org/v1");
        check("https://api.example.org/", "https://api.example.org/v1");
        check("https://api.example.org/v1/messages", "https://api.example.org/v1");
        check("https://api.example.org/v1beta/", "https://api.example.org/v1beta");
        check("https://gateway.example/anthropic?x=1#y", "https://gateway.example/anthropic/v1");
    }
}
