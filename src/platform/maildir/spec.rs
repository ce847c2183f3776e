//! The keys of `[maildir]`, and the account they describe.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::item::Party;
use crate::platform::mail::address::{OwnAddresses, is_usable, mailbox};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The keys.
pub const KEYS: &[KeySpec] = &[
    KeySpec::new(
        "path",
        ValueType::Path,
        "The Maildir to read, the folder with `new` and `cur` in it. Nothing in it is ever changed",
    )
    .required(),
    KeySpec::new(
        "address",
        ValueType::List,
        "Your own addresses: mail from them is not answered, replies leave from the first",
    )
    .specifiers()
    .required(),
    KeySpec::new("from", ValueType::Text, "The shown sender of replies, `\"Kim Lee <kim@example.org>\"`"),
    KeySpec::new(
        "out",
        ValueType::Path,
        "A Maildir into which replies are put; it is made if it is not there",
    ),
    KeySpec::new(
        "sendmail",
        ValueType::List,
        "A program and its arguments that takes a mail with LF line ends on its standard input and its recipients \
         from the header, `[\"/usr/sbin/sendmail\", \"-t\", \"-oi\"]`. It must end with 0 only if it took the mail",
    ),
    KeySpec::new("sent", ValueType::Path, "A Maildir that gets a copy of each sent reply"),
    KeySpec::new("timeout", ValueType::Duration { min_s: 1, max_s: 3600 }, "Longest wait for `sendmail`")
        .default("\"2m\""),
];

/// How replies leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Put into this Maildir.
    Out(PathBuf),
    /// Handed to this program.
    Sendmail {
        /// The program.
        program: OsString,
        /// Its arguments.
        args: Vec<OsString>,
    },
    /// They do not.
    None,
}

/// What a checked `[maildir]` table describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The Maildir to read.
    pub path: PathBuf,
    /// The user's addresses.
    pub own: OwnAddresses,
    /// The sender of replies.
    pub from: Party,
    /// How replies leave.
    pub exit: Exit,
    /// For copies of sent replies.
    pub sent: Option<PathBuf>,
    /// For the program.
    pub timeout: Duration,
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
        let addresses = settings.list("address");
        let from = sender(settings).ok_or_else(|| missing("address"))?;
        let exit = match (settings.path("out"), settings.list("sendmail").split_first()) {
            (Some(out), _) => Exit::Out(out.clone()),
            (None, Some((program, args))) => {
                Exit::Sendmail { program: program.into(), args: args.iter().map(OsString::from).collect() }
            }
            (None, None) => Exit::None,
        };
        Ok(Self {
            path: settings.path("path").ok_or_else(|| missing("path"))?.clone(),
            own: OwnAddresses::new(addresses.iter().map(String::as_str).chain([from.address.as_str()])),
            from,
            exit,
            sent: settings.path("sent").cloned(),
            timeout: settings.duration("timeout").unwrap_or(Duration::from_secs(120)),
        })
    }
}

/// `from` where given, else the first own address without a name.
fn sender(settings: &Settings) -> Option<Party> {
    match settings.text("from") {
        Some(from) => mailbox(from),
        None => settings.list("address").first().and_then(|address| mailbox(address)),
    }
}

/// Problems that go over single keys.
#[must_use]
pub fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut problem = |key, message: &str| problems.push(KeyProblem { key, message: message.into() });
    let addresses = settings.list("address");
    if addresses.iter().any(|address| !is_usable(address)) {
        problem("address", "holds something that is not a mail address");
    } else if addresses.is_empty() && settings.get("address").is_some() {
        problem("address", "is empty");
    }
    if settings.text("from").is_some_and(|from| mailbox(from).is_none()) {
        problem("from", "is not a mail address such as `Kim Lee <kim@example.org>`");
    }
    let sendmail = settings.list("sendmail");
    if settings.path("out").is_some() && !sendmail.is_empty() {
        problem("sendmail", "cannot be given together with `out`");
    }
    if sendmail.first().is_some_and(|program| program.trim().is_empty()) {
        problem("sendmail", "begins with an empty program name");
    }
    for key in ["out", "sent"] {
        if settings.path(key).is_some() && settings.path(key) == settings.path("path") {
            problem(key, "is the Maildir that is read; replies would come back as mail");
        }
    }
    if settings.path("sent").is_some() && settings.path("out").is_none() && sendmail.is_empty() {
        problem("sent", "has no effect without `out` or `sendmail`");
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn settings(extra: &[(&str, Value)]) -> Settings {
        let address = Value::List(vec!["me@example.org".into()]);
        let mut keys = vec![("path", Value::Path("/mail".into())), ("address", address)];
        keys.extend(extra.iter().cloned());
        Settings(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    fn problems(extra: &[(&str, Value)]) -> Vec<&'static str> {
        check(&settings(extra)).into_iter().map(|problem| problem.key).collect()
    }

    #[test]
    fn takes_one_way_out() {
        let program = Value::List(vec!["sendmail".into(), "-t".into()]);
        let out = Value::Path("/out".into());
        let exit = |extra: &[(&str, Value)]| Account::from_settings(&settings(extra)).unwrap().exit;
        assert_eq!(exit(&[]), Exit::None);
        assert_eq!(exit(&[("out", out.clone())]), Exit::Out("/out".into()));
        let expected = Exit::Sendmail { program: "sendmail".into(), args: vec!["-t".into()] };
        assert_eq!(exit(&[("sendmail", program.clone())]), expected);
        assert_eq!(problems(&[("out", out), ("sendmail", program)]), ["sendmail"]);
    }

    #[test]
    fn points_at_the_wrong_key() {
        assert_eq!(problems(&[("from", Value::Text("Kim <kim@>".into()))]), ["from"]);
        assert_eq!(problems(&[("address", Value::List(vec!["kim".into()]))]), ["address"]);
        assert_eq!(problems(&[("address", Value::List(vec![]))]), ["address"]);
        assert_eq!(problems(&[("sent", Value::Path("/mail".into()))]), ["sent", "sent"]);
        assert_eq!(problems(&[("out", Value::Path("/mail".into()))]), ["out"]);
    }

    #[test]
    fn the_sender_is_an_own_address_too() {
        let account =
            Account::from_settings(&settings(&[("from", Value::Text("Kim <kim@example.net>".into()))]));
        let account = account.unwrap();
        assert_eq!(account.from.name, "Kim");
        assert!(account.own.contains("kim@example.net") && account.own.contains("me@example.org"));
    }
}
