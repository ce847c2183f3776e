//! Unit files: text → plan. The same code serves `workagent validate` and the daemon.

pub mod plan;
pub mod schema;
pub mod value;
