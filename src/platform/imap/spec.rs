//! The keys of `[imap]`, and the account they describe.

use std::path::PathBuf;
use std::time::Duration;

use crate::model::item::Party;
use crate::model::secret_ref::SecretRef;
use crate::platform::mail::address::OwnAddresses;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

const SECURITY: ValueType = ValueType::Choice(&["tls", "starttls", "none"]);
const PORT: ValueType = ValueType::Integer { min: 1, max: 65_535 };

/// The keys.
pub const KEYS: &[KeySpec] = &[
    KeySpec::new("host", ValueType::Host, "The IMAP server").required(),
    KeySpec::new("port", PORT, "Its port; by default 993, or 143 with `starttls` or `none`"),
    KeySpec::new(
        "security",
        SECURITY,
        "How the connection is protected; by default `starttls` on port 143, else `tls`. `none` is for servers on this \
         machine only",
    ),
    KeySpec::new(
        "ca_file",
        ValueType::Path,
        "A PEM file with certificates to trust besides the system's, for IMAP and SMTP",
    ),
    KeySpec::new("user", ValueType::Text, "The login name, often the address").specifiers().required(),
    KeySpec::new("password", ValueType::Secret, "The password, often one made for this program"),
    KeySpec::new("token", ValueType::Secret, "An OAuth access token instead of a password (XOAUTH2)"),
    KeySpec::new("mailbox", ValueType::Text, "The mailbox to read").specifiers().default("\"INBOX\""),
    KeySpec::new(
        "address",
        ValueType::List,
        "Your own addresses: mail from them is not answered, replies leave from the first. By default `user`, where \
         that is an address",
    ).specifiers(),
    KeySpec::new("from", ValueType::Text, "The shown sender of replies, `\"Kim Lee <kim@example.org>\"`"),
    KeySpec::new("idle", ValueType::Bool, "Let the server tell of new mail at once, where it can").default("true"),
    KeySpec::new(
        "idle_renew",
        ValueType::Duration { min_s: 10, max_s: 29 * 60 },
        "Ask anew so often to be told: a connection that died in silence shows then, and some servers end it after ten minutes",
    )
    .default("\"4m\""),
    KeySpec::new("smtp_host", ValueType::Host, "The submission server for replies; without it nothing can be sent"),
    KeySpec::new("smtp_port", PORT, "Its port; by default 465, 587 with `starttls`, 25 with `none`"),
    KeySpec::new("smtp_security", SECURITY, "As `security`; by default `starttls` on port 587, else `tls`"),
    KeySpec::new("smtp_user", ValueType::Text, "The login name for submission; by default `user`").specifiers(),
    KeySpec::new("smtp_password", ValueType::Secret, "The password for submission; by default that of IMAP"),
    KeySpec::new(
        "sent",
        ValueType::Text,
        "The mailbox of sent mail; by default the one the server marks as such, `\"\"` for none",
    ),
    KeySpec::new(
        "sent_copy",
        ValueType::Choice(&["auto", "append", "server", "none"]),
        "Who stores the copy of a sent mail: `server` (it does so by itself), `append` (this program), `none` (nobody), \
         `auto` (this program, where the server did not)",
    )
    .default("\"auto\""),
    KeySpec::new(
        "timeout",
        ValueType::Duration { min_s: 1, max_s: 600 },
        "Longest wait for one answer of a server",
    )
    .default("\"60s\""),
    KeySpec::new(
        "send_timeout",
        ValueType::Duration { min_s: 1, max_s: 3600 },
        "Longest wait for the last answer of a submission; short ones make sends uncertain",
    )
    .default("\"10m\""),
];

/// How a connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte.
    Tls,
    /// Plain until STARTTLS, which must succeed.
    StartTls,
    /// Not at all: loopback only.
    None,
}

/// A server to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Protection.
    pub security: Security,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// What one logs in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Login name.
    pub user: String,
    /// Password or token.
    pub secret: SecretRef,
    /// The secret is an OAuth access token.
    pub oauth: bool,
}

