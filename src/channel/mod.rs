//! Channels: one file each. A channel tells its one user what waits, and where it hears, hears what that user says to it.
//! Whom it listens to, what a message may do and when it tells are the runtime's; a channel tries once.

mod api;
pub mod command;
pub mod desktop;
pub mod matrix;
pub mod ntfy;
pub mod telegram;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::http::HttpRoom;
use crate::model::channel::{Message, Notice};
use crate::model::class::PortError;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::secret::SecretStore;
use crate::unit::schema::{KeyProblem, KeySpec};
use crate::unit::value::Settings;

/// A way to the user.
pub trait Channel: Send + Sync {
    /// Where it leads, for people, and without a secret: "ntfy.sh". A pairing made with another place does not hold.
    fn place(&self) -> String;

    /// What comes back, and how.
    fn hearing(&self) -> Hearing;

    /// How long a reference must be so that it cannot be guessed.
    fn reference_len(&self) -> usize {
        REFERENCE_LEN
    }

    /// Tells something. `address`: where the pairing message came from; empty where there is one place only, or none yet.
    fn tell<'a>(&'a self, notice: &'a Notice, address: &'a str) -> BoxFuture<'a, Result<(), PortError>>;

    /// What was said behind the cursor, oldest first. With a `wait` it waits so long for something; without, it looks and
    /// comes back. Changes nothing at the far side: asked once more with the same cursor, it gives the same once more.
    fn hear<'a>(&'a self, cursor: Option<&'a str>, wait: Duration)
    -> BoxFuture<'a, Result<Heard, PortError>>;
}

/// Letters of a reference where the far side itself says who speaks: two of them open at once are told apart, and nobody
/// else is asked.
pub const REFERENCE_LEN: usize = 4;

/// Letters of a reference where it is the reference that counts, since nobody vouches for who speaks: 59 bits.
pub const REFERENCE_LONG_LEN: usize = 12;

/// What comes back on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// Nothing: it only tells.
    Deaf,
    /// It waits for messages.
    Waits,
    /// It is asked so often.
    Every(Duration),
}

/// What came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// Where it goes on; `None`: where it was.
    pub cursor: Option<String>,
}

/// What a channel gets to be built. Building opens nothing and reads no secret.
#[derive(Clone)]
pub struct ChannelContext {
    /// The unit's name.
    pub unit: String,
    /// The channel's own table, checked.
    pub settings: Settings,
    /// Where secret values come from, read at use.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Clock,
    /// A directory of its own in the state directory, not yet made.
    pub state_dir: PathBuf,
    /// HTTP clients.
    pub http: HttpRoom,
    /// Children.
    pub process: ProcessRoom,
    /// The daemon's environment, out of which that of children is made.
    pub environment: Environment,
}

/// One row of the catalog.
pub struct ChannelSpec {
    /// The word in `[channel] channel`, and the name of its own table.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// Builds a channel.
    pub build: fn(ChannelContext) -> Result<Arc<dyn Channel>, PortError>,
}
