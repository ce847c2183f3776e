//! What is to be set up, as far as it was said: by a person or by an answers file. Nothing of it is written yet.

use std::collections::BTreeMap;

use toml_edit::Value;

use super::guides::Guide;
use crate::catalog::CATALOG;
use crate::model::secret_ref::SecretRef;
use crate::unit::compose::{self, Chosen};
use crate::unit::plan::Kind;
use crate::unit::registry::Registry;
use crate::unit::schema::{KeySpec, ValueType};
use crate::unit::value::{self, Settings};

/// Everything that was said.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// What is connected, new or changed.
    pub connect: Vec<Connect>,
    /// Who answers; `None`: as it is.
    pub engine: Option<Engine>,
    /// Only engines on this machine may answer.
    pub private: bool,
    /// Everything but the sending; `None`: as it is.
    pub rehearsal: Option<bool>,
    /// The daemon becomes a service of the user.
    pub service: bool,
}

/// One connector.
#[derive(Clone, Debug)]
pub struct Connect {
    /// What it is.
    pub guide: &'static Guide,
    /// The unit's name.
    pub name: String,
    /// The unit is there already, and is changed.
    pub exists: bool,
    /// Values by key of the platform's own table.
    pub keys: BTreeMap<String, Value>,
    /// Names in the secret store by key.
    pub secrets: BTreeMap<String, String>,
    /// `new`, `7d`, `all`.
    pub backlog: Option<String>,
    /// `never`, `reviewed`, `auto`; `None`: as it is, or reviewed.
    pub outbound: Option<String>,
    /// A client of the person's own at the platform.
    pub client_id: Option<String>,
    /// The server shows a certificate that nobody here vouches for.
    pub wants_ca: bool,
}

/// Who answers.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The unit's name.
    pub name: String,
    /// The engine.
    pub engine: String,
    /// The model, where the engine takes one.
    pub model: Option<String>,
    /// Values by key of the engine's own table.
    pub keys: BTreeMap<String, Value>,
    /// Names in the secret store by key.
    pub secrets: BTreeMap<String, String>,
}

impl Connect {
    /// Nothing said yet.
    #[must_use]
    pub fn new(guide: &'static Guide, name: &str) -> Self {
        Self {
            guide,
            name: name.to_owned(),
            exists: false,
            keys: BTreeMap::new(),
            secrets: BTreeMap::new(),
            backlog: None,
            outbound: None,
            client_id: None,
            wants_ca: false,
        }
    }

    /// A unit that is there, with what it says for the keys that are asked for.
    #[must_use]
    pub fn existing(guide: &'static Guide, name: &str, own: &Settings) -> Self {
        let mut connect = Self { exists: true, ..Self::new(guide, name) };
        for ask in guide.asks {
            match own.get(ask.key) {
                Some(value::Value::Secret(SecretRef::Stored(name))) => {
                    connect.secrets.insert(ask.key.to_owned(), name.clone());
                }
                Some(value::Value::Text(text)) => connect.put_text(ask.key, text),
                Some(value::Value::Path(path)) => connect.put_text(ask.key, &path.display().to_string()),
                Some(value::Value::List(items)) => {
                    let list = compose::list(items.iter().map(String::as_str));
                    connect.keys.insert(ask.key.to_owned(), list);
                }
                _ => {}
            }
        }
        connect
    }

    fn put_text(&mut self, key: &str, text: &str) {
        self.keys.insert(key.to_owned(), Value::from(text));
    }

    /// The description of a key.
    #[must_use]
    pub fn spec(&self, key: &str) -> Option<&'static KeySpec> {
        CATALOG.platform(self.guide.platform)?.keys.iter().find(|spec| spec.name == key)
    }

    /// A value as a person would type it.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        match self.keys.get(key)? {
            Value::String(text) => Some(text.value().clone()),
            Value::Array(items) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                Some(items.join(", "))
            }
            value => Some(value.to_string().trim().to_owned()),
        }
    }

    /// Takes what was typed for a key. Nothing typed takes the key away.
    pub fn put(&mut self, key: &str, typed: &str) {
        if typed.is_empty() {
            self.keys.remove(key);
            return;
        }
        if let Some(("host" | "smtp_host", port_key)) = port_key(self.guide.platform, key) {
            // `-`: none.
            if typed == "-" {
                self.keys.remove(key);
                self.keys.remove(port_key);
                return;
            }
            if let Some((host, port)) = typed.rsplit_once(':')
                && let Ok(port) = port.parse::<u16>()
            {
                self.put_text(key, host);
                self.keys.insert(port_key.to_owned(), Value::from(i64::from(port)));
                return;
            }
        }
        let is_list = self.spec(key).is_some_and(|spec| spec.value.is_list());
        if is_list {
            let items = typed.split(',').map(str::trim).filter(|item| !item.is_empty());
            self.keys.insert(key.to_owned(), compose::list(items));
        } else {
            self.put_text(key, typed);
        }
    }

    /// The name under which the secret of this key is kept: by the account, or as the unit says already.
    #[must_use]
    pub fn secret_name(&self, key: &str) -> String {
        if let Some(name) = self.secrets.get(key) {
            return name.clone();
        }
        let account = self.text(self.guide.account).unwrap_or_default();
        let account: String = account
            .trim_start_matches('@')
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-+@".contains(c) { c } else { '-' })
            .take(80)
            .collect();
        let account = if account.is_empty() { self.name.clone() } else { account };
        let secrets = self.guide.asks.iter().filter(|ask| self.is_secret(ask.key)).count();
        let name = format!("{}/{account}", self.guide.what);
        // The first secret of an account goes by the account alone.
        let first = self.guide.asks.iter().find(|ask| self.is_secret(ask.key)).map(|ask| ask.key);
        if secrets > 1 && first != Some(key) { format!("{name}-{key}") } else { name }
    }

    /// The key takes a secret.
    #[must_use]
    pub fn is_secret(&self, key: &str) -> bool {
        self.spec(key).is_some_and(|spec| spec.value == ValueType::Secret)
    }

    /// For headings: `mail of me@example.org`.
    #[must_use]
    pub fn title(&self) -> String {
        match self.text(self.guide.account) {
            Some(account) => format!("{}: {account}", self.guide.title),
            None => self.guide.title.to_owned(),
        }
    }

    /// Its keys for the unit file.
    #[must_use]
    pub fn chosen(&self, registry: &Registry) -> Vec<Chosen> {
        let platform = self.guide.platform;
        let mut chosen = Vec::new();
        if !self.exists {
            chosen.push(Chosen::new("unit", "description", self.title()));
        }
        chosen.push(Chosen::new("connector", "platform", platform));
        let replies = registry.platform(platform).is_some_and(|view| view.guarantee.replies());
        let usual = (!self.exists && replies).then(|| "reviewed".to_owned());
        if let Some(outbound) = self.outbound.clone().or(usual) {
            chosen.push(Chosen::new("connector", "outbound", outbound));
        }
        if let Some(backlog) = &self.backlog {
            chosen.push(Chosen::new("connector", "backlog", backlog.as_str()));
        }
        own(&mut chosen, platform, (&self.keys, &self.secrets), Kind::Connector, registry);
        if let Some(id) = &self.client_id {
            chosen.push(Chosen::new("oauth", "client_id", id.as_str()));
        }
        chosen.push(Chosen::new("install", "enabled", true));
        chosen
    }
}

