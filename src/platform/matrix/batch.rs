//! One answer of `/sync` on its way into pages. Pure: what it says, and which stretches of history it leaves out.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::cursor::Position;
use super::event::{Event, text};
use super::room::Rooms;
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// What does not change from look to look.
#[derive(Clone, Debug)]
pub struct Who {
    /// Our user id.
    pub me: String,
    /// The allow-list; empty: all rooms.
    pub rooms: Vec<String>,
}

impl Who {
    fn allows(&self, room: &str) -> bool {
        self.rooms.is_empty() || self.rooms.iter().any(|allowed| allowed == room)
    }
}

/// What is wanted of the time before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All behind this position of ours.
    News,
    /// Nothing: a silent snapshot.
    Nothing,
    /// What is not older than this.
    Since(Timestamp),
}

/// A stretch of a room's history to be read, newest first.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The room.
    pub room: String,
    /// The next question begins here.
    pub from: String,
    /// Our position; `None` on a first look.
    pub to: Option<String>,
    /// Older events are not wanted.
    oldest: i64,
    /// What was read, newest first.
    events: Vec<Event>,
    bytes: usize,
    done: bool,
}

/// An answer of `/sync` that is not yet all taken.
#[derive(Debug, Default)]
pub struct Batch {
    /// The position it was asked from.
    pub before: String,
    /// The position behind it, with what is remembered.
    pub after: Position,
    /// For status.
    pub notes: Vec<String>,
    gaps: VecDeque<Gap>,
    timelines: Vec<(String, Vec<Event>)>,
    /// In order, once there are no gaps.
    pub events: VecDeque<(String, Event)>,
    /// Senders of the messages in it, by event id.
    senders: HashMap<String, String>,
    /// The newest replacement of each message by its own author: (target, sender) → event id.
    newest: HashMap<(String, String), (i64, String)>,
    /// Messages that are replaced further down.
    kept: HashMap<String, Event>,
}

impl Batch {
    /// Reads an answer. `None`: it has no position, so it is none.
    #[must_use]
    pub fn read(
        answer: &Value,
        before: Position,
        wanted: Wanted,
        who: &Who,
        rooms: &mut Rooms,
    ) -> Option<Self> {
        let next = text(answer.get("next_batch")).filter(|next| !next.is_empty())?.to_owned();
        let mut batch = Self { before: before.since.clone(), after: before, ..Self::default() };
        batch.after.since = next;
        for event in events(answer.get("account_data")) {
            if text(event.get("type")) == Some("m.direct") {
                rooms.mark_direct(event.get("content").unwrap_or(&Value::Null));
            }
        }
        let section =
            |name: &str| answer.get("rooms").and_then(|rooms| rooms.get(name)).and_then(Value::as_object);
        for (id, room) in section("join").into_iter().flatten().filter(|(id, _)| who.allows(id)) {
            batch.joined(id, room, wanted, who, rooms);
        }
        for (id, room) in section("invite").into_iter().flatten().filter(|(id, _)| who.allows(id)) {
            batch.invited(id, room, who);
        }
        batch.settle_if_whole();
        Some(batch)
    }

    fn joined(&mut self, id: &str, answer: &Value, wanted: Wanted, who: &Who, rooms: &mut Rooms) {
        let room = rooms.of(id);
        let summary = answer.get("summary");
        let count = |name: &str| summary.and_then(|summary| summary.get(name)).and_then(Value::as_u64);
        if let Some(joined) = count("m.joined_member_count") {
            self.after.pair(id, joined + count("m.invited_member_count").unwrap_or(0) == 2);
        }
        // The state behind the timeline where the server knows that, else the one before it.
        for event in events(answer.get("state_after").or_else(|| answer.get("state"))) {
            if let Some(event) = Event::read(event) {
                room.learn(&event);
            }
        }
        let timeline = answer.get("timeline");
        let mut unreadable = 0usize;
        let mut told: Vec<Event> = Vec::new();
        for event in events(timeline) {
            match Event::read(event) {
                Some(event) => told.push(event),
                None => unreadable += 1,
            }
        }
        told.iter().for_each(|event| room.learn(event));
        let encrypted = room.encrypted || told.iter().any(|event| event.kind == "m.room.encrypted");
        room.encrypted = encrypted;
        if encrypted && self.after.tell(&format!("encrypted {id}")) {
            self.notes.push(format!("the room {} is encrypted; its messages cannot be read", room.title(id)));
        }
        if wanted == Wanted::Nothing {
            return;
        }
        if unreadable > 0 {
            let title = room.title(id);
            self.notes.push(format!("{unreadable} events of {title} have no id or type and were left out"));
        }
        let begun = told.iter().rposition(|event| event.begins(&who.me));
        let limited =
            timeline.and_then(|timeline| timeline.get("limited")).and_then(Value::as_bool) == Some(true);
        let from = timeline.and_then(|timeline| text(timeline.get("prev_batch")));
        let oldest = match wanted {
            Wanted::Since(oldest) => oldest.0,
            Wanted::News | Wanted::Nothing => i64::MIN,
        };
        let past = matches!(wanted, Wanted::Since(_));
        if let (None, true, Some(from)) = (begun, limited || past, from) {
            self.gaps.push_back(Gap {
                room: id.to_owned(),
                from: from.to_owned(),
                to: (!past).then(|| self.before.clone()),
                oldest,
                events: Vec::new(),
                bytes: 0,
                done: false,
            });
        }
        told.drain(..begun.unwrap_or(0));
        told.retain(|event| event.at >= oldest);
        self.timelines.push((id.to_owned(), told));
    }

