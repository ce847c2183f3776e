//! What a unit declares of sending: the tool, its arguments, and how to find what was sent. Calls with an effect are
//! made once; hints of the server that a call may be repeated are not believed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::protocol::{NoContent, tool_content};
use super::reading::{arguments, no_content, records};
use super::server::{Server, Session};
use super::wire::Failed;
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::marker;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;
use crate::platform::fill::fill;
use crate::platform::record::{Fields, as_text, at_path, text};
use crate::unit::value::Settings;

/// The declared sending.
pub struct Sending {
    tool: String,
    arguments: Value,
    mark: bool,
    finding: Option<Finding>,
    delay: Duration,
}

struct Finding {
    tool: String,
    arguments: Value,
    items: String,
    next: Option<String>,
    limit: i64,
    fields: Fields,
}

/// The exact call, kept before the first try.
#[derive(Serialize, Deserialize)]
struct Call {
    tool: String,
    arguments: Value,
}

impl Sending {
    /// From the checked keys; `None` where the unit does not send.
    ///
    /// # Errors
    /// `Config`: a template is no object.
    pub fn of(settings: &Settings) -> Result<Option<Self>, PortError> {
        let Some(tool) = settings.text("send_tool") else { return Ok(None) };
        let finding = match settings.text("find_tool") {
            None => None,
            Some(tool) => Some(Finding {
                tool: tool.to_owned(),
                arguments: arguments(settings, "find_arguments")?,
                items: settings.text("find_items").unwrap_or_default().to_owned(),
                next: settings.text("next").map(str::to_owned),
                limit: settings.integer("limit").unwrap_or(100),
                fields: Fields::new(settings.map("fields"), &[], None),
            }),
        };
        Ok(Some(Self {
            tool: tool.to_owned(),
            arguments: arguments(settings, "send_arguments")?,
            mark: settings.get("mark").is_none() || settings.flag("mark"),
            finding,
            delay: settings.duration("find_delay").unwrap_or(Duration::from_secs(30)),
        }))
    }

    /// For people.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The exact call.
    ///
    /// # Errors
    /// `Permanent`: there is no text to send.
    pub fn prepare(&self, action: &OutboundAction) -> Result<Payload, PortError> {
        if action.body.trim().is_empty() {
            return Err(PortError::new(ErrorClass::Permanent, "there is no text to send"));
        }
        let body = if self.mark { marker::stamp(&action.body, &action.key) } else { action.body.clone() };
        let value_of = |name: &str| match name {
            "body" => Some(json!(body)),
            "action" => Some(json!(action.key)),
            other => action.envelope.thread.get(other).cloned(),
        };
        let call = Call { tool: self.tool.clone(), arguments: fill(&self.arguments, &value_of) };
        let bytes = serde_json::to_vec(&call)
            .map_err(|error| PortError::caused(ErrorClass::Bug, "write down the call of a tool", error))?;
        Ok(Payload { marker: action.key.clone(), bytes })
    }

    /// Calls the tool, once.
    ///
    /// # Errors
    /// Everything but a refusal before the tool ran is `Uncertain`: a tool that failed may have sent.
    pub async fn deliver(
        &self,
        server: &Server,
        action: &OutboundAction,
        payload: &Payload,
    ) -> Result<Receipt, PortError> {
        let call: Call = serde_json::from_slice(&payload.bytes)
            .map_err(|error| PortError::caused(ErrorClass::Bug, "read the call of a tool", error))?;
        let doing = format!("send with the tool `{}`", call.tool);
        let mut session = server.open(None).await?;
        let result = match session.call_tool(&call.tool, call.arguments, Effect::Write).await {
            Ok(result) => result,
            Err(failed) => return Err(session.explain(failed, &doing, Effect::Write).await),
        };
        let scrubber = session.scrubber.clone();
        session.close().await;
        let uncertain = |why: String| Err(PortError::caused(ErrorClass::Uncertain, doing.clone(), why));
        match tool_content(&result) {
            Err(NoContent::Failed(words)) => {
                uncertain(format!("the tool failed, and may have sent: {}", scrubber.scrub_owned(words)))
            }
            Err(NoContent::WantsInput) => {
                uncertain("the tool asks for input, which nobody can give it here".to_owned())
            }
            // Words of thanks are an answer too.
            Err(NoContent::Prose(_)) => Ok(receipt(action, None, &call.tool, "sent")),
            Ok(content) => Ok(receipt(action, text(&content, "id"), &call.tool, "sent")),
        }
    }

    /// Looks for the mark in what the finding tool lists.
    ///
    /// # Errors
    /// Of the server.
    pub async fn confirm(
        &self,
        server: &Server,
        action: &OutboundAction,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Confirmation, PortError> {
        let Some(finding) = &self.finding else { return Ok(Confirmation::CannotTell) };
        let mut session = server.open(None).await?;
        match finding.find(&mut session, action, since).await {
            Ok(Found::There(remote_id)) => {
                session.close().await;
                Ok(Confirmation::Sent(receipt(action, remote_id, &finding.tool, "found")))
            }
            Ok(Found::TooMany) => {
                session.close().await;
                Ok(Confirmation::CannotTell)
            }
            Ok(Found::Absent) => {
                session.close().await;
                let early = now.since(since) < self.delay;
                Ok(if early { Confirmation::AskAgain } else { Confirmation::NotSent })
            }
            Err(failed) => {
                let doing = format!("look for a reply with the tool `{}`", finding.tool);
                Err(session.explain(failed, &doing, Effect::Read).await)
            }
        }
    }
}

enum Found {
    There(Option<String>),
    Absent,
    /// More pages than are looked through.
    TooMany,
}

impl Finding {
    async fn find(
        &self,
        session: &mut Session,
        action: &OutboundAction,
        since: Timestamp,
    ) -> Result<Found, Failed> {
        let mut cursor = Value::Null;
        for _ in 0..limits::MCP_PAGES_MAX {
            let value_of = |name: &str| match name {
                "cursor" => Some(cursor.clone()),
                "since" => Some(json!(since.to_string())),
                "limit" => Some(json!(self.limit)),
                "action" => Some(json!(action.key)),
                other => action.envelope.thread.get(other).cloned(),
            };
            let arguments = fill(&self.arguments, &value_of);
            let result = session.call_tool(&self.tool, arguments, Effect::Read).await?;
            let content = tool_content(&result).map_err(|none| no_content(none, &session.scrubber))?;
            for record in records(&content, &self.items)? {
                let body = self.fields.text(record, "body").or_else(|| record.as_str().map(str::to_owned));
                if body.is_some_and(|body| marker::own_key(&body) == Some(&action.key)) {
                    // What was sent may be of another shape than what is read.
                    let id =
                        self.fields.named("id").and_then(|path| at_path(record, path)).or(record.get("id"));
                    let id = id.map(as_text);
                    return Ok(Found::There(id));
                }
            }
            let next = self.next.as_ref().and_then(|pointer| content.pointer(pointer));
            match next.filter(|next| !next.is_null() && **next != json!("") && **next != cursor) {
                Some(next) => cursor = next.clone(),
                None => return Ok(Found::Absent),
            }
        }
        Ok(Found::TooMany)
    }
}

fn receipt(action: &OutboundAction, remote_id: Option<String>, tool: &str, how: &str) -> Receipt {
    let remote_id = remote_id.unwrap_or_else(|| action.key.clone());
    Receipt { evidence: format!("{how} by the MCP tool {tool}, {remote_id}"), remote_id }
}
