//! The composition root: a plan and its dependencies become a [`DaemonRuntimeBundle`], inert until started.

mod board;
pub mod deps;
pub mod factory;
pub mod login;
pub mod probe;
pub mod running;

pub use deps::BundleDeps;
pub use factory::{DaemonRuntimeBundle, Succession};
pub use running::RunningBundle;
