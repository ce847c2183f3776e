//! Answers of the page: a view, a way back after a decision, or what went wrong.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::Page;
use super::doors::Session;
use crate::control::client::ClientError;
use crate::control::wire::{CountsView, Mode, StatusView};
use crate::model::class::chain;

/// Why there is no view, for people; shown in the page's own frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    pub status: StatusCode,
    pub text: String,
    pub hint: Option<String>,
}

impl Trouble {
    pub fn not_found(text: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, text: text.into(), hint: None }
    }

    pub fn usage(text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.into(), hint: None }
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        let status = match &error {
            ClientError::Refused { status, .. } => StatusCode::from_u16(*status).ok(),
            _ => None,
        };
        let hint = error.hint();
        Self { status: status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE), text: chain(&error), hint }
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let mut answer = self.status.into_response();
        answer.extensions_mut().insert(self);
        answer
    }
}

/// After a decision: the browser asks for another view, and a repeated look repeats no decision.
pub(super) fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

impl Page {
    /// A view in the page's frame: who is in, how many things wait, whether anything is stopped.
    pub(super) async fn view(
        &self,
        session: &Session,
        name: &str,
        title: &str,
        values: Value,
    ) -> Result<Response, Trouble> {
        let status: StatusView = self.client.get("/v1/status").await?;
        Ok(self.framed(StatusCode::OK, session, name, title, &status, values))
    }

    /// The same, where the status is known.
    pub(super) fn framed(
        &self,
        code: StatusCode,
        session: &Session,
        name: &str,
        title: &str,
        status: &StatusView,
        mut values: Value,
    ) -> Response {
        let held = held(&status.counts);
        let frame = json!({ "title": title, "csrf": session.csrf, "now": status.now.0, "paused": status.paused, "rehearsal": status.mode == Mode::Rehearsal, "findings": status.findings, "version": status.version, "drafts": status.counts.drafts_open, "held": held, "news": session.news.to_string() });
        if let Some(values) = values.as_object_mut() {
            values.insert("frame".to_owned(), frame);
        }
        self.html(code, name, values)
    }

    /// What went wrong, in the frame if there can be one.
    pub(super) async fn trouble(&self, session: &Session, trouble: &Trouble) -> Response {
        let values = json!({ "text": trouble.text, "hint": trouble.hint, "code": trouble.status.as_u16() });
        match self.client.get::<StatusView>("/v1/status").await {
            Ok(status) => self.framed(trouble.status, session, "trouble.html", "Not done", &status, values),
            Err(_) => self.html(trouble.status, "outside.html", json!({ "text": trouble.text })),
        }
    }

    /// For who is not logged in: tells nothing but how to get in.
    pub(super) fn outside(&self, code: StatusCode, text: &str) -> Response {
        self.html(code, "outside.html", json!({ "text": text }))
    }

    pub(super) fn html(&self, code: StatusCode, name: &str, values: Value) -> Response {
        let now = self.clock.now();
        match self.templates.render(name, values, now) {
            Ok(text) => (code, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
            Err(error) => {
                tracing::error!(view = name, "a view of the page: {error}");
                (StatusCode::INTERNAL_SERVER_ERROR, "the view cannot be shown; the log says why\n")
                    .into_response()
            }
        }
    }
}

/// Sends that wait for a person.
pub(super) fn held(counts: &CountsView) -> u64 {
    counts.actions.get("held").copied().unwrap_or_default()
}
