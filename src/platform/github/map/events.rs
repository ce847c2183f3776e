//! What is no issue and no pull request, and activity without a text. Pure.

use serde_json::Value;

use super::super::client::Me;
use super::super::notice::Notice;
use super::{Rules, Thread, author, disposition, page_of, short};
use crate::model::item::{Cut, Disposition, Item, ReplyWay};
use crate::model::limits;
use crate::model::text::{clean, cut, one_line};
use crate::platform::hygiene::markdown;
use crate::platform::json;

/// Something of another kind: a release, a discussion, a comment on a commit.
pub(in crate::platform::github) fn other(
    value: &Value,
    kind: &'static str,
    notice: &Notice,
    rules: &Rules,
) -> Item {
    let raw = json::text_or_empty(value, "/body");
    let author_of =
        ["/user", "/author"].iter().find_map(|at| value.pointer(at).filter(|user| user.is_object()));
    let id = json::number(value, "/id").map_or_else(|| short(&[raw.as_bytes()]), |id| id.to_string());
    let (visible, hidden) = markdown::to_text(raw);
    let visible = visible.trim();
    let (body, cut) =
        Cut::to_fit(if visible.is_empty() { "(no text)".to_owned() } else { visible.to_owned() });
    let association = json::text_or_empty(value, "/author_association").to_lowercase().replace('_', "-");
    let disposition = match disposition(author_of, raw, None, None, rules) {
        Disposition::Work => answerless(&notice.kind),
        own => own,
    };
    Item {
        key: format!("{kind}:{id}"),
        revision: short(&[notice.title.as_bytes(), raw.as_bytes()]),
        threads: vec![format!("{kind}:{id}"), format!("thread:{}", notice.id)],
        kind: kind.to_owned(),
        author: Some(author(author_of, &association)),
        at: json::time(value, "/created_at"),
        url: page_of(value).or_else(|| notice.page.clone()),
        body,
        hidden,
        cut,
        disposition,
        ..event(notice, None, &rules.me, "")
    }
}

/// A notification with nothing new to read: somebody was assigned, a state changed, a check failed, or the thread cannot
/// be read, which `warning` then says.
pub(in crate::platform::github) fn event(
    notice: &Notice,
    thread: Option<&Thread>,
    me: &Me,
    warning: &str,
) -> Item {
    let key = format!("thread:{}:{}", notice.id, notice.updated_at.0 / 1000);
    let what = if notice.kind.is_empty() { "something" } else { &notice.kind };
    let because = notice.because();
    let (body, title, labels, page, reply, offers, name, disposition) = match thread {
        Some(thread) => {
            let state = match thread.state_reason.as_str() {
                "" => thread.state.clone(),
                reason => format!("{} ({reason})", thread.state),
            };
            (
                format!("{} is {state}. GitHub tells you of it: {because}.", thread.place()),
                thread.title(),
                thread.labels.clone(),
                thread.page.clone(),
                thread.reply(me, None),
                thread.offers(),
                thread.name(),
                Disposition::Work,
            )
        }
        None => (
            format!("{what} in {}. GitHub tells you of it: {because}.", notice.repo),
            format!("{} ({})", if notice.title.is_empty() { what } else { &notice.title }, notice.repo),
            vec![format!("reason:{}", notice.reason)],
            notice.page.clone(),
            ReplyWay::Nowhere { reason: format!("GitHub's API takes no reply to this ({what})") },
            Vec::new(),
            format!("thread:{}", notice.id),
            answerless(&notice.kind),
        ),
    };
    Item {
        revision: "1".to_owned(),
        identities: Vec::new(),
        threads: vec![key.clone(), name],
        key,
        kind: "notification".to_owned(),
        title: one_line(&title, limits::TITLE_BYTES_MAX),
        author: None,
        at: Some(notice.updated_at),
        url: page,
        body,
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels,
        reply,
        offers,
        disposition,
        warnings: Some(warning.to_owned()).filter(|warning| !warning.is_empty()).into_iter().collect(),
    }
}

/// What cannot be answered by this way waits for the user, but for the output of machines, which is recorded.
fn answerless(kind: &str) -> Disposition {
    match kind {
        "CheckSuite" | "WorkflowRun" | "Release" => {
            Disposition::NoReply { reason: format!("nobody waits for an answer ({kind})") }
        }
        _ => Disposition::Work,
    }
}

/// A member of the inbox that is no notification.
pub(in crate::platform::github) fn odd_notice(value: &Value, why: &str) -> Item {
    let text = value.to_string();
    let digest = short(&[text.as_bytes()]);
    let key = match json::text(value, "/id") {
        Some(id) => format!("odd:{}", one_line(id, 64)),
        None => format!("odd:{digest}"),
    };
    let title = one_line(json::text_or_empty(value, "/subject/title"), limits::TITLE_BYTES_MAX);
    Item {
        revision: digest,
        identities: Vec::new(),
        threads: vec![key.clone()],
        key,
        kind: "odd".to_owned(),
        title: if title.is_empty() { "(no title)".to_owned() } else { title },
        author: None,
        at: None,
        url: None,
        body: clean(cut(&text, 4096)),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::Nowhere { reason: "it could not be read".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Quarantined { reason: why.to_owned() },
        warnings: Vec::new(),
    }
}
