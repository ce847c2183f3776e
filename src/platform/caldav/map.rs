//! Meetings to items. Pure.

use jiff::tz::TimeZone;
use serde_json::json;

use super::meeting::{Meeting, shown};
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Cut, Disposition, Item, ReplyWay};
use crate::model::limits;
use crate::model::text::{digest, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene;

/// What the map needs to know beside the meeting.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The path of the event, as it is asked for.
    pub path: &'a str,
    /// The path of its calendar, as it is asked for.
    pub calendar: &'a str,
    /// The calendar for people.
    pub title: &'a str,
    /// The zone people are told times in.
    pub zone: &'a TimeZone,
}

/// What is new about a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// We are asked and have not answered.
    Invitation,
    /// It has another time or place than we knew.
    Change,
    /// It was called off.
    Cancellation,
    /// It begins soon.
    Reminder(Timestamp, Timestamp),
}

impl News {
    /// The word of the key `take`, and the kind of the item.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Change => "change",
            Self::Cancellation => "cancellation",
            Self::Reminder(..) => "reminder",
        }
    }
}

/// The key of a meeting's item: the same until it becomes another meeting by time, place or being called off.
#[must_use]
pub fn key(meeting: &Meeting) -> String {
    let name = digest(&[meeting.uid.as_bytes(), meeting.recurrence.as_bytes()]);
    format!("{}.{}", name.get(..16).unwrap_or_default(), meeting.sign)
}

/// The item. `disposition` is what becomes of it.
#[must_use]
pub fn item(meeting: &Meeting, news: News, disposition: Disposition, facts: Facts<'_>) -> Item {
    let summary = if meeting.summary.is_empty() { "(no title)" } else { &meeting.summary };
    let time = match news {
        News::Reminder(begin, end) => Some((begin, end)),
        _ => meeting.next.first().copied(),
    };
    let when = time.map_or_else(
        || "at a time that was not found".to_owned(),
        |(begin, end)| shown(begin, end, meeting.all_day, facts.zone),
    );
    let word = match news {
        News::Invitation => "Invitation",
        News::Change => "Changed",
        News::Cancellation => "Called off",
        News::Reminder(..) => "Soon",
    };
    let (description, mut hidden) = readable(&meeting.description);
    hidden.truncate(limits::ITEM_LIST_LEN_MAX);
    let (body, cut) = Cut::to_fit(body(meeting, summary, &when, &description));
    let thread = format!("uid {}", digest(&[meeting.uid.as_bytes()]).get(..32).unwrap_or_default());
    let answer = meeting.mine.as_ref().map(|(_, answer)| answer.as_str()).unwrap_or_default();
    let (key, threads) = match news {
        News::Reminder(begin, _) => {
            let key =
                format!("{} at {begin}", digest(&[meeting.uid.as_bytes()]).get(..16).unwrap_or_default());
            (key.clone(), vec![key])
        }
        _ => {
            let key = key(meeting);
            (key.clone(), vec![key, thread])
        }
    };
    let revision = match news {
        // Whatever is said of it later: one reminder of one occurrence.
        News::Reminder(..) => key.clone(),
        _ => digest(&[meeting.summary.as_bytes(), meeting.description.as_bytes(), answer.as_bytes()]),
    };
    let asked = meeting.mine.is_some() && !meeting.by_us && !meeting.cancelled;
    let mut offers = Vec::new();
    if asked {
        let answers = ["accepted", "declined", "tentative"];
        offers.push(Offer::one_of(
            "respond",
            "Answer the invitation; a text goes along as a comment",
            &answers,
        ));
    }
    offers.push(Offer::text(
        "create",
        "Put an event of your own into the calendar",
        "2026-12-31 14:00 30m Title",
    ));
    Item {
        revision: revision.get(..32).unwrap_or(&revision).to_owned(),
        identities: Vec::new(),
        threads,
        key,
        kind: news.word().to_owned(),
        title: one_line(&format!("{word}: {summary}, {when}"), limits::TITLE_BYTES_MAX),
        author: meeting.organizer.clone(),
        at: meeting.written,
        url: None,
        body,
        hidden,
        attachments: Vec::new(),
        cut,
        labels: Some(answer.to_lowercase()).filter(|answer| !answer.is_empty()).into_iter().collect(),
        reply: ReplyWay::To(envelope(meeting, summary, asked, facts)),
        offers,
        disposition,
        warnings: Vec::new(),
    }
}

