//! GitLab: the pending to-do items of a person, and what is said in the issues and merge requests they speak of.
//!
//! The to-do list cannot be asked for what changed, so each look takes the whole list and compares it with the ids seen
//! before (see `memory`). A to-do item is an item, with the description and the newest comments to read along;
//! comments that come while it is pending are items of the same thread. Answers are notes, in the thread they belong to.

mod client;
mod deliver;
mod map;
mod memory;
mod outgoing;
mod poll;
mod spec;
mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use self::client::Client;
use self::map::Reader;
pub use self::spec::SPEC;
use super::{Connector, ConnectorContext};
use crate::model::class::PortError;
use crate::model::item::{Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;
use crate::unit::value::Settings;

/// One account.
struct GitLabConnector {
    client: Client,
    settings: Settings,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let client = Client::new(&context)?;
    Ok(Arc::new(GitLabConnector { client, settings: context.settings }))
}

impl GitLabConnector {
    async fn reader(&self) -> Result<Reader, PortError> {
        let comments = self.settings.integer("comments").and_then(|number| usize::try_from(number).ok());
        Ok(Reader {
            me: self.client.me().await?,
            host: self.client.host().to_owned(),
            comments: comments.unwrap_or(10),
            own_comments: self.settings.flag("own_comments"),
        })
    }
}

impl Connector for GitLabConnector {
    fn identity(&self) -> String {
        self.client.account()
    }

    fn destination(&self) -> String {
        self.client.account()
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let me = self.client.me().await?;
            let listing = self.client.todos(None).await?;
            let (count, and_more) =
                (listing.todos.len(), if listing.next.is_some() { " and more" } else { "" });
            Ok(format!("{} at {}, {count}{and_more} to-do items pending", me.username, self.client.host()))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(async move {
            let reader = self.reader().await?;
            poll::page(&self.client, &reader, self.settings.list("actions"), request).await
        })
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action, self.settings.list("mentions"))
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(deliver::deliver(&self.client, action, payload))
    }

    fn delivered<'a>(
        &'a self,
        action: &'a OutboundAction,
        _payload: &'a Payload,
        _receipt: &'a Receipt,
    ) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async {
            match deliver::todo(action) {
                Some(todo) if self.settings.flag("mark_done") => self.client.mark_done(todo).await,
                _ => Ok(()),
            }
        })
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(deliver::confirm(&self.client, action, payload, since))
    }
}
