//! `workagent`: systemd and launchd for a person's work agent.
//!
//! ```text
//!  unit files ─load─► sources ─compile─► Plan ─build─► DaemonRuntimeBundle ─start─► drivers, each repeating a cycle
//!
//!  platform ─poll─► Item ─ingest─► Case ─claim─► engine ─► Draft ─review─► OutboundAction ─deliver─► platform
//!           sync                  worker                  a person          outbound
//! ```
//!
//! Each arrow of the second line is one transaction of the [`store`]. Between two of them there is only a row and a
//! wake-up without data: runtimes look at the store and do what is due, and never call each other. Kill the process
//! anywhere, and the next start goes on from the rows.
//!
//! - [`model`]: the words, plain data. [`diag`], [`mod@unit`]: text to plan, with findings that have a place.
//! - Ports: [`platform`] (connectors), [`mod@engine`] (executors), [`channel`] (ways to the user), [`store`] (all SQL),
//!   [`secret`] (values and their masking), [`http`], [`process`] (children). [`catalog`] is the one table of platforms,
//!   engines and channels.
//! - [`supervise`]: cycles, drivers, groups of tasks, the status board; knows no domain word. [`runtime`]: sync, ingest,
//!   worker, review, outbound, pending, and the app runtime that does one cycle over all.
//! - [`bundle`]: the composition root. [`control`]: the API on the Unix socket. [`daemon`]: the process. [`cli`]: commands.
//!
//! A module imports only from rows below its own; a test holds the table. Three verbs make a daemon: check (pure, gives a
//! [`unit::plan::Plan`]), build (opens clients; spawns and writes nothing), start (spawns through groups).
//! What may go wrong carries its class, [`model::class::ErrorClass`], from the place where it happens.

pub mod bundle;
pub mod catalog;
pub mod channel;
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
