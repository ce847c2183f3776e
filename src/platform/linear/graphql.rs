//! One question to the API, and what its errors mean.
//!
//! Errors may come with HTTP 200 beside data that is there in part; a used-up limit comes as HTTP 400 with resets in
//! milliseconds since 1970. (`@linear/sdk` 98.0.0 lists the types of errors.)

use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::{Effect, HttpRequest, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::api::ApiClient;

const SAID_BYTES_MAX: usize = 200;

/// What came back, with at least some data.
#[derive(Debug)]
pub struct Answer {
    /// The root fields.
    pub data: Value,
    /// Errors beside it.
    pub errors: Vec<GraphError>,
}

/// One entry of `errors`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct GraphError {
    message: Option<String>,
    path: Vec<Value>,
    extensions: Extensions,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Extensions {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    user_presentable_message: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    data: Option<Value>,
    #[serde(default)]
    errors: Vec<GraphError>,
}

/// Asks, once. `doing` is for people: "read the inbox".
///
/// # Errors
/// Classed by the errors' types where no data came, else by the status. `RateLimited` makes the account rest.
pub async fn ask(
    api: &ApiClient,
    effect: Effect,
    doing: &str,
    document: &str,
    variables: Value,
) -> Result<Answer, PortError> {
    let body = json!({ "query": document, "variables": variables });
    let mut request = HttpRequest::writing(Method::POST, api.base().clone()).json(&body);
    if effect == Effect::Read {
        request = request.reading();
    }
    let response = api.send(request).await?;
    let said = serde_json::from_slice::<Envelope>(&response.body).ok();
    if let Some(Envelope { data, errors }) = said {
        let some = data.filter(|data| {
            data.as_object().is_some_and(|fields| fields.values().any(|field| !field.is_null()))
        });
        match some {
            Some(data) if response.status == 200 => return Ok(Answer { data, errors }),
            _ if !errors.is_empty() => {
                return Err(refusal(api, effect, doing, &errors, &response.headers));
            }
            _ => {}
        }
    }
    let response = api.checked(response, |_| None)?;
    // A success without data and without errors is no answer of this API.
    let _: Value = response.json()?;
    let class = if effect == Effect::Write { ErrorClass::Uncertain } else { ErrorClass::NETWORK };
    Err(PortError::caused(class, doing, "the answer holds neither data nor errors"))
}

fn refusal(
    api: &ApiClient,
    effect: Effect,
    doing: &str,
    errors: &[GraphError],
    headers: &HeaderMap,
) -> PortError {
    let now = api.now();
    let classes = errors.iter().map(|error| (error.class(effect, headers, now), error));
    let Some((class, first)) = classes.min_by_key(|(class, _)| rank(*class)) else {
        return PortError::new(ErrorClass::Bug, doing);
    };
    if let ErrorClass::RateLimited { until } = class {
        api.rest(until);
    }
    PortError::caused(class, doing, first.said())
}

/// Of several errors the one that decides what is to be done.
fn rank(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Auth => 0,
        ErrorClass::RateLimited { .. } => 1,
        ErrorClass::Uncertain => 2,
        ErrorClass::Network { .. } => 3,
        ErrorClass::Config => 4,
        ErrorClass::Permanent | ErrorClass::Bug => 5,
    }
}

impl GraphError {
    /// Linear's own words.
    #[must_use]
    pub fn said(&self) -> String {
        let words = self.extensions.user_presentable_message.as_ref().or(self.message.as_ref());
        one_line(words.map_or("an error without words", |words| words), SAID_BYTES_MAX)
    }

    /// The place in a list that it is about: `["comments", "nodes", 3, "issue"]` is 3.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        self.path.iter().find_map(Value::as_u64).and_then(|nth| usize::try_from(nth).ok())
    }

    /// What it means for the next step.
    #[must_use]
    pub fn class(&self, effect: Effect, headers: &HeaderMap, now: Timestamp) -> ErrorClass {
        let later = if effect == Effect::Write { ErrorClass::Uncertain } else { ErrorClass::NETWORK };
        let words = [self.extensions.code.as_deref(), self.extensions.kind.as_deref()];
        let words = words.into_iter().flatten().map(|word| {
            let letters = word.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect::<String>()
        });
        for word in words {
            return match word.as_str() {
                "ratelimited" => ErrorClass::RateLimited { until: reset(headers, now) },
                "authenticationerror" => ErrorClass::Auth,
                "forbidden" | "featurenotaccessible" => ErrorClass::Config,
                "invalidinput"
                | "inputerror"
                | "usererror"
                | "graphqlerror"
                | "graphqlvalidationfailed"
                | "usagelimitexceeded" => ErrorClass::Permanent,
                // The lock was not had: nothing was done.
                "locktimeout" => ErrorClass::NETWORK,
                "internalerror" | "internalservererror" | "networkerror" | "bootstraperror" => later,
                _ => continue,
            };
        }
        later
    }
}

