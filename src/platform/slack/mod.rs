//! Slack, by an app of the user's own in their workspace: messages to them, replies in threads.
//!
//! Conversations and the threads that the account takes part in are read behind a stored place each; Socket Mode, where
//! an app-level token is given, only says when to look. A message of ours carries the action's key as metadata, by
//! which it is looked for after a lost answer.

mod client;
mod deliver;
mod map;
mod memory;
mod people;
mod position;
mod round;
mod spec;
mod text;
mod ts;
mod wake;
mod wire;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;

use self::client::Client;
use self::memory::Memory;
pub use self::spec::SPEC;
use self::wake::Line;
use super::api::{ApiClient, Login};
use super::{Connector, ConnectorContext};
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Cursor, Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;

/// About a message a second is taken in one channel.
const WRITE_GAP: std::time::Duration = std::time::Duration::from_millis(1100);

/// One account.
struct SlackConnector {
    client: Client,
    http: HttpRoom,
    workspace: String,
    /// Every message is work, not only those to us.
    all: bool,
    kinds: Vec<String>,
    /// Names and ids of the conversations to read; empty: all.
    only: Vec<String>,
    /// The app-level account, for the socket.
    app: Option<ApiClient>,
    line: tokio::sync::Mutex<Line>,
    memory: Mutex<Memory>,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let settings = &context.settings;
    let config = |why: &str| PortError::new(ErrorClass::Config, why);
    let workspace = settings.text("workspace").ok_or_else(|| config("`workspace` is missing"))?;
    let token = settings.secret("token").ok_or_else(|| config("`token` is missing"))?;
    let base = settings.text("base_url").unwrap_or("https://slack.com/api/");
    let api = ApiClient::new(&context, base, Login::Bearer(token.clone()))?.write_gap(WRITE_GAP);
    let app = settings
        .secret("app_token")
        .map(|token| ApiClient::new(&context, base, Login::Bearer(token.clone())));
    let kinds = match settings.list("kinds") {
        [] => spec::KINDS.iter().map(|&kind| kind.to_owned()).collect(),
        kinds => kinds.to_vec(),
    };
    Ok(Arc::new(SlackConnector {
        client: Client::new(api),
        http: context.http.clone(),
        workspace: workspace.to_owned(),
        all: settings.text("read") == Some("all"),
        kinds,
        only: settings.list("channels").to_vec(),
        app: app.transpose()?,
        line: tokio::sync::Mutex::default(),
        memory: Mutex::default(),
    }))
}

impl SlackConnector {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connector for SlackConnector {
    fn identity(&self) -> String {
        format!("{}@{}", self.workspace, self.client.api().base().host_str().unwrap_or_default())
    }

    fn destination(&self) -> String {
        format!("messages in {}.slack.com", self.workspace)
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            self.memory().me = None;
            let me = self.me().await?;
            let socket = if self.app.is_some() { "" } else { ", without a socket" };
            Ok(format!("{} in {}{socket}", me.name, me.workspace))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.page(request))
    }

    fn committed<'a>(&'a self, keys: &'a [String]) -> BoxFuture<'a, Result<(), PortError>> {
        self.memory().committed(keys);
        Box::pin(async { Ok(()) })
    }

    fn changed<'a>(&'a self, cursor: Option<&'a Cursor>) -> Option<BoxFuture<'a, Result<(), PortError>>> {
        self.app.is_some().then(|| -> BoxFuture<'a, _> { Box::pin(self.wait(cursor)) })
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(self.bring(action, payload))
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(self.look(action, payload, since))
    }
}
