//! The keys of `[command]`.

use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

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

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let program = settings.text("program").unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        let message = "is an absolute path or a name without `/`; relative paths mean nothing to a daemon";
        return vec![KeyProblem { key: "program", message: message.to_owned() }];
    }
    Vec::new()
}
