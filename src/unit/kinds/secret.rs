//! `NAME.secret.toml`: where a secret comes from and when it is replaced; `[secrets]` of the daemon: where all others are.

use std::time::Duration;

use crate::diag::Finding;
use crate::model::time::start_of_date;
use crate::unit::check::bad_value;
use crate::unit::plan::{NewValue, Retire, SecretBackend, SecretDefaults, SecretUnit};
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new(NAME, SECRET, "Where the value is kept; never the value itself.")],
    enabled: true,
    doc: "Where a secret comes from and when it is replaced.",
};

const NAME: &str = "secret";

/// A value that a program gave is believed for so long.
const KEEP: Duration = Duration::from_secs(15 * 60);

/// So long before a value ends it is to be replaced.
const WARN: Duration = Duration::from_secs(14 * 86_400);

/// So long a value that was replaced is still good, where something takes it out of service.
const OVERLAP: Duration = Duration::from_secs(3600);

/// Of a unit and of the daemon's table alike.
const KEEP_KEY: KeySpec = KeySpec::new(
    "keep",
    ValueType::Duration { min_s: 0, max_s: 86_400 },
    "For `command`: a value is believed for so long; one that a server refuses is asked for again at once",
)
.default("\"15m\"");

const SECRET: &[KeySpec] = &[
    KeySpec::new(
        "backend",
        ValueType::Choice(&SecretBackend::WORDS),
        "Which store keeps it; absent: the `[secrets] backend` of the daemon",
    ),
    KeySpec::new(
        "entry",
        ValueType::Text,
        "Its name in the store; the unit's own name where it is not said. Units refer to the secret by either",
    )
    .specifiers(),
    KeySpec::new(
        "command",
        ValueType::List,
        "For `command`: the program that prints the value, and its arguments; `{entry}` stands for the entry",
    ),
    KeySpec::new(
        "pass",
        ValueType::List,
        "For programs: variables of the daemon's environment that they get beside the usual ones",
    ),
    KEEP_KEY,
    KeySpec::new(
        "rotate_every",
        ValueType::Duration { min_s: 3600, max_s: 10 * 366 * 86_400 },
        "How often it is to be replaced",
    ),
    KeySpec::new(
        "expires",
        ValueType::Text,
        "The day on which the value ends, `2027-03-01`; without meaning once it was replaced within `warn` of it",
    ),
    KeySpec::new(
        "warn",
        ValueType::Duration { min_s: 0, max_s: 366 * 86_400 },
        "So long before `expires` it is replaced, or you are told to",
    )
    .default("\"14d\""),
    KeySpec::new(
        "how",
        ValueType::Choice(&["ask", "oauth", "command"]),
        "Where the new value comes from: you, the login that gave the present one, or `new_value`",
    )
    .default("\"ask\""),
    KeySpec::new(
        "new_value",
        ValueType::List,
        "For `how = \"command\"`: the program that prints a new value, and its arguments; `{entry}` stands for the entry",
    ),
    KeySpec::new(
        "give_old",
        ValueType::Bool,
        "`new_value` gets the present value on its standard input; never in another way",
    )
    .default("false"),
    KeySpec::new(
        "retire",
        ValueType::List,
        "For `how = \"command\"` where the far side takes two values for a while: the program that takes the former one out of \
         service, which it gets on its standard input; `{entry}` stands for the entry",
    ),
    KeySpec::new(
        "overlap",
        ValueType::Duration { min_s: 0, max_s: 30 * 86_400 },
        "With `retire`: so long after it was replaced, a value is still good, and what began with it may end with it",
    )
    .default("\"1h\""),
];

/// `[secrets]` of the daemon unit.
pub(crate) const DAEMON: TableSpec = TableSpec::new(
    "secrets",
    DAEMON_KEYS,
    "Where secrets are kept that have no unit of their own. There is no falling back from one store to another.",
);

