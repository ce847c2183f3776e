//! Issues, assignments and comments to items. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adf;
use super::wire::{Change, Comment, Issue, Person};
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Attachment, Cut, Disposition, HiddenPart, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{cut, digest, one_line};
use crate::model::time::Timestamp;

/// A description read along; an engine needs the gist, not a specification.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// A comment read along.
const COMMENT_BYTES_MAX: usize = 4 * 1024;

/// Who reads, and how.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Who the token belongs to.
    pub me: Person,
    /// The account, for people.
    pub account: String,
    /// Where people look at issues; empty if that is not known.
    pub site: String,
    /// Comments read along.
    pub comments: usize,
    /// Comments of one's own are news.
    pub own_comments: bool,
    /// Everything is news, not only what is addressed to us.
    pub all: bool,
    /// Answers can be put below the comment they answer.
    pub threads: bool,
}

/// The handle of an answer: what `deliver` needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handle {
    /// The issue.
    pub issue: u64,
    /// Its key when it was read.
    pub key: String,
    /// Below this comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// For these people only, as the comment that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Value>,
}

impl Reader {
    fn concerns_me(&self, issue: &Issue) -> bool {
        self.me.is(&issue.assignee) || self.me.is(&issue.reporter)
    }

    /// Own by the author's id; where no author is told, by the mark. The mark in somebody else's comment is theirs.
    fn is_own(&self, comment: &Comment) -> bool {
        match (self.me.is(&comment.author), comment.author.id.is_empty()) {
            (true, _) => comment.mark.is_some() || !self.own_comments,
            (false, true) => comment.mark.is_some(),
            (false, false) => false,
        }
    }
}

/// What is news of an issue since `began`, in the order in which it happened. `comments` come newest first.
#[must_use]
pub fn news(issue: &Issue, comments: &[Comment], began: Timestamp, reader: &Reader) -> Vec<Item> {
    let since = |at: Option<Timestamp>| at.is_some_and(|at| at > began);
    let mut items = Vec::new();
    if since(issue.created) {
        let disposition = match reader.me.is(&issue.creator) {
            true => Disposition::Own,
            false if reader.all || reader.concerns_me(issue) => Disposition::Work,
            false => Disposition::Baseline,
        };
        items.push(Item { disposition, ..opened(issue, reader) });
    }
    let to_me = |change: &&Change| {
        change.field == "assignee"
            && !reader.me.id.is_empty()
            && change.to == reader.me.id
            && !reader.me.is(&change.author)
            && since(change.at)
    };
    items.extend(issue.changes.iter().filter(to_me).map(|change| assigned(issue, change, reader)));
    let mut fresh: Vec<&Comment> = comments.iter().filter(|comment| since(comment.created)).collect();
    fresh.sort_by_key(|comment| (comment.created, comment.id));
    items.extend(fresh.into_iter().map(|comment| commented(issue, comment, comments, reader)));
    // The newest of a conversation that is to be answered tells all that an engine needs; the others would repeat it.
    let mut told = BTreeSet::new();
    for item in items.iter_mut().rev().filter(|item| item.disposition == Disposition::Work) {
        if told.insert(item.threads.clone()) {
            read_along(item, issue, comments, reader);
        }
    }
    items
}

fn opened(issue: &Issue, reader: &Reader) -> Item {
    let mut text = Text::default();
    let who = named(if issue.reporter.name.is_empty() { &issue.creator } else { &issue.reporter });
    let to = if reader.me.is(&issue.assignee) { " and assigned it to you" } else { "" };
    text.line(&format!("[{who} opened it{to}]"));
    let description = adf::to_text(&issue.description);
    let content = digest(&[issue.summary.as_bytes(), description.text.as_bytes()]);
    let mut item = item(issue, "issue", &format!("issue:{}", issue.id), &content, text, reader);
    item.author = party(if issue.reporter.name.is_empty() { &issue.creator } else { &issue.reporter });
    item.at = issue.created;
    answerable(&mut item, issue, None, &[], reader);
    item
}

fn assigned(issue: &Issue, change: &Change, reader: &Reader) -> Item {
    let mut text = Text::default();
    text.line(&format!("[{} assigned it to you]", named(&change.author)));
    let key = format!("change:{}", change.id);
    let mut item = item(issue, "issue", &key, &digest(&[key.as_bytes()]), text, reader);
    item.author = party(&change.author);
    item.at = change.at;
    answerable(&mut item, issue, None, &[], reader);
    item
}