/// What is left of a meeting that is no longer in the calendar. Never makes a case; a case that has it learns of it.
#[must_use]
pub fn removed(key: &str) -> Item {
    Item {
        key: key.to_owned(),
        revision: "removed".to_owned(),
        identities: Vec::new(),
        threads: vec![key.to_owned()],
        kind: "removal".to_owned(),
        title: "(removed from the calendar)".to_owned(),
        author: None,
        at: None,
        url: None,
        body: "(This meeting was removed from the calendar.)".to_owned(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: vec!["removed".to_owned()],
        reply: ReplyWay::Nowhere { reason: "the meeting was removed from the calendar".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Baseline,
        warnings: Vec::new(),
    }
}

/// An object of a calendar that cannot be read.
#[must_use]
pub fn unreadable(path: &str, etag: &str, why: &str, disposition: Disposition) -> Item {
    let mark = digest(&[path.as_bytes(), etag.as_bytes()]);
    Item {
        key: format!("unreadable.{}", mark.get(..16).unwrap_or_default()),
        kind: "unreadable".to_owned(),
        title: one_line(&format!("An event that cannot be read: {path}"), limits::TITLE_BYTES_MAX),
        body: one_line(why, 1024),
        reply: ReplyWay::Nowhere { reason: "it cannot be read".to_owned() },
        labels: Vec::new(),
        disposition,
        ..removed(path)
    }
}

fn envelope(meeting: &Meeting, summary: &str, asked: bool, facts: Facts<'_>) -> Envelope {
    let organizer = meeting.organizer.as_ref().filter(|_| asked).map(|organizer| organizer.address.clone());
    let mine = meeting.mine.as_ref().map(|(address, _)| address.clone()).unwrap_or_default();
    let place = if asked {
        format!("the answer stands in the calendar {}; its server tells whoever asks", facts.title)
    } else {
        format!("the calendar {}", facts.title)
    };
    Envelope {
        from: mine.clone(),
        to: organizer.into_iter().filter(|address| !address.is_empty()).collect(),
        subject: summary.to_owned(),
        place,
        thread: json!({
            "event": facts.path,
            "calendar": facts.calendar,
            "recurrence": meeting.recurrence,
            "sign": meeting.sign,
            "me": if asked { mine } else { String::new() },
        }),
        ..Envelope::default()
    }
}

/// Descriptions are plain text by the standard; some programs write HTML all the same.
fn readable(description: &str) -> (String, Vec<crate::model::item::HiddenPart>) {
    let start = description.trim_start().get(..64.min(description.trim_start().len())).unwrap_or_default();
    let html = ["<html", "<p>", "<div", "<br", "<b>", "<span", "<a "]
        .iter()
        .any(|tag| start.to_lowercase().contains(tag));
    if html { hygiene::html::to_text(description) } else { hygiene::hidden_in_text(description) }
}

fn body(meeting: &Meeting, summary: &str, when: &str, description: &str) -> String {
    let mut lines = vec![summary.to_owned(), format!("When: {when}")];
    if meeting.recurs {
        lines.push("It recurs; this is the next time.".to_owned());
    }
    if !meeting.recurrence.is_empty() {
        lines.push("It is one of a series and differs from the rest.".to_owned());
    }
    if meeting.cancelled {
        lines.push("It was called off.".to_owned());
    }
    if !meeting.location.is_empty() {
        lines.push(format!("Where: {}", meeting.location));
    }
    let named = |name: &str, address: &str| match (name, address) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    };
    if let Some(organizer) = &meeting.organizer {
        lines.push(format!("Organizer: {}", named(&organizer.name, &organizer.address)));
    }
    for (person, answer) in meeting.others.iter().take(20) {
        lines.push(format!("With: {} ({})", named(&person.name, &person.address), spoken(answer)));
    }
    if meeting.others.len() > 20 {
        lines.push(format!("With: {} more", meeting.others.len() - 20));
    }
    if let Some((_, answer)) = &meeting.mine {
        lines.push(format!("Your answer: {}", spoken(answer)));
    }
    let description = description.trim();
    if !description.is_empty() {
        lines.extend([String::new(), description.to_owned()]);
    }
    lines.join("\n")
}

fn spoken(answer: &str) -> String {
    match answer {
        "NEEDS-ACTION" => "none yet".to_owned(),
        other => one_line(&other.to_lowercase(), 32),
    }
}
