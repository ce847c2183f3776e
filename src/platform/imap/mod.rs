//! Mail over IMAP, replies over SMTP submission.
//!
//! Reading changes nothing at the server: mailboxes are opened read-only and fetched by peeking, so what the user has
//! and has not read stays as it is.

mod cursor;
mod idle;
mod name;
mod net;
mod poll;
mod sent;
mod session;
mod spec;
mod status;
mod submit;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustls::ClientConfig;
use tokio::sync::Mutex;
use tokio::time::timeout;

use self::idle::Watch;
use self::name::WireName;
use self::session::Session;
use self::spec::{Account, Endpoint, Login};
use self::submit::Submission;
use super::mail::compose::{self, Recipients};
use super::{Connector, ConnectorContext, Guarantee, PlatformSpec};
use crate::http::tls;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Cursor, Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::{Clock, Timestamp};
use crate::secret::{SecretStore, SecretValue};

/// The catalog row.
pub static SPEC: PlatformSpec = PlatformSpec {
    name: "imap",
    summary: "A mailbox over IMAP, with replies over SMTP",
    keys: spec::KEYS,
    every_min_s: 10,
    every_default_s: 300,
    guarantee: Guarantee::Marker("its Message-ID, in the Sent mailbox"),
    check: spec::check,
    build,
};

/// A kept connection that does not answer a NOOP so soon is opened anew.
const NOOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends at once are fewer; beyond this a connection is dropped without a goodbye.
const LEAVING_LEN_MAX: usize = 8;

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let account = Account::from_settings(&context.settings).map_err(|problem| {
        PortError::new(ErrorClass::Config, format!("`{}` {}", problem.key, problem.message))
    })?;
    Ok(Arc::new(Imap {
        account,
        secrets: context.secrets,
        clock: context.clock,
        tls: OnceLock::new(),
        kept: Mutex::new(None),
        watch: Mutex::new(None),
        leaving: Mutex::new(Vec::new()),
        careful: AtomicBool::new(false),
    }))
}

struct Imap {
    account: Account,
    secrets: Arc<dyn SecretStore>,
    clock: Clock,
    /// Built at first use, then shared by all connections.
    tls: OnceLock<Arc<ClientConfig>>,
    /// The connection of the last poll.
    kept: Mutex<Option<Session>>,
    /// The connection that waits for news.
    watch: Mutex<Option<Watch>>,
    /// Connections over which a mail went, not yet taken leave of.
    leaving: Mutex<Vec<Submission>>,
    /// An answer of the server could not be read: go on mail by mail until all is fetched.
    careful: AtomicBool,
}

