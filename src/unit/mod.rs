//! Unit files: text → plan. The same code serves `workagent validate` and the daemon.
//!
//! `load` reads the search path; `compile` is a pure function of what was read.

pub mod compile;
pub mod load;
pub mod plan;
pub mod registry;
pub mod schema;
pub mod search;
pub mod value;

pub use compile::{CompileEnv, Compiled, compile};
pub use load::{Loaded, load};
