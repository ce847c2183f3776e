//! One request: what to ask, with which limits, and what a lost answer would mean.

use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
};
use reqwest::{Method, RequestBuilder};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{is_loopback, masked};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::secret::SecretValue;

/// Whether a repeat would do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing that anybody would mind seeing twice.
    Read,
    /// Somebody may see the effect: a lost answer is `Uncertain`.
    Write,
}

/// Who we are to the server. Never sent to another origin than that of the request's own URL.
#[derive(Clone, Debug)]
pub enum Credentials {
    /// `Authorization: Bearer …`.
    Bearer(SecretValue),
    /// `Authorization: Basic …`.
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: SecretValue,
    },
    /// A header of the service's own, such as `x-api-key`.
    Header(HeaderName, SecretValue),
}

/// What makes the next request for the same thing a conditional one. Kept to the letter, `W/` and all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A request to be sent once.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) credentials: Option<Credentials>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) body_bytes_max: usize,
    pub(super) total: Duration,
    pub(super) effect: Effect,
    pub(super) same_origin: bool,
}

impl HttpRequest {
    /// A `GET`, which only reads.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url, Effect::Read)
    }

    /// A `POST` of JSON, taken for a write unless [`reading`](Self::reading) says otherwise.
    #[must_use]
    pub fn post_json(url: Url, body: &serde_json::Value) -> Self {
        Self::writing(Method::POST, url).json(body)
    }

    fn new(method: Method, url: Url, effect: Effect) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            credentials: None,
            body: None,
            body_bytes_max: limits::JSON_BYTES_MAX,
            total: limits::HTTP_TOTAL,
            effect,
            same_origin: false,
        }
    }

    /// A request by any method that somebody may see the effect of, unless [`reading`](Self::reading) says otherwise.
    #[must_use]
    pub fn writing(method: Method, url: Url) -> Self {
        Self::new(method, url, Effect::Write)
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        let mut request = self.body("application/json", body.to_string().into_bytes());
        request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        request
    }

    /// With a body of this media type.
    #[must_use]
    pub fn body(self, media_type: &str, body: Vec<u8>) -> Self {
        let mut request = self.header(CONTENT_TYPE, media_type);
        request.body = Some(body);
        request
    }

    /// Redirects that leave the origin of the URL are an error, not followed.
    #[must_use]
    pub fn same_origin(mut self) -> Self {
        self.same_origin = true;
        self
    }

    /// What a lost answer would mean.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// A header that is not secret, unless the request has one of that name.
    #[must_use]
    pub fn header_if_absent(self, name: HeaderName, value: &str) -> Self {
        if self.headers.contains_key(&name) { self } else { self.header(name, value) }
    }

    /// Says that a repeat would do no harm: a query by `POST`, a completion.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.effect = Effect::Read;
        self
    }

    /// Credentials for the request's own origin.
    #[must_use]
    pub fn credentials(mut self, credentials: Option<Credentials>) -> Self {
        self.credentials = credentials;
        self
    }

    /// A header that is not secret. A value that cannot stand in a header is left out.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Asks for what has changed only; the answer may be `304`.
    #[must_use]
    pub fn validators(self, validators: &Validators) -> Self {
        let mut request = self;
        if let Some(etag) = &validators.etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(at) = &validators.last_modified {
            request = request.header(IF_MODIFIED_SINCE, at);
        }
        request
    }

    /// Most bytes of the answer's body after decompression; [`limits::JSON_BYTES_MAX`] unless said.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// Longest time in all; [`limits::HTTP_TOTAL`] unless said.
    #[must_use]
    pub fn total(mut self, span: Duration) -> Self {
        self.total = span;
        self
    }

    /// Credentials would go with it.
    #[must_use]
    pub fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// What an error says was being done: `GET https://example.org/feed?key=…`.
    #[must_use]
    pub fn doing(&self) -> String {
        format!("{} {}", self.method, masked(&self.url))
    }

    pub(super) fn authorize(&self, builder: RequestBuilder, url: &Url) -> Result<RequestBuilder, PortError> {
        let Some(credentials) = &self.credentials else { return Ok(builder) };
        if url.scheme() != "https" && !is_loopback(url) {
            return Err(PortError::caused(
                ErrorClass::Config,
                self.doing(),
                "a credential is not sent over plain http to another machine; use https",
            ));
        }
        let unfit = || {
            PortError::caused(
                ErrorClass::Auth,
                self.doing(),
                "the secret holds characters that cannot stand in a header",
            )
        };
        let sensitive = |text: &str| {
            HeaderValue::from_str(text).map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        Ok(match credentials {
            Credentials::Bearer(secret) => {
                let value =
                    sensitive(&format!("Bearer {}", secret.expose_to_the_wire())).map_err(|_| unfit())?;
                builder.header(AUTHORIZATION, value)
            }
            Credentials::Basic { user, password } => {
                builder.basic_auth(user, Some(password.expose_to_the_wire()))
            }
            Credentials::Header(name, secret) => {
                builder.header(name, sensitive(secret.expose_to_the_wire()).map_err(|_| unfit())?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn validators_go_out_to_the_letter() {
        let validators = Validators {
            etag: Some("W/\"aa1-gzip\"".into()),
            last_modified: Some("Mon, 30 Nov 2026".into()),
        };
        let request = HttpRequest::get(url("https://example.org/")).validators(&validators);
        assert_eq!(request.headers[IF_NONE_MATCH], "W/\"aa1-gzip\"");
        assert_eq!(request.headers[IF_MODIFIED_SINCE], "Mon, 30 Nov 2026");
    }

    #[test]
    fn a_credential_does_not_show_in_debug() {
        let secret = Credentials::Bearer(SecretValue::new("canary-1".into()));
        let request = HttpRequest::get(url("https://example.org/")).credentials(Some(secret));
        assert!(!format!("{request:?}").contains("canary"));
    }
}
