//! One poll: each conversation and each watched thread has its turn, those of which the socket told first, as far as
//! calls and room go. The rest has its turn first next time.

use std::time::Duration;

use serde_json::Value;

use super::SlackConnector;
use super::client::Refusal;
use super::map::{self, View};
use super::memory::{Channel, Me, Target};
use super::position::{Position, Reach};
use super::text::mentioned;
use super::ts::Ts;
use super::wire::{Message, listed};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::item::{Backlog, Item, Page, PollRequest};
use crate::model::time::{Timestamp, short_span};

/// Calls of one round: tier 3 allows 50 and more a minute for each method.
const CALLS_MAX: usize = 40;

/// Messages asked for at once.
const MESSAGES_MAX: usize = 200;

/// What an app gets that Slack takes for a distributed one: a call a minute, 15 messages.
const SLOW_MESSAGES: usize = 15;
const SLOW_WAIT: Duration = Duration::from_secs(60);
/// After so long it is tried again whether that still holds.
const SLOW_SPAN: Duration = Duration::from_secs(6 * 3600);

/// Messages that people write. Others tell of joins, topics, pins and the like.
const SUBTYPES: [&str; 6] = ["", "thread_broadcast", "file_share", "me_message", "bot_message", "tombstone"];

/// A round in the making.
struct Making {
    position: Position,
    items: Vec<Item>,
    notes: Vec<String>,
    me: Me,
}

impl SlackConnector {
    pub(super) async fn page(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let me = self.me().await?;
        let before = Position::of(request.cursor);
        let now = Ts::at(self.client.api().its_now());
        let first = before.is_none();
        let mut making = Making {
            position: before.clone().unwrap_or_else(|| beginning(&request, now)),
            items: Vec::new(),
            notes: Vec::new(),
            me,
        };
        self.recognise(&mut making, now);
        let listed = self.list().await?;
        self.admit(&mut making.position, listed || first, now);
        if first && matches!(request.backlog, Backlog::New) {
            let count = making.position.channels.len();
            making
                .notes
                .push(format!("first poll: {count} conversations, read from now on (backlog = \"new\")"));
            return Ok(self.finish(making, before.as_ref(), false, None));
        }
        if first {
            let rule = match request.backlog {
                Backlog::Since(span) => short_span(span),
                _ => "all".to_owned(),
            };
            let count = making.position.channels.len();
            making
                .notes
                .push(format!("first poll: {count} conversations are gone through (backlog = \"{rule}\")"));
        }
        self.take_deleted(&mut making);
        let hints = self.memory().hints.clone();
        let round = self.go_round(&mut making, before.as_ref(), &request).await;
        if round.is_err() {
            // A thread that nobody watches yet is known by its hint alone.
            hints.into_iter().for_each(|(target, at)| self.memory().hint(target, at));
        }
        let (more, not_before) = round?;
        making.position.tidy(now);
        Ok(self.finish(making, before.as_ref(), more, not_before))
    }

    fn finish(
        &self,
        making: Making,
        before: Option<&Position>,
        more: bool,
        not_before: Option<Duration>,
    ) -> Page {
        let Making { position, items, mut notes, .. } = making;
        let mut memory = self.memory();
        memory.give(items.iter().map(|item| (item.key.as_str(), item.revision.as_str())));
        notes.extend(std::mem::take(&mut memory.notes));
        let cursor = (before != Some(&position)).then(|| position.cursor());
        Page { items, cursor, more, not_before: not_before.filter(|_| !more), notes, ..Page::default() }
    }

    /// Another person's token: what was there before is no work.
    fn recognise(&self, making: &mut Making, now: Ts) {
        let (position, me) = (&mut making.position, &making.me);
        if !position.user.is_empty() && position.user != me.user {
            making.notes.push(format!("the token is {}'s now: what was there before is left alone", me.name));
            *position = Position { began: now, listed: now, ..Position::default() };
        }
        position.user.clone_from(&me.user);
    }

    /// Conversations that are new are read from when they were not there yet.
    fn admit(&self, position: &mut Position, listed: bool, now: Ts) {
        let memory = self.memory();
        let from = position.listed.max(position.began);
        position.channels.retain(|id, _| memory.channels.contains_key(id));
        for id in memory.channels.keys() {
            position.channels.entry(id.clone()).or_insert(Reach { ts: from, walk: None });
        }
        position.threads.retain(|thread| memory.channels.contains_key(&thread.channel));
        if listed {
            position.listed = now.before(60);
        }
    }

    fn take_deleted(&self, making: &mut Making) {
        let gone = std::mem::take(&mut self.memory().gone);
        for (id, message) in gone {
            let memory = self.memory();
            let Some(channel) = memory.channels.get(&id) else { continue };
            let mut item = map::item(&message, View { me: &making.me, channel, names: &memory.names });
            map::deleted(&mut item);
            making.items.push(item);
        }
    }

