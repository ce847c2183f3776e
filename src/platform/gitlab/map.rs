//! To-do items and notes to items. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{Note, Person, Place, Target, Todo};
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Cut, Disposition, HiddenPart, Item, Party, ReplyWay};
use crate::model::text::{cut, digest, one_line};
use crate::model::{limits, marker};
use crate::platform::hygiene::markdown;

/// A description read along; an engine needs the gist, not a specification.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// A comment read along.
const COMMENT_BYTES_MAX: usize = 4 * 1024;

/// Names of people whose mention stays one.
const PEOPLE_MAX: usize = 50;

/// Who reads, and how.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Who the token belongs to.
    pub me: Person,
    /// The server, for people.
    pub host: String,
    /// Comments read along.
    pub comments: usize,
    /// Comments of one's own are news.
    pub own_comments: bool,
}

/// What is said at a place, as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// Newest first, those of the system among them.
    pub notes: Vec<Note>,
    /// Threads by note.
    pub threads: BTreeMap<u64, String>,
    /// Why it cannot be read.
    pub unreadable: Option<String>,
}

/// The handle of an answer: what `deliver` needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    /// Where.
    pub place: Place,
    /// In this thread; a comment of its own without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Seen by members of the project only.
    #[serde(default)]
    pub internal: bool,
    /// The to-do item.
    pub todo: u64,
    /// User names that take part.
    #[serde(default)]
    pub people: Vec<String>,
}

impl Talk {
    fn note(&self, id: u64) -> Option<&Note> {
        self.notes.iter().find(|note| note.id == id)
    }
}

impl Reader {
    fn is_me(&self, person: &Person) -> Option<bool> {
        Some(self.me.id? == person.id?)
    }

    /// Own by the author's id; where no author is told, by the mark. The mark in somebody else's text is a quotation.
    fn disposition(&self, author: &Person, body: &str) -> Disposition {
        let marked = marker::own_key(body).is_some();
        match self.is_me(author) {
            Some(true) if marked || !self.own_comments => Disposition::Own,
            None if marked => Disposition::Own,
            _ => Disposition::Work,
        }
    }
}

/// A to-do item, with what it speaks of and what was said there.
#[must_use]
pub fn todo(todo: &Todo, talk: &Talk, reader: &Reader) -> Item {
    let note = todo.note.and_then(|id| talk.note(id));
    let target = todo.target.clone().unwrap_or_default();
    let mut text = Text::default();
    let why = why(todo);
    if todo.note.is_some() {
        text.part(&todo.body, limits::ITEM_TEXT_BYTES_MAX);
        text.line(&format!("\n[{why}]"));
    } else {
        text.line(&format!("[{why}]"));
    }
    text.target(todo, &target);
    text.comments(talk, note, reader);
    // Not what was read along: that is no news of this item.
    let content = match todo.note {
        Some(_) => digest(&[todo.body.as_bytes()]),
        None => digest(&[target.title.as_bytes(), target.description.as_bytes()]),
    };
    let key = format!("todo:{}", todo.id);
    let mut identities = vec![key.clone()];
    identities.extend(todo.note.map(note_name));
    let mut item = item(todo, &target, &content, text);
    item.key = key;
    item.identities = identities;
    item.author = party(&todo.author);
    item.at = note.and_then(|note| note.created_at).or(todo.created_at);
    item.disposition = match todo.note {
        Some(_) => reader.disposition(&todo.author, &todo.body),
        None => Disposition::Work,
    };
    if note.is_some_and(|note| note.internal) {
        apart(&mut item);
    }
    answerable(&mut item, todo, &target, note, talk, reader);
    item
}

/// What is said among members is another conversation: it must not get into an answer to everybody.
fn apart(item: &mut Item) {
    item.threads.iter_mut().for_each(|name| name.push_str(":internal"));
}

/// A comment that came after its to-do item.
#[must_use]
pub fn note(todo: &Todo, note: &Note, talk: &Talk, reader: &Reader) -> Item {
    let target = todo.target.clone().unwrap_or_default();
    let mut text = Text::default();
    if let Some(position) = &note.position {
        text.line(&format!("[about {position}]"));
    }
    text.part(&note.body, limits::ITEM_TEXT_BYTES_MAX);
    let mut item = item(todo, &target, &digest(&[note.body.as_bytes()]), text);
    item.key = note_name(note.id);
    item.identities = vec![note_name(note.id)];
    item.author = party(&note.author);
    item.at = note.created_at;
    let page = todo.url.as_deref().map(|url| url.split('#').next().unwrap_or(url));
    item.url = page.map(|page| one_line(&format!("{page}#note_{}", note.id), 4096));
    item.disposition = reader.disposition(&note.author, &note.body);
    if note.internal {
        apart(&mut item);
    }
    answerable(&mut item, todo, &target, Some(note), talk, reader);
    item
}

