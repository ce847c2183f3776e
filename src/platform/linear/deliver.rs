//! A comment of ours: its bytes, its way, and the look whether it arrived.

use std::time::Duration;

use serde_json::{Value, json};

use super::graphql::ask;
use super::place::Place;
use super::wire::Connection;
use super::{LinearConnector, queries};
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::{short_size, visible};
use crate::model::time::Timestamp;
use crate::model::uuid::uuid_of;

/// Linear publishes no limit; more than this is no comment.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// A request whose answer was lost may still be on its way: before this, "not there" is not believed.
const SETTLED: Duration = Duration::from_secs(30);

/// The comment's input as it will be sent, its id chosen; `null` where only effects were approved.
pub(super) fn prepare(action: &OutboundAction) -> Result<Payload, PortError> {
    let refuse = |why: &str| Err(PortError::caused(ErrorClass::Permanent, "write a comment for Linear", why));
    let Some(place) = Place::from_handle(&action.envelope.thread) else {
        return refuse("the draft does not say where it belongs");
    };
    let body = visible(&action.body);
    let body = body.trim();
    if body.len() > BODY_BYTES_MAX {
        let most = short_size(BODY_BYTES_MAX as u64);
        return refuse(&format!("the text has {}, more than {most}", short_size(body.len() as u64)));
    }
    if body.is_empty() && action.envelope.effects.is_empty() {
        return refuse("there is neither text nor anything else to do");
    }
    if !action.envelope.effects.is_empty() && place.issue().is_none() {
        return refuse("only an issue has a state, an assignee and labels");
    }
    let id = uuid_of(&["linear comment", &action.key]);
    let input = if body.is_empty() {
        Value::Null
    } else {
        let mut input = json!({ "id": id, "body": body });
        if let Some(fields) = input.as_object_mut() {
            fields.insert(place.on.clone(), json!(place.id));
            if let Some(parent) = &place.parent {
                fields.insert("parentId".to_owned(), json!(parent));
            }
        }
        input
    };
    Ok(Payload { marker: id, bytes: input.to_string().into_bytes() })
}

impl LinearConnector {
    /// Effects first, then the comment.
    pub(super) async fn bring(
        &self,
        action: &OutboundAction,
        payload: &Payload,
    ) -> Result<Receipt, PortError> {
        let doing = "comment in Linear";
        let input: Value = serde_json::from_slice(&payload.bytes)
            .map_err(|error| PortError::caused(ErrorClass::Bug, doing, error))?;
        // A key may have been replaced by one of another workspace.
        self.me().await?;
        let done = self.bring_about(action).await?;
        if input.is_null() {
            return Ok(Receipt { remote_id: action.key.clone(), evidence: done });
        }
        let asked =
            ask(&self.api, Effect::Write, doing, queries::COMMENT_CREATE, json!({ "input": input })).await;
        let answer = match asked {
            Ok(answer) => answer,
            // What Linear says about an id that is there already is not published: seen by looking.
            Err(error) if error.class == ErrorClass::Permanent => {
                return match self.find(&payload.marker).await {
                    Ok(Some(receipt)) => Ok(receipt),
                    _ => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        let created = answer.data.get("commentCreate");
        let done = created.and_then(|created| created.get("success")).and_then(Value::as_bool);
        if done != Some(true) {
            let why = answer
                .errors
                .first()
                .map_or_else(|| "Linear did not say that it took it".into(), |e| e.said());
            return Err(PortError::caused(ErrorClass::Uncertain, doing, why));
        }
        let comment = created.and_then(|created| created.get("comment"));
        let text = |name: &str| comment.and_then(|comment| comment.get(name)).and_then(Value::as_str);
        Ok(Receipt {
            remote_id: text("id").unwrap_or(&payload.marker).to_owned(),
            evidence: text("url").unwrap_or("Linear took it").to_owned(),
        })
    }

    /// Is it there?
    pub(super) async fn look(
        &self,
        action: &OutboundAction,
        payload: &Payload,
        since: Timestamp,
    ) -> Result<Confirmation, PortError> {
        if payload.bytes == b"null" {
            return Ok(match self.stands(action).await? {
                Some(evidence) => Confirmation::Sent(Receipt { remote_id: action.key.clone(), evidence }),
                None => Confirmation::NotSent,
            });
        }
        if let Some(receipt) = self.find(&payload.marker).await? {
            return Ok(Confirmation::Sent(receipt));
        }
        let settled = self.api.now().since(since) >= SETTLED;
        Ok(if settled { Confirmation::NotSent } else { Confirmation::AskAgain })
    }

    async fn find(&self, id: &str) -> Result<Option<Receipt>, PortError> {
        let doing = "look for our comment in Linear";
        let variables = json!({ "id": id });
        let answer = ask(&self.api, Effect::Read, doing, queries::COMMENT_BY_ID, variables).await?;
        let list: Connection = answer.field("comments", doing)?;
        let ours = list.nodes.iter().find(|node| node.get("id").and_then(Value::as_str) == Some(id));
        Ok(ours.map(|node| Receipt {
            remote_id: id.to_owned(),
            evidence: node.get("url").and_then(Value::as_str).unwrap_or("found by its id").to_owned(),
        }))
    }
}
