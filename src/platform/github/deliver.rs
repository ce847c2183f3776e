//! Sending: effects first, then the text, once.

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::client::Client;
use super::defuse::defuse;
use super::map::{comment_key, diff_comment_key};
use super::spec::repository;
use crate::model::class::{ErrorClass, PortError};
use crate::model::effect::Effect;
use crate::model::limits;
use crate::model::marker;
use crate::model::outbound::{OutboundAction, Payload, Receipt};
use crate::model::text::one_line;
use crate::platform::json;

/// The reply handle of an item, as it stands in the envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handle {
    /// `owner/name`.
    pub repo: String,
    /// Of the issue or pull request.
    pub number: u64,
    /// The first comment of a conversation on the diff.
    #[serde(default)]
    pub review_comment: Option<u64>,
    /// The notification.
    #[serde(default)]
    pub notification: Option<String>,
}

/// What is stored before the first byte leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Post {
    /// Behind the base URL, one part each.
    pub path: Vec<String>,
    /// The text with its mark; `None`: effects only.
    pub text: Option<String>,
}

/// What becomes of the notification once a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterReply {
    Keep,
    Read,
    Done,
}

impl Handle {
    /// Of an action.
    pub fn of(action: &OutboundAction) -> Result<Self, PortError> {
        let handle: Option<Self> = serde_json::from_value(action.envelope.thread.clone()).ok();
        handle.filter(|handle| repository(&handle.repo).is_some()).ok_or_else(|| {
            PortError::caused(
                ErrorClass::Permanent,
                "find the thread of a reply",
                "the reply names no thread of GitHub",
            )
        })
    }

    fn parts(&self) -> (&str, &str, String) {
        let (owner, name) = self.repo.split_once('/').unwrap_or_default();
        (owner, name, self.number.to_string())
    }
}

/// The exact request. Pure.
pub(super) fn prepare(action: &OutboundAction) -> Result<Payload, PortError> {
    let handle = Handle::of(action)?;
    let (owner, name, number) = handle.parts();
    let text = action.body.trim();
    let text = (!text.is_empty()).then(|| marker::stamp(&defuse(text), &action.key));
    if text.as_ref().is_some_and(|text| text.chars().count() > limits::GITHUB_REPLY_CHARS_MAX) {
        let why =
            format!("it is longer than the {} characters that are sent", limits::GITHUB_REPLY_CHARS_MAX);
        return Err(PortError::caused(ErrorClass::Permanent, "prepare a comment", why));
    }
    if text.is_none() && action.envelope.effects.is_empty() {
        return Err(PortError::caused(
            ErrorClass::Permanent,
            "prepare a comment",
            "there is nothing to send",
        ));
    }
    let path: Vec<&str> = match handle.review_comment.map(|id| id.to_string()) {
        Some(id) => {
            return payload(
                action,
                &["repos", owner, name, "pulls", &number, "comments", &id, "replies"],
                text,
            );
        }
        None => vec!["repos", owner, name, "issues", &number, "comments"],
    };
    payload(action, &path, text)
}

fn payload(action: &OutboundAction, path: &[&str], text: Option<String>) -> Result<Payload, PortError> {
    let post = Post { path: path.iter().map(|&part| part.to_owned()).collect(), text };
    let bytes = serde_json::to_vec(&post)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "write down a comment", error))?;
    Ok(Payload { marker: action.key.clone(), bytes })
}

/// As it was prepared.
pub(super) fn post_of(payload: &Payload) -> Result<Post, PortError> {
    serde_json::from_slice(&payload.bytes)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "read what was prepared", error))
}

fn at(client: &Client, path: &[&str]) -> Url {
    client.at(path, &[])
}

/// Brings the effects about and posts the text.
pub(super) async fn deliver(
    client: &Client,
    action: &OutboundAction,
    payload: &Payload,
) -> Result<Receipt, PortError> {
    let (handle, post) = (Handle::of(action)?, post_of(payload)?);
    // A token may have been replaced by another account's: nothing is written in a name that was not approved.
    client.me().await?;
    let mut done = Vec::new();
    // What can be refused for a wrong name comes before what people see at once.
    let mut effects: Vec<&Effect> = action.envelope.effects.iter().collect();
    effects.sort_by_key(|effect| matches!(effect.verb.as_str(), "close" | "reopen"));
    for effect in effects {
        bring_about(client, &handle, effect).await.map_err(|error| after(error, &done))?;
        done.push(effect.to_string());
    }
    let Some(text) = &post.text else {
        let evidence = format!("{}: {}", handle.repo, done.join(", "));
        return Ok(Receipt { remote_id: action.key.clone(), evidence });
    };
    let path: Vec<&str> = post.path.iter().map(String::as_str).collect();
    let body = json!({ "body": text });
    // The only request that must not be repeated.
    let answer = client.write(Method::POST, at(client, &path), Some(&body), false).await;
    let answer = answer.map_err(|error| after(error, &done))?;
    let made: Value = answer.json()?;
    let Some(id) = json::number(&made, "/id") else {
        let doing = format!("POST {}", post.path.join("/"));
        let why = "the answer does not name the comment that was made";
        return Err(PortError::caused(ErrorClass::Uncertain, doing, why));
    };
    Ok(receipt(&made, id, handle.review_comment.is_some(), "posted"))
}