/// Who stores the copy of a sent mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentCopy {
    /// We, unless it is there already.
    Auto,
    /// We, unless it is there already, also at providers known to do it by themselves.
    Append,
    /// The server.
    Server,
    /// Nobody.
    None,
}

/// Where sent mail lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentMailbox {
    /// The mailbox marked `\Sent`.
    Marked,
    /// This one, named as a person writes it.
    Named(String),
    /// There is none.
    None,
}

/// The account that a checked `[imap]` table describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The IMAP server.
    pub imap: Endpoint,
    /// Its login.
    pub login: Login,
    /// The mailbox to read, named as a person writes it.
    pub mailbox: String,
    /// The submission server.
    pub smtp: Option<(Endpoint, Login)>,
    /// Extra certificates.
    pub ca_file: Option<PathBuf>,
    /// The user's addresses.
    pub own: OwnAddresses,
    /// The sender of replies.
    pub from: Party,
    /// Wait for news by IDLE.
    pub idle: bool,
    /// IDLE is begun anew this often.
    pub idle_renew: Duration,
    /// Where sent mail lies.
    pub sent: SentMailbox,
    /// Who puts it there.
    pub sent_copy: SentCopy,
    /// For one answer.
    pub timeout: Duration,
    /// For the last answer of a submission.
    pub send_timeout: Duration,
}

impl Account {
    /// Takes a table that [`check`] found nothing in.
    ///
    /// # Errors
    /// The first problem, where there is one after all.
    pub fn from_settings(settings: &Settings) -> Result<Self, KeyProblem> {
        if let Some(problem) = check(settings).into_iter().next() {
            return Err(problem);
        }
        let missing = |key| KeyProblem { key, message: "is missing".into() };
        let imap = endpoint(settings, &IMAP).ok_or_else(|| missing("host"))?;
        let user = settings.text("user").ok_or_else(|| missing("user"))?.to_owned();
        let (secret, oauth) = match (settings.secret("password"), settings.secret("token")) {
            (Some(password), _) => (password.clone(), false),
            (None, Some(token)) => (token.clone(), true),
            (None, None) => return Err(missing("password")),
        };
        let login = Login { user, secret, oauth };
        let smtp = endpoint(settings, &SMTP).map(|endpoint| {
            let user = settings.text("smtp_user").unwrap_or(&login.user).to_owned();
            let login = match settings.secret("smtp_password") {
                Some(secret) => Login { user, secret: secret.clone(), oauth: false },
                None => Login { user, ..login.clone() },
            };
            (endpoint, login)
        });
        let addresses = own_addresses(settings);
        let from = sender(settings, &addresses).ok_or_else(|| missing("address"))?;
        let own = OwnAddresses::new(addresses.iter().copied().chain([from.address.as_str()]));
        Ok(Self {
            imap,
            login,
            mailbox: settings.text("mailbox").unwrap_or("INBOX").to_owned(),
            smtp,
            ca_file: settings.path("ca_file").cloned(),
            own,
            from,
            idle: settings.flag("idle"),
            idle_renew: settings.duration("idle_renew").unwrap_or(Duration::from_secs(4 * 60)),
            sent: match settings.text("sent") {
                None => SentMailbox::Marked,
                Some("") => SentMailbox::None,
                Some(name) => SentMailbox::Named(name.to_owned()),
            },
            sent_copy: match settings.text("sent_copy") {
                Some("append") => SentCopy::Append,
                Some("server") => SentCopy::Server,
                Some("none") => SentCopy::None,
                _ => SentCopy::Auto,
            },
            timeout: settings.duration("timeout").unwrap_or(Duration::from_secs(60)),
            send_timeout: settings.duration("send_timeout").unwrap_or(Duration::from_secs(600)),
        })
    }
}

