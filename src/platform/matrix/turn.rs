//! One event's turn: what it means, and what has to be asked to know that.

use serde_json::Value;

use super::batch::Batch;
use super::event::Event;
use super::judge::Reason;
use super::map::{self, Facts};
use super::{Desk, Matrix};
use crate::model::class::PortError;
use crate::model::item::Item;
use crate::model::text::one_line;

impl Matrix {
    /// The item that an event makes, if it makes one. `lookups` counts the questions asked.
    pub(super) async fn turn(
        &self,
        desk: &mut Desk,
        batch: &mut Batch,
        room: &str,
        event: &Event,
        lookups: &mut usize,
    ) -> Result<Option<Item>, PortError> {
        let direct = desk.rooms.direct.contains(room) || batch.after.is_pair(room);
        match event.kind.as_str() {
            "m.room.redaction" => Ok(event.redacts.as_deref().map(|target| {
                let known = desk.rooms.of(room);
                map::removed(target, event, self.facts(room, known.title(room), direct, None))
            })),
            "m.room.message" if event.redacted => Ok(None),
            "m.room.message" => match event.relation().replaces {
                Some(target) => self.edited(desk, batch, (room, direct), (event, &target), lookups).await,
                None => self.said(desk, batch, (room, direct), event, lookups).await,
            },
            _ => Ok(None),
        }
    }

    async fn said(
        &self,
        desk: &mut Desk,
        batch: &mut Batch,
        (room, direct): (&str, bool),
        event: &Event,
        lookups: &mut usize,
    ) -> Result<Option<Item>, PortError> {
        if event.sender == self.who.me {
            desk.rooms.remember_own(&event.id);
            return Ok(Some(self.item(desk, (room, direct), event, &event.content, None, None)));
        }
        // Two devices that verify each other talk in messages too.
        if event.text("msgtype").is_some_and(|kind| kind.starts_with("m.key.verification")) {
            return Ok(None);
        }
        let mut why = self.reason(desk, &event.content, direct);
        if why.is_none() && self.taste.wants("reply") {
            let relation = event.relation();
            for target in [relation.answers, relation.thread].into_iter().flatten() {
                if self.is_own(desk, batch, room, &target, lookups).await? {
                    why = Some("reply");
                    break;
                }
            }
        }
        batch.keep(event);
        if why.is_none() {
            return Ok(None);
        }
        self.name(desk, room, lookups).await?;
        Ok(Some(self.item(desk, (room, direct), event, &event.content, None, why)))
    }

    /// A replacement changes the item it replaces; it makes a case only if it calls us for the first time.
    async fn edited(
        &self,
        desk: &mut Desk,
        batch: &mut Batch,
        (room, direct): (&str, bool),
        (edit, target): (&Event, &str),
        lookups: &mut usize,
    ) -> Result<Option<Item>, PortError> {
        let content = edit.content.get("m.new_content").filter(|content| content.is_object());
        let Some(content) = content else { return Ok(None) };
        if edit.sender == self.who.me || batch.is_outdated(edit, target) {
            return Ok(None);
        }
        let original = match batch.kept(target) {
            Some(original) => Some(original.clone()),
            None => {
                *lookups += 1;
                self.client.event(room, target).await?.as_ref().and_then(Event::read)
            }
        };
        // Somebody else's words cannot be replaced: such an event is no replacement.
        let original = original.filter(|original| original.sender == edit.sender && !original.redacted);
        let Some(original) = original else { return Ok(None) };
        let anew = if edit.content.get("m.mentions").is_some() {
            self.taste.mentioned_anew(edit)
        } else {
            self.mentioned(desk, content) && !self.mentioned(desk, &original.content)
        };
        let why: Option<Reason> = (anew && self.taste.wants("mention")).then_some("mention");
        self.name(desk, room, lookups).await?;
        Ok(Some(self.item(desk, (room, direct), &original, content, Some(edit), why)))
    }

    /// Why a message is taken, by our names too.
    fn reason(&self, desk: &Desk, content: &Value, direct: bool) -> Option<Reason> {
        self.named(desk).reason(content, direct)
    }

    fn mentioned(&self, desk: &Desk, content: &Value) -> bool {
        self.named(desk).mentioned(content)
    }

    /// The taste with the display name, which only the server knows.
    fn named(&self, desk: &Desk) -> super::judge::Taste {
        let mut taste = self.taste.clone();
        taste.names.extend(desk.names.last().unwrap_or_default());
        taste
    }

    /// The event is ours: by what is at hand, else by asking.
    async fn is_own(
        &self,
        desk: &mut Desk,
        batch: &Batch,
        room: &str,
        target: &str,
        lookups: &mut usize,
    ) -> Result<bool, PortError> {
        if desk.rooms.is_own(target) {
            return Ok(true);
        }
        if let Some(sender) = batch.sender(target) {
            return Ok(sender == self.who.me);
        }
        *lookups += 1;
        let found = self.client.event(room, target).await?.as_ref().and_then(Event::read);
        let own = found.is_some_and(|event| event.sender == self.who.me);
        if own {
            desk.rooms.remember_own(target);
        }
        Ok(own)
    }

    /// Makes sure that the room's name is known, if it has one.
    async fn name(&self, desk: &mut Desk, room: &str, lookups: &mut usize) -> Result<(), PortError> {
        if desk.rooms.of(room).name.is_none() {
            *lookups += 1;
            let state = self.client.state(room, "m.room.name").await?.unwrap_or_default();
            let name = state.get("name").and_then(Value::as_str).unwrap_or_default();
            desk.rooms.of(room).name = Some(one_line(name, 128));
        }
        Ok(())
    }

    fn facts<'a>(
        &'a self,
        room: &'a str,
        title: &'a str,
        direct: bool,
        sender: Option<&'a str>,
    ) -> Facts<'a> {
        Facts { me: &self.who.me, room, title, direct, sender }
    }

    fn item(
        &self,
        desk: &mut Desk,
        (room, direct): (&str, bool),
        event: &Event,
        content: &Value,
        edit: Option<&Event>,
        why: Option<Reason>,
    ) -> Item {
        let known = desk.rooms.of(room);
        let sender = known.members.get(&event.sender).map(String::as_str);
        // A direct room has the name of who is in it.
        let unnamed = known.name.as_deref().is_none_or(str::is_empty);
        let title = if direct && unnamed { sender.unwrap_or(&event.sender) } else { known.title(room) };
        map::message(event, content, edit, why, self.facts(room, title, direct, sender))
    }
}
