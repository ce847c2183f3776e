//! Notifications and comments to items. Pure.
//!
//! A notification about a comment and the comment itself are one item, whichever stream told of it first.

use serde_json::Value;

use super::place::Place;
use super::wire::{Comment, Issue, Named, Notification, Who, at};
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Cut, Disposition, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{cut, digest, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene;

/// What the map needs to know of the account.
#[derive(Clone, Debug)]
pub struct View {
    /// Our own id.
    pub viewer: String,
    /// Our own name, for people.
    pub name: String,
    /// The workspace, for people.
    pub workspace: String,
    /// What was made before this is history.
    pub history: Timestamp,
}

/// A node of the inbox.
#[must_use]
pub fn notification(value: &Value, view: &View) -> Item {
    let Ok(mut node) = serde_json::from_value::<Notification>(value.clone()) else {
        return unreadable(value, "notification");
    };
    let Some(id) = node.id.clone() else { return unreadable(value, "notification") };
    let kind = node.kind.clone().unwrap_or_default();
    let came = at(node.created_at.as_ref()).max(at(node.unsnoozed_at.as_ref()));
    if kind.ends_with("Reaction") {
        return reaction(&id, &node, came, view);
    }
    if let Some(mut comment) = node.comment.take().filter(|comment| comment.id.is_some()) {
        comment.issue = comment.issue.or(node.issue.take());
        comment.project = comment.project.or(node.project.take());
        return said(comment, vec![kind], came, view);
    }
    let mut item = blank(format!("notification:{id}"), came);
    item.kind = match kind.as_str() {
        word if word.contains("Mention") => "mention",
        word if word.contains("AssignedToYou") => "assignment",
        word if word.contains("Status") => "status",
        word if word.contains("Reminder") || word.contains("Due") => "reminder",
        _ => "notification",
    }
    .to_owned();
    item.author = party(&[node.actor.as_ref(), node.external_user_actor.as_ref(), node.bot_actor.as_ref()]);
    item.labels.push(kind.clone());
    let issue = node.issue.as_ref().filter(|issue| issue.id.is_some());
    let by = item.author.as_ref().map(|author| format!(" by {}", author.name)).unwrap_or_default();
    let what = format!("{}{by}", words(&kind));
    if let Some(issue) = issue {
        fill_from_issue(&mut item, issue);
        let place = Place { on: "issueId".into(), id: issue.id.clone().unwrap_or_default(), parent: None };
        answerable(&mut item, &place, issue.identifier.as_deref().unwrap_or("the issue"), view);
        let standing = standing(issue);
        set_body(
            &mut item,
            &format!("{what}\n{standing}\n{}", issue.description.as_deref().unwrap_or_default()),
        );
    } else {
        let project = node.project.as_ref().and_then(|project| project.name.as_deref());
        item.url = node.project.as_ref().and_then(|project| project.url.clone());
        item.title = title(&[project.unwrap_or_default(), &words(&kind)]);
        set_body(&mut item, &what);
        let typename = one_line(node.typename.as_deref().unwrap_or("unknown"), 80);
        let reason = format!("a notification of the kind {typename} has no place for a comment");
        item.reply = ReplyWay::Nowhere { reason: reason.clone() };
        item.disposition = Disposition::NoReply { reason };
    }
    if kind.contains("Unassigned") {
        item.disposition = Disposition::NoReply { reason: "it only tells that you are rid of it".into() };
    }
    if node.snoozed_until_at.is_some() {
        item.labels.push("snoozed".into());
    }
    let parts =
        [kind.as_bytes(), item.body.as_bytes(), node.unsnoozed_at.as_deref().unwrap_or("").as_bytes()];
    item.revision = short(&parts);
    history(&mut item, came.or(at(node.updated_at.as_ref())), view);
    item
}

/// A node of the comments.
#[must_use]
pub fn comment(value: &Value, view: &View) -> Item {
    match serde_json::from_value::<Comment>(value.clone()) {
        Ok(comment) if comment.id.is_some() => said(comment, Vec::new(), None, view),
        _ => unreadable(value, "comment"),
    }
}

fn said(comment: Comment, labels: Vec<String>, told: Option<Timestamp>, view: &View) -> Item {
    let id = comment.id.clone().unwrap_or_default();
    let made = at(comment.created_at.as_ref());
    let mut item = blank(format!("comment:{id}"), made);
    item.kind = "comment".to_owned();
    item.identities = vec![id];
    item.labels = labels;
    item.author = party(&[comment.user.as_ref(), comment.external_user.as_ref(), comment.bot_actor.as_ref()]);
    let project = comment.project.as_ref().and_then(|project| project.name.as_deref());
    if let Some(issue) = &comment.issue {
        fill_from_issue(&mut item, issue);
    } else {
        item.title = title(&[project.unwrap_or("A comment")]);
    }
    item.url = comment.url.clone().or(item.url);
    let text = comment.body.as_deref().unwrap_or_default();
    let quoted = comment.quoted_text.as_deref().map(|quoted| {
        let lines = cut(quoted, 2000).lines().map(|line| format!("> {line}\n")).collect::<String>();
        format!("{lines}\n")
    });
    set_body(&mut item, &format!("{}{text}", quoted.unwrap_or_default()));
    item.revision = short(&[text.as_bytes()]);
    match Place::of(&comment) {
        Some(place) => {
            if !item.threads.contains(&place.thread()) {
                item.threads.push(place.thread());
            }
            let name = comment.issue.as_ref().and_then(|issue| issue.identifier.clone());
            answerable(&mut item, &place, name.as_deref().or(project).unwrap_or("the thread"), view);
        }
        None => {
            let reason = "it stands on something that takes no comments here".to_owned();
            item.reply = ReplyWay::Nowhere { reason };
        }
    }
    let by_us = comment.user.as_ref().and_then(|user| user.id.as_ref()) == Some(&view.viewer);
    if comment.archived_at.is_some() {
        // Gone at the source: whoever knows it hears of it, nobody else does.
        item.revision = "deleted".to_owned();
        item.warnings.push("it was deleted".to_owned());
        item.reply = ReplyWay::Nowhere { reason: "the comment was deleted".to_owned() };
        item.offers.clear();
        item.disposition = Disposition::Baseline;
    } else if by_us {
        item.disposition = Disposition::Own;
    } else if comment.user.is_none() && comment.external_user.is_none() && comment.bot_actor.is_some() {
        item.disposition = Disposition::NoReply { reason: "an integration wrote it".to_owned() };
    }
    history(&mut item, made.max(told).or(at(comment.updated_at.as_ref())), view);
    item
}

fn reaction(id: &str, node: &Notification, came: Option<Timestamp>, view: &View) -> Item {
    let mut item = blank(format!("notification:{id}"), came);
    item.kind = "reaction".to_owned();
    item.author = party(&[node.actor.as_ref(), node.external_user_actor.as_ref(), node.bot_actor.as_ref()]);
    if let Some(issue) = &node.issue {
        fill_from_issue(&mut item, issue);
    }
    let emoji = one_line(node.reaction_emoji.as_deref().unwrap_or("a reaction"), 80);
    set_body(&mut item, &format!("reacted with {emoji}"));
    item.revision = short(&[emoji.as_bytes()]);
    let reason = "a reaction asks for no answer".to_owned();
    item.reply = ReplyWay::Nowhere { reason: reason.clone() };
    item.disposition = Disposition::NoReply { reason };
    history(&mut item, came, view);
    item
}

/// What was there before the connector is no work; what cannot be dated is.
fn history(item: &mut Item, made: Option<Timestamp>, view: &View) {
    let old = made.is_some_and(|made| made < view.history);
    if old && matches!(item.disposition, Disposition::Work | Disposition::NoReply { .. }) {
        item.disposition = Disposition::Baseline;
    }
}

fn answerable(item: &mut Item, place: &Place, name: &str, view: &View) {
    let what = if place.parent.is_some() { "reply" } else { "comment" };
    let name = one_line(name, 100);
    item.reply = ReplyWay::To(Envelope {
        from: view.name.clone(),
        place: format!("a {what} on {name} in Linear ({})", view.workspace),
        thread: place.handle(),
        ..Envelope::default()
    });
    if place.on == "issueId" {
        item.offers = vec![
            Offer::text("state", "Move the issue to a state of its team", "the state's name, such as Done"),
            Offer::text("assign", "Assign the issue", "me, or a member's mail address or name"),
            Offer::text("label", "Add a label to the issue", "the label's name"),
        ];
    }
}

fn fill_from_issue(item: &mut Item, issue: &Issue) {
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    item.title = title(&[&part(&issue.identifier), &part(&issue.title)]);
    item.url = issue.url.clone();
    let named = issue.labels.iter().flat_map(|labels| &labels.nodes);
    item.labels.extend(named.filter_map(|label| label.name.as_ref()).map(|name| one_line(name, 100)));
    item.labels.truncate(limits::ITEM_LIST_LEN_MAX);
    if let Some(id) = &issue.id {
        item.threads.push(format!("issue:{id}"));
    }
    if issue.archived_at.is_some() {
        item.warnings.push("the issue is archived".to_owned());
    }
}

fn standing(issue: &Issue) -> String {
    let name = |named: &Option<Named>| named.as_ref().and_then(|named| named.name.clone());
    let state = name(&issue.state).map(|state| format!("State: {state}. "));
    let assignee =
        name(&issue.assignee).map_or("Nobody is assigned.".into(), |who| format!("Assigned: {who}."));
    format!("{}{assignee}\n", state.unwrap_or_default())
}

fn blank(key: String, at: Option<Timestamp>) -> Item {
    Item {
        revision: String::new(),
        identities: Vec::new(),
        threads: Vec::new(),
        key,
        kind: String::new(),
        title: String::new(),
        author: None,
        at,
        url: None,
        body: String::new(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::Nowhere { reason: "there is no place for a comment".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

fn set_body(item: &mut Item, text: &str) {
    let (text, hidden) = hygiene::hidden_in_text(text);
    (item.body, item.cut) = Cut::to_fit(text.trim().to_owned());
    item.hidden = hidden;
}

fn title(parts: &[&str]) -> String {
    let joined = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    let line = one_line(&joined, limits::TITLE_BYTES_MAX);
    if line.is_empty() { "(no title)".to_owned() } else { line }
}

/// The first that there is.
fn party(candidates: &[Option<&Who>]) -> Option<Party> {
    let who = candidates.iter().flatten().next()?;
    let line = |text: &Option<String>| one_line(text.as_deref().unwrap_or_default(), 256);
    let party = Party { name: line(&who.name), address: line(&who.email) };
    (party != Party::default()).then_some(party)
}

/// `issueAssignedToYou`: "issue assigned to you".
fn words(kind: &str) -> String {
    let mut out = String::new();
    for letter in kind.chars() {
        if letter.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(letter.to_ascii_lowercase());
    }
    let line = one_line(&out, 120);
    if line.is_empty() { "notification".to_owned() } else { line }
}

fn short(parts: &[&[u8]]) -> String {
    digest(parts).get(..16).unwrap_or_default().to_owned()
}

/// Kept for the user with what was sent, so that nothing is lost.
fn unreadable(value: &Value, what: &str) -> Item {
    let raw = value.to_string();
    let id = value.get("id").and_then(Value::as_str).map(|id| one_line(id, 100));
    let key =
        id.map_or_else(|| format!("unreadable:{}", short(&[raw.as_bytes()])), |id| format!("{what}:{id}"));
    let mut item = blank(key, None);
    item.kind = what.to_owned();
    item.title = format!("A {what} that could not be read");
    item.revision = short(&[raw.as_bytes()]);
    set_body(&mut item, &raw);
    let reason = format!("Linear sent a {what} in a shape that is not known");
    item.disposition = Disposition::Quarantined { reason };
    item
}

#[cfg(test)]
mod tests;
