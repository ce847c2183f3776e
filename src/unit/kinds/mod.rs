//! The kinds of units: one file each, with its tables and how the checked values become a unit of the plan.

pub(crate) mod account;
pub(crate) mod auto;
pub(crate) mod channel;
pub(crate) mod common;
pub(crate) mod condition;
pub(crate) mod connector;
pub(crate) mod daemon;
pub(crate) mod engine;
pub(crate) mod env;
pub(crate) mod money;
pub(crate) mod oauth;
pub(crate) mod restart;
pub(crate) mod route;
pub(crate) mod runtime;
pub(crate) mod sandbox;
pub(crate) mod schedule;
pub(crate) mod secret;
pub(crate) mod target;
pub(crate) mod timer;

use super::plan::Kind;
use super::schema::KindSpec;

/// The tables of a kind.
#[must_use]
pub fn spec(kind: Kind) -> &'static KindSpec {
    match kind {
        Kind::Daemon => &daemon::SPEC,
        Kind::Connector => &connector::SPEC,
        Kind::Engine => &engine::SPEC,
        Kind::Env => &env::SPEC,
        Kind::Route => &route::SPEC,
        Kind::Runtime => &runtime::SPEC,
        Kind::Channel => &channel::SPEC,
        Kind::Timer => &timer::SPEC,
        Kind::Secret => &secret::SPEC,
        Kind::Target => &target::SPEC,
    }
}
