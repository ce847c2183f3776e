//! Unit files: text → plan. The same code serves `workagent validate` and the daemon.
//!
//! [`load()`] reads the search path. [`compile()`] is a pure function of what was read: each file is parsed with its places
//! kept, the layers of a unit are merged and typed by the table of its kind, the rules look at it alone and then at
//! all units together, and what stands becomes the plan; the rest stays in it as no-ops with a reason and a place.

mod budgets;
mod canon;
pub mod check;
pub mod compile;
pub mod compose;
pub mod condition;
mod decode;
mod defaults;
pub mod edit;
pub mod files;
mod graph;
pub mod instruction;
pub mod jinja;
pub mod json_schema;
pub mod kinds;
mod layers;
mod layout;
mod lists;
pub mod load;
pub mod manual;
mod merge;
mod origins;
mod parse;
mod payers;
pub mod plan;
pub mod registry;
mod report;
mod routes;
pub mod schema;
pub mod search;
mod shadows;
pub mod stub;
mod tree;
mod typed;
pub mod value;
mod words;

pub use canon::as_files;
pub use check::{CHECKS, explain};
pub use compile::{CompileEnv, Compiled, compile};
pub use decode::{SPECIFIERS, parse_duration};
pub use load::{BUILT_IN, KEPT, Loaded, is_unit_name, load};
pub use words::closest;
