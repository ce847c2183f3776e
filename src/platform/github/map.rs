//! What GitHub sends to items of ours. Pure.
//!
//! Each text is an item of its own, with its own author: the subject of a thread, a comment, a review, a comment on the
//! diff. All of one thread join one case. A text that was met before is the same item, and an edited one another
//! revision of it, however often and by whatever way it is read.

pub(super) mod events;

use serde_json::{Value, json};

use super::client::Me;
use super::notice::Notice;
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Cut, Disposition, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::marker;
use crate::model::text::{clean, digest, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene::markdown;
use crate::platform::json;

/// Of the code that a comment on the diff stands at.
const HUNK_BYTES_MAX: usize = 2 * 1024;

/// Which comments that the user typed are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnComments {
    /// Those that mention the user.
    Mentions,
    /// All.
    All,
    /// None.
    None,
}

/// What the map needs to know of unit and account.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Who we are.
    pub me: Me,
    /// The key of that name.
    pub own: OwnComments,
}

/// The thread that a text belongs to: an issue or a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// `owner/name`.
    pub repo: String,
    /// Of the repository.
    pub repo_id: u64,
    /// Of the issue or pull request.
    pub number: u64,
    /// It is a pull request.
    pub pull: bool,
    /// Its title.
    pub title: String,
    /// `open`, `closed`.
    pub state: String,
    /// Why it was closed: `completed`, `not_planned`…
    pub state_reason: String,
    /// Only collaborators may comment.
    pub locked: bool,
    /// GitHub's labels, then our words for reason and state.
    pub labels: Vec<String>,
    /// The user opened it or is assigned.
    pub involved: bool,
    /// Its page.
    pub page: Option<String>,
    /// The notification, where there is one.
    pub notice: Option<String>,
}

impl Thread {
    /// From the issue (pull requests are issues too).
    pub fn of(
        issue: &Value,
        repo: &str,
        repo_id: u64,
        number: u64,
        notice: Option<&Notice>,
        me: &Me,
    ) -> Self {
        let pull = issue.get("pull_request").is_some_and(Value::is_object);
        let name = |label: &Value| match label {
            Value::String(name) => one_line(name, 128),
            _ => one_line(json::text_or_empty(label, "/name"), 128),
        };
        let labels = json::list(issue, "/labels").iter().map(name).filter(|label| !label.is_empty());
        let mut labels: Vec<String> = labels.take(limits::ITEM_LIST_LEN_MAX - 8).collect();
        labels.extend(notice.map(|notice| format!("reason:{}", notice.reason)));
        let is_me = |user: &Value| json::number(user, "/id") == Some(me.id);
        let assigned = json::list(issue, "/assignees").iter().any(is_me);
        let title = one_line(json::text_or_empty(issue, "/title"), limits::TITLE_BYTES_MAX - 200);
        Self {
            repo: repo.to_owned(),
            repo_id,
            number,
            pull,
            title: if title.is_empty() { "(no title)".to_owned() } else { title },
            state: one_line(json::text_or_empty(issue, "/state"), 32),
            state_reason: one_line(json::text_or_empty(issue, "/state_reason"), 32),
            locked: json::flag(issue, "/locked"),
            labels,
            involved: assigned || issue.get("user").is_some_and(is_me),
            page: page_of(issue),
            notice: notice.map(|notice| notice.id.clone()),
        }
    }

    /// `owner/name#12`.
    pub fn place(&self) -> String {
        format!("{}#{}", self.repo, self.number)
    }

    /// The name by which items of one thread find each other. A repository keeps its id when it is renamed.
    fn name(&self) -> String {
        if self.repo_id == 0 {
            self.place().to_lowercase()
        } else {
            format!("{}#{}", self.repo_id, self.number)
        }
    }

    fn title(&self) -> String {
        format!("{} ({})", self.title, self.place())
    }

    fn offers(&self) -> Vec<Offer> {
        let what = if self.pull { "pull request" } else { "issue" };
        let turn = if self.state == "closed" {
            Offer::plain("reopen", &format!("Reopen the {what}"))
        } else {
            Offer::plain("close", &format!("Close the {what}"))
        };
        vec![
            turn,
            Offer::text("label", "Set a label that the repository has", "the label's name"),
            Offer::text("unlabel", "Take a label away", "the label's name"),
            Offer::text("assign", "Assign a person", "the person's login"),
            Offer::text("unassign", "Take an assignment away", "the person's login"),
        ]
    }

    /// How an answer travels: as a comment, or below the first comment of a conversation on the diff.
    fn reply(&self, me: &Me, review_comment: Option<(u64, &str)>) -> ReplyWay {
        let place = match review_comment {
            Some((_, path)) => format!("reply on the diff of {}, {path}", self.place()),
            None => format!("comment on {}", self.place()),
        };
        let thread = json!({
            "repo": self.repo, "number": self.number, "review_comment": review_comment.map(|(id, _)| id),
            "notification": self.notice,
        });
        ReplyWay::To(Envelope { from: me.login.clone(), place, thread, ..Envelope::default() })
    }
}

