//! Doubles of the outside world.

pub mod http;
