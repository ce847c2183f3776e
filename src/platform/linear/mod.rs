//! Linear: the inbox and comments; comments of ours, and changes of issues.
//!
//! Two lists are read, newest update first, down to a floor that moves once all above it was taken: notifications, and
//! comments, whose changes move neither their issue nor a notification for certain. A comment of ours has an id that
//! is chosen before the first try, and by which it is looked for after a lost answer.

mod deliver;
mod effects;
mod graphql;
mod map;
mod place;
mod poll;
mod position;
mod queries;
mod spec;
mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;

use self::graphql::ask;
pub use self::spec::SPEC;
use self::wire::Viewer;
use super::api::{ApiClient, Known, Login};
use super::{Connector, ConnectorContext};
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// One account.
struct LinearConnector {
    api: ApiClient,
    workspace: String,
    /// Which comments are read.
    comments: Option<&'static str>,
    /// Id and name of the account, for as long as the key is the same.
    me: Known<(String, String)>,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let settings = &context.settings;
    let config = |why: &str| PortError::new(ErrorClass::Config, why);
    let workspace =
        settings.text("workspace").ok_or_else(|| config("`workspace` is missing"))?.to_lowercase();
    let login = match (settings.secret("key"), settings.secret("token")) {
        (Some(key), _) => Login::Plain(key.clone()),
        (None, Some(token)) => Login::Bearer(token.clone()),
        (None, None) => return Err(config("a `key` or a `token` is needed")),
    };
    let comments = match settings.text("comments") {
        Some("none") => None,
        Some("all") => Some("all"),
        _ => Some("mine"),
    };
    let base = settings.text("base_url").unwrap_or("https://api.linear.app/graphql");
    let api = ApiClient::new(&context, base, login)?;
    Ok(Arc::new(LinearConnector { api, workspace, comments, me: Known::default() }))
}

impl LinearConnector {
    fn name(&self) -> String {
        self.me.last().map(|(_, name)| name).unwrap_or_default()
    }

    /// Whose key it is, asked once for each key.
    async fn me(&self) -> Result<(String, String), PortError> {
        let mark = self.api.token_mark().await?;
        if let Some(me) = self.me.under(&mark) {
            return Ok(me);
        }
        let doing = "ask Linear who we are";
        let answer = ask(&self.api, Effect::Read, doing, queries::VIEWER, json!({})).await?;
        let me = self.known(answer.field("viewer", doing)?, doing)?;
        self.me.learn(mark, me.clone());
        Ok(me)
    }

    /// Id and name of the account, if it is one of the unit's workspace.
    fn known(&self, viewer: Viewer, doing: &str) -> Result<(String, String), PortError> {
        let key = viewer.organization.and_then(|organization| organization.url_key).unwrap_or_default();
        if !key.eq_ignore_ascii_case(&self.workspace) {
            let why =
                format!("the key belongs to the workspace {}, not to {}", one_line(&key, 80), self.workspace);
            return Err(PortError::caused(ErrorClass::Config, doing, why));
        }
        let Some(id) = viewer.id else {
            return Err(PortError::caused(ErrorClass::NETWORK, doing, "Linear did not say who we are"));
        };
        let name = one_line(&viewer.name.unwrap_or_default(), 200);
        Ok((id, name))
    }
}

impl Connector for LinearConnector {
    fn identity(&self) -> String {
        let base = self.api.base();
        format!("{}@{}", self.workspace, base.host_str().unwrap_or_default())
    }

    fn destination(&self) -> String {
        format!("comments in linear.app/{}", self.workspace)
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            self.me.forget();
            let (_, name) = self.me().await?;
            Ok(format!("{name} in linear.app/{}", self.workspace))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.page(request))
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
