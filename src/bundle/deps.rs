//! What a bundle is built from besides the plan.

use std::path::PathBuf;

use crate::http::HttpRoom;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::secret::scrub::Scrubber;
use crate::secret::secrets::Secrets;
use crate::store::Store;

/// The rooms that every part may need. Opened once a process, shared by all bundles.
#[derive(Clone)]
pub struct BundleDeps {
    /// The record.
    pub store: Store,
    /// Where secret values come from.
    pub secrets: Secrets,
    /// Masks secrets in what people see.
    pub scrubber: Scrubber,
    /// HTTP clients.
    pub http: HttpRoom,
    /// Child processes.
    pub process: ProcessRoom,
    /// The daemon's own environment, captured at start.
    pub environment: Environment,
    /// Now.
    pub clock: Clock,
    /// The state directory.
    pub state_dir: PathBuf,
}