/// A to-do item that cannot be read: kept for the user, as it came.
#[must_use]
pub fn unreadable(value: &Value) -> Item {
    let text = value.to_string();
    let name = digest(&[text.as_bytes()]);
    let name = name.get(..16).unwrap_or_default();
    let bare = Todo::default();
    let mut raw = Text::default();
    raw.part(&text, limits::ITEM_TEXT_BYTES_MAX);
    let mut item = item(&bare, &Target::default(), name, raw);
    item.key = format!("todo:?{name}");
    item.threads = vec![item.key.clone()];
    item.title = "A to-do item that cannot be read".to_owned();
    let reason = "GitLab sent a to-do item without an id".to_owned();
    item.reply = ReplyWay::Nowhere { reason: reason.clone() };
    item.disposition = Disposition::Quarantined { reason };
    item
}

/// What all items have.
fn item(todo: &Todo, target: &Target, content: &str, text: Text) -> Item {
    let (body, cut) = Cut::to_fit(text.body.trim_end().to_owned());
    let of = reference(todo, target);
    let title = if target.title.is_empty() { &todo.body } else { &target.title };
    let (title, _) = markdown::to_text(title);
    let room = limits::TITLE_BYTES_MAX.saturating_sub(of.len() + 3);
    let title = one_line(&title, room);
    let title = match (title.is_empty(), of.is_empty()) {
        (false, false) => format!("{title} ({of})"),
        (false, true) => title,
        (true, false) => of,
        (true, true) => "(no title)".to_owned(),
    };
    let action = if todo.action.is_empty() { None } else { Some(format!("todo:{}", todo.action)) };
    let labels = target.labels.iter().map(|label| one_line(label, limits::LABEL_BYTES_MAX));
    let thread = match (todo.place(), target.id) {
        (Some(place), Some(id)) => format!("{}:{id}", kind(place.sort.word())),
        _ => format!("todo:{}", todo.id),
    };
    Item {
        key: String::new(),
        revision: content.get(..16).unwrap_or(content).to_owned(),
        identities: Vec::new(),
        threads: vec![thread],
        kind: todo.place().map_or_else(|| kind(&todo.target_type), |place| kind(place.sort.word())),
        title,
        author: None,
        at: None,
        url: todo.url.as_deref().map(|url| one_line(url, 4096)).filter(|url| !url.is_empty()),
        body,
        hidden: text.hidden,
        attachments: Vec::new(),
        cut,
        labels: action.into_iter().chain(labels).take(limits::ITEM_LIST_LEN_MAX).collect(),
        reply: ReplyWay::Nowhere { reason: String::new() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

/// How it is answered, and what an answer can do.
fn answerable(
    item: &mut Item,
    todo: &Todo,
    target: &Target,
    note: Option<&Note>,
    talk: &Talk,
    reader: &Reader,
) {
    let Some(place) = todo.place() else {
        let what = if todo.target.is_none() {
            "what the to-do item speaks of was removed or cannot be seen".to_owned()
        } else {
            format!(
                "answers go to issues and merge requests of projects, and this is of the kind {}",
                item.kind
            )
        };
        item.reply = ReplyWay::Nowhere { reason: what };
        return;
    };
    if let Some(why) = &talk.unreadable {
        let reason = format!("its comments cannot be read: {why}");
        item.reply = ReplyWay::Nowhere { reason };
        return;
    }
    let thread = note.and_then(|note| talk.threads.get(&note.id)).cloned();
    let internal = note.is_some_and(|note| note.internal);
    if note.is_some_and(|note| note.threaded) && thread.is_none() {
        item.warnings.push("its thread was not found; an answer is a comment of its own".to_owned());
    }
    if internal {
        item.warnings
            .push("the comment is internal: an answer is seen by members of the project only".to_owned());
    }
    let mut what = format!("{} {}", place.sort.word(), reference(todo, target));
    what.push_str(&format!(" at {}", reader.host));
    what.push_str(if thread.is_some() { ", in the thread" } else { "" });
    what.push_str(if internal { ", internal" } else { "" });
    let handle =
        Handle { place, thread, internal, todo: todo.id, people: people(todo, target, talk, reader) };
    item.reply = ReplyWay::To(Envelope {
        from: reader.me.username.clone(),
        place: what,
        thread: serde_json::to_value(handle).unwrap_or_default(),
        ..Envelope::default()
    });
    item.offers = offers(place, target);
}

fn offers(place: Place, target: &Target) -> Vec<Offer> {
    let word = place.sort.word();
    let mut offers = vec![
        Offer::text("label", &format!("Set a label on the {word}"), "the label's name"),
        Offer::text("unlabel", &format!("Take a label off the {word}"), "the label's name"),
        Offer::text("assign", &format!("Assign the {word} to a person"), "the person's user name"),
    ];
    match target.state.as_str() {
        "opened" => offers.push(Offer::plain("close", &format!("Close the {word}"))),
        "closed" => offers.push(Offer::plain("reopen", &format!("Open the {word} again"))),
        _ => {}
    }
    offers
}

/// User names that take part, without one's own: an answer that calls its own author would come back as a to-do item.
fn people(todo: &Todo, target: &Target, talk: &Talk, reader: &Reader) -> Vec<String> {
    let notes = talk.notes.iter().map(|note| &note.author);
    let all = [&todo.author, &target.author].into_iter().chain(&target.people).chain(notes);
    let others = all.filter(|person| !person.username.is_empty() && reader.is_me(person) != Some(true));
    let names: BTreeSet<&str> = others.map(|person| person.username.as_str()).collect();
    names.into_iter().take(PEOPLE_MAX).map(str::to_owned).collect()
}

/// `group/project#12`.
fn reference(todo: &Todo, target: &Target) -> String {
    let of = todo.project.as_ref().map(|(_, path)| path.clone()).or_else(|| todo.group.clone());
    let of = of.unwrap_or_default();
    match (target.iid, todo.place()) {
        (Some(iid), Some(place)) => format!("{of}{}{iid}", place.sort.sign()),
        (Some(iid), None) => format!("{of} {iid}").trim_start().to_owned(),
        (None, _) => of,
    }
}

/// "Kim Lee mentioned you", as far as the reason is known.
fn why(todo: &Todo) -> String {
    let who = if todo.author.name.is_empty() { "somebody" } else { &todo.author.name };
    match todo.action.as_str() {
        "mentioned" => format!("{who} mentioned you"),
        "directly_addressed" => format!("{who} addressed you"),
        "assigned" => format!("{who} assigned it to you"),
        "review_requested" => format!("{who} asked you for a review"),
        "approval_required" => format!("{who} needs your approval"),
        "build_failed" => "a pipeline failed".to_owned(),
        "unmergeable" => "it cannot be merged".to_owned(),
        "marked" => "you put it on your list".to_owned(),
        "" => "GitLab put it on your list".to_owned(),
        other => format!("GitLab put it on your list: {}", other.replace('_', " ")),
    }
}

/// `merge-request`, `design-management-design`.
fn kind(word: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in word.chars().take(64) {
        let starts = c.is_ascii_uppercase() && before.is_ascii_lowercase();
        if (starts || !c.is_ascii_alphanumeric()) && !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    if out.is_empty() { "todo".to_owned() } else { out }
}

fn note_name(id: u64) -> String {
    format!("note:{id}")
}

fn party(person: &Person) -> Option<Party> {
    let known = !person.name.is_empty() || !person.username.is_empty();
    known.then(|| Party { name: person.name.clone(), address: person.username.clone() })
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

    fn part(&mut self, markdown: &str, bytes_max: usize) {
        let (text, hidden) = markdown::to_text(markdown);
        let kept = cut(text.trim(), bytes_max);
        self.line(kept);
        if kept.len() < text.trim().len() && bytes_max < limits::ITEM_TEXT_BYTES_MAX {
            self.line("[the rest is left out]");
        }
        // Our own mark is no secret message.
        let foreign = hidden.into_iter().filter(|part| !marker::is_mark(&part.text));
        self.hidden.extend(foreign);
        self.hidden.truncate(limits::ITEM_LIST_LEN_MAX);
    }

    fn target(&mut self, todo: &Todo, target: &Target) {
        let Some(place) = todo.place() else {
            self.part(&target.description, DESCRIPTION_BYTES_MAX);
            return;
        };
        let mut head = format!("\n## The {} {}: ", place.sort.word(), reference(todo, target));
        head.push_str(&one_line(&target.title, limits::TITLE_BYTES_MAX));
        self.line(&head);
        let by = &target.author.username;
        if !by.is_empty() {
            let state = if target.state.is_empty() { String::new() } else { format!(", {}", target.state) };
            self.line(&format!("[by @{by}{state}]"));
        }
        if !target.description.trim().is_empty() {
            self.line("");
            self.part(&target.description, DESCRIPTION_BYTES_MAX);
        }
    }

    /// Internal ones only below an internal one.
    fn comments(&mut self, talk: &Talk, answered: Option<&Note>, reader: &Reader) {
        let (except, internal) = (answered.map(|note| note.id), answered.is_some_and(|note| note.internal));
        let seen = |note: &&Note| !note.system && Some(note.id) != except && (internal || !note.internal);
        let people = talk.notes.iter().filter(seen);
        let mut newest: Vec<&Note> = people.collect();
        newest.sort_by_key(|note| std::cmp::Reverse((note.created_at, note.id)));
        newest.truncate(reader.comments);
        if newest.is_empty() {
            return;
        }
        self.line("\n## Comments, the newest last");
        for note in newest.into_iter().rev() {
            let you = if reader.is_me(&note.author) == Some(true) { " (you)" } else { "" };
            let at = note.created_at.map(|at| format!(", {at}")).unwrap_or_default();
            let about =
                note.position.as_ref().map(|position| format!(", about {position}")).unwrap_or_default();
            let who = match note.author.username.as_str() {
                "" => "somebody".to_owned(),
                name => format!("@{name}"),
            };
            self.line(&format!("\n[{who}{you}{at}{about}]"));
            self.part(&note.body, COMMENT_BYTES_MAX);
        }
    }
}