    /// What is to be read, in the order of its turns.
    fn targets(&self, position: &mut Position) -> Vec<Target> {
        let slow = self.is_slow();
        let mut memory = self.memory();
        memory.turn += 1;
        // With one call a minute, conversations and threads take turns: many threads must not keep news out.
        let threads_first = slow && memory.turn.is_multiple_of(2);
        let hints = std::mem::take(&mut memory.hints);
        for (target, at) in &hints {
            if let Some(root) = target.root {
                position.watch(&target.channel, root, at.just_before());
            }
        }
        let channels =
            position.channels.iter().map(|(id, reach)| (Target { channel: id.clone(), root: None }, reach));
        let threads = position.threads.iter().map(|thread| {
            (Target { channel: thread.channel.clone(), root: Some(thread.root) }, &thread.reach)
        });
        let mut all: Vec<_> = channels
            .chain(threads)
            .map(|(target, reach)| {
                let asked = memory.asked.get(&target).copied().unwrap_or(0);
                let other_kind = slow && target.root.is_some() != threads_first;
                ((!hints.contains_key(&target), reach.walk.is_none(), other_kind, asked), target)
            })
            .collect();
        all.sort();
        let known: std::collections::HashSet<_> = all.iter().map(|(_, target)| target.clone()).collect();
        memory.asked.retain(|target, _| known.contains(target));
        all.into_iter().map(|(_, target)| target).collect()
    }

    async fn go_round(
        &self,
        making: &mut Making,
        before: Option<&Position>,
        request: &PollRequest<'_>,
    ) -> Result<(bool, Option<Duration>), PortError> {
        let mut calls = 0;
        for target in self.targets(&mut making.position) {
            let mut goes_on = true;
            while goes_on {
                let room = request.items_max.saturating_sub(making.items.len());
                if room == 0 {
                    return Ok((true, None));
                }
                // It may have turned out in the middle of the round.
                let slow = self.is_slow();
                if calls >= if slow { 1 } else { CALLS_MAX } {
                    // The rest has its turn at the next look.
                    return Ok((false, slow.then_some(SLOW_WAIT)));
                }
                calls += 1;
                match self.take(&target, making, room, slow).await {
                    Ok(further) => goes_on = further,
                    Err(refusal) if refusal.is_of_one_place() => {
                        self.step_over(&target, making, &refusal);
                        goes_on = false;
                    }
                    Err(Refusal { error, .. }) => {
                        self.had_its_turn(&target);
                        let taken = !making.items.is_empty() || before != Some(&making.position);
                        if error.class == ErrorClass::Auth || !taken {
                            return Err(error);
                        }
                        // What was taken is kept: a list that fails each time must not keep the others back.
                        making.notes.push(format!("a round ended early: {}", chain(&error)));
                        return Ok((false, wait_of(error.class, request.now)));
                    }
                }
            }
            self.had_its_turn(&target);
        }
        Ok((false, self.is_slow().then_some(SLOW_WAIT)))
    }

    fn is_slow(&self) -> bool {
        let now = self.client.api().now();
        self.memory().slow_until.is_some_and(|until| until > now)
    }

    fn had_its_turn(&self, target: &Target) {
        let mut memory = self.memory();
        let turn = memory.turn;
        memory.asked.insert(target.clone(), turn);
    }

    /// One that cannot be read must not keep the others from being read.
    fn step_over(&self, target: &Target, making: &mut Making, refusal: &Refusal) {
        if let Some(root) = target.root {
            making.position.leave(&target.channel, root);
            return;
        }
        let memory = self.memory();
        let name =
            memory.channels.get(&target.channel).map_or_else(|| target.channel.clone(), Channel::shown);
        let why = refusal.error.source.as_ref().map(ToString::to_string).unwrap_or_default();
        making.notes.push(format!("{name} cannot be read: {why}"));
    }

    /// One call. `true`: the list goes on.
    async fn take(
        &self,
        target: &Target,
        making: &mut Making,
        room: usize,
        slow: bool,
    ) -> Result<bool, Refusal> {
        let Some(channel) = self.memory().channels.get(&target.channel).cloned() else { return Ok(false) };
        let began = making.position.began;
        let Some(reach) = making.position.reach(&target.channel, target.root) else { return Ok(false) };
        let from = reach.from(began);
        let cursor = reach.walk.as_ref().map(|walk| walk.cursor.clone());
        // A thread's first message comes with each of its pages.
        let limit = room.min(if slow { SLOW_MESSAGES } else { MESSAGES_MAX });
        let (oldest, limit_text) = (from.to_string(), limit.to_string());
        let root = target.root.map(|root| root.to_string());
        let mut arguments = vec![("channel", target.channel.as_str())];
        if let Some(root) = &root {
            arguments.push(("ts", root));
        }
        arguments.extend([("oldest", oldest.as_str()), ("limit", &limit_text)]);
        if let Some(cursor) = &cursor {
            arguments.push(("cursor", cursor));
        }
        let method = if root.is_some() { "conversations.replies" } else { "conversations.history" };
        let asked = self.client.read(method, &arguments).await;
        if let Err(refusal) = &asked {
            if refusal.word == "invalid_cursor" && cursor.is_some() {
                reach.walk = None;
                making.notes.push("a list was begun again: Slack had forgotten where it went on".to_owned());
                return Ok(true);
            }
            if let ErrorClass::RateLimited { until } = refusal.error.class {
                let now = self.client.api().now();
                if until.since(now) >= SLOW_WAIT {
                    self.slow_down();
                }
            }
        }
        let reply = asked?;
        let (list, next) = listed(&reply.body, "messages");
        let has_more = reply.body.get("has_more").and_then(Value::as_bool).unwrap_or(next.is_some());
        if has_more && !slow && limit > SLOW_MESSAGES && (1..=SLOW_MESSAGES).contains(&list.len()) {
            self.slow_down();
        }
        let horizon = self.client.api().horizon();
        let newest = horizon.newest(list.iter().filter_map(stamp).map(Ts::moment)).and_then(|newest| {
            // To the digit: moments are in milliseconds.
            list.iter().filter_map(stamp).filter(|ts| ts.moment() <= newest).max()
        });
        reach.draw_back(horizon);
        let goes_on = reach.take(newest, list.len(), next);
        self.keep(target, &channel, list, from, making).await?;
        Ok(goes_on)
    }

