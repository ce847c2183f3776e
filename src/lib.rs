//! `workagent`: systemd and launchd for a person's work agent.

pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod control;
pub mod daemon;
pub mod diag;
pub mod engine;
pub mod http;
pub mod model;
pub mod platform;
pub mod process;
pub mod runtime;
pub mod secret;
pub mod store;
pub mod supervise;
pub mod unit;