fn commented(issue: &Issue, comment: &Comment, comments: &[Comment], reader: &Reader) -> Item {
    let read = adf::to_text(&comment.body);
    let mentioned = read.mentions.contains(&reader.me.id) || calls(&read.text, &reader.me);
    let content = digest(&[read.text.as_bytes()]);
    let mut text = Text::default();
    text.part(&read.text, read.hidden, limits::ITEM_TEXT_BYTES_MAX);
    let key = format!("comment:{}", comment.id);
    let mut item = item(issue, "comment", &key, &content, text, reader);
    item.author = party(&comment.author);
    item.at = comment.created;
    if !reader.site.is_empty() {
        item.url = Some(one_line(
            &format!("{}/browse/{}?focusedCommentId={}", reader.site, issue.key, comment.id),
            4096,
        ));
    }
    let audience = comment.audience();
    if !audience.is_empty() {
        // Apart from the public thread: what is said among colleagues must not get into an answer to everybody.
        item.threads = vec![format!("issue:{}:{audience}", issue.id)];
    }
    item.disposition = if reader.is_own(comment) {
        Disposition::Own
    } else if comment.author.app {
        Disposition::NoReply { reason: format!("written by a program: {}", comment.author.name) }
    } else if reader.all || mentioned || reader.concerns_me(issue) {
        Disposition::Work
    } else {
        Disposition::Baseline
    };
    answerable(&mut item, issue, Some(comment), comments, reader);
    item
}

/// An issue that cannot be read: kept for the user, as it came.
#[must_use]
pub fn unreadable(value: &Value, reader: &Reader) -> Item {
    let raw = value.to_string();
    let name = digest(&[raw.as_bytes()]);
    let name = name.get(..16).unwrap_or_default();
    let mut text = Text::default();
    text.part(&raw, Vec::new(), limits::ITEM_TEXT_BYTES_MAX);
    let mut item = item(&Issue::default(), "issue", &format!("issue:?{name}"), name, text, reader);
    item.threads = vec![item.key.clone()];
    item.title = "An issue that cannot be read".to_owned();
    item.url = None;
    let reason = "Jira sent an issue without an id".to_owned();
    item.reply = ReplyWay::Nowhere { reason: reason.clone() };
    item.disposition = Disposition::Quarantined { reason };
    item
}

