//! The keys of `[caldav]`.

use url::Url;

use crate::http::{holds_login, is_in_the_open};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The words of `take`.
const TAKE: &[&str] = &["invitation", "change", "cancellation"];

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "caldav",
    summary: "Calendars over CalDAV: invitations, changed meetings, reminders; answers to invitations",
    keys: &[
        KeySpec::new(
            "url",
            ValueType::Url,
            "The server, a principal or one calendar, `https://dav.example.org/`",
        )
        .specifiers()
        .required(),
        KeySpec::new("user", ValueType::Text, "User name, with `password`").specifiers(),
        KeySpec::new("password", ValueType::Secret, "Password, best one made for this program"),
        KeySpec::new("token", ValueType::Secret, "Sent as `Authorization: Bearer`, in place of a password"),
        KeySpec::new(
            "calendars",
            ValueType::List,
            "Only these calendars, by shown name or path; unset: all with events",
        ),
        KeySpec::new(
            "address",
            ValueType::List,
            "Your mail addresses, by which you are known among those invited; unset: what the server says, and `user`",
        ),
        KeySpec::new(
            "take",
            ValueType::Choices(TAKE),
            "What makes cases: meetings you are asked to, that were changed, that were called off",
        )
        .default("[\"invitation\", \"change\", \"cancellation\"]"),
        KeySpec::new(
            "remind_before",
            ValueType::Duration { min_s: 60, max_s: 7 * 86_400 },
            "A case for each meeting that begins within so long; unset: none. All-day events have no such hour",
        ),
        KeySpec::new(
            "time_zone",
            ValueType::Text,
            "The zone of times without one, `Europe/Berlin`; unset: the machine's",
        ),
    ],
    every_min_s: 60,
    every_default_s: 5 * 60,
    guarantee: Guarantee::FarSide("the event's name and version: If-None-Match, If-Match"),
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
    if has("password") && settings.text("user").is_none() {
        say("user", "`user` and `password` belong together");
    }
    if settings.text("user").is_some() && !has("password") && !has("token") {
        say("password", "is missing: `user` and `password` belong together");
    }
    if settings.list("address").iter().any(|address| !address.contains('@')) {
        say("address", "an address is written `me@example.org`");
    }
    if settings.text("time_zone").is_some_and(|zone| jiff::tz::TimeZone::get(zone).is_err()) {
        say("time_zone", "there is no such time zone; `Europe/Berlin` would be one");
    }
    if let Some(url) = settings.text("url").and_then(|text| Url::parse(text).ok()) {
        if holds_login(&url) {
            say("url", "the URL holds a user name or password; use `user` and `password`");
        }
        if is_in_the_open(&url) && (has("password") || has("token")) {
            say("url", "a secret is not sent over plain http to another machine; use https");
        }
        if url.scheme() == "file" {
            say("url", "a calendar server is reached over https");
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_ref::SecretRef;
    use crate::unit::value::Value;

    fn check_keys(keys: &[(&str, &str)], secrets: &[&str], expected: &[&str]) {
        let mut settings = Settings::default();
        for (key, value) in keys {
            settings.0.insert((*key).into(), Value::Text((*value).into()));
        }
        for key in secrets {
            settings.0.insert((*key).into(), Value::Secret(SecretRef::Stored("dav".into())));
        }
        let problems = check(&settings);
        assert!(!format!("{problems:?}").contains("CANARY"));
        assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn keys_that_belong_together() {
        let url = ("url", "https://dav.example.org/");
        check_keys(&[url, ("user", "me"), ("time_zone", "Europe/Berlin")], &["password"], &[]);
        check_keys(&[url], &["password", "token"], &["password", "user"]);
        check_keys(&[url, ("user", "me")], &[], &["password"]);
        check_keys(&[("url", "http://me:CANARY@dav.example.org/")], &["token"], &["url", "url"]);
        check_keys(&[url, ("time_zone", "Mars/Olympus")], &["token"], &["time_zone"]);
    }
}
