//! The loop of one channel: hears what its user says, tells what needs the user. Each thing is told once, what comes
//! together is told together, nothing in quiet hours. A channel is inert until it is paired.

mod compose;
mod decide;
mod pairing;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

pub use self::compose::Troubles;
pub use self::pairing::{Begun, PairingStanding, Way};
use super::review::ReviewDesk;
use super::{RuntimeRecord, store_fault};
use crate::channel::{Channel, Heard, Hearing};
use crate::model::channel::{Notice, Paired};
use crate::model::class::{PortError, chain};
use crate::model::cycle::{ChannelSummary, RuntimeSummary};
use crate::model::limits;
use crate::model::time::{Clock, Timestamp};
use crate::secret::SecretStore;
use crate::secret::scrub::Scrubber;
use crate::store::{Due, Store};
use crate::supervise::{Board, Cycle, Fault, Next, Pass};
use crate::unit::plan::ChannelUnit;

const HOUR: Duration = Duration::from_secs(3600);

/// The loop of one channel.
pub struct ChannelLoop {
    name: String,
    unit: Arc<ChannelUnit>,
    channel: Arc<dyn Channel>,
    store: Store,
    desk: ReviewDesk,
    troubles: Troubles,
    secrets: Arc<dyn SecretStore>,
    scrubber: Scrubber,
    clock: Clock,
    /// What was seen of the store's word that something changed, and of the board's.
    news: Mutex<[watch::Receiver<()>; 2]>,
    /// What came in while it waited.
    heard: Mutex<Option<Result<Heard, PortError>>>,
    looked: Mutex<Option<Timestamp>>,
    /// Somebody may say something: it is paired, or a code waits.
    listens: AtomicBool,
    /// The last pass ended well.
    well: AtomicBool,
    /// The turn of secrets that the last pass began with.
    turn: AtomicU64,
}

/// What the loop of a channel is made of.
pub struct ChannelParts {
    /// The unit.
    pub unit: Arc<ChannelUnit>,
    /// The way to the user.
    pub channel: Arc<dyn Channel>,
    /// The record.
    pub store: Store,
    /// Where decisions are made.
    pub desk: ReviewDesk,
    /// What is wrong beside drafts and cases.
    pub troubles: Troubles,
    /// Tells when that may have changed.
    pub board: Board<RuntimeRecord>,
    /// To see whether refused credentials were replaced.
    pub secrets: Arc<dyn SecretStore>,
    /// Masks what goes into status.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
}

impl ChannelLoop {
    /// A loop that has not told anything yet.
    #[must_use]
    pub fn new(parts: ChannelParts) -> Self {
        let ChannelParts { unit, channel, store, desk, troubles, board, secrets, scrubber, clock } = parts;
        Self {
            name: format!("{}.channel", unit.name),
            news: Mutex::new([store.wakeups().notices.subscribe(), board.turns().subscribe()]),
            heard: Mutex::new(None),
            looked: Mutex::new(None),
            listens: AtomicBool::new(false),
            well: AtomicBool::new(true),
            turn: AtomicU64::new(0),
            unit,
            channel,
            store,
            desk,
            troubles,
            secrets,
            scrubber,
            clock,
        }
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        self.turn.store(self.secrets.turn(), Ordering::Relaxed);
        lock(&self.news).iter_mut().for_each(watch::Receiver::mark_unchanged);
        let mut summary = ChannelSummary::default();
        let result = self.work(&mut summary).await;
        self.well.store(result.is_ok(), Ordering::Relaxed);
        let fresh = summary.told + summary.decided > 0;
        let record = RuntimeRecord::clean(RuntimeSummary::Channel(summary));
        match result {
            Ok(next) => Pass { record, fault: None, next, fresh, tried: true },
            Err(fault) => Pass { record, fault: Some(fault), next: Next::WhenWoken, fresh, tried: true },
        }
    }

    async fn work(&self, summary: &mut ChannelSummary) -> Result<Next, Fault> {
        let place = self.channel.place();
        let until = self.pairing_until(&place).await?;
        let hears = self.channel.hearing() != Hearing::Deaf;
        let listens = hears && (until.is_some() || self.paired(&place).await?.is_some());
        self.listens.store(listens, Ordering::Relaxed);
        if listens {
            let heard = self.look(&place).await?;
            self.take(&place, heard, summary).await?;
        }
        let again = match self.channel.hearing() {
            Hearing::Every(every) if listens => self.looked_at().map(|at| at.plus(every)),
            _ => None,
        };
        let told = match self.paired(&place).await? {
            Some(paired) => {
                summary.notes.push(format!("paired with {}", paired.user));
                self.tell(&paired, summary).await?
            }
            None => {
                summary.notes.push(match until {
                    Some(until) => format!("waits until {until} to be paired"),
                    None => format!("not paired, so it tells nothing: workagent pair {}", self.unit.name),
                });
                until
            }
        };
        Ok(again.into_iter().chain(told).min().map_or(Next::WhenWoken, Next::At))
    }

    async fn paired(&self, place: &str) -> Result<Option<Paired>, Fault> {
        let paired = self.store.paired(&self.unit.name, place).await;
        paired.map_err(|error| store_fault("read who the channel is paired with", &error))
    }

    async fn pairing_until(&self, place: &str) -> Result<Option<Timestamp>, Fault> {
        let until = self.store.pairing_until(&self.unit.name, place).await;
        until.map_err(|error| store_fault("read whether the channel is being paired", &error))
    }

