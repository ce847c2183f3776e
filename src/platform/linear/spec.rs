//! The keys of `[linear]`.

use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "linear",
    summary: "Linear: the inbox and comments on your issues; replies with comments",
    keys: &[
        KeySpec::new("workspace", ValueType::Text, "The workspace, as it stands in its address: linear.app/WORKSPACE")
            .specifiers()
            .required(),
        KeySpec::new("key", ValueType::Secret, "A personal API key (Settings, Security & access)"),
        KeySpec::new("token", ValueType::Secret, "An OAuth access token in place of a key"),
        KeySpec::new(
            "comments",
            ValueType::Choice(&["mine", "all", "none"]),
            "Which comments are read besides the inbox: those on issues you made, are assigned or subscribed to, all \
             that you can see, or none",
        )
        .default("\"mine\""),
        KeySpec::new("base_url", ValueType::Url, "The API's address").default("\"https://api.linear.app/graphql\""),
    ],
    every_min_s: 60,
    every_default_s: 60,
    guarantee: Guarantee::Marker("an id for the comment chosen beforehand"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let message = match (settings.secret("key"), settings.secret("token")) {
        (Some(_), Some(_)) => "`key` and `token` are both given; Linear takes one",
        (None, None) => "a `key` or a `token` is needed",
        _ => return Vec::new(),
    };
    vec![KeyProblem { key: "key", message: message.to_owned() }]
}
