//! The scheduler: makes the cases of timer units when their times come.
//!
//! A fire is one item, named by its due time, in the ledger of its timer; it is committed together with how far the
//! timer has come. So a kill at any point makes no second case and loses none, and a fire is done with when its case is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::{RuntimeRecord, masked, store_fault, well};
use crate::model::cycle::{Activation, RuntimeSummary, SchedulerSummary};
use crate::model::item::{Cursor, Cut, Disposition, Item, Page, ReplyWay};
use crate::model::limits;
use crate::model::schedule::{Come, OnResume, Phase, Seed, Zone, words};
use crate::model::text::one_line;
use crate::model::time::{Clock, Timestamp};
use crate::secret::scrub::Scrubber;
use crate::store::{PageCommit, Store, StoreError, TIMER_IDENTITY};
use crate::supervise::{Board, Cycle, Next, Pass, UnitState};
use crate::unit::plan::{Plan, Standing, TimerUnit};

/// The kind of the items that timers make, for routes.
pub const ITEM_KIND: &str = "timer";

/// A timer that is done with a time further ahead than this has seen a clock that was wrong.
const AHEAD_MAX: std::time::Duration = std::time::Duration::from_secs(36 * 3600);

/// Makes the cases of timers.
pub struct SchedulerRuntime {
    parts: SchedulerParts,
    live: Mutex<Live>,
    /// Another plan was taken over.
    changed: Notify,
}

/// What the scheduler is made of.
pub struct SchedulerParts {
    /// The record.
    pub store: Store,
    /// Whose timers it runs.
    pub plan: Arc<Plan>,
    /// Where the timers' entries are.
    pub board: Board<RuntimeRecord>,
    /// Masks what is recorded.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// The plan generation.
    pub generation: i64,
}

/// What changes while it runs.
struct Live {
    plan: Arc<Plan>,
    generation: i64,
    timers: BTreeMap<String, Stand>,
    /// Timers that were kicked and have not made their case yet, and why.
    kicked: BTreeMap<String, Activation>,
}

/// What one pass did of one timer.
#[derive(Clone, Copy)]
struct Did {
    cases_made: u64,
    passed_over: u64,
    why: Activation,
}

/// Where a timer stands.
#[derive(Clone, Debug)]
struct Stand {
    phase: Phase,
    /// The run at the start of the daemon that is still to come.
    at_start: Option<Timestamp>,
    /// The schedule it stands in; with another one it begins anew.
    schedule: String,
}

/// How far a timer has come, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Kept {
    anchor: Timestamp,
    last: Timestamp,
    schedule: String,
}

