//! The control API: HTTP and JSON over a Unix socket that only its owner can reach.

pub mod api;
pub mod client;
mod finish;
pub mod health;
pub mod listener;
pub mod manager;
pub mod metrics;
pub mod plot;
pub mod repairs;
pub mod server;
pub mod web;
pub mod wire;