/// The three keys of an endpoint and the ports that go with each protection.
struct EndpointKeys {
    host: &'static str,
    port: &'static str,
    security: &'static str,
    tls: u16,
    starttls: u16,
    none: u16,
}

const IMAP: EndpointKeys =
    EndpointKeys { host: "host", port: "port", security: "security", tls: 993, starttls: 143, none: 143 };
const SMTP: EndpointKeys = EndpointKeys {
    host: "smtp_host",
    port: "smtp_port",
    security: "smtp_security",
    tls: 465,
    starttls: 587,
    none: 25,
};

fn endpoint(settings: &Settings, keys: &EndpointKeys) -> Option<Endpoint> {
    let host = settings.text(keys.host)?.to_owned();
    let port = settings.integer(keys.port).and_then(|port| u16::try_from(port).ok());
    let security = match settings.text(keys.security) {
        Some("none") => Security::None,
        Some("starttls") => Security::StartTls,
        None if port == Some(keys.starttls) => Security::StartTls,
        _ => Security::Tls,
    };
    let port = port.unwrap_or(match security {
        Security::Tls => keys.tls,
        Security::StartTls => keys.starttls,
        Security::None => keys.none,
    });
    Some(Endpoint { host, port, security })
}

fn own_addresses(settings: &Settings) -> Vec<&str> {
    let listed = settings.list("address");
    if listed.is_empty() {
        settings.text("user").filter(|user| is_address(user)).into_iter().collect()
    } else {
        listed.iter().map(String::as_str).collect()
    }
}

