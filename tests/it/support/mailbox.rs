//! The keys of an `imap` connector under test, and mails for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workagent::catalog::CATALOG;
use workagent::model::draft::Envelope;
use workagent::model::item::Backlog;
use workagent::model::outbound::OutboundAction;
use workagent::model::secret_ref::SecretRef;
use workagent::unit::value::Value;

use super::connector::{self, Bench, text};
use super::imap::ImapServer;

/// Keys of `[imap]`; later ones win.
#[derive(Clone, Default)]
pub struct Keys {
    values: BTreeMap<&'static str, Value>,
    secrets: BTreeMap<&'static str, String>,
}

impl Keys {
    /// A server on this machine without TLS, user `me@example.org` with the scripted server's password, short waits.
    pub fn loopback(port: u16) -> Self {
        Self::default()
            .text("host", "127.0.0.1")
            .port("port", port)
            .text("security", "none")
            .text("user", "me@example.org")
            .secret("password", "CANARY-imap-1")
            .with("idle", Value::Bool(true))
            .time("timeout", Duration::from_secs(10))
    }
    pub fn with(mut self, key: &'static str, value: Value) -> Self {
        self.values.insert(key, value);
        self
    }
    pub fn text(self, key: &'static str, value: &str) -> Self {
        self.with(key, text(value))
    }
    pub fn secret(mut self, key: &'static str, value: &str) -> Self {
        self.secrets.insert(key, value.to_owned());
        self.with(key, Value::Secret(SecretRef::Stored(key.to_owned())))
    }
    pub fn port(self, key: &'static str, port: u16) -> Self {
        self.with(key, Value::Integer(port.into()))
    }
    pub fn time(self, key: &'static str, span: Duration) -> Self {
        self.with(key, Value::Duration(span))
    }
    pub fn path(self, key: &'static str, path: &Path) -> Self {
        self.with(key, Value::Path(PathBuf::from(path)))
    }
    pub fn without(mut self, key: &str) -> Self {
        self.values.remove(key);
        self
    }

    pub fn bench(&self, backlog: Backlog) -> Bench {
        let keys: Vec<_> = self.values.iter().map(|(key, value)| (*key, value.clone())).collect();
        let secrets: Vec<_> = self.secrets.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let spec = CATALOG.platform("imap").unwrap();
        Bench::with_secrets(spec, Path::new("/nonexistent"), &keys, &secrets).backlog(backlog)
    }
}

/// The titles of all that is there now.
pub async fn titles(bench: &mut Bench) -> Vec<String> {
    bench.poll().await.unwrap().items.into_iter().map(|item| item.title).collect()
}

/// An approved answer of `from` to `to`.
pub fn answer(from: &str, to: &[&str], body: &str) -> OutboundAction {
    let envelope = Envelope {
        from: from.into(),
        to: to.iter().map(|to| (*to).to_owned()).collect(),
        subject: "Re: plan".into(),
        place: "mail".into(),
        thread: serde_json::json!({ "in_reply_to": "<plan@example.net>", "references": ["<plan@example.net>"] }),
        ..Envelope::default()
    };
    connector::action(envelope, 7, body)
}

/// A small mail.
pub fn mail(subject: &str) -> String {
    format!(
        "From: Pat <pat@example.net>\r\nTo: me@example.org\r\nSubject: {subject}\r\nMessage-ID: <{}@example.net>\r\n\
         Date: Mon, 30 Nov 2026 07:00:00 +0000\r\n\r\nCould you have a look?\r\n",
        subject.replace(' ', "-")
    )
}

/// The connector of [`Keys::loopback`].
pub fn reader(server: &ImapServer, backlog: Backlog) -> Bench {
    Keys::loopback(server.port()).bench(backlog)
}