    fn invited(&mut self, id: &str, answer: &Value, who: &Who) {
        if !self.after.tell(&format!("invite {id}")) {
            return;
        }
        let state: Vec<&Value> = events(answer.get("invite_state")).collect();
        let of = |kind: &str| state.iter().find(move |event| text(event.get("type")) == Some(kind));
        let name = of("m.room.name").and_then(|event| event.get("content"));
        let name = name.and_then(|content| text(content.get("name"))).unwrap_or(id);
        let ours = state.iter().find(|event| {
            text(event.get("type")) == Some("m.room.member") && text(event.get("state_key")) == Some(&who.me)
        });
        let by = ours.and_then(|event| text(event.get("sender"))).unwrap_or("somebody");
        let (by, name) = (one_line(by, 255), one_line(name, 128));
        self.notes
            .push(format!("{by} invites you to the room {name}; accept or decline in your Matrix client"));
    }

    /// The stretch to be read next.
    #[must_use]
    pub fn gap(&self) -> Option<&Gap> {
        self.gaps.front()
    }

    /// Takes in a page of the first gap, newest first; `rooms` learns names from the state that came along.
    pub fn fill(&mut self, page: &Value, who: &Who, rooms: &mut Rooms) {
        let Some(gap) = self.gaps.front_mut() else { return };
        for event in page.get("state").and_then(Value::as_array).into_iter().flatten().filter_map(Event::read)
        {
            rooms.of(&gap.room).learn(&event);
        }
        for value in page.get("chunk").and_then(Value::as_array).into_iter().flatten() {
            let Some(event) = Event::read(value) else { continue };
            if event.begins(&who.me) || event.at < gap.oldest {
                gap.done = true;
                break;
            }
            gap.bytes += value.to_string().len();
            if gap.events.len() >= limits::MATRIX_GAP_EVENTS_MAX || gap.bytes > limits::MATRIX_GAP_BYTES_MAX {
                gap.done = true;
                let (title, read) = (rooms.of(&gap.room).title(&gap.room).to_owned(), gap.events.len());
                self.notes.push(format!(
                    "more messages came in {title} than are read at once: the newest {read} before those just told \
                     were taken, older ones were left out"
                ));
                break;
            }
            gap.events.push(event);
        }
        // No end, or the same one again: there is nothing further.
        match text(page.get("end")) {
            Some(end) if !gap.done && end != gap.from => end.clone_into(&mut gap.from),
            _ => gap.done = true,
        }
        if gap.done
            && let Some(Gap { room, events, .. }) = self.gaps.pop_front()
            && let Some((_, timeline)) = self.timelines.iter_mut().find(|(id, _)| *id == room)
        {
            timeline.splice(0..0, events.into_iter().rev());
        }
        self.settle_if_whole();
    }

    /// Everything is there: one list, without repeats.
    fn settle_if_whole(&mut self) {
        if !self.gaps.is_empty() {
            return;
        }
        let mut there = HashSet::new();
        for (room, events) in std::mem::take(&mut self.timelines) {
            for event in events {
                if !there.insert(event.id.clone()) {
                    continue;
                }
                self.senders.insert(event.id.clone(), event.sender.clone());
                if let Some(target) = event.relation().replaces {
                    let (at, id) = (event.at, event.id.clone());
                    let newest = self.newest.entry((target, event.sender.clone())).or_default();
                    if (at, &id) > (newest.0, &newest.1) {
                        *newest = (at, id);
                    }
                }
                self.events.push_back((room.clone(), event));
            }
        }
    }

    /// Who sent an event of this batch.
    #[must_use]
    pub fn sender(&self, event: &str) -> Option<&str> {
        self.senders.get(event).map(String::as_str)
    }

    /// Keeps a message for its replacement, if the batch holds one.
    pub fn keep(&mut self, event: &Event) {
        if self.newest.contains_key(&(event.id.clone(), event.sender.clone())) {
            self.kept.insert(event.id.clone(), event.clone());
        }
    }

    /// A message that was kept.
    #[must_use]
    pub fn kept(&self, id: &str) -> Option<&Event> {
        self.kept.get(id)
    }

    /// A later replacement of the same message stands in the batch.
    #[must_use]
    pub fn is_outdated(&self, event: &Event, target: &str) -> bool {
        let newest = self.newest.get(&(target.to_owned(), event.sender.clone()));
        newest.is_some_and(|(_, id)| *id != event.id)
    }
}

fn events(section: Option<&Value>) -> impl Iterator<Item = &Value> {
    section.and_then(|section| section.get("events")).and_then(Value::as_array).into_iter().flatten()
}
