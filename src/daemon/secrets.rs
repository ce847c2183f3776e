//! The stores of secrets as the daemon has them, and as every command has them too.

use std::sync::Arc;

use super::paths::Paths;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::process::secret_program::SecretPrograms;
use crate::secret::Scrubber;
use crate::secret::places::Places;
use crate::secret::secrets::{SecretRooms, Secrets};
use crate::unit::plan::Plan;

/// What the stores are opened with besides the places.
pub struct Around {
    /// The daemon's environment.
    pub environment: Environment,
    /// Masks what is read.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// A person sits in front of it and may be asked to unlock a keyring.
    pub ask: bool,
}

/// The stores, with each secret where the plan says. Nothing is opened before its first use.
#[must_use]
pub fn open(paths: &Paths, plan: &Plan, around: Around) -> Secrets {
    let Around { environment, scrubber, clock, ask } = around;
    let process = ProcessRoom::new(paths.process_notes());
    let programs = SecretPrograms::new(process, environment.clone());
    let rooms = SecretRooms {
        file: paths.secrets_file(),
        key_file: paths.secrets_key(),
        environment,
        scrubber,
        clock,
        programs: Some(Arc::new(programs)),
        ask,
    };
    let secrets = Secrets::open(rooms, &plan.daemon.secrets);
    secrets.adopt(Places::of(plan));
    secrets
}
