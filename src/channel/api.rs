//! What channels over HTTP share: one server, one token, JSON.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use hyper::body::Bytes;
use reqwest::Method;
use serde_json::Value;
use url::Url;

use super::ChannelContext;
use crate::http::{Credentials, Effect, HttpRequest, HttpResponse, HttpRoom, status_class};
use crate::model::class::{ErrorClass, PortError};
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Clock, Timestamp};
use crate::secret::{SecretStore, SecretValue};
use crate::unit::schema::KeyProblem;
use crate::unit::value::Settings;

/// One account at one server.
pub(super) struct Api {
    http: HttpRoom,
    secrets: Arc<dyn SecretStore>,
    clock: Clock,
    base: Url,
    token: Option<SecretRef>,
}

impl Api {
    /// At the URL of the key `server`, with the secret of the key `token` as a bearer's.
    pub fn new(context: &ChannelContext, server: &str) -> Result<Self, PortError> {
        let token = context.settings.secret("token").cloned();
        Ok(Self { token, ..Self::without_token(context, server)? })
    }

    /// The same where the token does not stand in a header.
    pub fn without_token(context: &ChannelContext, server: &str) -> Result<Self, PortError> {
        let text = context.settings.text(server).unwrap_or_default();
        let config = |why| PortError::caused(ErrorClass::Config, format!("read the key `{server}`"), why);
        let base = Url::parse(text).map_err(|error| config(error.to_string()))?;
        if base.cannot_be_a_base() {
            return Err(config("it is no address of a server".to_owned()));
        }
        Ok(Self {
            http: context.http.clone(),
            secrets: Arc::clone(&context.secrets),
            clock: context.clock.clone(),
            base,
            token: None,
        })
    }

    /// The server's name, for people.
    pub fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The URL of a resource: each segment is one part of the path, whatever characters it holds.
    pub fn at(&self, segments: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    pub async fn secret(&self, reference: &SecretRef, key: &str) -> Result<SecretValue, PortError> {
        let doing = || format!("read the secret for `{key}`");
        self.secrets.read(reference).await.map_err(|error| PortError::caused(error.class(), doing(), error))
    }

    async fn signed(&self, request: HttpRequest) -> Result<HttpRequest, PortError> {
        let credentials = match &self.token {
            Some(token) => Some(Credentials::Bearer(self.secret(token, "token").await?)),
            None => None,
        };
        Ok(request.credentials(credentials).same_origin())
    }

    /// The answer to a request in the account's name, whatever its status.
    pub async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        self.http.send(self.signed(request).await?).await
    }

    /// The same, if its status is a success.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        self.ask(request).await?.into_ok(self.now())
    }

    /// The same as it comes in.
    pub async fn stream(
        &self,
        request: HttpRequest,
        idle: Duration,
    ) -> Result<BoxStream<'static, Result<Bytes, PortError>>, PortError> {
        let request = self.signed(request).await?;
        let doing = request.doing();
        let answer = self.http.stream(request, idle).await?;
        match status_class(answer.status, &answer.headers, Effect::Read, self.now()) {
            None => Ok(answer.body),
            Some(class) => {
                Err(PortError::caused(class, doing, format!("the server answered {}", answer.status)))
            }
        }
    }

    /// Telling somebody twice does no harm, so that a lost answer is told once more.
    pub async fn write(&self, method: Method, url: Url, body: &Value) -> Result<HttpResponse, PortError> {
        self.send(HttpRequest::writing(method, url).json(body).reading()).await
    }
}

/// What is wrong with the address of a server to which a secret goes.
pub(super) fn server_problems(settings: &Settings, key: &'static str) -> Vec<KeyProblem> {
    let Some(url) = settings.text(key).and_then(|text| Url::parse(text).ok()) else { return Vec::new() };
    let say = |message: &str| KeyProblem { key, message: message.to_owned() };
    let mut problems = Vec::new();
    if !matches!(url.scheme(), "http" | "https") {
        problems.push(say("is http or https"));
    }
    if crate::http::holds_login(&url) {
        problems.push(say("the URL holds a user name or password; use `token`"));
    }
    if crate::http::is_in_the_open(&url) {
        problems.push(say("what is told is not sent over plain http to another machine; use https"));
    }
    problems
}