    async fn cursor(&self, place: &str) -> Result<Option<String>, Fault> {
        let cursor = self.store.channel_cursor(&self.unit.name, place).await;
        cursor.map_err(|error| store_fault("read how far the channel was heard", &error))
    }

    fn looked_at(&self) -> Option<Timestamp> {
        *lock(&self.looked)
    }

    /// What was said: what the wait brought, else a look, if the last one was not just now.
    async fn look(&self, place: &str) -> Result<Heard, Fault> {
        let brought = lock(&self.heard).take();
        let now = self.clock.now();
        let heard = match brought {
            Some(brought) => brought,
            None => {
                let gap = match self.channel.hearing() {
                    Hearing::Every(every) => every,
                    Hearing::Waits | Hearing::Deaf => limits::CHANNEL_LOOK_GAP,
                };
                if self.looked_at().is_some_and(|at| at <= now && now.since(at) < gap) {
                    return Ok(Heard::default());
                }
                let cursor = self.cursor(place).await?;
                self.channel.hear(cursor.as_deref(), Duration::ZERO).await
            }
        };
        *lock(&self.looked) = Some(now);
        heard.map_err(|error| self.fault(&error))
    }

    /// Tells what was not told yet, if it is time. Gives when it is, if not.
    async fn tell(&self, paired: &Paired, summary: &mut ChannelSummary) -> Result<Option<Timestamp>, Fault> {
        let store = |error| store_fault("look for what needs you", &error);
        let needs = self.needs().await.map_err(store)?;
        let subjects = needs.iter().map(|need| need.subject.clone()).collect();
        let untold = self.store.untold(&self.unit.name, subjects).await.map_err(store)?;
        let due = match untold.first() {
            Some((_, oldest)) => self.due(*oldest).await.map_err(store)?,
            None => None,
        };
        summary.waiting = untold.len() as u64;
        if due.is_some_and(|due| due <= self.clock.now()) {
            if let Some(notice) = self.notice(&needs, &untold).await.map_err(store)? {
                self.channel.tell(&notice, &paired.address).await.map_err(|error| self.fault(&error))?;
                summary.told += 1;
            }
            let subjects = untold.into_iter().map(|(subject, _)| subject).collect();
            self.store.note_told(&self.unit.name, subjects).await.map_err(store)?;
            summary.waiting = 0;
        }
        // What was deferred comes back by its time alone.
        let deferred = self.store.next_due(Due::Drafts).await.map_err(store)?;
        let due = due.filter(|_| summary.waiting > 0);
        Ok(due.into_iter().chain(deferred).min())
    }

    /// When something that is known since then may be told.
    async fn due(&self, since: Timestamp) -> Result<Option<Timestamp>, crate::store::StoreError> {
        let mut due = since.plus(self.unit.batch).max(self.clock.now());
        let times = self.store.told_within_an_hour(&self.unit.name).await?;
        let nth = times.len().checked_sub(self.unit.per_hour);
        if let Some(first) = nth.and_then(|nth| times.get(nth)) {
            due = due.max(first.plus(HOUR));
        }
        Ok(self.unit.schedule.opening(due))
    }

    /// Says something to the user. What was decided is decided, whether or not this arrives.
    async fn say(&self, address: &str, key: &str, text: String) {
        let text = self.scrubber.scrub(&text).into_owned();
        let notice = Notice::plain(key, "workagent", text);
        if let Err(error) = self.channel.tell(&notice, address).await {
            let why = self.scrubber.scrub(&chain(&error)).into_owned();
            tracing::warn!(unit = self.name, "an answer did not go out: {why}");
        }
    }

    fn fault(&self, error: &PortError) -> Fault {
        Fault::new(error.class, self.scrubber.scrub(&chain(error)).into_owned())
    }

    /// Resolves when something was said, or could not be heard.
    async fn listen(&self) {
        if !self.listens.load(Ordering::Relaxed) || self.channel.hearing() != Hearing::Waits {
            return std::future::pending().await;
        }
        let place = self.channel.place();
        let Ok(mut cursor) = self.cursor(&place).await else { return std::future::pending().await };
        let brought = loop {
            let begun = self.clock.now();
            match self.channel.hear(cursor.as_deref(), limits::CHANNEL_WAIT).await {
                Ok(heard) if heard.messages.is_empty() => cursor = heard.cursor.or(cursor),
                brought => break brought,
            }
            // A far side that answers at once with nothing must not be asked without end.
            if self.clock.now().since(begun) < limits::CHANNEL_LOOK_GAP {
                tokio::time::sleep(limits::CHANNEL_LOOK_GAP).await;
            }
        };
        *lock(&self.heard) = Some(brought);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cycle for ChannelLoop {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        &self.name
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if !self.well.load(Ordering::Relaxed) {
                // Its back-off says when it is tried again; or a secret that was replaced.
                if self.unit.settings.secrets().is_empty() {
                    return std::future::pending().await;
                }
                return self.secrets.changed_since(self.turn.load(Ordering::Relaxed)).await;
            }
            let [mut written, mut turned] = lock(&self.news).clone();
            let news = async {
                tokio::select! {
                    Ok(()) = written.changed() => {}
                    Ok(()) = turned.changed() => {}
                    else => std::future::pending().await,
                }
                // Drafts come in crowds; looking for all that needs the user is not for each of them.
                tokio::time::sleep(limits::CHANNEL_NEWS_GAP).await;
            };
            tokio::select! {
                () = news => {}
                () = self.listen() => {}
            }
        })
    }
}
