//! Logging: one place everything goes out through, and everything that goes out is masked first.
//!
//! On a terminal or in a file: lines. Under systemd: the journal's own protocol, with the fields `UNIT`, `CASE`, `RUN`,
//! `GENERATION` (and the like) to filter by. Events of every crate at every level go the same way: `levels` says whether
//! they count, `volume` whether they were said before, then they are formatted, masked and written. Panics too.

mod event;
mod fields;
mod file;
mod journal;
mod levels;
mod lines;
mod panic;
mod relay;
mod volume;

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub use self::event::{Log, OF_RELAY};
use self::event::{Outlet, Way};
use self::file::LogFile;
pub use self::levels::{Temporary, WhatIsLogged};
use self::lines::Form;
pub use self::panic::install_panic_hook;
pub use self::relay::{Record, RecordKind, Relay};
use crate::model::environment::Environment;
use crate::model::log_filter::{BadLogFilter, LogFilter};
use crate::model::time::Clock;
use crate::secret::Scrubber;

/// Where journald listens.
pub const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";

/// Where the log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Lines for people on standard error.
    Text {
        /// With colour.
        colour: bool,
    },
    /// One JSON object a line on standard error.
    Json,
    /// journald, natively.
    Journal,
    /// A file that is rotated.
    File {
        /// Where.
        path: PathBuf,
        /// One JSON object a line.
        json: bool,
    },
}

/// How to log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// A level, or a filter per unit and target: `info`, `info,inbox.connector=debug,hyper=warn`.
    pub filter: String,
    /// Where to.
    pub target: LogTarget,
    /// Stands in each line.
    pub clock: Clock,
    /// Masks.
    pub scrubber: Scrubber,
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The filter makes no sense.
    #[error("read the log filter `{filter}`")]
    Filter {
        /// As given.
        filter: String,
        /// The cause.
        #[source]
        source: BadLogFilter,
    },
    /// The file cannot be written.
    #[error("open the log file {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Somebody set up logging before.
    #[error("logging was set up twice")]
    Twice,
}

impl LogTarget {
    /// The journal when standard error already leads there, else text; with colour on a terminal unless `NO_COLOR` is
    /// set.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        if leads_to_journal(environment) {
            return Self::Journal;
        }
        let terminal = std::io::stderr().is_terminal();
        Self::Text { colour: terminal && environment.get("NO_COLOR").is_none() }
    }
}

/// systemd names the device and inode of the stream it gave us; a redirected standard error is another.
fn leads_to_journal(environment: &Environment) -> bool {
    let Some((device, inode)) = environment.get("JOURNAL_STREAM").and_then(|text| text.split_once(':'))
    else {
        return false;
    };
    rustix::fs::fstat(std::io::stderr().as_fd())
        .is_ok_and(|found| found.st_dev.to_string() == device && found.st_ino.to_string() == inode)
}

/// Sets up logging for the whole process, once, and panics through the scrubber.
///
/// # Errors
/// [`LoggingError`].
pub fn init(options: &LogOptions) -> Result<Log, LoggingError> {
    let (way, panics) = match &options.target {
        LogTarget::Journal => (Way::Journal(journal::Journal::connect(JOURNAL_SOCKET.into())), None),
        LogTarget::Text { colour } => (Way::lines(Form::Text { colour: *colour }, stderr), None),
        LogTarget::Json => (Way::lines(Form::Json, stderr), None),
        LogTarget::File { path, json } => {
            let failed = |source| LoggingError::File { path: path.clone(), source };
            let file = LogFile::open(path.clone()).map_err(failed)?;
            let form = if *json { Form::Json } else { Form::Text { colour: false } };
            let to = file.clone();
            (Way::lines(form, move |line: &[u8]| to.write(line)), Some(file))
        }
    };
    install_panic_hook(options.scrubber.clone(), panics);
    let (log, outlet) = outlet(options, way)?;
    tracing_subscriber::registry().with(outlet).try_init().map_err(|_| LoggingError::Twice)?;
    Ok(log)
}

fn stderr(line: &[u8]) {
    // There is no place left to say that the log cannot be written.
    let _ = std::io::stderr().write_all(line);
}

fn outlet(options: &LogOptions, way: Way) -> Result<(Log, Outlet), LoggingError> {
    let bad = |source| LoggingError::Filter { filter: options.filter.clone(), source };
    let filter: LogFilter = options.filter.parse().map_err(bad)?;
    let log = Log::new(filter, options.clock.clone());
    Ok((log.clone(), Outlet::new(log, way, options.scrubber.clone())))
}

/// A subscriber that hands each masked line to `write`, as text or as JSON; and what changes its levels.
///
/// # Errors
/// [`LoggingError::Filter`].
pub fn subscriber(
    options: &LogOptions,
    write: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<(Log, Box<dyn Subscriber + Send + Sync>), LoggingError> {
    let form = match &options.target {
        LogTarget::Json | LogTarget::File { json: true, .. } => Form::Json,
        LogTarget::Text { colour } => Form::Text { colour: *colour },
        LogTarget::Journal | LogTarget::File { .. } => Form::Text { colour: false },
    };
    let (log, outlet) = outlet(options, Way::lines(form, write))?;
    Ok((log, Box::new(tracing_subscriber::registry().with(outlet))))
}

#[cfg(test)]
mod tests;