/// One text before it becomes an item.
struct Text<'a> {
    key: String,
    kind: &'static str,
    value: &'a Value,
    /// When it was said.
    at: Option<Timestamp>,
    /// What GitHub shows around it: where on the diff, what a review says.
    above: String,
    body: &'a str,
    /// In front of this, a text was there before the last look.
    since: Option<Timestamp>,
    review_comment: Option<(u64, &'a str)>,
}

fn item(text: Text<'_>, thread: &Thread, rules: &Rules) -> Item {
    let Text { key, kind, value, at, above, body: raw, since, review_comment } = text;
    let user = value.get("user").filter(|user| user.is_object());
    let disposition = disposition(user, raw, at, since, rules);
    let association = json::text_or_empty(value, "/author_association").to_lowercase().replace('_', "-");
    let mut labels = thread.labels.clone();
    if !association.is_empty() {
        labels.push(format!("association:{}", one_line(&association, 32)));
    }
    if user.is_some_and(|user| json::text(user, "/type") == Some("Bot")) {
        labels.push("bot".to_owned());
    }
    let mut warnings = Vec::new();
    if thread.locked {
        warnings.push("the conversation is locked: only collaborators can comment".to_owned());
    }
    // What was written, not what GitHub says around it: a line of code that moves is no edit of the comment on it.
    let also = match kind {
        "issue" | "pull-request" => thread.title.as_bytes(),
        "review" => above.as_bytes(),
        _ => &[],
    };
    let revision = short(&[also, raw.as_bytes()]);
    let (visible, hidden) = markdown::to_text(raw);
    let visible = visible.trim();
    let body = match (above.is_empty(), visible.is_empty()) {
        (true, true) => "(no text)".to_owned(),
        (true, false) => visible.to_owned(),
        (false, true) => above,
        (false, false) => format!("{above}\n\n{visible}"),
    };
    let (body, cut) = Cut::to_fit(body);
    Item {
        revision,
        identities: Vec::new(),
        threads: vec![key.clone(), thread.name()],
        key,
        kind: kind.to_owned(),
        title: thread.title(),
        author: Some(author(user, &association)),
        at,
        url: page_of(value).or_else(|| thread.page.clone()),
        body,
        hidden,
        attachments: Vec::new(),
        cut,
        labels,
        reply: thread.reply(&rules.me, review_comment),
        offers: thread.offers(),
        disposition,
        warnings,
    }
}

/// Ours, the user's, old, or work.
fn disposition(
    user: Option<&Value>,
    raw: &str,
    at: Option<Timestamp>,
    since: Option<Timestamp>,
    rules: &Rules,
) -> Disposition {
    let mine = user.is_some_and(|user| json::number(user, "/id") == Some(rules.me.id));
    // The mark alone proves nothing: anybody can copy it. The account alone neither: the user types with it too.
    if mine && marker::own_key(raw).is_some() {
        return Disposition::Own;
    }
    if since.is_some_and(|since| at.is_some_and(|at| at < since)) {
        return Disposition::NoReply {
            reason: "it was there before; kept for what it says about the rest".into(),
        };
    }
    let worked_on = match rules.own {
        OwnComments::All => true,
        OwnComments::Mentions => mentions(raw, &rules.me.login),
        OwnComments::None => false,
    };
    if mine && !worked_on {
        return Disposition::NoReply { reason: "you wrote it yourself (`own_comments`)".into() };
    }
    Disposition::Work
}

/// `@login`, not part of a longer name.
pub(super) fn mentions(text: &str, login: &str) -> bool {
    let (text, login) = (text.to_lowercase(), format!("@{}", login.to_lowercase()));
    text.match_indices(&login).any(|(at, found)| {
        let behind = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
        let before = text.get(..at).and_then(|rest| rest.chars().next_back());
        !behind.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '/'))
            && !before.is_some_and(|c| c.is_alphanumeric())
    })
}

/// The name shows how GitHub knows the person in this repository; a deleted account is shown as GitHub does.
fn author(user: Option<&Value>, association: &str) -> Party {
    let login = user.map(|user| one_line(json::text_or_empty(user, "/login"), 128)).unwrap_or_default();
    let name = if login.is_empty() { "ghost" } else { &login };
    let known_as = match association {
        "" => String::new(),
        "none" => " (no association)".to_owned(),
        word => format!(" ({})", one_line(&word.replace('-', " "), 32)),
    };
    Party { name: format!("{name}{known_as}"), address: login }
}

