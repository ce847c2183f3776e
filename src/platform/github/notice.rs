//! One notification as the inbox lists it. Pure.

use serde_json::Value;

use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::json;

/// A notification: a thread of the user's, at its newest activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// Of the thread; the same for all that ever happens in it.
    pub id: String,
    /// Of the newest activity, whole seconds.
    pub updated_at: Timestamp,
    /// Until when the user has read it.
    pub last_read_at: Option<Timestamp>,
    /// GitHub's word for why the user is told: `mention`, `assign`…
    pub reason: String,
    /// Of the issue, the pull request, the release…
    pub title: String,
    /// `Issue`, `PullRequest`, `Discussion`, `CheckSuite`… or a word that is not known yet.
    pub kind: String,
    /// The subject in the API; often absent, and for discussions often a dead end.
    pub subject: Option<String>,
    /// The newest comment in the API; often the subject itself.
    pub latest: Option<String>,
    /// `owner/name`.
    pub repo: String,
    /// Of the repository: it stays when the name changes.
    pub repo_id: u64,
    /// The repository's page.
    pub page: Option<String>,
}

impl Notice {
    /// The notification, or why it is none.
    pub fn read(value: &Value) -> Result<Self, &'static str> {
        let id = match value.get("id") {
            Some(Value::String(id)) if !id.is_empty() => one_line(id, 64),
            Some(Value::Number(id)) => id.to_string(),
            _ => return Err("a notification without an id"),
        };
        let updated_at = json::time(value, "/updated_at").ok_or("a notification without a time")?;
        let owned = |pointer: &str| json::text(value, pointer).map(str::to_owned);
        let line = |pointer: &str, bytes_max| one_line(json::text_or_empty(value, pointer), bytes_max);
        Ok(Self {
            id,
            updated_at: Timestamp(updated_at.0.div_euclid(1000) * 1000),
            last_read_at: json::time(value, "/last_read_at"),
            reason: line("/reason", 64),
            title: line("/subject/title", limits::TITLE_BYTES_MAX),
            kind: line("/subject/type", 64),
            subject: owned("/subject/url"),
            latest: owned("/subject/latest_comment_url"),
            repo: line("/repository/full_name", 256),
            repo_id: json::number(value, "/repository/id").unwrap_or(0),
            page: owned("/repository/html_url").filter(|url| url.starts_with("http")),
        })
    }

    /// The number of the issue or pull request, and that it is the latter, by the parts of the subject's path.
    pub fn numbered(&self, path: &[String]) -> Option<(u64, bool)> {
        match path {
            [repos, _, _, kind, number] if repos == "repos" => {
                let pull = match kind.as_str() {
                    "issues" => false,
                    "pulls" => true,
                    _ => return None,
                };
                Some((number.parse().ok()?, pull))
            }
            _ => None,
        }
    }

    /// Why the user is told, as the end of "GitHub tells you: …".
    pub fn because(&self) -> String {
        let words = match self.reason.as_str() {
            "approval_requested" => "your approval of a deployment is asked for",
            "assign" => "you were assigned",
            "author" => "you opened it",
            "ci_activity" => "a workflow run that you started has ended",
            "comment" => "you commented on it",
            "invitation" => "you took an invitation to the repository",
            "manual" => "you subscribed to it",
            "mention" => "you were mentioned",
            "review_requested" => "your review is asked for",
            "security_alert" => "there is a security alert",
            "state_change" => "you changed its state",
            "subscribed" => "you watch the repository",
            "team_mention" => "a team of yours was mentioned",
            "" => "no reason given",
            other => return format!("reason: {other}"),
        };
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_may_be_missing_is_missed() {
        let least =
            json!({"id": 7, "updated_at": "2026-11-30T07:59:40Z", "subject": null, "repository": null});
        let notice = Notice::read(&least).unwrap();
        assert_eq!((notice.id.as_str(), notice.kind.as_str(), notice.subject), ("7", "", None));
        assert!(Notice::read(&json!({"updated_at": "2026-11-30T07:59:40Z"})).is_err());
        assert!(Notice::read(&json!({"id": "7", "updated_at": "soon"})).is_err());
        assert!(Notice::read(&json!(null)).is_err());
    }

    #[test]
    fn numbers_of_issues_and_pull_requests() {
        let check = |path: &str, expected: Option<(u64, bool)>| {
            let notice = Notice::read(&json!({"id": "7", "updated_at": "2026-11-30T07:59:40Z"})).unwrap();
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            assert_eq!(notice.numbered(&path), expected, "{path:?}");
        };
        check("repos/o/r/issues/12", Some((12, false)));
        check("repos/o/r/pulls/31", Some((31, true)));
        for other in ["repos/o/r/discussions/3", "repos/o/r/issues/x", "repos/o/r/issues/1/2", "gists/1", ""]
        {
            check(other, None);
        }
    }
}
