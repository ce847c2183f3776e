//! The keys of `[matrix]`.

use url::Url;

use crate::http::{holds_login, is_in_the_open};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The words of `take`.
const TAKE: &[&str] = &["direct", "mention", "reply", "room", "all"];

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "matrix",
    summary: "Matrix rooms without encryption; replies in the room or its thread",
    keys: &[
        KeySpec::new("homeserver", ValueType::Url, "The homeserver's client API, `https://matrix.example.org`")
            .specifiers()
            .required(),
        KeySpec::new("user", ValueType::Text, "Your full user id, `@me:example.org`").specifiers().required(),
        KeySpec::new("token", ValueType::Secret, "An access token of a device of its own").required(),
        KeySpec::new("rooms", ValueType::List, "Only these rooms, by id (`!…`); unset: all you have joined"),
        KeySpec::new(
            "take",
            ValueType::Choices(TAKE),
            "Messages that make cases: in direct rooms, that mention you, that reply to you, that mention the whole \
             room, or all",
        )
        .default("[\"direct\", \"mention\", \"reply\"]"),
        KeySpec::new("names", ValueType::List, "Further names you are called by, for clients that send no mentions"),
        KeySpec::new("live", ValueType::Bool, "Waits on the server for messages between two looks").default("true"),
        KeySpec::new(
            "live_timeout",
            ValueType::Duration { min_s: 1, max_s: 300 },
            "One wait on the server lasts at most so long",
        )
        .default("\"30s\""),
    ],
    every_min_s: 10,
    every_default_s: 5 * 60,
    guarantee: Guarantee::FarSide("transaction id, and the event is looked for"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    if settings.text("user").is_some_and(|user| !is_user(user)) {
        say("user", "a user id is written `@name:server`");
    }
    if settings.list("rooms").iter().any(|room| !room.starts_with('!') || room.len() < 2) {
        say(
            "rooms",
            "rooms are named by their id, which begins with `!`; an alias (`#…`) may move to another room",
        );
    }
    if let Some(url) = settings.text("homeserver").and_then(|text| Url::parse(text).ok()) {
        if holds_login(&url) {
            say("homeserver", "the URL holds a user name or password; use `token`");
        }
        if is_in_the_open(&url) {
            say("homeserver", "a token is not sent over plain http to another machine; use https");
        }
        if url.scheme() == "file" {
            say("homeserver", "a homeserver is reached over https");
        }
    }
    problems
}

fn is_user(text: &str) -> bool {
    let parts = text.strip_prefix('@').and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(name, server)| !name.is_empty() && !server.is_empty())
        && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn check_keys(homeserver: &str, user: &str, rooms: &[&str], expected: &[&str]) {
        let mut settings = Settings::default();
        settings.0.insert("homeserver".into(), Value::Text(homeserver.into()));
        settings.0.insert("user".into(), Value::Text(user.into()));
        let rooms = rooms.iter().map(|&room| room.to_owned()).collect();
        settings.0.insert("rooms".into(), Value::List(rooms));
        let problems = check(&settings);
        assert!(!format!("{problems:?}").contains("CANARY"));
        assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ids_are_ids_and_tokens_travel_safely() {
        check_keys("https://m.example.org", "@me:example.org", &["!a:example.org", "!AbC"], &[]);
        check_keys("http://127.0.0.1:1", "@me:example.org:8448", &[], &[]);
        check_keys("http://m.example.org", "me", &["#ops:example.org"], &["user", "rooms", "homeserver"]);
        check_keys("https://me:CANARY@m.example.org", "@:x", &["!"], &["user", "rooms", "homeserver"]);
    }
}