/// The key of the port that belongs to a host.
fn port_key<'a>(platform: &str, key: &'a str) -> Option<(&'a str, &'static str)> {
    match (platform, key) {
        ("imap", "host") => Some((key, "port")),
        ("imap", "smtp_host") => Some((key, "smtp_port")),
        _ => None,
    }
}

impl Engine {
    /// Nothing said yet.
    #[must_use]
    pub fn new(name: &str, engine: &str) -> Self {
        let (name, engine) = (name.to_owned(), engine.to_owned());
        Self { name, engine, model: None, keys: BTreeMap::new(), secrets: BTreeMap::new() }
    }

    /// With one more key.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.keys.insert(key.to_owned(), value.into());
        self
    }

    /// Its keys for the unit file.
    #[must_use]
    pub fn chosen(&self, exists: bool, registry: &Registry) -> Vec<Chosen> {
        let mut chosen = Vec::new();
        if !exists {
            chosen.push(Chosen::new("unit", "description", format!("Answers by {}", self.name)));
        }
        chosen.push(Chosen::new("engine", "engine", self.engine.as_str()));
        if let Some(model) = &self.model {
            chosen.push(Chosen::new("engine", "model", model.as_str()));
        }
        own(&mut chosen, &self.engine, (&self.keys, &self.secrets), Kind::Engine, registry);
        chosen.push(Chosen::new("install", "enabled", true));
        chosen
    }
}

/// Keys and secrets of an own table, in the order of its manual.
fn own(
    chosen: &mut Vec<Chosen>,
    table: &str,
    (keys, secrets): (&BTreeMap<String, Value>, &BTreeMap<String, String>),
    kind: Kind,
    registry: &Registry,
) {
    for spec in compose::own_keys(kind, table, registry).into_iter().flatten() {
        if let Some(value) = keys.get(spec.name) {
            chosen.push(Chosen::new(table, spec.name, value.clone()));
        } else if let Some(name) = secrets.get(spec.name) {
            chosen.push(Chosen::new(table, spec.name, compose::secret(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::init::guides::by_word;

    #[test]
    fn a_host_may_come_with_its_port_and_a_dash_is_none() {
        let mut mail = Connect::new(by_word("mail").unwrap(), "inbox");
        mail.put("host", "localhost:2993");
        mail.put("smtp_host", "smtp.example.org");
        let text = |mail: &Connect, key: &str| mail.text(key).unwrap_or_default();
        assert_eq!((text(&mail, "host"), text(&mail, "port")), ("localhost".into(), "2993".into()));
        assert_eq!(text(&mail, "smtp_port"), "");
        mail.put("smtp_host", "-");
        assert_eq!(text(&mail, "smtp_host"), "");
        mail.put("host", "[::1]");
        assert_eq!(text(&mail, "host"), "[::1]");
    }

    #[test]
    fn secrets_are_named_by_the_account() {
        let check = |what: &str, account: (&str, &str), key: &str, expected: &str| {
            let mut connect = Connect::new(by_word(what).unwrap(), "x");
            connect.put(account.0, account.1);
            let name = connect.secret_name(key);
            assert_eq!(name, expected);
            assert_eq!(crate::model::secret_ref::name_problem(&name), None, "{name}");
        };
        check("mail", ("user", "me@example.org"), "password", "mail/me@example.org");
        check("github", ("login", "me"), "token", "github/me");
        check("matrix", ("user", "@me:example.org"), "token", "matrix/me-example.org");
        check("slack", ("workspace", "example"), "app_token", "slack/example-app_token");
        check("caldav", ("user", "ä/ö"), "password", "caldav/---");
    }

    #[test]
    fn lists_are_typed_with_commas() {
        let mut maildir = Connect::new(by_word("maildir").unwrap(), "x");
        maildir.put("address", "a@example.org, b@example.org,");
        assert_eq!(maildir.keys["address"].to_string(), r#"["a@example.org", "b@example.org"]"#);
        assert_eq!(maildir.text("address").unwrap(), "a@example.org, b@example.org");
    }
}
