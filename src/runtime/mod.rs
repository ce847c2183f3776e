//! Runtimes: each looks at the store and does what is due. They never call each other; between two of them there is
//! only a row and a wake-up.

pub mod app_runtime;
mod credentials;
pub mod desk_rule;
pub mod disabled;
pub mod ingest;
pub mod jobs;
mod masked;
pub mod notices;
pub mod onboarding;
pub mod outbound;
pub mod pending;
pub mod points;
mod refused;
pub mod review;
pub mod rotation;
pub mod routing;
pub mod scheduler;
pub mod sync;
pub mod worker;

use crate::model::class::{ErrorClass, chain};
use crate::model::cycle::{CycleError, RuntimeSummary};
use crate::secret::scrub::Scrubber;
use crate::store::StoreError;
use crate::supervise::{Fault, Next, Pass};

/// What a runtime's pass records: its summary and the errors it met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeRecord {
    /// What it did.
    pub summary: RuntimeSummary,
    /// What went wrong on single cases or actions, without ending the pass.
    pub errors: Vec<CycleError>,
}

impl RuntimeRecord {
    /// A record without errors.
    #[must_use]
    pub fn clean(summary: RuntimeSummary) -> Self {
        Self { summary, errors: Vec::new() }
    }
}

/// A pass's outcome with everything in order.
fn well(summary: RuntimeSummary, next: Next, fresh: bool) -> Pass<RuntimeRecord> {
    Pass { record: RuntimeRecord::clean(summary), fault: None, next, fresh, tried: true }
}

/// A store error as a fault: the disk or a lock, tried again; nothing is lost.
fn store_fault(doing: &str, error: &StoreError) -> Fault {
    Fault::new(ErrorClass::NETWORK, format!("{doing}: {}", chain(error)))
}

/// An error for the record of a pass, secrets masked.
fn cycle_error(unit: &str, class: &str, message: &str, scrubber: &Scrubber) -> CycleError {
    CycleError {
        unit: unit.to_owned(),
        class: class.to_owned(),
        message: scrubber.scrub(message).into_owned(),
    }
}