    fn slow_down(&self) {
        let now = self.client.api().now();
        let mut memory = self.memory();
        memory.slow_until = Some(now.plus(SLOW_SPAN));
        memory.notes.insert(
            "Slack gives this app one look a minute: it takes it for a distributed one; make an app of your own from \
             the manifest in the unit file"
                .into(),
        );
    }

    /// Of a page's messages, those that are of interest.
    async fn keep(
        &self,
        target: &Target,
        channel: &Channel,
        list: &[Value],
        from: Ts,
        making: &mut Making,
    ) -> Result<(), PortError> {
        let watched = target.root.is_some();
        let mut kept = Vec::new();
        for value in list {
            let Ok(message) = serde_json::from_value::<Message>(value.clone()) else {
                kept.push((value, None));
                continue;
            };
            let ts = stamp(value);
            if !SUBTYPES.contains(&message.subtype.as_deref().unwrap_or_default()) {
                continue;
            }
            // The first message of a thread comes whatever was asked for.
            if ts.is_some_and(|ts| ts <= from) {
                continue;
            }
            let text = message.text.as_deref().unwrap_or_default();
            let ours = message.user.as_deref() == Some(making.me.user.as_str());
            let root = message.thread_ts.as_deref().and_then(|text| text.parse::<Ts>().ok());
            let in_watched = root.is_some_and(|root| making.position.watches(&channel.id, root));
            let to_us = watched
                || in_watched
                || channel.is_direct()
                || self.all
                || mentioned(text).any(|user| user == making.me.user);
            let Some(ts) = ts else {
                kept.push((value, None));
                continue;
            };
            if ours && message.reply_count.unwrap_or(0) > 0 {
                making.position.watch(&channel.id, ts, ts);
            }
            if to_us {
                let threaded = root.is_some() || message.reply_count.unwrap_or(0) > 0;
                if threaded || !(channel.is_direct() || ours) {
                    // From its own message on: answers may be older than the look that finds it.
                    making.position.watch(
                        &channel.id,
                        root.unwrap_or(ts),
                        ts.min(root.unwrap_or(ts)).max(from),
                    );
                }
                kept.push((value, Some(message)));
            }
        }
        let mut people: Vec<String> = Vec::new();
        for message in kept.iter().filter_map(|(_, message)| message.as_ref()) {
            people.extend(message.user.clone());
            people.extend(mentioned(message.text.as_deref().unwrap_or_default()).map(str::to_owned));
        }
        if channel.kind == "im" && !kept.is_empty() {
            people.push(channel.name.clone());
        }
        self.learn(people).await?;
        let memory = self.memory();
        let name = memory.names.get(&channel.name).cloned();
        let shown = Channel { name: name.unwrap_or_else(|| channel.name.clone()), ..channel.clone() };
        let view = View { me: &making.me, channel: &shown, names: &memory.names };
        for (value, _) in kept {
            let item = map::item(value, view);
            if !memory.took(&item.key, &item.revision)
                && !making.items.iter().any(|known| known.key == item.key)
            {
                making.items.push(item);
            }
        }
        Ok(())
    }
}

fn beginning(request: &PollRequest<'_>, now: Ts) -> Position {
    let began = match request.backlog {
        Backlog::New => now,
        Backlog::Since(span) => now.before(span.as_secs()),
        Backlog::All => Ts::ZERO,
    };
    Position { began, listed: began, ..Position::default() }
}

fn stamp(message: &Value) -> Option<Ts> {
    message.get("ts").and_then(Value::as_str).and_then(|text| text.parse().ok())
}

fn wait_of(class: ErrorClass, now: Timestamp) -> Option<Duration> {
    match class {
        ErrorClass::RateLimited { until } => Some(until.since(now)),
        ErrorClass::Network { retry_after } => retry_after,
        _ => None,
    }
}
