//! GitHub, at github.com or on an enterprise server.
//!
//! Reads the notifications inbox (or named repositories) and what happened in each thread, answers with comments. GitHub
//! has no key by which it would take a comment once: each carries an invisible mark, and after a lost answer the thread
//! is searched for it. No request is ever repeated by itself.

mod client;
mod confirm;
mod defuse;
mod deliver;
mod drain;
mod inbox;
mod map;
mod memory;
mod notice;
mod refusal;
mod repos;
mod spec;
mod walk;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use self::client::Client;
use self::confirm::Looks;
use self::deliver::AfterReply;
use self::drain::InboxReader;
use self::inbox::InboxRules;
use self::map::OwnComments;
use self::repos::RepoReader;
pub use self::spec::SPEC;
use super::{Connector, ConnectorContext};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;

/// One account.
struct Github {
    client: Client,
    reader: Reader,
    after_reply: AfterReply,
    looks: Looks,
}

/// What is read.
enum Reader {
    Inbox(Box<InboxReader>),
    Repositories(Box<RepoReader>),
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let settings = &context.settings;
    let own = match settings.text("own_comments") {
        Some("all") => OwnComments::All,
        Some("none") => OwnComments::None,
        _ => OwnComments::Mentions,
    };
    let participating = settings.flag("participating");
    let reader = match settings.list("repositories") {
        [] => Reader::Inbox(Box::new(InboxReader::new(InboxRules {
            participating,
            reasons: settings.list("reasons").to_vec(),
            full_every: settings.duration("full_every").unwrap_or(Duration::from_secs(3600)),
            own,
        }))),
        names => Reader::Repositories(Box::new(RepoReader::new(names, participating, own))),
    };
    let after_reply = match settings.text("after_reply") {
        Some("read") => AfterReply::Read,
        Some("done") => AfterReply::Done,
        _ => AfterReply::Keep,
    };
    Ok(Arc::new(Github { client: Client::new(&context)?, reader, after_reply, looks: Looks::default() }))
}

impl Github {
    async fn probe_now(&self) -> Result<String, PortError> {
        let (me, scopes) = self.client.ask_who().await?;
        let scopes = match scopes {
            Some(scopes) => {
                let has = |wanted: &[&str]| scopes.split(',').any(|scope| wanted.contains(&scope.trim()));
                if matches!(self.reader, Reader::Inbox(_)) && !has(&["notifications", "repo"]) {
                    let why = format!("the token's scopes are \"{scopes}\"; the inbox needs `notifications`");
                    return Err(PortError::caused(ErrorClass::Auth, "log in to GitHub", why));
                }
                format!(", a classic token with {scopes}")
            }
            None if matches!(self.reader, Reader::Inbox(_)) => {
                let why = "the token has no scopes, so it is no classic one, and no other can read the inbox; name \
                           `repositories`";
                return Err(PortError::caused(ErrorClass::Auth, "log in to GitHub", why));
            }
            None => String::new(),
        };
        Ok(format!("logged in as {} at {}{scopes}", me.login, self.client.host()))
    }
}

impl Connector for Github {
    fn identity(&self) -> String {
        format!("{}@{}", self.client.login().to_lowercase(), self.client.host())
    }

    fn destination(&self) -> String {
        format!("{} as {}", self.client.host(), self.client.login())
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(self.probe_now())
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(async move {
            let page = match &self.reader {
                Reader::Inbox(reader) => reader.page(&self.client, &request).await,
                Reader::Repositories(reader) => reader.page(&self.client, &request).await,
            };
            if page.as_ref().is_err_and(|error| error.class == ErrorClass::Auth) {
                self.client.forget_me();
            }
            page
        })
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action)
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
        Box::pin(deliver::tidy(&self.client, action, self.after_reply))
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(async move {
            let post = deliver::post_of(payload)?;
            confirm::confirm(&self.client, &self.looks, action, &post, since).await
        })
    }
}