/// When a used-up limit is filled again: the latest of those with nothing left, in milliseconds since 1970, against
/// the server's own clock.
fn reset(headers: &HeaderMap, now: Timestamp) -> Timestamp {
    let number = |name: String| header(headers, name)?.trim().parse::<f64>().ok();
    let server_now = header(headers, "date").and_then(Timestamp::from_http_date).unwrap_or(now);
    let kinds = ["requests", "complexity", "endpoint-requests"];
    let used_up = kinds.iter().filter(|kind| {
        number(format!("x-ratelimit-{kind}-remaining")).is_some_and(|remaining| remaining <= 0.0)
    });
    let wait = used_up
        .filter_map(|kind| number(format!("x-ratelimit-{kind}-reset")))
        .map(|reset| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "saturates, and a saturated time is an absurd one"
            )]
            let at = Timestamp(if reset > 1e12 { reset as i64 } else { (reset * 1000.0) as i64 });
            if at < server_now { limits::RETRY_HINT_ABSURD } else { at.since(server_now) }
        })
        .max();
    let wait = wait.unwrap_or(limits::RATE_LIMIT_WAIT);
    let wait = if wait > limits::RETRY_HINT_MAX { limits::RETRY_HINT_ABSURD } else { wait };
    now.plus(wait.max(Duration::from_secs(1)))
}

impl Answer {
    /// A root field.
    ///
    /// # Errors
    /// `Network`: it is missing or has another shape.
    pub fn field<T: DeserializeOwned>(&self, name: &str, doing: &str) -> Result<T, PortError> {
        let value = self.data.get(name).filter(|value| !value.is_null());
        let found = value.and_then(|value| T::deserialize(value).ok());
        found.ok_or_else(|| {
            let words = self.errors.first().map(GraphError::said);
            let why = words.unwrap_or_else(|| format!("the answer's `{name}` has not the expected shape"));
            PortError::caused(ErrorClass::NETWORK, doing, why)
        })
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn class(extensions: Value, effect: Effect) -> String {
        let error: GraphError = serde_json::from_value(json!({ "extensions": extensions })).unwrap();
        error.class(effect, &HeaderMap::new(), NOW).word().to_owned()
    }

    #[test]
    fn the_types_of_errors() {
        let check = |extensions: Value, read: &str, write: &str| {
            assert_eq!(class(extensions.clone(), Effect::Read), read, "{extensions}");
            assert_eq!(class(extensions.clone(), Effect::Write), write, "{extensions}");
        };
        check(json!({ "code": "RATELIMITED" }), "rate-limit", "rate-limit");
        check(json!({ "type": "authentication error", "code": "AUTHENTICATION_ERROR" }), "auth", "auth");
        check(json!({ "type": "forbidden" }), "config", "config");
        check(json!({ "type": "invalid input", "code": "INPUT_ERROR" }), "permanent", "permanent");
        check(json!({ "code": "GRAPHQL_VALIDATION_FAILED" }), "permanent", "permanent");
        check(json!({ "type": "lock timeout" }), "network", "network");
        check(json!({ "type": "internal error" }), "network", "uncertain");
        check(json!({ "type": "something new" }), "network", "uncertain");
        check(json!({}), "network", "uncertain");
    }

    #[test]
    fn resets_are_milliseconds_of_what_is_used_up() {
        let check = |headers: &[(&'static str, &str)], seconds: u64| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(HeaderName::from_static(name), value.parse().unwrap());
            }
            assert_eq!(reset(&map, NOW).since(NOW).as_secs(), seconds, "{headers:?}");
        };
        check(&[], 60);
        let requests = ("x-ratelimit-requests-reset", "1796025690000");
        let complexity = ("x-ratelimit-complexity-reset", "1796027400000");
        let none = |name| (name, "0");
        check(&[requests, complexity, none("x-ratelimit-requests-remaining")], 90);
        check(&[requests, complexity, none("x-ratelimit-complexity-remaining")], 1800);
        check(&[requests, complexity, ("x-ratelimit-requests-remaining", "7")], 60);
        let absurd = ("x-ratelimit-requests-reset", "1796425600000");
        check(&[absurd, none("x-ratelimit-requests-remaining")], 3600);
        let past = ("x-ratelimit-requests-reset", "1796025500000");
        check(&[past, none("x-ratelimit-requests-remaining")], 3600);
        let skewed = ("date", "Mon, 30 Nov 2026 08:01:00 GMT");
        check(&[requests, skewed, none("x-ratelimit-requests-remaining")], 30);
    }
}
