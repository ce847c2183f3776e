//! Jira Cloud and Data Center: new issues, assignments and comments among what a search finds.
//!
//! There is no inbox and no list of notifications, so a search is asked again and again (see `memory`), and what was
//! said in each issue that changed is read. Answers are comments, with a property that no reader sees as their mark.

mod adf;
mod client;
mod deliver;
mod inline;
mod map;
mod markdown;
mod memory;
mod poll;
mod spec;
mod wiki;
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
struct JiraConnector {
    client: Client,
    settings: Settings,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let client = Client::new(&context)?;
    Ok(Arc::new(JiraConnector { client, settings: context.settings }))
}

impl JiraConnector {
    fn jql(&self) -> &str {
        self.settings.text("jql").unwrap_or(spec::JQL)
    }

    async fn look(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let me = self.client.me().await?;
        let comments = self.settings.integer("comments").and_then(|number| usize::try_from(number).ok());
        let reader = Reader {
            me: me.person,
            account: self.client.account(),
            site: me.site,
            comments: comments.unwrap_or(10),
            own_comments: self.settings.flag("own_comments"),
            all: self.settings.text("news") == Some("all"),
            threads: self.client.cloud,
        };
        let mut page = poll::page(&self.client, &reader, self.jql(), request).await?;
        page.notes.extend(me.skew);
        Ok(page)
    }
}

impl Connector for JiraConnector {
    fn identity(&self) -> String {
        self.client.account()
    }

    fn destination(&self) -> String {
        self.client.account()
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let me = self.client.me().await?;
            let found = self.client.search(&format!("({}) ORDER BY updated DESC", self.jql()), None).await?;
            let (count, and_more) = (found.issues.len(), if found.next.is_some() { " and more" } else { "" });
            Ok(format!("{} at {}, {count}{and_more} issues found", me.person.name, self.client.account()))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.look(request))
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action, self.client.cloud)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(deliver::deliver(&self.client, action, payload))
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
