//! The composition root: a plan and its dependencies become a [`DaemonRuntimeBundle`], inert until started.

pub mod deps;
pub mod factory;
pub mod running;

pub use deps::BundleDeps;
pub use factory::DaemonRuntimeBundle;
pub use running::RunningBundle;
