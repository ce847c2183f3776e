//! The control API: HTTP and JSON over a Unix socket that only its owner can reach.

pub mod api;
pub mod wire;
