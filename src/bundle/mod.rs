//! The composition root: a plan and its dependencies become a [`DaemonRuntimeBundle`], inert until started.

pub mod backlog;
mod board;
pub mod deps;
pub mod factory;
pub mod login;
pub mod machine;
pub mod probe;
pub mod running;

pub use deps::BundleDeps;
pub use factory::{DaemonRuntimeBundle, Succession};
pub use running::RunningBundle;
