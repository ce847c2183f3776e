//! The sync loop of one connector: poll a page, commit items and cursor in one transaction, tell the connector.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::credentials::fingerprint;
use super::points::Point;
use super::{RuntimeRecord, masked, store_fault};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::cycle::{RuntimeSummary, SyncSummary};
use crate::model::item::{Backlog, Cursor, PollRequest};
use crate::model::limits;
use crate::model::live::Live;
use crate::model::retry::RestartPolicy;
use crate::model::schedule::{OnResume, Phase, Schedule, Seed};
use crate::model::time::{Clock, Timestamp};
use crate::platform::Connector;
use crate::secret::SecretStore;
use crate::secret::scrub::Scrubber;
use crate::store::{PageCommit, PageReport, Store};
use crate::supervise::{Cycle, Fault, Next, Pass};
use crate::unit::plan::ConnectorUnit;

/// A regular poll is left out if less than this part of the interval has gone by since another one.
const GAP_PART: u32 = 4;

/// The sync loop of one connector.
pub struct SyncLoop {
    name: String,
    unit: Arc<ConnectorUnit>,
    connector: Arc<dyn Connector>,
    store: Store,
    secrets: Arc<dyn SecretStore>,
    scrubber: Scrubber,
    clock: Clock,
    generation: Live<i64>,
    seed: Seed,
    /// Set by the first look at it.
    phase: Mutex<Option<Phase>>,
    cursor: Mutex<Option<Cursor>>,
    refused: Mutex<Option<Refused>>,
    /// Remarks that were logged, at most [`SAID_LEN_MAX`].
    said: Mutex<BTreeSet<String>>,
    /// The last pass ended well.
    well: AtomicBool,
    /// The turn of secrets that the last pass began with.
    turn: AtomicU64,
}

/// A wait that lasted so long was one; what ends earlier would be looked after again and again.
const LINE_STOOD: Duration = Duration::from_secs(60);

/// Remarks remembered, so that one that comes with every look is logged once.
const SAID_LEN_MAX: usize = 256;

/// Credentials that the far side refused.
#[derive(Clone)]
struct Refused {
    fingerprint: String,
    at: Timestamp,
    message: String,
}

/// How a pass ended early.
struct Ended {
    fault: Fault,
    /// The far side was asked.
    tried: bool,
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self { fault, tried: true }
    }
}

/// What a sync loop is made of.
pub struct SyncParts {
    /// The unit.
    pub unit: Arc<ConnectorUnit>,
    /// The account.
    pub connector: Arc<dyn Connector>,
    /// The record.
    pub store: Store,
    /// To see whether refused credentials were replaced.
    pub secrets: Arc<dyn SecretStore>,
    /// Masks what goes into status.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// The plan generation that runs, also after reloads that leave this loop alone.
    pub generation: Live<i64>,
}

impl SyncLoop {
    /// A loop that has not polled yet.
    #[must_use]
    pub fn new(parts: SyncParts) -> Self {
        let SyncParts { unit, connector, store, secrets, scrubber, clock, generation } = parts;
        let name = format!("{}.connector", unit.name);
        let (cursor, refused, well) = (Mutex::new(None), Mutex::new(None), AtomicBool::new(true));
        let said = Mutex::default();
        let (seed, phase) = (Seed::of(&name), Mutex::new(None));
        Self {
            seed,
            phase,
            name,
            unit,
            connector,
            store,
            secrets,
            scrubber,
            clock,
            generation,
            cursor,
            refused,
            said,
            well,
            turn: AtomicU64::new(0),
        }
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let mut summary = SyncSummary::default();
        if let Some(next) = self.not_yet() {
            let record = RuntimeRecord::clean(RuntimeSummary::Sync(summary));
            return Pass { record, fault: None, next, fresh: false, tried: false };
        }
        self.turn.store(self.secrets.turn(), Ordering::Relaxed);
        let result = self.pages(&mut summary).await;
        self.well.store(result.is_ok(), Ordering::Relaxed);
        let fresh = summary.new_items + summary.updated_items + summary.quarantined_items > 0;
        summary.notes.truncate(limits::ITEM_LIST_LEN_MAX);
        let record = RuntimeRecord::clean(RuntimeSummary::Sync(summary));
        match result {
            Ok(next) => Pass { record, fault: None, next, fresh, tried: true },
            Err(Ended { fault, tried }) => {
                Pass { record, fault: Some(fault), next: Next::WhenWoken, fresh, tried }
            }
        }
    }

