//! The process: paths, the instance lock, logging, signals, the service manager, exit codes.

mod anchor;
pub mod assembly;
pub mod backup;
pub mod clock_watch;
pub use crate::model::exit;
pub mod facts;
pub mod findings;
pub mod holds;
pub mod housekeeping;
pub mod lock;
pub mod logging;
pub mod mark;
pub mod otlp;
pub mod paths;
pub mod place;
pub mod plans;
pub mod reload;
pub mod run;
pub mod secrets;
pub mod service;
pub mod service_manager;
pub mod signals;
pub mod unit_source;
pub mod watch;