impl Imap {
    fn tls(&self) -> Result<Arc<ClientConfig>, PortError> {
        if let Some(config) = self.tls.get() {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(tls::client_config(self.account.ca_file.as_deref())?);
        Ok(Arc::clone(self.tls.get_or_init(|| config)))
    }

    async fn secret(&self, endpoint: &Endpoint, login: &Login) -> Result<SecretValue, PortError> {
        self.secrets.read(&login.secret).await.map_err(|error| {
            PortError::caused(ErrorClass::Auth, format!("log in to {endpoint} as {}", login.user), error)
        })
    }

    async fn open(&self) -> Result<Session, PortError> {
        let secret = self.secret(&self.account.imap, &self.account.login).await?;
        Session::open(&self.account, self.tls()?, &secret).await
    }

    /// The kept connection if it is alive, else a new one.
    async fn session(&self, kept: &mut Option<Session>) -> Result<Session, PortError> {
        if let Some(mut session) = kept.take() {
            let alive = session.wire.command("see whether the connection is alive", "NOOP", |_| ());
            if matches!(timeout(NOOP_TIMEOUT.min(self.account.timeout), alive).await, Ok(Ok(()))) {
                return Ok(session);
            }
        }
        self.open().await
    }

    async fn submission(&self) -> Result<Submission, PortError> {
        let Some((endpoint, login)) = &self.account.smtp else { return Err(no_submission()) };
        let secret = self.secret(endpoint, login).await?;
        Submission::open(endpoint, login, &secret, self.tls()?, self.account.timeout).await
    }

    async fn probe_now(&self) -> Result<String, PortError> {
        let mut session = self.open().await?;
        let mailbox = session.examine(&WireName::from_person(&self.account.mailbox)).await?;
        let mut found = format!(
            "logged in to {}; {} holds {} mails",
            self.account.imap, self.account.mailbox, mailbox.exists
        );
        if let Some((endpoint, _)) = &self.account.smtp {
            self.submission().await?.close().await;
            found.push_str(&format!("; logged in to {endpoint}"));
        }
        Ok(found)
    }

    async fn page(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let mut kept = self.kept.lock().await;
        let mut session = self.session(&mut kept).await?;
        let careful = self.careful.load(Ordering::Relaxed);
        let page = poll::page(&mut session, &self.account, request, careful).await;
        let more = page.as_ref().is_ok_and(|page| page.more);
        self.careful
            .store(session.wire.is_garbled() || (careful && (more || page.is_err())), Ordering::Relaxed);
        if page.is_ok() && session.wire.is_clean() {
            *kept = Some(session);
        }
        page
    }

    async fn wait(&self, cursor: Option<&Cursor>) -> Result<(), PortError> {
        let mut slot = self.watch.lock().await;
        if !slot.as_ref().is_some_and(Watch::is_alive) {
            let mailbox = WireName::from_person(&self.account.mailbox);
            let watch = Watch::new(self.open().await?, mailbox, self.account.idle_renew);
            if !watch.is_possible() {
                // The schedule is all there is with this server.
                drop(watch);
                return std::future::pending().await;
            }
            *slot = Some(watch);
        }
        let Some(watch) = slot.as_mut() else {
            return Err(PortError::new(ErrorClass::Bug, "wait for new mail"));
        };
        let waited = watch.wait(cursor).await;
        if waited.is_err() {
            *slot = None;
        }
        waited
    }

    async fn send(&self, action: &OutboundAction, payload: &Payload) -> Result<Receipt, PortError> {
        let Recipients { from, to } = compose::recipients(action, &self.account.from)?;
        let mut submission = self.submission().await?;
        let said =
            submission.send(&Recipients { from, to }, &payload.bytes, self.account.send_timeout).await?;
        // The mail is sent, and nobody knows it yet: the goodbye can wait until it is recorded.
        let mut leaving = self.leaving.lock().await;
        if leaving.len() < LEAVING_LEN_MAX {
            leaving.push(submission);
        }
        Ok(Receipt { remote_id: payload.marker.clone(), evidence: said })
    }

    async fn tidy(&self, action: &OutboundAction, payload: &Payload) -> Result<(), PortError> {
        let leaving = std::mem::take(&mut *self.leaving.lock().await);
        futures_util::future::join_all(leaving.into_iter().map(Submission::close)).await;
        self.keep_copy(action, payload).await
    }

    async fn keep_copy(&self, action: &OutboundAction, payload: &Payload) -> Result<(), PortError> {
        if !sent::keeps_copies(&self.account) {
            return Ok(());
        }
        let mut kept = self.kept.lock().await;
        let mut session = self.session(&mut kept).await?;
        let copied = sent::keep_copy(&mut session, &self.account, action, payload).await;
        *kept = Some(session).filter(|session| session.wire.is_clean());
        copied
    }

    async fn look_for(
        &self,
        action: &OutboundAction,
        payload: &Payload,
        since: Timestamp,
    ) -> Result<Confirmation, PortError> {
        let mut kept = self.kept.lock().await;
        let mut session = self.session(&mut kept).await?;
        let times = (since, self.clock.now());
        let confirmation = sent::confirm(&mut session, &self.account, action, payload, times).await?;
        *kept = Some(session).filter(|session| session.wire.is_clean());
        Ok(confirmation)
    }
}

fn no_submission() -> PortError {
    PortError::new(ErrorClass::Config, "the unit names no `smtp_host`, so nothing can be sent")
}

impl Connector for Imap {
    fn identity(&self) -> String {
        format!("{}@{}/{}", self.account.login.user, self.account.imap.host, self.account.mailbox)
    }

    fn destination(&self) -> String {
        let Some((server, login)) = &self.account.smtp else { return String::new() };
        let from = &self.account.from.address;
        format!("{}:{} as {}, from {from}", server.host, server.port, login.user)
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(self.probe_now())
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.page(request))
    }

    fn changed<'a>(&'a self, cursor: Option<&'a Cursor>) -> Option<BoxFuture<'a, Result<(), PortError>>> {
        self.account.idle.then(|| -> BoxFuture<'a, _> { Box::pin(self.wait(cursor)) })
    }

    fn prepare(&self, action: &OutboundAction, now: Timestamp) -> Result<Payload, PortError> {
        if self.account.smtp.is_none() {
            return Err(no_submission());
        }
        compose::compose(action, &self.account.from, now)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(self.send(action, payload))
    }

    fn delivered<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        _receipt: &'a Receipt,
    ) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(self.tidy(action, payload))
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(self.look_for(action, payload, since))
    }
}