    /// The time for which a loop that has just begun has to wait, if it has to.
    fn not_yet(&self) -> Option<Next> {
        let now = self.clock.now();
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if phase.is_some() {
            return None;
        }
        *phase = Some(Phase::begin(now));
        match self.unit.schedule.first(now, self.seed) {
            Some(first) if first <= now => None,
            Some(first) => Some(Next::At(first)),
            None => Some(Next::WhenWoken),
        }
    }

    /// The next regular time; `not_before`: the least wait the source asks for.
    fn regular(&self, not_before: Duration) -> Next {
        let now = self.clock.now();
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        // After a poll by the way, a regular one that would follow at once is left out.
        let rest = self.unit.schedule.every.unwrap_or_default() / GAP_PART;
        let done = phase.unwrap_or(Phase::begin(now)).done(now.plus(rest));
        *phase = Some(done);
        let schedule = &self.unit.schedule;
        let next = schedule.next(done, self.seed).map(|due| due.max(now.plus(not_before)));
        next.and_then(|due| schedule.opening(due)).map_or(Next::WhenWoken, Next::At)
    }

    async fn pages(&self, summary: &mut SyncSummary) -> Result<Next, Ended> {
        if let Some(fault) = self.still_refused().await {
            return Err(Ended { fault, tried: false });
        }
        let identity = self.connector.identity();
        let known = self
            .store
            .sync_state(&self.unit.name)
            .await
            .map_err(|error| store_fault("read the cursor", &error))?;
        let mut backlog = self.unit.backlog;
        let mut cursor = match known {
            Some(state) if state.identity == identity => state.cursor,
            Some(state) => {
                // Another account behind the same unit: its history must not become work unasked.
                backlog = Backlog::New;
                summary.notes.push(format!("the account changed from {} to {identity}", state.identity));
                None
            }
            None => None,
        };
        let mut used = self.fingerprint().await;
        let mut asked_again = false;
        for _ in 0..limits::PAGES_PER_CYCLE_MAX {
            let request = PollRequest {
                cursor: cursor.as_ref(),
                backlog,
                now: self.clock.now(),
                items_max: limits::PAGE_ITEMS_MAX,
            };
            let mut page = match self.connector.poll(request).await {
                Ok(page) => page,
                // A secret may have been replaced while it was used, or what is remembered of it is old: it is read anew
                // and tried once more, not again and again.
                Err(error) if error.class == ErrorClass::Auth && !asked_again => {
                    asked_again = true;
                    let now = self.read_anew().await;
                    if now == used {
                        return Err(self.fault(&error, used).into());
                    }
                    used = now;
                    continue;
                }
                Err(error) => return Err(self.fault(&error, used).into()),
            };
            Point::AfterPoll.pass();
            let keys: Vec<String> = page.items.iter().map(|item| item.key.clone()).collect();
            if !masked::mask(&mut page, &self.scrubber) {
                let why = "the position it gave holds a secret, which is not kept; nothing was taken over";
                return Err(Fault::new(ErrorClass::Config, why).into());
            }
            let commit = PageCommit {
                connector: self.unit.name.clone(),
                identity: identity.clone(),
                items: page.items,
                cursor: page.cursor.clone(),
                generation: *self.generation.get(),
            };
            // "More" without an item or a new position would be asked for without end.
            let goes_on = page.more
                && (!keys.is_empty() || page.cursor.as_ref().is_some_and(|new| Some(new) != cursor.as_ref()));
            Point::BeforeCommit.pass();
            let report =
                self.store.commit_page(commit).await.map_err(|error| store_fault("commit a page", &error))?;
            Point::AfterCommit.pass();
            add(summary, &report);
            for note in page.notes {
                let note = self.scrubber.scrub(&note).into_owned();
                // A remark that comes with every look is said once.
                if self.is_new(&note) {
                    tracing::info!(unit = self.name, "{note}");
                }
                summary.notes.push(note);
            }
            if page.cursor.is_some() {
                cursor = page.cursor;
            }
            *self.cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor.clone();
            if let Err(error) = self.connector.committed(&keys).await {
                // Harmless to miss; said once in the pass's notes.
                let line = format!("tidying at the source failed: {}", chain(&error));
                summary.notes.push(self.scrubber.scrub(&line).into_owned());
            }
            Point::AfterTidying.pass();
            if !goes_on {
                return Ok(self.regular(page.not_before.unwrap_or_default()));
            }
        }
        Ok(Next::Now)
    }

