//! The rotation runtime: replaces secrets before they end, tells the user where only they can, and looks again at stores
//! that cannot be used.

mod former;
mod rotator;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;

pub use self::rotator::{RotateError, Rotated, Rotator, RotatorParts};
use super::{RuntimeRecord, cycle_error, well};
use crate::model::cycle::{RotationSummary, RuntimeSummary};
use crate::model::limits;
use crate::model::time::{Timestamp, short_span};
use crate::secret::due::Due;
use crate::secret::{SecretError, SecretStore as _};
use crate::supervise::{Cycle, Next, Pass};
use crate::unit::plan::{NewValue, SecretUnit};

/// Looks at what is due.
pub struct RotationRuntime {
    rotator: Arc<Rotator>,
    /// The turn of secrets that the last pass began with.
    turn: AtomicU64,
}

impl RotationRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "rotation.runtime";

    /// Over what replaces one secret.
    #[must_use]
    pub fn new(rotator: Arc<Rotator>) -> Self {
        Self { rotator, turn: AtomicU64::new(0) }
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let watched = self.rotator.watched();
        self.turn.store(self.rotator.secrets().turn(), Ordering::Relaxed);
        let mut summary = RotationSummary::default();
        let (mut errors, mut next) = (Vec::new(), None);
        let now = self.rotator.now();
        for (unit, name) in &watched.replaced {
            summary.secrets += 1;
            match self.rotator.retire_due(unit, name).await {
                Ok(due) => next = [next, due].into_iter().flatten().min(),
                Err(why) => {
                    summary.notes.push(format!("the former value of {name} is still in service: {why}"));
                    next = [next, Some(now.plus(limits::ROTATION_RETRY))].into_iter().flatten().min();
                }
            }
            match self.one(unit, name, &mut summary).await {
                Ok(due) => next = [next, due].into_iter().flatten().min(),
                Err(error) => {
                    let text = error.to_string();
                    let of = format!("{}.secret", unit.name);
                    errors.push(cycle_error(&of, error.class().word(), &text, self.rotator.scrubber()));
                    next = [next, Some(now.plus(limits::ROTATION_RETRY))].into_iter().flatten().min();
                }
            }
        }
        let used = watched.users.keys().map(String::as_str);
        let unwell = self.rotator.secrets().look_at_unwell(used).await;
        if unwell > 0 {
            next = [next, Some(now.plus(limits::SECRET_STORE_LOOK))].into_iter().flatten().min();
        }
        let fresh = summary.rotated > 0;
        let pass = well(RuntimeSummary::Rotation(summary), next.map_or(Next::WhenWoken, Next::At), fresh);
        Pass { record: RuntimeRecord { errors, ..pass.record }, ..pass }
    }

    /// Sees to one secret; gives when to look again.
    async fn one(
        &self,
        unit: &SecretUnit,
        name: &str,
        summary: &mut RotationSummary,
    ) -> Result<Option<Timestamp>, SecretError> {
        let now = self.rotator.now();
        let due = match self.rotator.due(unit, name).await {
            // The first value comes from there too.
            Err(SecretError::Missing { .. }) if matches!(unit.how, NewValue::Command { .. }) => {
                Due { ends: None, rotate_at: Some(now) }
            }
            other => other?,
        };
        if !due.is_due(now) {
            return Ok(due.rotate_at);
        }
        if unit.how == NewValue::Ask {
            summary.notes.push(told(name, due, now));
            // The next day says another number of days.
            return Ok(Some(now.plus(std::time::Duration::from_secs(86_400))));
        }
        let retry = now.plus(limits::ROTATION_RETRY);
        let last = self.rotator.last(name).await;
        if let Some(last) = last.filter(|last| last.version.is_none() && last.at <= now)
            && now.since(last.at) < limits::ROTATION_RETRY
        {
            summary.notes.push(failing(name, &last.detail, due, now));
            return Ok(Some(last.at.plus(limits::ROTATION_RETRY)));
        }
        match self.rotator.rotate(name).await {
            Ok(_) => {
                summary.rotated += 1;
                Ok(self.rotator.due(unit, name).await?.rotate_at.map(|at| at.max(retry)))
            }
            Err(error) => {
                summary.failed += 1;
                summary.notes.push(failing(name, &error.to_string(), due, now));
                Ok(Some(retry))
            }
        }
    }
}

fn told(name: &str, due: Due, now: Timestamp) -> String {
    let why = match due.ends {
        Some(ends) if ends <= now => format!("ended {} ago", short_span(now.since(ends))),
        Some(ends) => format!("ends in {}", short_span(ends.since(now))),
        None => {
            let late = due.rotate_at.map(|at| short_span(now.since(at))).unwrap_or_default();
            format!("is to be replaced since {late}")
        }
    };
    format!("the secret {name} {why}: workagent secret rotate {name}")
}

fn failing(name: &str, why: &str, due: Due, now: Timestamp) -> String {
    let ends = match due.ends {
        Some(ends) if ends <= now => ", which has ended",
        _ => "",
    };
    format!("the secret {name} could not be replaced, the old value stays{ends}: {why}")
}

impl Cycle for RotationRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let secrets = self.rotator.secrets();
            let turn = self.turn.load(Ordering::Relaxed);
            tokio::select! {
                () = secrets.fell_ill() => {
                    // At once it would only be told the same.
                    tokio::time::sleep(limits::SECRET_STORE_REST).await;
                }
                () = secrets.changed_since(turn) => {}
            }
        })
    }
}
