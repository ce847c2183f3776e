//! The keys of `[command]`.

use super::tap_run::config_of;
use crate::platform::fill;
use crate::platform::record::FIELDS;
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::{Setting, Settings};

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "command",
    summary: "Any program that prints items as JSON lines, and takes replies on its standard input",
    keys: &[
        KeySpec::new(
            "program",
            ValueType::Text,
            "An absolute path, or a name that is looked up on the PATH of the child",
        ).specifiers()
        .required(),
        KeySpec::new(
            "args",
            ValueType::List,
            "Arguments. Never a secret: command lines are visible to everybody",
        ).specifiers(),
        KeySpec::new(
            "protocol",
            ValueType::Choice(&["workagent", "singer", "airbyte"]),
            "What the program speaks: lines of workagent's own, or it is a Singer tap or an Airbyte source, which only \
             read",
        )
        .default("\"workagent\""),
        KeySpec::new(
            "config",
            ValueType::Text,
            "A tap's configuration, a JSON object; `\"{NAME}\"` in it stands for an entry of `config_values`. It is \
             given in a file that only lives while the tap runs",
        ),
        KeySpec::new(
            "config_values",
            ValueType::EnvMap,
            "Values for names in braces in `config`, texts or secrets",
        ),
        KeySpec::new(
            "catalog",
            ValueType::Path,
            "A tap's catalog, a JSON file as its `discover` prints it. Airbyte sources need one",
        ),
        KeySpec::new("streams", ValueType::List, "Only these streams of a tap. Absent: all that it gives"),
        KeySpec::new(
            "fields",
            ValueType::EnvMap,
            "Which field of a tap's records is `title`, `body`, `author`, `url`, `at`, `thread` or `labels`; \
             `outer/inner` for one inside another. Absent: by their usual names",
        ),
        KeySpec::new(
            "ignore",
            ValueType::List,
            "Fields of a tap's records that may change without the record being taken for changed",
        ),
        KeySpec::new(
            "body_format",
            ValueType::Choice(&["text", "html", "markdown"]),
            "How bodies of a tap's records are written",
        )
        .default("\"text\""),
        KeySpec::new(
            "account",
            ValueType::Text,
            "Whom the program reads and writes as. It names the cursor, and only texts by this author can be known as \
             our own by their mark; without it the mark alone counts",
        ).specifiers(),
        KeySpec::new(
            "send",
            ValueType::Bool,
            "The program understands `send`; without it items take no replies",
        )
        .default("false"),
        KeySpec::new(
            "mark",
            ValueType::Bool,
            "Put an invisible mark, an HTML comment, under each text that is sent, to know it again",
        )
        .default("true"),
        KeySpec::new(
            "find_delay",
            ValueType::Duration { min_s: 0, max_s: 3600 },
            "How long after a send `absent` is not yet believed",
        )
        .default("\"30s\""),
        KeySpec::new("timeout", ValueType::Duration { min_s: 1, max_s: 3600 }, "Longest run of the program")
            .default("\"60s\""),
        KeySpec::new(
            "pass",
            ValueType::List,
            "Environment variables handed through from the daemon's environment",
        ),
        KeySpec::new("set", ValueType::EnvMap, "Environment variables to set, texts or secrets"),
    ],
    every_min_s: 1,
    every_default_s: 5 * 60,
    guarantee: Guarantee::Depends("the program is asked (`find`); one that cannot tell: held for you if unknown"),
    check,
    build: super::build,
};

/// Keys that only taps have.
const OF_TAPS: [&str; 6] = ["config", "config_values", "catalog", "streams", "fields", "ignore"];

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = check_program(settings);
    let mut say = |key: &'static str, message: String| problems.push(KeyProblem { key, message });
    let protocol = settings.text("protocol").unwrap_or("workagent");
    if protocol == "workagent" {
        for key in OF_TAPS.into_iter().filter(|key| settings.get(key).is_some()) {
            say(key, "is for `protocol = \"singer\"` and `\"airbyte\"`".to_owned());
        }
        return problems;
    }
    if settings.flag("send") {
        say("send", format!("is not for `protocol = \"{protocol}\"`: such programs only read"));
    }
    if protocol == "airbyte" && settings.path("catalog").is_none() {
        say(
            "catalog",
            "is missing: Airbyte sources need one; keep what `discover --config FILE` prints".to_owned(),
        );
    }
    if let Some(text) = settings.text("config") {
        match config_of(text) {
            Err(why) => say("config", why),
            Ok(config) => {
                let known =
                    |name: &String| settings.map("config_values").is_some_and(|map| map.contains_key(name));
                for name in fill::names(&config).into_iter().filter(|name| !known(name)) {
                    say("config", format!("names `{{{name}}}`, which `config_values` does not have"));
                }
            }
        }
    }
    for (name, setting) in settings.map("fields").into_iter().flatten() {
        if !FIELDS.iter().any(|(known, _)| known == name) {
            let known = FIELDS.map(|(known, _)| known).join("`, `");
            say("fields", format!("has `{name}`; it can have `{known}`"));
        }
        if matches!(setting, Setting::Secret(_)) {
            say("fields", format!("has a secret as `{name}`, where the name of a field belongs"));
        }
    }
    problems
}

fn check_program(settings: &Settings) -> Vec<KeyProblem> {
    let program = settings.text("program").unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        let message = "is an absolute path or a name without `/`; relative paths mean nothing to a daemon";
        return vec![KeyProblem { key: "program", message: message.to_owned() }];
    }
    Vec::new()
}