fn item(issue: &Issue, kind: &str, key: &str, content: &str, text: Text, reader: &Reader) -> Item {
    let summary = one_line(&issue.summary, limits::TITLE_BYTES_MAX.saturating_sub(issue.key.len() + 1));
    let (body, cut) = Cut::to_fit(text.body.trim_end().to_owned());
    let url = format!("{}/browse/{}", reader.site, issue.key);
    let labels = issue.labels.iter().map(|label| one_line(label, limits::LABEL_BYTES_MAX));
    Item {
        key: key.to_owned(),
        revision: content.get(..16).unwrap_or(content).to_owned(),
        identities: vec![key.to_owned()],
        threads: vec![format!("issue:{}", issue.id)],
        kind: kind.to_owned(),
        title: format!("{} {summary}", issue.key).trim().to_owned(),
        author: None,
        at: None,
        url: (!reader.site.is_empty() && !issue.key.is_empty()).then_some(url),
        body,
        hidden: text.hidden,
        attachments: Vec::new(),
        cut,
        labels: labels.take(limits::ITEM_LIST_LEN_MAX).collect(),
        reply: ReplyWay::Nowhere { reason: String::new() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

/// Puts the issue and what was said before below the text of an item.
fn read_along(item: &mut Item, issue: &Issue, comments: &[Comment], reader: &Reader) {
    let mut text = Text { body: std::mem::take(&mut item.body), hidden: std::mem::take(&mut item.hidden) };
    text.line("");
    text.line(&format!("\n## {}", item.title));
    let by = named(if issue.reporter.name.is_empty() { &issue.creator } else { &issue.reporter });
    text.line(&format!("[{}, {}, by {by}]", or(&issue.kind, "issue"), or(&issue.status, "no status")));
    let description = adf::to_text(&issue.description);
    if !description.text.is_empty() {
        text.line("");
        text.part(&description.text, description.hidden, DESCRIPTION_BYTES_MAX);
    }
    // Only what everybody saw who will see the answer.
    let this = comments.iter().find(|comment| item.key == format!("comment:{}", comment.id));
    let audience = this.map(Comment::audience).unwrap_or_default();
    let known = |comment: &&Comment| {
        let theirs = comment.audience();
        (theirs.is_empty() || theirs == audience) && this.is_none_or(|this| this.id != comment.id)
    };
    let mut before: Vec<&Comment> = comments.iter().filter(known).collect();
    before.sort_by_key(|comment| std::cmp::Reverse((comment.created, comment.id)));
    before.truncate(reader.comments);
    if !before.is_empty() {
        text.line("\n## Comments, the newest last");
    }
    for comment in before.into_iter().rev() {
        let you = if reader.me.is(&comment.author) { " (you)" } else { "" };
        let at = comment.created.map(|at| format!(", {at}")).unwrap_or_default();
        text.line(&format!("\n[{}{you}{at}]", named(&comment.author)));
        let read = adf::to_text(&comment.body);
        text.part(&read.text, read.hidden, COMMENT_BYTES_MAX);
    }
    (item.body, item.cut) = Cut::to_fit(text.body.trim_end().to_owned());
    item.hidden = text.hidden;
    item.attachments = issue
        .attachments
        .iter()
        .take(limits::ITEM_LIST_LEN_MAX)
        .map(|(name, media_type, size)| Attachment {
            name: name.clone(),
            media_type: media_type.clone(),
            size_bytes: *size,
        })
        .collect();
}

fn answerable(
    item: &mut Item,
    issue: &Issue,
    comment: Option<&Comment>,
    comments: &[Comment],
    reader: &Reader,
) {
    if comment.is_some_and(|comment| comment.internal) {
        let reason = "the comment is internal, and an answer from here would be seen by the customer; answer it in Jira";
        item.reply = ReplyWay::Nowhere { reason: reason.to_owned() };
        item.warnings.push("an internal comment: what it says is not for the customer".to_owned());
        return;
    }
    let visibility = comment.and_then(|comment| comment.visibility.clone());
    let parent = comment.filter(|_| reader.threads).and_then(|comment| {
        let is_answered = comments.iter().any(|other| other.parent == Some(comment.id));
        comment.parent.or_else(|| is_answered.then_some(comment.id))
    });
    let mut place = format!("{} at {}", issue.key, reader.account);
    if parent.is_some() {
        place.push_str(", in the thread");
    }
    match (&visibility, issue.service_desk) {
        (Some(_), _) => {
            let to = comment.map(Comment::audience).unwrap_or_default();
            place.push_str(&format!(", for {to} only"));
            item.warnings.push(format!("the comment is for {to} only, and so is an answer"));
        }
        (None, true) => {
            place.push_str(", public: the customer sees it");
            item.warnings
                .push("a service-desk request: an answer is public, the customer sees it".to_owned());
        }
        (None, false) => {}
    }
    let handle = Handle { issue: issue.id, key: issue.key.clone(), parent, visibility };
    item.reply = ReplyWay::To(Envelope {
        from: reader.me.name.clone(),
        place,
        thread: serde_json::to_value(handle).unwrap_or_default(),
        ..Envelope::default()
    });
    item.offers = vec![
        Offer::text(
            "transition",
            "Move the issue on",
            "the name of the transition, or of the status it leads to",
        ),
        Offer::text(
            "assign",
            "Assign the issue to a person",
            "the person's name, address or account id, or `me`",
        ),
        Offer::text("label", "Set a label on the issue", "the label, without blanks"),
        Offer::text("unlabel", "Take a label off the issue", "the label"),
    ];
}

/// `[~name]` and `[~accountid:…]` of wiki markup.
fn calls(text: &str, me: &Person) -> bool {
    let named = |name: &str| !name.is_empty() && text.contains(&format!("[~{name}]"));
    named(&me.login) || named(&me.id) || named(&format!("accountid:{}", me.id))
}

fn named(person: &Person) -> &str {
    or(&person.name, "somebody")
}

fn or<'a>(text: &'a str, instead: &'a str) -> &'a str {
    if text.is_empty() { instead } else { text }
}

fn party(person: &Person) -> Option<Party> {
    let address = if person.login.is_empty() { &person.id } else { &person.login };
    let known = !person.name.is_empty() || !address.is_empty();
    known.then(|| Party { name: person.name.clone(), address: one_line(address, 256) })
}

/// The readable text, and what a reader of the page would not see.
#[derive(Default)]
struct Text {
    body: String,
    hidden: Vec<HiddenPart>,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn part(&mut self, text: &str, hidden: Vec<HiddenPart>, bytes_max: usize) {
        let kept = cut(text, bytes_max);
        self.line(kept);
        if kept.len() < text.len() && bytes_max < limits::ITEM_TEXT_BYTES_MAX {
            self.line("[the rest is left out]");
        }
        let known: BTreeSet<String> = self.hidden.iter().map(|part| part.text.clone()).collect();
        self.hidden.extend(hidden.into_iter().filter(|part| !known.contains(&part.text)));
        self.hidden.truncate(limits::ITEM_LIST_LEN_MAX);
    }
}
