//! The keys of `[feed]`.

use url::Url;

use crate::http::{holds_login, is_loopback};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "feed",
    summary: "RSS, Atom and JSON Feed over HTTP(S) or from a file; read only",
    keys: &[
        KeySpec::new("url", ValueType::Url, "The feed: http, https or file").specifiers().required(),
        KeySpec::new(
            "max_items_new",
            ValueType::Integer { min: 1, max: 1000 },
            "More new items than this in one poll are a flood: the newest are worked on, the rest is only recorded",
        )
        .default("50"),
        KeySpec::new("token", ValueType::Secret, "Sent as `Authorization: Bearer`"),
        KeySpec::new("user", ValueType::Text, "User name for `Authorization: Basic`, with `password`").specifiers(),
        KeySpec::new("password", ValueType::Secret, "Password for `Authorization: Basic`"),
        KeySpec::new("key", ValueType::Secret, "A key that goes into the query of the URL as `key_param`"),
        KeySpec::new("key_param", ValueType::Text, "The name of the key in the query").default("\"key\""),
    ],
    every_min_s: 60,
    every_default_s: 15 * 60,
    guarantee: Guarantee::NoReplies,
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    let has = |key| settings.secret(key).is_some();
    if has("token") && has("password") {
        say("password", "`token` and `password` are both given; the server takes one");
    }
    if settings.text("user").is_some() != has("password") {
        say("user", "`user` and `password` belong together");
    }
    let Some(url) = settings.text("url").and_then(|text| Url::parse(text).ok()) else { return problems };
    if holds_login(&url) {
        say("url", "the URL holds a user name or password; use `user` and `password`");
    }
    let secret = has("token") || has("password") || has("key");
    match url.scheme() {
        "file" if secret => say("url", "a file needs no secret"),
        "http" if secret && !is_loopback(&url) => {
            say("url", "a secret is not sent over plain http to another machine; use https");
        }
        _ => {}
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_ref::SecretRef;
    use crate::unit::value::Value;

    fn check_keys(url: &str, secrets: &[&str], expected: &[&str]) {
        let mut settings = Settings::default();
        settings.0.insert("url".into(), Value::Text(url.into()));
        for key in secrets {
            settings.0.insert((*key).into(), Value::Secret(SecretRef::Stored("feed".into())));
        }
        let problems = check(&settings);
        assert!(!format!("{problems:?}").contains("CANARY"));
        assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn secrets_have_their_own_keys_and_their_own_way() {
        check_keys("https://example.org/f", &["token"], &[]);
        check_keys("https://me:CANARY@example.org/f", &[], &["url"]);
        check_keys("http://example.org/f", &["key"], &["url"]);
        check_keys("http://127.0.0.1:1/f", &["key"], &[]);
        check_keys("file:///f", &["key"], &["url"]);
        check_keys("https://example.org/f", &["token", "password"], &["password", "user"]);
    }
}
