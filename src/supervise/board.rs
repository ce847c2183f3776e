//! The status board: what each unit is doing, with ages. Written by drivers, read by people.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::model::cycle::Activation;
use crate::model::time::Timestamp;

use super::cycle::Fault;
use super::jumps::Jumps;
use super::kick::OnFailure;

/// State of a unit, in systemd's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitState {
    /// A visible no-op.
    Inactive,
    /// Started, first pass not over.
    Activating,
    /// The last pass went well (or the far side asked to wait).
    Active,
    /// The last pass failed; tried again.
    Failed,
    /// Stopped.
    Stopped,
}

/// What is known of a unit.
#[derive(Clone, Debug)]
pub struct UnitStatus<R> {
    /// State.
    pub state: UnitState,
    /// Since when.
    pub since: Timestamp,
    /// Why it is inactive, and where that stands.
    pub reason: Option<String>,
    /// A pass is going on since.
    pub running_since: Option<Timestamp>,
    /// Why the last pass ran.
    pub last_activation: Option<Activation>,
    /// When the last pass began.
    pub last_try: Option<Timestamp>,
    /// When the last good pass ended.
    pub last_success: Option<Timestamp>,
    /// When something new was found.
    pub last_fresh: Option<Timestamp>,
    /// When the next pass is due; `None`: only when woken.
    pub next_due: Option<Timestamp>,
    /// Faults in a row.
    pub failures: u32,
    /// The last fault, kept until a good pass.
    pub fault: Option<Fault>,
    /// The last record.
    pub record: Option<R>,
    /// Good and bad passes.
    pub passes: u64,
    /// Passes that ended in a panic; the loop was begun again after each.
    pub panics: u32,
}

/// The board: states from the drivers, to the drivers the word that time has jumped, and who is kicked when a unit
/// fails. Cheap to clone; clones are the same board.
#[derive(Debug)]
pub struct Board<R> {
    units: Arc<Mutex<BTreeMap<String, UnitStatus<R>>>>,
    jumps: Jumps,
    on_failure: OnFailure,
    turns: watch::Sender<()>,
}

impl<R> Clone for Board<R> {
    fn clone(&self) -> Self {
        Self {
            units: Arc::clone(&self.units),
            jumps: self.jumps.clone(),
            on_failure: self.on_failure.clone(),
            turns: self.turns.clone(),
        }
    }
}

impl<R> Default for Board<R> {
    fn default() -> Self {
        Self {
            units: Arc::default(),
            jumps: Jumps::default(),
            on_failure: OnFailure::default(),
            turns: watch::Sender::new(()),
        }
    }
}

impl<R> Board<R> {
    /// Where jumps of time are told and heard.
    #[must_use]
    pub fn jumps(&self) -> &Jumps {
        &self.jumps
    }

    /// Says that a unit began to fail, or is well again.
    #[must_use]
    pub fn turns(&self) -> &watch::Sender<()> {
        &self.turns
    }

    /// Who is kicked when a unit fails. Told by whoever enters the failure.
    #[must_use]
    pub fn on_failure(&self) -> &OnFailure {
        &self.on_failure
    }
}

impl<R: Clone> Board<R> {
    /// Puts a unit on the board.
    pub fn enter(&self, unit: &str, state: UnitState, reason: Option<String>, now: Timestamp) {
        let status = UnitStatus {
            state,
            since: now,
            reason,
            running_since: None,
            last_activation: None,
            last_try: None,
            last_success: None,
            last_fresh: None,
            next_due: None,
            failures: 0,
            fault: None,
            record: None,
            passes: 0,
            panics: 0,
        };
        self.lock().insert(unit.to_owned(), status);
    }

    /// Changes a unit's entry.
    pub fn update(&self, unit: &str, change: impl FnOnce(&mut UnitStatus<R>)) {
        if let Some(status) = self.lock().get_mut(unit) {
            change(status);
        }
    }

    /// Takes off the units that are gone.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.lock().retain(|unit, _| keep(unit));
    }

    /// One unit.
    #[must_use]
    pub fn get(&self, unit: &str) -> Option<UnitStatus<R>> {
        self.lock().get(unit).cloned()
    }

    /// All units by name.
    #[must_use]
    pub fn all(&self) -> BTreeMap<String, UnitStatus<R>> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, UnitStatus<R>>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> UnitStatus<R> {
    /// Moves to a state; `since` changes only with the state.
    pub fn enter(&mut self, state: UnitState, now: Timestamp) {
        if self.state != state {
            self.state = state;
            self.since = now;
        }
    }
}