const DAEMON_KEYS: &[KeySpec] = &[
    KeySpec::new(
        "backend",
        ValueType::Choice(&SecretBackend::WORDS),
        "`file`: encrypted, in the state directory; `keyring`: of the desktop; `credentials`: given by the service manager \
         ($CREDENTIALS_DIRECTORY); `env`: variables of the daemon's environment; `command`: a password manager's program",
    )
    .default("\"file\""),
    KeySpec::new(
        "command",
        ValueType::List,
        "For `command`: the program that prints a value, and its arguments; `{entry}` stands for the secret's name",
    ),
    KeySpec::new(
        "pass",
        ValueType::List,
        "For `command`: variables of the daemon's environment that it gets beside the usual ones",
    ),
    KEEP_KEY,
    KeySpec::new(
        "passphrase_file",
        ValueType::Path,
        "For `file`: a file that only you may read, with the passphrase that opens it",
    )
    .at_start(),
    KeySpec::new(
        "key_file",
        ValueType::Path,
        "For `file`: the key that opens it; absent: `secrets.key` in the configuration directory",
    )
    .at_start(),
];

/// What can be said of a secret by itself.
pub(crate) fn check(typed: &Typed) -> Vec<Finding> {
    let own = typed.settings(NAME);
    let mut findings = Vec::new();
    let mut say = |key: &str, problem: &str| {
        let span = typed.spans(NAME, key).map(|spans| spans.value);
        if let Some(span) = span.or_else(|| typed.header(NAME)) {
            findings.push(bad_value::finding(&format!("secret.{key}"), span, problem));
        }
    };
    let backend = own.text("backend").and_then(SecretBackend::of);
    let reads = !own.list("command").is_empty();
    if backend == Some(SecretBackend::Command) && !reads {
        say("command", "needs the program that prints the value");
    }
    if reads && backend != Some(SecretBackend::Command) {
        say("command", "has a meaning only with `backend = \"command\"`");
    }
    if own.text("expires").is_some_and(|text| start_of_date(text).is_none()) {
        say("expires", "is not a day such as `2027-03-01`");
    }
    let how = own.text("how");
    let makes = !own.list("new_value").is_empty();
    if how == Some("command") && !makes {
        say("new_value", "needs the program that prints a new value");
    }
    if makes && how != Some("command") {
        say("new_value", "has a meaning only with `how = \"command\"`");
    }
    if !own.list("retire").is_empty() && how != Some("command") {
        say("retire", "has a meaning only with `how = \"command\"`");
    }
    if how.is_some_and(|how| how != "ask") && backend.is_some_and(|backend| !backend.can_be_written()) {
        say("how", "needs a backend that can be written: `file` or `keyring`");
    }
    findings
}

/// The same of `[secrets]`.
pub(crate) fn check_daemon(typed: &Typed) -> Vec<Finding> {
    let own = typed.settings(DAEMON.name);
    let is_command = own.text("backend").and_then(SecretBackend::of) == Some(SecretBackend::Command);
    if !is_command || !own.list("command").is_empty() {
        return Vec::new();
    }
    let span = typed.spans(DAEMON.name, "backend").map(|spans| spans.value);
    let problem = "needs `command` beside it, the program that prints a value";
    span.map(|span| bad_value::finding("secrets.backend", span, problem)).into_iter().collect()
}

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> SecretUnit {
    let own = typed.settings(NAME);
    SecretUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        backend: own.text("backend").and_then(SecretBackend::of),
        entry: own.text("entry").unwrap_or(&typed.name.name).to_owned(),
        command: own.list("command").to_vec(),
        pass: own.list("pass").to_vec(),
        keep: own.duration("keep").unwrap_or(KEEP),
        rotate_every: own.duration("rotate_every"),
        expires: own.text("expires").and_then(start_of_date),
        warn: own.duration("warn").unwrap_or(WARN),
        how: match own.text("how") {
            Some("oauth") => NewValue::OAuth,
            Some("command") => {
                let (command, give_old) = (own.list("new_value").to_vec(), own.flag("give_old"));
                let retire = Some(own.list("retire").to_vec()).filter(|command| !command.is_empty());
                let retire = retire
                    .map(|command| Retire { command, after: own.duration("overlap").unwrap_or(OVERLAP) });
                NewValue::Command { command, give_old, retire }
            }
            _ => NewValue::Ask,
        },
    }
}

/// `[secrets]` of the daemon, from checked values.
pub(crate) fn defaults(own: &Settings) -> SecretDefaults {
    SecretDefaults {
        backend: own.text("backend").and_then(SecretBackend::of).unwrap_or_default(),
        command: own.list("command").to_vec(),
        pass: own.list("pass").to_vec(),
        keep: own.duration("keep").unwrap_or(KEEP),
        passphrase_file: own.path("passphrase_file").cloned(),
        key_file: own.path("key_file").cloned(),
    }
}
