//! Builds the `imap` connector from a table of keys, and polls it to the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use workagent::catalog::CATALOG;
use workagent::http::HttpRoom;
use workagent::model::class::PortError;
use workagent::model::draft::Envelope;
use workagent::model::ids::{ActionId, CaseId, DraftId};
use workagent::model::item::{Backlog, Cursor, Item, Page, PollRequest};
use workagent::model::outbound::{ActionState, OutboundAction};
use workagent::model::secret_ref::SecretRef;
use workagent::model::time::{Clock, Timestamp};
use workagent::platform::{Connector, ConnectorContext};
use workagent::process::ProcessRoom;
use workagent::secret::{SecretError, SecretStore, SecretValue};
use workagent::unit::value::{Settings, Value};

/// 2026-11-30T08:00:00Z.
pub const NOW: Timestamp = Timestamp(1_796_025_600_000);

/// Secrets named by their own value.
struct Spelled;

impl SecretStore for Spelled {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move {
            match reference {
                SecretRef::Stored(name) => Ok(SecretValue::new(name.clone())),
                SecretRef::Env(name) => Err(SecretError::Missing { name: format!("${name}") }),
            }
        })
    }
}

/// Keys of `[imap]`; later ones win.
#[derive(Clone, Default)]
pub struct Keys(BTreeMap<String, Value>);

impl Keys {
    /// A server on this machine without TLS, user `me@example.org` with the scripted server's password, short waits.
    pub fn loopback(port: u16) -> Self {
        Self::default()
            .text("host", "127.0.0.1")
            .port("port", port)
            .text("security", "none")
            .text("user", "me@example.org")
            .secret("password", "CANARY-imap-1")
            .flag("idle", true)
            .time("timeout", Duration::from_secs(10))
    }
    fn with(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }
    pub fn text(self, key: &str, text: &str) -> Self {
        self.with(key, Value::Text(text.to_owned()))
    }
    pub fn secret(self, key: &str, value: &str) -> Self {
        self.with(key, Value::Secret(SecretRef::Stored(value.to_owned())))
    }
    pub fn missing_secret(self, key: &str) -> Self {
        self.with(key, Value::Secret(SecretRef::Env("NOT_SET".into())))
    }
    pub fn port(self, key: &str, port: u16) -> Self {
        self.with(key, Value::Integer(port.into()))
    }
    pub fn flag(self, key: &str, flag: bool) -> Self {
        self.with(key, Value::Bool(flag))
    }
    pub fn time(self, key: &str, span: Duration) -> Self {
        self.with(key, Value::Duration(span))
    }
    pub fn path(self, key: &str, path: PathBuf) -> Self {
        self.with(key, Value::Path(path))
    }
    pub fn without(mut self, key: &str) -> Self {
        self.0.remove(key);
        self
    }

    pub fn build(&self) -> Arc<dyn Connector> {
        self.build_at(&Clock::manual(NOW))
    }

    pub fn build_at(&self, clock: &Clock) -> Arc<dyn Connector> {
        let spec = CATALOG.platform("imap").unwrap();
        (spec.build)(ConnectorContext {
            unit: "inbox".into(),
            settings: Settings(self.0.clone()),
            secrets: Arc::new(Spelled),
            clock: clock.clone(),
            state_dir: PathBuf::from("/nonexistent"),
            http: HttpRoom::default(),
            process: ProcessRoom::new(PathBuf::from("/nonexistent")),
        })
        .unwrap()
    }
}

/// An approved answer to `to`, as the outbox would hand it out.
pub fn action(to: &[&str], body: &str) -> OutboundAction {
    OutboundAction {
        id: ActionId(7),
        case: CaseId(1),
        draft: DraftId(1),
        connector: "inbox".into(),
        envelope: Envelope {
            from: "me@example.org".into(),
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            subject: "Re: plan".into(),
            place: "mail".into(),
            thread: serde_json::json!({ "in_reply_to": "<plan@example.net>", "references": ["<plan@example.net>"] }),
            ..Envelope::default()
        },
        body: body.into(),
        key: "wa-7-0123456789abcdef".into(),
        hash: String::new(),
        state: ActionState::Sending,
        not_before: NOW,
        attempts: 1,
        payload: None,
        receipt: None,
        last_error: None,
        approved_at: NOW,
        sending_at: Some(NOW),
    }
}

/// One account's position, and polls from it.
pub struct Reader {
    pub connector: Arc<dyn Connector>,
    pub cursor: Option<Cursor>,
    pub backlog: Backlog,
    pub items_max: usize,
}

impl Reader {
    pub fn new(connector: Arc<dyn Connector>, backlog: Backlog) -> Self {
        Self { connector, cursor: None, backlog, items_max: 200 }
    }

    /// One page; moves the position as the store would.
    pub async fn page(&mut self) -> Result<Page, PortError> {
        let request = PollRequest {
            cursor: self.cursor.as_ref(),
            backlog: self.backlog,
            now: NOW,
            items_max: self.items_max,
        };
        let page = self.connector.poll(request).await?;
        if page.cursor.is_some() {
            self.cursor.clone_from(&page.cursor);
        }
        Ok(page)
    }

    /// Pages until there is no more: items and notes.
    pub async fn drain(&mut self) -> Result<(Vec<Item>, Vec<String>), PortError> {
        let (mut items, mut notes) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            let page = self.page().await?;
            items.extend(page.items);
            notes.extend(page.notes);
            if !page.more {
                return Ok((items, notes));
            }
        }
        panic!("a thousand pages and still more");
    }

    pub async fn titles(&mut self) -> Vec<String> {
        let (items, _) = self.drain().await.unwrap();
        items.into_iter().map(|item| item.title).collect()
    }
}

/// A small mail.
pub fn mail(subject: &str) -> String {
    format!(
        "From: Pat <pat@example.net>\r\nTo: me@example.org\r\nSubject: {subject}\r\nMessage-ID: <{}@example.net>\r\n\
         Date: Mon, 30 Nov 2026 07:00:00 +0000\r\n\r\nCould you have a look?\r\n",
        subject.replace(' ', "-")
    )
}
