//! The keys of `[github]`.

use url::Url;

use crate::http::{holds_login, is_loopback};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "github",
    summary: "GitHub: the notifications inbox, or named repositories; issues, pull requests, reviews",
    keys: &[
        KeySpec::new("login", ValueType::Text, "Your login, without `@`; the token must be this account's")
            .specifiers()
            .required(),
        KeySpec::new(
            "token",
            ValueType::Secret,
            "The inbox takes a classic token with the scope `notifications`, and `repo` (or `public_repo`) to read and \
             answer; a fine-grained one does with `repositories`",
        )
        .required(),
        KeySpec::new(
            "base_url",
            ValueType::Url,
            "The API: `https://HOST/api/v3` for an enterprise server",
        )
        .specifiers()
        .default("\"https://api.github.com\""),
        KeySpec::new(
            "api_version",
            ValueType::Choice(&["2022-11-28", "2026-03-10"]),
            "The version of the API that is asked for",
        )
        .default("\"2022-11-28\""),
        KeySpec::new(
            "repositories",
            ValueType::List,
            "Read these (`owner/name`) and not the inbox, which fine-grained tokens cannot read",
        )
        .specifiers(),
        KeySpec::new(
            "participating",
            ValueType::Bool,
            "Only threads that you take part in or are mentioned in, not all that you watch",
        )
        .default("false"),
        KeySpec::new(
            "reasons",
            ValueType::List,
            "Only notifications with these reasons of GitHub's are worked on (`mention`, `review_requested`, `assign`…); \
             the others are recorded",
        ),
        KeySpec::new(
            "own_comments",
            ValueType::Choice(&["mentions", "all", "none"]),
            "Which comments that you typed yourself are worked on: those that mention you, all, or none; the others are \
             kept with the case. What workagent sent is known by its mark and never comes back",
        )
        .default("\"mentions\""),
        KeySpec::new(
            "after_reply",
            ValueType::Choice(&["keep", "read", "done"]),
            "What becomes of the notification once a reply is sent: nothing, marked as read, marked as done",
        )
        .default("\"keep\""),
        KeySpec::new(
            "full_every",
            ValueType::Duration { min_s: 600, max_s: 86_400 },
            "The inbox is read without \"only if it changed\" this often: GitHub's answer to that is not always right",
        )
        .default("\"1h\""),
    ],
    every_min_s: 30,
    every_default_s: 60,
    guarantee: Guarantee::Marker("an invisible comment in the text, and your account's id"),
    check,
    build: super::build,
};

/// Why GitHub tells of something, as far as it has said so.
const REASONS: [&str; 16] = [
    "approval_requested",
    "assign",
    "author",
    "ci_activity",
    "comment",
    "invitation",
    "manual",
    "member_feature_requested",
    "mention",
    "review_requested",
    "security_advisory_credit",
    "security_alert",
    "state_change",
    "subscribed",
    "team_mention",
    "your_activity",
];

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    if settings.text("login").is_some_and(|login| login.starts_with('@') || !is_name(login)) {
        say("login", "is a login as GitHub shows it, without `@`");
    }
    if settings.list("repositories").iter().any(|name| repository(name).is_none()) {
        say("repositories", "each is `owner/name`");
    }
    if let Some(odd) = settings.list("reasons").iter().find(|reason| !REASONS.contains(&reason.as_str())) {
        let known = REASONS.iter().copied();
        let near = crate::unit::closest(odd, known).map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| format!("; there are {}", REASONS.join(", ")));
        say("reasons", &format!("names one that GitHub does not give{near}"));
    }
    let base = settings.text("base_url").and_then(|text| Url::parse(text).ok());
    if let Some(url) = base {
        match url.scheme() {
            "http" if !is_loopback(&url) => {
                say("base_url", "a token is not sent over plain http to another machine; use https");
            }
            "http" | "https" if url.host_str() == Some("github.com") => {
                say("base_url", "is the web site; the API is at https://api.github.com");
            }
            "http" | "https" => {}
            _ => say("base_url", "is http or https"),
        }
        if holds_login(&url) {
            say("base_url", "the URL holds a user name or password; use `token`");
        }
    }
    if !settings.list("repositories").is_empty()
        && settings.text("after_reply").is_some_and(|what| what != "keep")
    {
        say("after_reply", "needs the inbox, which is not read with `repositories`");
    }
    problems
}

/// `owner/name` in its two parts.
pub(super) fn repository(text: &str) -> Option<(&str, &str)> {
    let (owner, name) = text.split_once('/')?;
    (is_name(owner) && is_name(name)).then_some((owner, name))
}

/// The characters of logins, owners and repositories. `.` and `..` would climb out of the path.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 100 && text.chars().all(fits) && text.chars().any(|c| c != '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn check_keys(keys: &[(&str, &str)], repositories: &[&str], expected: &[&str]) {
        let mut settings = Settings::default();
        for (key, value) in keys {
            settings.0.insert((*key).into(), Value::Text((*value).into()));
        }
        let list = repositories.iter().map(|name| (*name).to_owned()).collect();
        settings.0.insert("repositories".into(), Value::List(list));
        let problems = check(&settings);
        assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn reasons_are_githubs() {
        let check_reasons = |reasons: &[&str], expected: Option<&str>| {
            let list = reasons.iter().map(|&reason| reason.to_owned()).collect();
            let settings = Settings([("reasons".to_owned(), Value::List(list))].into());
            assert_eq!(check(&settings).first().map(|problem| problem.message.as_str()), expected);
        };
        check_reasons(&["mention", "assign", "team_mention"], None);
        let near = "names one that GitHub does not give; did you mean `mention`?";
        check_reasons(&["assign", "mentions"], Some(near));
    }

    #[test]
    fn what_cannot_work_is_said_before_it_runs() {
        check_keys(&[("login", "pat"), ("base_url", "https://api.github.com")], &[], &[]);
        check_keys(&[("base_url", "https://ghe.example.org/api/v3")], &["o/r", "o-1/r.s_t"], &[]);
        check_keys(&[("base_url", "http://127.0.0.1:1")], &[], &[]);
        check_keys(&[("login", "@pat")], &[], &["login"]);
        check_keys(&[("base_url", "http://ghe.example.org/api/v3")], &[], &["base_url"]);
        check_keys(&[("base_url", "https://github.com")], &[], &["base_url"]);
        check_keys(&[("base_url", "file:///x")], &[], &["base_url"]);
        check_keys(&[("after_reply", "read")], &["o/r"], &["after_reply"]);
        for odd in ["r", "o/", "o/r/s", "../r", "o/..", "o/r s"] {
            check_keys(&[], &[odd], &["repositories"]);
        }
    }
}
