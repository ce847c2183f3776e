//! The composition root: a plan and its dependencies become a [`DaemonRuntimeBundle`], inert until started.

pub mod backlog;
mod board;
mod channels;
pub mod deps;
pub mod factory;
pub mod login;
pub mod machine;
pub mod probe;
pub mod running;

pub use deps::BundleDeps;
pub use factory::{DaemonRuntimeBundle, Succession};
pub use running::RunningBundle;

use crate::model::class::{ErrorClass, PortError};

/// The catalog has no such word.
fn unknown(what: &str, word: &str) -> PortError {
    PortError::new(ErrorClass::Config, format!("build the {what} `{word}`: not known"))
}