/// Of a comment as GitHub shows it. Its id is the key under which it would be read back.
pub(super) fn receipt(comment: &Value, id: u64, on_the_diff: bool, how: &str) -> Receipt {
    let remote_id = if on_the_diff { diff_comment_key(id) } else { comment_key(id) };
    let page = one_line(json::text_or_empty(comment, "/html_url"), 300);
    let evidence = if page.is_empty() { format!("{how}, {remote_id}") } else { format!("{how}, {page}") };
    Receipt { remote_id, evidence }
}

/// Says what had happened by then.
fn after(error: PortError, done: &[String]) -> PortError {
    if done.is_empty() {
        return error;
    }
    PortError { doing: format!("{} (done before: {})", error.doing, done.join(", ")), ..error }
}

/// One effect; each may be brought about twice without harm.
async fn bring_about(client: &Client, handle: &Handle, effect: &Effect) -> Result<(), PortError> {
    let (owner, name, number) = handle.parts();
    let issue = ["repos", owner, name, "issues", &number];
    let of_issue = |more: &[&str]| at(client, &[&issue[..], more].concat());
    let value = effect.value.as_str();
    let refused = |why: String| {
        Err(PortError::caused(ErrorClass::Permanent, format!("{effect} on {}", handle.repo), why))
    };
    match effect.verb.as_str() {
        "close" | "reopen" => {
            let state = if effect.verb == "close" { "closed" } else { "open" };
            let body = json!({ "state": state });
            client.write(Method::PATCH, of_issue(&[]), Some(&body), true).await.map(drop)
        }
        "label" => {
            // GitHub would make a label of any name.
            if let Err(error) = client.one(at(client, &["repos", owner, name, "labels", value])).await {
                return match error.class {
                    ErrorClass::Permanent => {
                        refused(format!("the repository has no label `{value}`, or it may not be seen"))
                    }
                    _ => Err(error),
                };
            }
            let body = json!({ "labels": [value] });
            client.write(Method::POST, of_issue(&["labels"]), Some(&body), true).await.map(drop)
        }
        "unlabel" => {
            let removed = client.write(Method::DELETE, of_issue(&["labels", value]), None, true).await;
            match removed {
                // Not there is what was wanted; an issue that is not there shows in the next request.
                Err(error) if error.class == ErrorClass::Permanent => {
                    let labels =
                        client.list(of_issue(&["labels"]), &crate::http::Validators::default()).await?;
                    let still =
                        |label: &Value| json::text_or_empty(label, "/name").eq_ignore_ascii_case(value);
                    if labels.values.iter().any(still) { Err(error) } else { Ok(()) }
                }
                other => other.map(drop),
            }
        }
        "assign" | "unassign" => {
            let login = value.trim_start_matches('@');
            let method = if effect.verb == "assign" { Method::POST } else { Method::DELETE };
            let body = json!({ "assignees": [login] });
            let answer = client.write(method, of_issue(&["assignees"]), Some(&body), true).await?;
            let issue: Value = answer.json()?;
            let is = |user: &Value| json::text_or_empty(user, "/login").eq_ignore_ascii_case(login);
            // GitHub takes an assignment that it does not carry out for a success.
            if effect.verb == "assign" && !json::list(&issue, "/assignees").iter().any(is) {
                return refused(format!(
                    "GitHub did not assign {login}: no such person here, or you may not assign"
                ));
            }
            Ok(())
        }
        other => refused(format!("`{other}` is nothing that can be done at GitHub")),
    }
}

/// After the receipt was stored.
pub(super) async fn tidy(
    client: &Client,
    action: &OutboundAction,
    what: AfterReply,
) -> Result<(), PortError> {
    let Some(id) = Handle::of(action)?.notification.filter(|_| what != AfterReply::Keep) else {
        return Ok(());
    };
    let method = if what == AfterReply::Done { Method::DELETE } else { Method::PATCH };
    client.write(method, at(client, &["notifications", "threads", &id]), None, true).await.map(drop)
}
