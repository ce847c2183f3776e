//! The keys of `[jira]`.

use url::Url;

use crate::http::{holds_login, is_in_the_open};
use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// What is read where a unit says nothing else.
pub const JQL: &str = "assignee = currentUser() OR reporter = currentUser() OR watcher = currentUser()";

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "jira",
    summary: "Jira Cloud and Data Center: new issues, assignments and comments of a search of yours",
    keys: &[
        KeySpec::new(
            "url",
            ValueType::Url,
            "`https://SITE.atlassian.net`; for a token with scopes `https://api.atlassian.com/ex/jira/CLOUDID`; or your \
             own server with its path",
        )
        .specifiers()
        .required(),
        KeySpec::new(
            "deployment",
            ValueType::Choice(&["cloud", "data-center"]),
            "Jira Cloud, or a server of your own",
        )
        .default("\"cloud\""),
        KeySpec::new("email", ValueType::Text, "The address of your Atlassian account, which goes with an API token")
            .specifiers(),
        KeySpec::new(
            "token",
            ValueType::Secret,
            "An API token of Jira Cloud, with `email`; without it an access token, or the personal one of Data Center",
        )
        .required(),
        KeySpec::new("jql", ValueType::Text, "Which issues are read, without `ORDER BY`")
            .default("\"assignee = currentUser() OR reporter = currentUser() OR watcher = currentUser()\""),
        KeySpec::new(
            "news",
            ValueType::Choice(&["addressed", "all"]),
            "What is worked on: comments that mention you or stand in issues assigned to you or reported by you, or all",
        )
        .default("\"addressed\""),
        KeySpec::new(
            "comments",
            ValueType::Integer { min: 0, max: 50 },
            "So many of the newest comments are read along",
        )
        .default("10"),
        KeySpec::new(
            "own_comments",
            ValueType::Bool,
            "Comments that you write yourself are news too. Those that workagent wrote for you never are",
        )
        .default("false"),
    ],
    every_min_s: 60,
    every_default_s: 2 * 60,
    guarantee: Guarantee::Marker("a property of the comment; on Data Center an anchor in its text"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    if settings.text("jql").is_some_and(|jql| jql.to_ascii_lowercase().contains("order by")) {
        say("jql", "the order is always that of the last change; leave `ORDER BY` out");
    }
    if settings.text("deployment") == Some("data-center") && settings.text("email").is_some() {
        say("email", "Data Center takes a personal access token by itself; leave `email` out");
    }
    let Some(url) = settings.text("url").and_then(|text| Url::parse(text).ok()) else { return problems };
    if !matches!(url.scheme(), "http" | "https") {
        say("url", "is http or https");
    }
    if holds_login(&url) {
        say("url", "the URL holds a user name or password; use `email` and `token`");
    }
    if url.query().is_some() || url.fragment().is_some() {
        say("url", "is the address of the site, without `?` and `#`");
    }
    if ["/browse/", "/projects/", "/secure/"].iter().any(|page| url.path().contains(page)) {
        say("url", "is the address of the site, not of a page in it: leave out what follows the host");
    }
    if is_in_the_open(&url) {
        say("url", "a token is not sent over plain http to another machine; use https");
    }
    if url.host_str() == Some("api.atlassian.com") && !url.path().starts_with("/ex/jira/") {
        say("url", "is `https://api.atlassian.com/ex/jira/` and the id of your cloud");
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    fn check_keys(keys: &[(&str, &str)], expected: &[&str]) {
        let settings = keys.iter().map(|(key, text)| ((*key).to_owned(), Value::Text((*text).to_owned())));
        let problems = check(&Settings(settings.collect()));
        assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected, "{keys:?}");
    }

    #[test]
    fn addresses_and_searches() {
        check_keys(&[("url", "https://example.atlassian.net")], &[]);
        check_keys(&[("url", "https://api.atlassian.com/ex/jira/0a-1b")], &[]);
        check_keys(&[("url", "https://api.atlassian.com/")], &["url"]);
        check_keys(&[("url", "http://jira.example.org")], &["url"]);
        check_keys(&[("url", "https://example.atlassian.net/browse/APP-1")], &["url"]);
        check_keys(&[("url", "http://127.0.0.1:8080/jira")], &[]);
        check_keys(&[("url", "https://me:CANARY@jira.example.org")], &["url"]);
        check_keys(&[("jql", "project = A Order By key")], &["jql"]);
        check_keys(&[("deployment", "data-center"), ("email", "me@example.org")], &["email"]);
    }
}
