//! The keys of `[gitlab]`.

use url::Url;

use crate::http::{holds_login, is_in_the_open};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "gitlab",
    summary: "GitLab (gitlab.com or your own): your pending to-do items and what is said about them",
    keys: &[
        KeySpec::new("url", ValueType::Url, "The server, with its path if it does not lie at the root")
            .specifiers()
            .default("\"https://gitlab.com\""),
        KeySpec::new(
            "token",
            ValueType::Secret,
            "A personal access token: scope `read_api` to read, `api` to answer too",
        )
        .required(),
        KeySpec::new(
            "user",
            ValueType::Text,
            "Your user name: it names the account, and a token of somebody else is refused",
        )
        .specifiers(),
        KeySpec::new(
            "actions",
            ValueType::List,
            "Only to-do items for these reasons are worked on: `assigned`, `mentioned`, `directly_addressed`, \
             `review_requested`, `approval_required`, `build_failed`, `unmergeable`, `marked` …; by default all",
        ),
        KeySpec::new(
            "comments",
            ValueType::Integer { min: 0, max: 50 },
            "So many of the newest comments are read along with a to-do item",
        )
        .default("10"),
        KeySpec::new(
            "own_comments",
            ValueType::Bool,
            "Comments that you write yourself are news too. Those that workagent wrote for you never are",
        )
        .default("false"),
        KeySpec::new(
            "mentions",
            ValueType::List,
            "User names whose mention in an answer stays one, besides those who take part in the thread; any other \
             `@name` may be a whole group and notifies nobody",
        ),
        KeySpec::new("mark_done", ValueType::Bool, "Mark the to-do item done once its answer was sent")
            .default("false"),
    ],
    every_min_s: 60,
    every_default_s: 2 * 60,
    guarantee: Guarantee::Marker("a comment in the note that no reader sees"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    let Some(url) = settings.text("url").and_then(|text| Url::parse(text).ok()) else { return problems };
    if !matches!(url.scheme(), "http" | "https") {
        say("url", "is http or https");
    }
    if holds_login(&url) {
        say("url", "the URL holds a user name or password; use `token`");
    }
    if url.query().is_some() || url.fragment().is_some() {
        say("url", "is the address of the server, without `?` and `#`");
    }
    if is_in_the_open(&url) {
        say("url", "a token is not sent over plain http to another machine; use https");
    }
    problems
}

/// The address without a slash at the end and without the path of the API, should somebody have copied that.
#[must_use]
pub fn server(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    url.strip_suffix("/api/v4").unwrap_or(url).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn check_url(url: &str, problems: usize) {
        let mut settings = Settings::default();
        settings.0.insert("url".into(), Value::Text(url.into()));
        assert_eq!(check(&settings).len(), problems, "{url}");
    }

    #[test]
    fn a_token_has_its_own_key_and_its_own_way() {
        check_url("https://gitlab.com", 0);
        check_url("https://example.org/gitlab/", 0);
        check_url("http://127.0.0.1:8080/gitlab", 0);
        check_url("http://gitlab.example.org", 1);
        check_url("https://me:CANARY@gitlab.example.org", 1);
        check_url("https://gitlab.example.org/?private_token=CANARY", 1);
        check_url("file:///x", 1);
    }

    #[test]
    fn the_servers_address_however_it_was_copied() {
        for url in ["https://x.example/g", "https://x.example/g/", "https://x.example/g/api/v4/"] {
            assert_eq!(server(url), "https://x.example/g");
        }
    }
}