impl SchedulerRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "scheduler.runtime";

    /// Over a store, with the timers of a plan.
    #[must_use]
    pub fn new(parts: SchedulerParts) -> Self {
        let live = Live {
            plan: Arc::clone(&parts.plan),
            generation: parts.generation,
            timers: BTreeMap::new(),
            kicked: BTreeMap::new(),
        };
        Self { parts, live: Mutex::new(live), changed: Notify::new() }
    }

    /// Goes on with another plan. Timers whose schedule is the same keep their place in it; the others begin anew. The
    /// board's entries of timers are whoever's who swaps the plan.
    pub fn adopt(&self, plan: Arc<Plan>, generation: i64) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let is_on = |name: &String| matches!(plan.timers.get(name), Some(Standing::Active(_)));
        live.timers.retain(|name, _| is_on(name));
        live.kicked.retain(|name, _| is_on(name));
        (live.plan, live.generation) = (plan, generation);
        drop(live);
        self.changed.notify_one();
    }

    /// Makes a timer's case now, besides its schedule, whose next time stays what it is; also out of its hours. Several
    /// kicks before the next pass make one case, and so do two in one second.
    pub fn kick(&self, timer: &str, why: Activation) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(live.plan.timers.get(timer), Some(Standing::Active(_))) {
            live.kicked.insert(timer.to_owned(), why);
        }
        drop(live);
        self.changed.notify_one();
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let mut summary = SchedulerSummary::default();
        match self.work(&mut summary).await {
            Ok(next) => {
                let fresh = summary.cases_made > 0;
                well(RuntimeSummary::Scheduler(summary), next.map_or(Next::WhenWoken, Next::At), fresh)
            }
            Err(error) => Pass {
                fault: Some(store_fault("make the cases of timers", &error)),
                ..well(RuntimeSummary::Scheduler(summary), Next::WhenWoken, false)
            },
        }
    }

    /// Everything that is due now; gives the next due time.
    async fn work(&self, summary: &mut SchedulerSummary) -> Result<Option<Timestamp>, StoreError> {
        let (timers, generation) = {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            let on = live.plan.timers.values().filter_map(|standing| match standing {
                Standing::Active(unit) => Some(Arc::clone(unit)),
                Standing::Off(_) => None,
            });
            (on.collect::<Vec<_>>(), live.generation)
        };
        let mut next = None;
        for timer in timers {
            summary.timers += 1;
            let due = self.one(&timer, generation, summary).await?;
            next = [next, due].into_iter().flatten().min();
        }
        Ok(next)
    }

    async fn one(
        &self,
        timer: &TimerUnit,
        generation: i64,
        summary: &mut SchedulerSummary,
    ) -> Result<Option<Timestamp>, StoreError> {
        let now = self.parts.clock.now();
        let seed = Seed::of(&format!("{}.timer", timer.name));
        let (mut standing, known) = self.standing(timer, seed, now).await?;
        let Come { mut run, passed_over } = timer.schedule.answer(standing.phase, now, seed);
        if let Some(last) = run.last() {
            standing.phase = standing.phase.done(*last);
        } else if passed_over > 0 {
            standing.phase = standing.phase.done(now);
        }
        if let Some(due) = standing.at_start.take_if(|due| *due <= now) {
            // One run that makes up for missed times is the one at the start too.
            if run.is_empty() || timer.schedule.on_resume == OnResume::Each {
                run.push(due);
            }
        }
        let kicked = self.kicked(&timer.name);
        if kicked.is_some() {
            run.push(now);
        }
        let mut made = 0;
        if !known || !run.is_empty() || passed_over > 0 {
            made = self.commit(timer, &run, &standing, generation).await?;
        }
        summary.cases_made += made;
        summary.passed_over += passed_over as u64;
        let next = timer.schedule.next(standing.phase, seed);
        let next = [next, standing.at_start].into_iter().flatten().min();
        let why = kicked.unwrap_or(Activation::Timer);
        self.tell(timer, next, Did { cases_made: made, passed_over: passed_over as u64, why }, now);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if kicked.is_some() {
            // Not before its case is committed.
            live.kicked.remove(&timer.name);
        }
        live.timers.insert(timer.name.clone(), standing);
        Ok(next)
    }

    fn kicked(&self, timer: &str) -> Option<Activation> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).kicked.get(timer).copied()
    }

    /// Where a timer stands, and whether the store knows it.
    async fn standing(
        &self,
        timer: &TimerUnit,
        seed: Seed,
        now: Timestamp,
    ) -> Result<(Stand, bool), StoreError> {
        let schedule = timer.schedule.normal();
        let held = {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.timers.get(&timer.name).cloned()
        };
        let sound = |last: Timestamp| last <= now.plus(AHEAD_MAX);
        if let Some(held) = held.as_ref().filter(|held| held.schedule == schedule && sound(held.phase.last)) {
            return Ok((held.clone(), true));
        }
        let kept = self.parts.store.timer_cursor(&timer.name).await?;
        let kept = kept.and_then(|cursor| serde_json::from_str::<Kept>(&cursor.0).ok());
        let kept = kept.filter(|kept| kept.schedule == schedule && sound(kept.last));
        // Only the start of the daemon is a start; a schedule that was edited meanwhile is not.
        let begins = held.is_none() && timer.schedule.at_start;
        let at_start = begins.then(|| timer.schedule.first(now, seed)).flatten();
        let known = kept.is_some();
        let phase = match kept {
            Some(kept) if timer.schedule.persistent => Phase { anchor: kept.anchor, last: kept.last },
            // Its pace goes on; what was missed meanwhile does not count.
            Some(kept) => Phase { anchor: kept.anchor, last: now },
            None => Phase::begin(now),
        };
        Ok((Stand { phase, at_start, schedule }, known))
    }

    /// The cases and how far the timer has come, in one transaction. A due time that has its case already makes none.
    async fn commit(
        &self,
        timer: &TimerUnit,
        run: &[Timestamp],
        standing: &Stand,
        generation: i64,
    ) -> Result<u64, StoreError> {
        let kept = Kept {
            anchor: standing.phase.anchor,
            last: standing.phase.last,
            schedule: standing.schedule.clone(),
        };
        let mut page = Page { items: run.iter().map(|due| item(timer, *due)).collect(), ..Page::default() };
        masked::mask(&mut page, &self.parts.scrubber);
        let commit = PageCommit {
            connector: timer.name.clone(),
            identity: TIMER_IDENTITY.to_owned(),
            items: page.items,
            cursor: Some(Cursor(serde_json::to_string(&kept).unwrap_or_default())),
            generation,
        };
        Ok(self.parts.store.commit_page(commit).await?.cases_made)
    }

    /// The timer's entry on the board.
    fn tell(&self, timer: &TimerUnit, next: Option<Timestamp>, did: Did, now: Timestamp) {
        let unit = format!("{}.timer", timer.name);
        let board = &self.parts.board;
        if board.get(&unit).is_none() {
            board.enter(&unit, UnitState::Active, None, now);
        }
        let Did { cases_made, passed_over, why } = did;
        if passed_over > 0 {
            let on_resume = timer.schedule.on_resume.word();
            tracing::info!(unit, passed_over, on_resume, "due times were missed and passed over");
        }
        board.update(&unit, |status| {
            status.enter(UnitState::Active, now);
            status.next_due = next;
            if cases_made + passed_over > 0 {
                status.passes += 1;
                status.last_activation = Some(why);
                let summary = SchedulerSummary { timers: 1, cases_made, passed_over };
                status.record = Some(RuntimeRecord::clean(RuntimeSummary::Scheduler(summary)));
            }
            if cases_made > 0 {
                (status.last_try, status.last_success, status.last_fresh) = (Some(now), Some(now), Some(now));
            }
        });
    }
}

/// The item of one fire.
fn item(timer: &TimerUnit, due: Timestamp) -> Item {
    let named = timer.schedule.calendar.iter().map(|calendar| calendar.zone());
    let zone = named.into_iter().find(|zone| zone.name().is_some()).cloned().unwrap_or_else(Zone::local);
    let filled = |text: &str| words::filled(text, &timer.name, due, &zone);
    let (body, cut) = Cut::to_fit(filled(&timer.text));
    // To the second: a timer fires at most once in one.
    let key = due.to_string();
    Item {
        threads: vec![format!("{}:{key}", timer.name)],
        key,
        // Whatever a later plan says, this time has had its case.
        revision: "1".to_owned(),
        identities: Vec::new(),
        kind: ITEM_KIND.to_owned(),
        title: one_line(&filled(&timer.title), limits::TITLE_BYTES_MAX),
        author: None,
        at: Some(due),
        url: None,
        body,
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut,
        labels: timer.labels.clone(),
        reply: ReplyWay::Nowhere { reason: "a timer takes no replies".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

impl Cycle for SchedulerRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }
}
