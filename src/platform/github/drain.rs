//! Working through a look at the inbox, page of items by page of items.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::client::Client;
use super::inbox::{InboxRules, Look, look};
use super::map::Rules;
use super::memory::Memory;
use super::notice::Notice;
use super::walk::{Walk, in_order};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::item::{Cursor, Disposition, Item, Page, PollRequest};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::{Timestamp, short_span};
use crate::platform::horizon::Horizon;

/// Failures of one thread that fail the whole look: what fails may be GitHub, not the thread.
const TRIES_BEFORE_PUT_OFF: u32 = 3;

/// Failures after which the thread is shown without its texts.
const TRIES_MAX: u32 = 9;

/// How long a thread that fails is left alone.
const PUT_OFF: Duration = Duration::from_secs(30 * 60);

/// Threads of which failures are remembered.
const FAILING_LEN_MAX: usize = 1000;

/// Items of one thread are put in order among themselves up to this many.
const ORDERED_LEN_MAX: usize = 500;

/// The inbox of one account.
pub(super) struct InboxReader {
    rules: InboxRules,
    /// A look that is not worked through, so that the next page need not look again. Only a spare: after a restart
    /// the cursor says how far it went.
    open: tokio::sync::Mutex<Option<Drain>>,
    failing: Mutex<HashMap<String, Failing>>,
}

#[derive(Clone, Copy)]
struct Failing {
    tries: u32,
    until: Timestamp,
    updated_at: Timestamp,
}

struct Drain {
    look: Look,
    walk: Option<Walk>,
    /// Of the thread that is being read.
    texts: Vec<Item>,
    ready: VecDeque<Ready>,
    /// What the next request must come with.
    cursor: Option<Cursor>,
}

enum Ready {
    Item(Box<Item>),
    /// All items of this thread stand before.
    Done(Box<Notice>),
}

impl InboxReader {
    /// Nothing is open yet.
    pub fn new(rules: InboxRules) -> Self {
        Self { rules, open: tokio::sync::Mutex::new(None), failing: Mutex::default() }
    }

    /// The next page of items.
    pub async fn page(&self, client: &Client, request: &PollRequest<'_>) -> Result<Page, PortError> {
        let mut open = self.open.lock().await;
        let left = open.take().filter(|drain| drain.cursor.as_ref() == request.cursor);
        let memory = Memory::of(request.cursor);
        let rules_of = async || -> Result<Rules, PortError> {
            Ok(Rules { me: client.me().await?, own: self.rules.own })
        };
        let mut notes = Vec::new();
        let (mut drain, rules) = match left {
            Some(drain) => (drain, rules_of().await?),
            None => {
                let rules = rules_of().await?;
                let put_off = self.put_off(request.now);
                let mut look =
                    look(client, &self.rules, &rules, memory.inbox.as_ref(), &put_off, request).await?;
                if look.full && memory.inbox.is_some() {
                    // The token may be another's by now.
                    client.forget_me();
                }
                notes.append(&mut look.notes);
                if look.unchanged {
                    return Ok(Page { not_before: look.not_before, notes, ..Page::default() });
                }
                let ready =
                    std::mem::take(&mut look.items).into_iter().map(|item| Ready::Item(Box::new(item)));
                let ready = ready.collect();
                (Drain { look, walk: None, texts: Vec::new(), ready, cursor: None }, rules)
            }
        };
        let filled = self.fill(&mut drain, client, &rules, request.items_max.max(1), &mut notes).await;
        let mut items = Vec::new();
        let mut moved = false;
        while let Some(next) = drain.ready.pop_front() {
            match next {
                Ready::Item(item) if items.len() < request.items_max.max(1) => items.push(*item),
                item @ Ready::Item(_) => {
                    drain.ready.push_front(item);
                    break;
                }
                Ready::Done(notice) => {
                    drain.look.inbox.mark(&notice);
                    moved = true;
                }
            }
        }
        let over = drain.ready.is_empty() && drain.walk.is_none() && drain.look.todo.is_empty();
        let paused = match filled {
            Err(error) if items.is_empty() && !moved => return Err(error),
            Err(_) => None,
            Ok(paused) => paused,
        };
        // Nobody knows what comes after the moment of the look, whatever a time stamp says.
        let upto = Horizon::at(drain.look.began).bound(drain.look.inbox.upto);
        drain.look.inbox.upto = upto;
        let mut not_before = drain.look.not_before;
        if over {
            let Look { inbox, began, full, validators, .. } = &mut drain.look;
            inbox.finish(*began, *full, self.still_failing());
            inbox.validators.clone_from(validators);
        } else if let Some(until) = paused {
            not_before = not_before.max(Some(until.since(client.now())));
        }
        let cursor = Memory { inbox: Some(drain.look.inbox.clone()), ..memory }.cursor();
        let more = !over && paused.is_none();
        drain.cursor = Some(cursor.clone());
        *open = Some(drain).filter(|_| more);
        Ok(Page {
            items,
            cursor: Some(cursor),
            more,
            not_before: not_before.filter(|_| !more),
            notes,
            ..Page::default()
        })
    }

