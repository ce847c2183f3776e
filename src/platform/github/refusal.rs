//! What an answer that is no success means. GitHub says "too much" with 403 or 429, with and without a time, and a 403 is
//! also what a missing right looks like; only the body tells them apart. Pure.

use serde_json::Value;

use crate::http::{HttpResponse, header, retry_hint};
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::json;

/// A server's own words, for people.
const SAID_BYTES_MAX: usize = 300;

/// What 403, 429 and an error in a 200 come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Too much, and when to come back.
    LimitUntil(Timestamp),
    /// Too much, and no word about when to come back.
    Limit,
    /// The account may not; GitHub's words and what can be done.
    Forbidden(String),
}

/// Words of GitHub and of proxies in front of it by which a refusal is a limit.
const LIMIT_WORDS: [&str; 8] = [
    "rate limit",
    "rate-limit",
    "secondary limit",
    "abuse detection",
    "burst limit",
    "slow down",
    "too many requests",
    "too quickly",
];

/// Reads a 403, a 429, or a 200 that holds an error of a limit; `None`: it is none of these.
pub(super) fn refusal(answer: &HttpResponse, now: Timestamp) -> Option<Refusal> {
    match answer.status {
        // A limit of the GraphQL kind comes with 200. Lists and things of ours have no such member.
        200 => limited_inside(&answer.body).then_some(Refusal::Limit),
        403 | 429 => {
            // A page of something in front of the API says nothing of what GitHub did or wants.
            if answer.status == 403 && answer.is_html() {
                return None;
            }
            if let Some(wait) = retry_hint(&answer.headers, now) {
                return Some(Refusal::LimitUntil(now.plus(wait)));
            }
            let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
            if answer.status == 429 || speaks_of_a_limit(&body) {
                return Some(Refusal::Limit);
            }
            let said = said(&body).unwrap_or_else(|| "the server answered 403 Forbidden".to_owned());
            Some(Refusal::Forbidden(with_sso(said, header(&answer.headers, "x-github-sso"))))
        }
        _ => None,
    }
}

fn speaks_of_a_limit(body: &Value) -> bool {
    let message = json::text_or_empty(body, "/message").to_lowercase();
    let page = json::text_or_empty(body, "/documentation_url").to_lowercase();
    LIMIT_WORDS.iter().any(|word| message.contains(word)) || page.contains("rate-limit")
}

fn limited_inside(body: &[u8]) -> bool {
    // Cheap first: most answers are long lists.
    if !body.trim_ascii_start().starts_with(b"{") || body.len() > 64 * 1024 {
        return false;
    }
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    json::list(&body, "/errors").iter().any(|error| json::text_or_empty(error, "/type") == "RATE_LIMITED")
}

/// GitHub's own words in an error: the message, and what is wrong with which field. `errors` holds texts or tables.
pub(super) fn said(body: &Value) -> Option<String> {
    let mut words: Vec<String> = json::text(body, "/message").map(str::to_owned).into_iter().collect();
    for error in json::list(body, "/errors").iter().take(5) {
        let one = match error {
            Value::String(text) => text.clone(),
            _ => match json::text(error, "/message") {
                Some(message) => message.to_owned(),
                None => [json::text_or_empty(error, "/field"), json::text_or_empty(error, "/code")].join(" "),
            },
        };
        words.push(one.trim().to_owned());
    }
    words.retain(|word| !word.is_empty());
    (!words.is_empty()).then(|| one_line(&words.join("; "), SAID_BYTES_MAX))
}

/// An organisation behind single sign-on names the page on which the token is let in.
fn with_sso(said: String, sso: Option<&str>) -> String {
    let Some(sso) = sso else { return said };
    let page = sso.split_once("url=").map(|(_, url)| one_line(url, 200));
    let page = page.filter(|page| page.starts_with("https://"));
    match page {
        Some(page) => {
            format!("{said}; the organisation wants the token authorised for single sign-on: {page}")
        }
        None => format!("{said}; the organisation wants the token authorised for single sign-on"),
    }
}

/// A list that left things out because organisations behind single sign-on do not know the token.
pub(super) fn partial_note(answer: &HttpResponse) -> Option<String> {
    header(&answer.headers, "x-github-sso").filter(|sso| sso.starts_with("partial-results")).map(|_| {
        "GitHub left out what belongs to organisations that want the token authorised for single sign-on"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_both_shapes() {
        let check = |body: Value, expected: Option<&str>| {
            assert_eq!(said(&body).as_deref(), expected, "{body}");
        };
        check(json!({"message": "Not Found", "status": "404"}), Some("Not Found"));
        let field = json!({"resource": "IssueComment", "field": "body", "code": "missing"});
        check(
            json!({"message": "Validation Failed", "errors": [field]}),
            Some("Validation Failed; body missing"),
        );
        check(
            json!({"message": "Validation Failed", "errors": ["spammed"]}),
            Some("Validation Failed; spammed"),
        );
        check(json!({"message": "No", "errors": "text"}), Some("No"));
        check(json!([]), None);
    }

    #[test]
    fn a_limit_by_its_words() {
        let check = |message: &str, expected: bool| {
            assert_eq!(speaks_of_a_limit(&json!({ "message": message })), expected, "{message}");
        };
        check(
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            true,
        );
        check("You have hit a burst limit for this kind of request. Slow down.", true);
        check("You have triggered an abuse detection mechanism.", true);
        check("API rate limit exceeded for user ID 1.", true);
        check("Resource not accessible by personal access token", false);
        check("Unable to create comment because issue is locked.", false);
        check("", false);
    }

    #[test]
    fn a_limit_inside_a_success() {
        let limited = br#" {"data": null, "errors": [{"type": "RATE_LIMITED", "message": "limit reached"}]}"#;
        assert!(limited_inside(limited));
        assert!(!limited_inside(br#"[{"errors": [{"type": "RATE_LIMITED"}]}]"#));
        assert!(!limited_inside(b"{\"errors\": 7}") && !limited_inside(b"<html>"));
    }

    #[test]
    fn single_sign_on_has_a_page() {
        let told = with_sso("No".into(), Some("required; url=https://github.com/orgs/o/sso?x=1"));
        assert!(told.ends_with("single sign-on: https://github.com/orgs/o/sso?x=1"), "{told}");
        assert!(with_sso("No".into(), Some("required; url=javascript:1")).ends_with("single sign-on"));
    }
}
