//! The keys of `[slack]`.

use crate::platform::{Guarantee, PlatformSpec, no_further_checks};
use crate::unit::schema::{KeySpec, ValueType};

/// Kinds of conversations, in Slack's words.
pub const KINDS: &[&str] = &["im", "mpim", "private_channel", "public_channel"];

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "slack",
    summary: "Slack, by an app of your own: messages to you; replies in their threads",
    keys: &[
        KeySpec::new("workspace", ValueType::Text, "The workspace, as it stands in its address: WORKSPACE.slack.com")
            .specifiers()
            .required(),
        KeySpec::new("token", ValueType::Secret, "The token of your own app: xoxp- (you) or xoxb- (a bot)").required(),
        KeySpec::new(
            "app_token",
            ValueType::Secret,
            "The app-level token, xapp-, with connections:write: Slack tells of new messages at once, over a connection \
             opened from here",
        ),
        KeySpec::new(
            "read",
            ValueType::Choice(&["addressed", "all"]),
            "What is work: direct messages, mentions and answers in threads that you take part in; or every message",
        )
        .default("\"addressed\""),
        KeySpec::new("kinds", ValueType::Choices(KINDS), "Which conversations are read")
            .default("[\"im\", \"mpim\", \"private_channel\", \"public_channel\"]"),
        KeySpec::new("channels", ValueType::List, "Only these, by name or id; without it all that the account is in"),
        KeySpec::new("base_url", ValueType::Url, "The API's address").default("\"https://slack.com/api/\""),
    ],
    every_min_s: 30,
    every_default_s: 60,
    guarantee: Guarantee::Marker("metadata on the message"),
    check: no_further_checks,
    build: super::build,
};
