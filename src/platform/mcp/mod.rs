//! A server of the Model Context Protocol as a connector: a tool, or a resource, is polled by a mapping that the unit
//! declares; another tool may send replies.
//!
//! MCP knows no reading from where one left off, so the unit says how: a cursor in the answer that goes into the next
//! call, or the time of the newest item, or neither: what is read again is known again by its id and content. Answers and
//! descriptions are text by others: nothing in them chooses what is called. The tools that the unit names are pinned with
//! the schema of their arguments, and a change is told.
//!
//! The client is written out here and not taken from the `rmcp` crate: that one drives its connection by tasks of its own
//! and brings its own children and HTTP, which have one home each here; what is left is one request at a time.

mod pins;
mod protocol;
mod reading;
mod sending;
mod server;
mod spec;
mod wire;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use self::reading::{Place, Reading};
use self::sending::Sending;
use self::server::Server;
pub use self::spec::SPEC;
use super::record::item::first_walk;
use super::{Connector, ConnectorContext};
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Cursor, Item, Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::{Clock, Timestamp};

struct McpConnector {
    unit: String,
    clock: Clock,
    server: Server,
    reading: Reading,
    sending: Option<Sending>,
    /// Pages of the last walk that were not handed out yet. Lost with the process; then the walk is repeated.
    left: Mutex<Option<Left>>,
}

/// What is left of a walk.
struct Left {
    items: VecDeque<Item>,
    notes: Vec<String>,
    /// Behind the pages handed out so far.
    memory: Memory,
    /// Behind all.
    after: Memory,
    whole: bool,
}

/// The cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// Set until one walk came to its end: when the first began.
    began: Option<Timestamp>,
    /// Where the next walk begins.
    place: Place,
    /// Pages of a walk handed out so far: makes each position another one.
    part: usize,
}

impl Memory {
    fn of(cursor: Option<&Cursor>, now: Timestamp) -> Self {
        match cursor {
            None => Self { began: Some(now), ..Self::default() },
            Some(cursor) => serde_json::from_str(&cursor.0).unwrap_or_default(),
        }
    }

    fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    Ok(Arc::new(McpConnector {
        unit: context.unit.clone(),
        clock: context.clock.clone(),
        reading: Reading::of(&context.settings)?,
        sending: Sending::of(&context.settings)?,
        server: Server::of(context)?,
        left: Mutex::new(None),
    }))
}

impl McpConnector {
    async fn walk(&self, request: &PollRequest<'_>) -> Result<Left, PortError> {
        let memory = Memory { part: 0, ..Memory::of(request.cursor, request.now) };
        let mut walked = self.reading.walk(&self.server, &memory.place, request.now).await?;
        let mut notes = walked.notes;
        if let Some(began) = memory.began {
            let (found, work) = first_walk(walked.items.iter_mut(), began, request);
            if found > 0 {
                notes.push(format!("first poll: {found} items found, {work} of them to be worked on"));
            }
        }
        let after = Memory { began: memory.began.filter(|_| !walked.whole), place: walked.place, part: 0 };
        Ok(Left { items: walked.items.into(), notes, memory, after, whole: walked.whole })
    }

    /// The next page of a walk; what is left of it afterwards goes back.
    fn next_page(&self, mut left: Left, items_max: usize) -> Page {
        let before = left.memory.clone();
        let take = left.items.len().min(items_max.max(1));
        let items: Vec<Item> = left.items.drain(..take).collect();
        let notes = std::mem::take(&mut left.notes);
        let more = !left.items.is_empty();
        if more {
            left.memory.part += 1;
        } else {
            left.memory = left.after.clone();
        }
        let cursor = (left.memory != before).then(|| left.memory.cursor());
        let page = Page { items, cursor, more: more || !left.whole, notes, ..Page::default() };
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = more.then_some(left);
        page
    }
}

impl Connector for McpConnector {
    fn identity(&self) -> String {
        let own = self.reading.rules.account.clone().or_else(|| self.server.address());
        format!("{}/{}", own.unwrap_or_else(|| self.unit.clone()), self.reading.what())
    }

    fn destination(&self) -> String {
        let Some(sending) = &self.sending else { return String::new() };
        let account =
            self.reading.rules.account.as_ref().map(|account| format!(" as {account}")).unwrap_or_default();
        format!("the tool `{}` of {}{account}", sending.tool(), self.server.place())
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let mut session = self.server.open(None).await?;
            if let Err(failed) = self.reading.look(&mut session).await {
                return Err(session
                    .explain(failed, "look at the tools of the MCP server", Effect::Read)
                    .await);
            }
            let name = session.name.clone();
            session.close().await;
            Ok(format!("{} answers as {name}", self.server.place()))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(async move {
            let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Left over from a page that was not committed: the position is not what it was taken to be.
            let fits = |left: &Left| request.cursor.is_some_and(|cursor| *cursor == left.memory.cursor());
            let left = match left.filter(fits) {
                Some(left) => left,
                None => self.walk(&request).await?,
            };
            Ok(self.next_page(left, request.items_max))
        })
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        self.sending.as_ref().ok_or_else(does_not_send)?.prepare(action)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(async move {
            let sending = self.sending.as_ref().ok_or_else(does_not_send)?;
            sending.deliver(&self.server, action, payload).await
        })
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        _payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(async move {
            match &self.sending {
                // The unit sent when it was approved and does not any more.
                None => Ok(Confirmation::CannotTell),
                Some(sending) => sending.confirm(&self.server, action, since, self.clock.now()).await,
            }
        })
    }
}

fn does_not_send() -> PortError {
    PortError::new(ErrorClass::Config, "the unit does not send (no `send_tool`)")
}
