//! Connectors: one folder a platform. Each has a spec (keys, documentation), a thin client, a pure map from the wire
//! to [`Item`](crate::model::item::Item)s, and a way to deliver.

pub mod answer;
pub mod api;
pub mod caldav;
pub mod command;
pub mod directory;
pub mod feed;
pub mod fill;
pub mod github;
pub mod gitlab;
pub mod horizon;
pub mod hygiene;
pub mod imap;
pub mod jira;
pub mod json;
pub mod linear;
pub mod mail;
pub mod maildir;
pub mod matrix;
pub mod mcp;
pub mod oauth;
pub mod record;
pub mod slack;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::model::class::PortError;
use crate::model::item::{Cursor, Page, PollRequest};
pub use crate::model::outbound::Guarantee;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::{Clock, Timestamp};
use crate::process::program::ProgramParts;
use crate::secret::SecretStore;
use crate::unit::schema::{KeyProblem, KeySpec};
use crate::unit::value::Settings;

/// A configured account of a platform. Retry policy lives in the runtime: a connector tries once.
pub trait Connector: Send + Sync {
    /// Who the cursor belongs to: "me@imap.example.org/INBOX". A changed identity does not inherit a cursor.
    fn identity(&self) -> String;

    /// Where its replies go, for people: "smtp.example.org:587 as me@example.org", "the folder /home/me/out". Empty where
    /// it sends none. A draft made for one place, and an approval, do not hold for another.
    fn destination(&self) -> String;

    /// Can we log in? Short; changes nothing.
    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>>;

    /// One page of what is new behind the cursor. Changes nothing at the source.
    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>>;

    /// Called after a page was committed, with the keys of its items: may tidy at the source (move a dropped file).
    /// Must be harmless to repeat and to miss.
    fn committed<'a>(&'a self, _keys: &'a [String]) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async { Ok(()) })
    }

    /// Resolves when something may have changed at the source. `None`: it cannot tell, the schedule must do.
    /// An error ends the wait; the schedule goes on as a net.
    fn changed<'a>(&'a self, _cursor: Option<&'a Cursor>) -> Option<BoxFuture<'a, Result<(), PortError>>> {
        None
    }

    /// Builds the exact bytes of a reply and what the platform can be asked for. Pure but for `now`; the result is
    /// stored before the first byte leaves and handed to every try.
    fn prepare(&self, action: &OutboundAction, now: Timestamp) -> Result<Payload, PortError>;

    /// Sends, once. Anything but a definite "no" after the first byte is `Uncertain`.
    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>>;

    /// Called after the receipt of a send was committed: may tidy at the platform (put a copy among sent mail). An error
    /// changes nothing about the send and is only noted. A daemon killed before or in the middle never calls it again.
    fn delivered<'a>(
        &'a self,
        _action: &'a OutboundAction,
        _payload: &'a Payload,
        _receipt: &'a Receipt,
    ) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async { Ok(()) })
    }

    /// Did it arrive? `since` is when the first byte may have left.
    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>>;
}

/// What a platform gets to build a connector. Building opens nothing on the network and writes nothing.
#[derive(Clone)]
pub struct ConnectorContext {
    /// The unit's name.
    pub unit: String,
    /// The platform's own table, checked.
    pub settings: Settings,
    /// Where secret values come from, read at use.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Clock,
    /// A directory of this connector's own in the state directory, not yet made.
    pub state_dir: PathBuf,
    /// HTTP clients.
    pub http: crate::http::HttpRoom,
    /// Children.
    pub process: crate::process::ProcessRoom,
    /// The daemon's environment, out of which that of children is made.
    pub environment: crate::model::environment::Environment,
}

impl ConnectorContext {
    /// The program that the unit's own table names.
    #[must_use]
    pub fn program(&self) -> ProgramParts {
        let Self { unit, settings, secrets, clock, state_dir, http: _, process, environment } = self.clone();
        ProgramParts { unit, settings, secrets, clock, state_dir, process, environment }
    }
}

/// One row of the catalog.
pub struct PlatformSpec {
    /// The word in `[connector] platform`, and the name of its own table.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Shortest sensible time between two polls, seconds.
    pub every_min_s: u64,
    /// The default of `[schedule] every`, seconds.
    pub every_default_s: u64,
    /// What is promised of its replies after a lost answer.
    pub guarantee: Guarantee,
    /// Checks that go over single keys; each problem names its key. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// Builds a connector.
    pub build: fn(ConnectorContext) -> Result<Arc<dyn Connector>, PortError>,
}

/// What is wrong with the address of an API to which the account's secret goes. `instead`: the keys that take a login.
#[must_use]
pub fn address_problems(settings: &Settings, key: &'static str, instead: &str) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |message: String| problems.push(KeyProblem { key, message });
    let Some(url) = settings.text(key).and_then(|text| url::Url::parse(text).ok()) else { return problems };
    if !matches!(url.scheme(), "http" | "https") {
        say("is http or https".to_owned());
    }
    if crate::http::holds_login(&url) {
        say(format!("the URL holds a user name or password; use {instead}"));
    }
    if crate::http::is_in_the_open(&url) {
        say("a token is not sent over plain http to another machine; use https".to_owned());
    }
    problems
}

/// For platforms whose keys need no look at each other.
#[must_use]
pub fn no_further_checks(_settings: &Settings) -> Vec<KeyProblem> {
    Vec::new()
}