/// The issue or pull request itself. `since`: one that was opened before is context, not news.
pub(super) fn subject(issue: &Value, thread: &Thread, rules: &Rules, since: Option<Timestamp>) -> Item {
    let key = match json::number(issue, "/id") {
        Some(id) => format!("issue:{id}"),
        None => format!("issue:{}", thread.name()),
    };
    let text = Text {
        key,
        kind: if thread.pull { "pull-request" } else { "issue" },
        value: issue,
        at: json::time(issue, "/created_at"),
        above: String::new(),
        body: json::text_or_empty(issue, "/body"),
        since,
        review_comment: None,
    };
    item(text, thread, rules)
}

/// A comment in the conversation.
pub(super) fn comment(value: &Value, thread: &Thread, rules: &Rules, since: Option<Timestamp>) -> Item {
    let Some(id) = json::number(value, "/id") else {
        return odd(value, "a comment without an id", thread, rules);
    };
    let text = Text {
        key: comment_key(id),
        kind: "comment",
        value,
        at: json::time(value, "/created_at"),
        above: String::new(),
        body: json::text_or_empty(value, "/body"),
        since,
        review_comment: None,
    };
    item(text, thread, rules)
}

/// The key of a comment, and what a receipt names it by.
pub(super) fn comment_key(id: u64) -> String {
    format!("issue-comment:{id}")
}

/// The key of a comment on the diff, and what a receipt names it by.
pub(super) fn diff_comment_key(id: u64) -> String {
    format!("review-comment:{id}")
}

/// A comment on the diff. Line and position are absent once the code has moved on.
pub(super) fn diff_comment(value: &Value, thread: &Thread, rules: &Rules, since: Option<Timestamp>) -> Item {
    let Some(id) = json::number(value, "/id") else {
        return odd(value, "a comment on the diff without an id", thread, rules);
    };
    let path = json::text_or_empty(value, "/path");
    let line = json::number(value, "/line").or_else(|| json::number(value, "/original_line"));
    let line = line.map(|line| format!(" line {line}")).unwrap_or_default();
    let outdated = if value.get("line").is_some_and(Value::is_null) { " (outdated)" } else { "" };
    let mut above = format!("On {}{line}{outdated}:", one_line(path, 256));
    let hunk = clean(json::text_or_empty(value, "/diff_hunk"));
    // The comment stands below the last line of its piece of code.
    let hunk =
        hunk.get(hunk.ceil_char_boundary(hunk.len().saturating_sub(HUNK_BYTES_MAX))..).unwrap_or_default();
    for line in hunk.lines() {
        above.push_str("\n    ");
        above.push_str(line);
    }
    // Replies to replies are not taken: the answer goes below the first comment of the conversation.
    let first = json::number(value, "/in_reply_to_id").unwrap_or(id);
    let text = Text {
        key: diff_comment_key(id),
        kind: "review-comment",
        value,
        at: json::time(value, "/created_at"),
        above,
        body: json::text_or_empty(value, "/body"),
        since,
        review_comment: Some((first, path)),
    };
    item(text, thread, rules)
}

/// A review; `None` for one that only holds comments on the diff, and for a pending one, which only its author sees.
pub(super) fn review(
    value: &Value,
    thread: &Thread,
    rules: &Rules,
    since: Option<Timestamp>,
) -> Option<Item> {
    let at = json::time(value, "/submitted_at")?;
    let body = json::text_or_empty(value, "/body");
    let above = match json::text_or_empty(value, "/state") {
        "APPROVED" => "The review approves the changes.".to_owned(),
        "CHANGES_REQUESTED" => "The review asks for changes.".to_owned(),
        "DISMISSED" => "The review was dismissed.".to_owned(),
        "PENDING" => return None,
        _ if body.trim().is_empty() => return None,
        _ => String::new(),
    };
    let Some(id) = json::number(value, "/id") else {
        return Some(odd(value, "a review without an id", thread, rules));
    };
    let text = Text {
        key: format!("review:{id}"),
        kind: "review",
        value,
        at: Some(at),
        above,
        body,
        since,
        review_comment: None,
    };
    Some(item(text, thread, rules))
}

/// Something that cannot be read well enough: kept for the user, never dropped.
fn odd(value: &Value, why: &str, thread: &Thread, rules: &Rules) -> Item {
    let key = format!("odd:{}", short(&[value.to_string().as_bytes()]));
    let text = Text {
        key,
        kind: "odd",
        value,
        at: None,
        above: String::new(),
        body: json::text_or_empty(value, "/body"),
        since: None,
        review_comment: None,
    };
    let reason = why.to_owned();
    Item { disposition: Disposition::Quarantined { reason }, ..item(text, thread, rules) }
}

fn page_of(value: &Value) -> Option<String> {
    let page = one_line(json::text(value, "/html_url")?, 2048);
    page.starts_with("http").then_some(page)
}

fn short(parts: &[&[u8]]) -> String {
    digest(parts).get(..16).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
