//! Pure words of the house: ids, time, items, cases, drafts, outbound actions, runs, limits.
//!
//! No I/O, no async, no SQL. Everything here is plain data that other rooms pass to each other.

pub mod auto;
pub mod breaker;
pub mod budget;
pub mod case;
pub mod channel;
pub mod class;
pub mod cycle;
pub mod draft;
pub mod drawing;
pub mod effect;
pub mod environment;
pub mod exit;
pub mod ids;
pub mod item;
pub mod keep;
pub mod language;
pub mod limits;
pub mod live;
pub mod log_filter;
pub mod marker;
pub mod mcp;
pub mod money;
pub mod outbound;
pub mod parked;
pub mod pattern;
pub mod pause;
pub mod price;
pub mod repair;
pub mod repeat;
pub mod retry;
pub mod routing;
pub mod run;
pub mod schedule;
pub mod secret_ref;
pub mod text;
pub mod time;
pub mod token_shape;
pub mod trust;
pub mod uuid;