    /// A remark that was not logged before, as far as is remembered.
    fn is_new(&self, note: &str) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= SAID_LEN_MAX {
            said.clear();
        }
        said.insert(note.to_owned())
    }

    /// While refused credentials are the same, the far side is left alone, and this is its last word.
    async fn still_refused(&self) -> Option<Fault> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let same = refused.fingerprint == self.fingerprint().await;
        if same && self.clock.now().since(refused.at) < self.unit.restart.auth_every {
            return Some(Fault::new(ErrorClass::Auth, refused.message));
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        None
    }

    /// `fingerprint`: of the secrets that were used.
    fn fault(&self, error: &PortError, fingerprint: String) -> Fault {
        let message = self.scrubber.scrub(&chain(error)).into_owned();
        if error.class == ErrorClass::Auth {
            let refused = Refused { fingerprint, at: self.clock.now(), message: message.clone() };
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
        }
        Fault::new(error.class, message)
    }

    /// The same past whatever is remembered of the values.
    async fn read_anew(&self) -> String {
        for reference in self.unit.settings.secrets() {
            // What is wrong with it is told by the digest.
            let _ = self.secrets.again(&reference).await;
        }
        self.fingerprint().await
    }

    /// A digest of the present values of the unit's secrets; never the values.
    async fn fingerprint(&self) -> String {
        fingerprint(self.secrets.as_ref(), &self.unit.settings.secrets()).await
    }
}

impl Cycle for SyncLoop {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        &self.name
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn overslept(&self) -> Next {
        match self.unit.schedule.on_resume {
            OnResume::Skip => self.regular(Duration::ZERO),
            // However many were missed, one poll takes all there is.
            OnResume::Once | OnResume::Each => Next::At(self.clock.now().plus(Schedule::spread(self.seed))),
        }
    }

    fn allowed_from(&self, at: Timestamp) -> Option<Timestamp> {
        self.unit.schedule.opening(at)
    }

    fn restart(&self) -> RestartPolicy {
        self.unit.restart
    }

    fn stop_timeout(&self) -> Duration {
        self.unit.stop_timeout
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if !self.well.load(Ordering::Relaxed) {
                // What is new at the source would end every wait at once, and a refused login must not be tried by the
                // way: until a pass ends well, its back-off says when; or a secret that was replaced, or a store that was
                // unlocked.
                if self.unit.settings.secrets().is_empty() {
                    return std::future::pending().await;
                }
                return self.secrets.changed_since(self.turn.load(Ordering::Relaxed)).await;
            }
            let cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(changed) = self.connector.changed(cursor.as_ref()) else {
                return std::future::pending().await;
            };
            let began = self.clock.now();
            let ended = changed.await;
            if !self.unit.schedule.allows(self.clock.now()) {
                // Out of hours: the next opening looks.
                return std::future::pending().await;
            }
            if let Err(error) = ended {
                tracing::debug!(unit = self.name, "waiting for changes ended: {}", chain(&error));
                // A line that stood and died: one look tells whether the far side is there, and fetches what came since. One
                // that never stood is left to the schedule.
                if self.clock.now().since(began) < LINE_STOOD {
                    std::future::pending::<()>().await;
                }
            }
        })
    }
}

fn add(summary: &mut SyncSummary, report: &PageReport) {
    summary.pages += 1;
    summary.new_items += report.new_items;
    summary.updated_items += report.updated_items;
    summary.seen_items += report.seen_items;
    summary.own_items += report.own_items;
    summary.baseline_items += report.baseline_items;
    summary.quarantined_items += report.quarantined_items;
    summary.cases_made += report.cases_made;
    summary.cases_joined += report.cases_joined;
}