    /// Reads threads until there are items for a page. Gives the end of a pause, where one is due.
    async fn fill(
        &self,
        drain: &mut Drain,
        client: &Client,
        rules: &Rules,
        items_max: usize,
        notes: &mut Vec<String>,
    ) -> Result<Option<Timestamp>, PortError> {
        let mut requests = 0;
        while drain.ready.len() < items_max && requests < limits::GITHUB_REQUESTS_PER_PAGE_MAX {
            let Some(mut walk) = drain.walk.take() else {
                if let Some(until) = client.spent_until().filter(|_| !drain.look.todo.is_empty()) {
                    notes.push(format!(
                        "{} notifications wait for {}: nine tenths of what GitHub grants in an hour are used",
                        drain.look.todo.len(),
                        short_span(until.since(client.now())),
                    ));
                    return Ok(Some(until));
                }
                let Some(notice) = drain.look.todo.pop_front() else { break };
                let since = drain.look.inbox.look_back(&notice);
                drain.walk = Some(Walk::new(notice, since, client));
                continue;
            };
            requests += usize::from(!walk.costs_nothing());
            match walk.step(client, rules).await {
                Ok(texts) => drain.texts.extend(texts),
                Err(error) => {
                    if !self.failed(&mut walk, drain, &error, client.now(), notes) {
                        // The walk is where it was; the look is dropped with the error.
                        drain.walk = Some(walk);
                        return Err(error);
                    }
                    if walk.is_over() {
                        continue;
                    }
                }
            }
            if walk.is_over() {
                self.forgive(&walk.notice.id);
                in_order(&mut drain.texts);
                self.hand_over(drain, &walk.notice);
                drain.ready.push_back(Ready::Done(Box::new(walk.notice)));
            } else {
                if drain.texts.len() >= ORDERED_LEN_MAX {
                    self.hand_over(drain, &walk.notice);
                }
                drain.walk = Some(walk);
            }
        }
        // A page must bring something on, or nobody asks for the next one.
        if let (Some(walk), true) = (&drain.walk, drain.ready.is_empty()) {
            let notice = walk.notice.clone();
            in_order(&mut drain.texts);
            self.hand_over(drain, &notice);
        }
        Ok(None)
    }

    /// What is not work by the unit's reasons is recorded.
    fn hand_over(&self, drain: &mut Drain, notice: &Notice) {
        let wanted = self.rules.reasons.is_empty() || self.rules.reasons.contains(&notice.reason);
        for mut item in drain.texts.drain(..) {
            if !wanted && item.disposition == Disposition::Work {
                let reason = format!("the unit does not work on the reason `{}`", notice.reason);
                item.disposition = Disposition::NoReply { reason };
            }
            drain.ready.push_back(Ready::Item(Box::new(item)));
        }
    }

    /// A thread could not be read: whether the look goes on without it.
    fn failed(
        &self,
        walk: &mut Walk,
        drain: &mut Drain,
        error: &PortError,
        now: Timestamp,
        notes: &mut Vec<String>,
    ) -> bool {
        if !matches!(error.class, ErrorClass::Network { .. } | ErrorClass::Bug) {
            return false;
        }
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if failing.len() >= FAILING_LEN_MAX && !failing.contains_key(&walk.notice.id) {
            failing.clear();
        }
        let updated_at = walk.notice.updated_at;
        let this =
            failing.entry(walk.notice.id.clone()).or_insert(Failing { tries: 0, until: now, updated_at });
        this.tries += 1;
        if this.tries < TRIES_BEFORE_PUT_OFF {
            return false;
        }
        if this.tries >= TRIES_MAX {
            walk.give_up(error);
            return true;
        }
        this.until = now.plus(PUT_OFF);
        let why = one_line(&chain(error), 200);
        notes.push(format!(
            "{} in {} cannot be read now and is put off: {why}",
            walk.notice.title, walk.notice.repo
        ));
        walk.put_off();
        drain.texts.clear();
        true
    }

    fn forgive(&self, id: &str) {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Threads that are left alone now.
    fn put_off(&self, now: Timestamp) -> std::collections::HashSet<String> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.iter().filter(|(_, this)| this.until > now).map(|(id, _)| id.clone()).collect()
    }

    /// The oldest activity that is still to be read.
    fn still_failing(&self) -> Option<Timestamp> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.values().map(|this| this.updated_at).min()
    }
}
