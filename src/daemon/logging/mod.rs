//! Logging: one place everything goes out through, and everything that goes out is masked first.
//!
//! On a terminal or in a file: lines on standard error. Under systemd: the journal's own protocol, with the fields
//! `UNIT`, `CASE`, `GENERATION` (and the like) to filter by. Events of every crate at every level pass the scrubber
//! after they were formatted, panics too.

mod fields;
mod journal;
mod panic;
mod scrubbing;

use std::io::IsTerminal;
use std::os::fd::AsFd;

use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub use self::panic::install_panic_hook;
use self::scrubbing::Scrubbing;
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::secret::Scrubber;

/// Where journald listens.
pub const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";

/// Where the log goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// How to log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// A level, or a filter per target: `info`, `workagent=debug,hyper=info`.
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
        source: tracing_subscriber::filter::ParseError,
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
pub fn init(options: &LogOptions) -> Result<(), LoggingError> {
    install_panic_hook(options.scrubber.clone());
    let dispatch: tracing::Dispatch = match options.target {
        LogTarget::Journal => {
            let layer = journal::JournalLayer::connect(JOURNAL_SOCKET.into(), options.scrubber.clone());
            tracing_subscriber::registry().with(filter(options)?).with(layer).into()
        }
        LogTarget::Text { .. } | LogTarget::Json => subscriber(options, std::io::stderr)?.into(),
    };
    dispatch.try_init().map_err(|_| LoggingError::Twice)
}

fn filter(options: &LogOptions) -> Result<EnvFilter, LoggingError> {
    EnvFilter::try_new(&options.filter)
        .map_err(|source| LoggingError::Filter { filter: options.filter.clone(), source })
}

/// A subscriber that writes masked lines to `writer`, as text or as JSON.
///
/// # Errors
/// [`LoggingError::Filter`].
pub fn subscriber<W>(
    options: &LogOptions,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, LoggingError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = filter(options)?;
    let json = options.target == LogTarget::Json;
    let lines = tracing_subscriber::fmt::layer()
        .with_timer(OurTime(options.clock.clone()))
        .with_writer(Scrubbing::new(writer, options.scrubber.clone(), json));
    let registry = tracing_subscriber::registry().with(filter);
    Ok(if json {
        Box::new(registry.with(lines.json()))
    } else {
        let colour = matches!(options.target, LogTarget::Text { colour: true });
        Box::new(registry.with(lines.compact().with_ansi(colour)))
    })
}

struct OurTime(Clock);

impl FormatTime for OurTime {
    fn format_time(&self, out: &mut Writer<'_>) -> std::fmt::Result {
        write!(out, "{}", self.0.now())
    }
}

#[cfg(test)]
mod tests;
