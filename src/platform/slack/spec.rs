//! The keys of `[slack]`.

use crate::platform::{Guarantee, PlatformSpec, address_problems};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

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
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = address_problems(settings, "base_url", "`token`");
    if settings.get("kinds").is_some() && settings.list("kinds").is_empty() {
        let message = "is empty, so that nothing would be read; leave it out for all kinds".to_owned();
        problems.push(KeyProblem { key: "kinds", message });
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    #[test]
    fn what_reads_nothing_or_tells_everybody() {
        let check_keys = |key: &str, value: Value, expected: &[&str]| {
            let settings = Settings([(key.to_owned(), value)].into());
            let problems = check(&settings);
            assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
        };
        check_keys("kinds", Value::List(Vec::new()), &["kinds"]);
        check_keys("kinds", Value::List(vec!["im".into()]), &[]);
        check_keys("base_url", Value::Text("http://slack.example.org/api/".into()), &["base_url"]);
        check_keys("base_url", Value::Text("http://127.0.0.1:1/".into()), &[]);
    }
}