/// `from` where given, else the first own address without a name.
fn sender(settings: &Settings, addresses: &[&str]) -> Option<Party> {
    match settings.text("from") {
        Some(from) => {
            let mailbox = from.parse::<lettre::message::Mailbox>().ok()?;
            Some(Party { name: mailbox.name.unwrap_or_default(), address: mailbox.email.to_string() })
        }
        None => {
            addresses.first().map(|address| Party { name: String::new(), address: (*address).to_owned() })
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<lettre::Address>().is_ok()
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Problems that go over single keys.
#[must_use]
pub fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut problem = |key, message: &str| problems.push(KeyProblem { key, message: message.into() });
    match (settings.secret("password"), settings.secret("token")) {
        (None, None) => problem("password", "either `password` or `token` must be given"),
        (Some(_), Some(_)) => problem("token", "cannot be given together with `password`"),
        _ => {}
    }
    for keys in [&IMAP, &SMTP] {
        if endpoint(settings, keys).is_some_and(|at| at.security == Security::None && !is_loopback(&at.host))
        {
            problem(keys.security, "`none` is only for a server on this machine (localhost)");
        }
    }
    if settings.text("smtp_host").is_none() {
        for key in ["smtp_port", "smtp_security", "smtp_user", "smtp_password"] {
            if settings.get(key).is_some() {
                problem(key, "has no effect without `smtp_host`");
            }
        }
    }
    for key in ["user", "mailbox", "sent", "smtp_user"] {
        if settings.text(key).is_some_and(|text| text.chars().any(char::is_control)) {
            problem(key, "holds a control character");
        }
    }
    if settings.text("mailbox") == Some("") {
        problem("mailbox", "is empty");
    }
    if settings.list("address").iter().any(|address| !is_address(address)) {
        problem("address", "holds something that is not a mail address");
    }
    let addresses = own_addresses(settings);
    if settings.text("from").is_some() {
        if sender(settings, &addresses).is_none() {
            problem("from", "is not a mail address such as `Kim Lee <kim@example.org>`");
        }
    } else if addresses.is_empty() && settings.text("user").is_some() {
        problem("address", "must be given, because `user` is not a mail address");
    }
    if settings.text("sent") == Some("") && settings.text("sent_copy") == Some("append") {
        problem("sent_copy", "cannot append where `sent` says that there is no mailbox of sent mail");
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let value = |key: &str, text: &str| match key {
            "port" | "smtp_port" => Value::Integer(text.parse().unwrap()),
            "password" | "token" | "smtp_password" => Value::Secret(SecretRef::Stored(text.into())),
            "address" => Value::List(text.split(',').map(str::to_owned).collect()),
            _ => Value::Text(text.into()),
        };
        Settings(pairs.iter().map(|(key, text)| ((*key).to_owned(), value(key, text))).collect())
    }

    const BASE: &[(&str, &str)] =
        &[("host", "imap.example.org"), ("user", "kim@example.org"), ("password", "mail")];

    fn with(more: &[(&'static str, &'static str)]) -> Settings {
        settings(&[BASE, more].concat())
    }

    fn check_keys(more: &[(&'static str, &'static str)], expected: &[&str]) {
        let found: Vec<_> = check(&with(more)).iter().map(|problem| problem.key).collect();
        assert_eq!(found, expected, "{more:?}");
    }

    #[test]
    fn finds_combinations_that_cannot_work() {
        check_keys(&[], &[]);
        check_keys(&[("token", "t")], &["token"]);
        check_keys(&[("security", "none")], &["security"]);
        check_keys(&[("security", "none"), ("host", "localhost")], &[]);
        check_keys(&[("security", "none"), ("host", "127.0.0.1")], &[]);
        check_keys(&[("security", "none"), ("host", "localhost.example.org")], &["security"]);
        check_keys(&[("smtp_port", "25")], &["smtp_port"]);
        check_keys(&[("smtp_host", "smtp.example.org"), ("smtp_security", "none")], &["smtp_security"]);
        check_keys(&[("user", "kim")], &["address"]);
        check_keys(&[("user", "kim"), ("from", "Kim Lee <kim@example.org>")], &[]);
        check_keys(&[("from", "Kim Lee")], &["from"]);
        check_keys(&[("address", "kim@example.org,nobody")], &["address"]);
        check_keys(&[("user", "kim@example.org\r\nA1 LOGOUT")], &["user", "address"]);
        check_keys(&[("sent", ""), ("sent_copy", "append")], &["sent_copy"]);
    }

    #[test]
    fn one_of_password_and_token_is_needed() {
        let found = check(&settings(&[("host", "imap.example.org"), ("user", "kim@example.org")]));
        assert_eq!(found.iter().map(|problem| problem.key).collect::<Vec<_>>(), ["password"]);
    }

    fn check_endpoints(more: &[(&'static str, &'static str)], expected: &str) {
        let account = Account::from_settings(&with(more)).unwrap();
        let shown = |at: &Endpoint| format!("{at} {:?}", at.security);
        let smtp = account.smtp.as_ref().map_or("-".to_owned(), |(at, _)| shown(at));
        assert_eq!(format!("{} / {smtp}", shown(&account.imap)), expected);
    }

    #[test]
    fn ports_and_protection_go_together() {
        check_endpoints(&[], "imap.example.org:993 Tls / -");
        check_endpoints(&[("port", "143")], "imap.example.org:143 StartTls / -");
        check_endpoints(&[("security", "starttls")], "imap.example.org:143 StartTls / -");
        check_endpoints(&[("smtp_host", "mx")], "imap.example.org:993 Tls / mx:465 Tls");
        check_endpoints(
            &[("smtp_host", "mx"), ("smtp_port", "587")],
            "imap.example.org:993 Tls / mx:587 StartTls",
        );
        check_endpoints(
            &[("smtp_host", "mx"), ("smtp_port", "2525")],
            "imap.example.org:993 Tls / mx:2525 Tls",
        );
    }

    #[test]
    fn submission_takes_over_the_login_of_imap() {
        let account = Account::from_settings(&with(&[("smtp_host", "mx"), ("smtp_user", "post")])).unwrap();
        let (_, login) = account.smtp.unwrap();
        assert_eq!((login.user.as_str(), login.secret), ("post", account.login.secret));
    }
}
