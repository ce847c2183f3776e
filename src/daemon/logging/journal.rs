//! journald's native protocol. Our own small layer and not the crate for it: that one writes to the socket by itself
//! and leaves no place for masking; and it has no bound on what one event may hold.
//!
//! One datagram an event, a few fields, each `NAME=text\n`, or with a length where the text has several lines.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use super::event::Entry;
use super::lines::{text_lines, told};
use crate::model::limits::LOG_EVENT_BYTES_MAX;
use crate::model::log_filter::LogLevel;
use crate::model::text::cut;
use crate::secret::Scrubber;

/// Fields of ours that people filter by; all others get a prefix, so that they cannot pass for journald's own.
const KNOWN: [&str; 9] =
    ["unit", "case", "generation", "run", "draft", "action", "engine", "connector", "route"];

/// One field other than the message.
const FIELD_BYTES_MAX: usize = 2 * 1024;

/// Fields of one event; with the bound on each, the whole stays far below the largest datagram (about 200 KiB).
const FIELDS_LEN_MAX: usize = 32;

/// A journal that does not take the datagram in this time is not there: the daemon must not hang on its log.
const SEND_WAIT: Duration = Duration::from_secs(1);

/// Sends events to journald; to standard error what journald does not take.
#[derive(Debug)]
pub struct Journal {
    socket: Option<UnixDatagram>,
    path: PathBuf,
}

impl Journal {
    /// Opens the near end only: journald may be restarted at any time.
    pub fn connect(path: PathBuf) -> Self {
        let open = || -> io::Result<UnixDatagram> {
            let socket = UnixDatagram::unbound()?;
            socket.set_write_timeout(Some(SEND_WAIT))?;
            Ok(socket)
        };
        Self { socket: open().ok(), path }
    }

    /// One event, masked.
    pub fn send(&self, entry: &Entry<'_>, scrubber: &Scrubber) {
        let message = message(entry, scrubber);
        let mut datagram = Vec::with_capacity(512);
        put(&mut datagram, "MESSAGE", &message);
        put(&mut datagram, "PRIORITY", &priority(entry.level).to_string());
        put(&mut datagram, "SYSLOG_IDENTIFIER", "workagent");
        put(&mut datagram, "TARGET", entry.target);
        let others = entry.fields.0.iter().filter(|(name, _)| name != "message").take(FIELDS_LEN_MAX);
        for (name, text) in others {
            put(&mut datagram, &journal_name(name), cut(&scrubber.scrub(text), FIELD_BYTES_MAX));
        }
        let sent = match &self.socket {
            Some(socket) => socket.send_to(&datagram, &self.path).map(drop),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        if sent.is_err() {
            // Standard error leads to the journal by another way.
            let line = text_lines(&message, scrubber);
            let _ = io::Write::write_all(&mut io::stderr(), line.as_bytes());
        }
    }
}

fn message(entry: &Entry<'_>, scrubber: &Scrubber) -> String {
    let text = told(entry);
    let masked = scrubber.scrub(&text);
    match cut(&masked, LOG_EVENT_BYTES_MAX) {
        shown if shown.len() < masked.len() => {
            format!("{shown} … ({} bytes more)", masked.len() - shown.len())
        }
        shown => shown.to_owned(),
    }
}

/// Syslog's numbers: error, warning, info, debug.
fn priority(level: LogLevel) -> u8 {
    match level {
        LogLevel::Off | LogLevel::Error => 3,
        LogLevel::Warn => 4,
        LogLevel::Info => 6,
        LogLevel::Debug | LogLevel::Trace => 7,
    }
}

/// Upper-case letters, digits and underscores, not beginning with one of the latter two; at most 64 bytes.
fn journal_name(name: &str) -> String {
    let upper: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .take(60)
        .collect();
    if KNOWN.contains(&name) { upper } else { format!("F_{upper}") }
}

fn put(datagram: &mut Vec<u8>, name: &str, text: &str) {
    datagram.extend_from_slice(name.as_bytes());
    if text.contains('\n') {
        datagram.push(b'\n');
        datagram.extend_from_slice(&(text.len() as u64).to_le_bytes());
    } else {
        datagram.push(b'=');
    }
    datagram.extend_from_slice(text.as_bytes());
    datagram.push(b'\n');
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::event::{Log, Outlet, Way};
    use super::*;
    use crate::model::time::Clock;
    use crate::secret::SecretValue;

    /// What arrives at a socket in journald's place.
    fn check(values: &[&str], story: impl FnOnce(), expected: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("journal");
        let journald = UnixDatagram::bind(&path).unwrap();
        journald.set_nonblocking(true).unwrap();
        let scrubber = Scrubber::new();
        values.iter().for_each(|value| assert!(scrubber.register(&SecretValue::new((*value).to_owned()))));
        let outlet =
            Outlet::new(Log::unheard(Clock::system()), Way::Journal(Journal::connect(path)), scrubber);
        let subscriber = tracing_subscriber::registry().with(outlet);
        tracing::subscriber::with_default(subscriber, story);
        let mut buffer = vec![0; 256 * 1024];
        let mut found = Vec::new();
        while let Ok(length) = journald.recv(&mut buffer) {
            found.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn fields_of_spans_and_events() {
        check(
            &[],
            || {
                let span = tracing::info_span!(
                    "sync",
                    unit = "inbox.connector",
                    generation = 3,
                    case = tracing::field::Empty
                );
                let _in = span.enter();
                span.record("case", "c12");
                tracing::warn!(target: "workagent::runtime", new_items = 2, "polled");
            },
            &["MESSAGE=inbox.connector: polled case=c12 new_items=2\nPRIORITY=4\n\
               SYSLOG_IDENTIFIER=workagent\nTARGET=workagent::runtime\nUNIT=inbox.connector\nGENERATION=3\nCASE=c12\n\
               F_NEW_ITEMS=2\n"],
        );
    }

    #[test]
    fn several_lines_travel_with_their_length_and_make_no_fields() {
        check(
            &[],
            || tracing::error!(target: "t", "a\nPRIORITY=0"),
            &[
                "MESSAGE\n\u{f}\0\0\0\0\0\0\0t: a\nPRIORITY=0\nPRIORITY=3\nSYSLOG_IDENTIFIER=workagent\nTARGET=t\n",
            ],
        );
    }

    #[test]
    fn secrets_are_masked_in_message_and_fields() {
        check(
            &["canary-0123456789"],
            || {
                let _in = tracing::info_span!("s", token = "canary-0123456789").entered();
                tracing::info!(target: "t", url = ?"http://x/?k=canary%2D0123456789", "got canary-01234");
            },
            &["MESSAGE=t: got [masked] token=[masked] url=\"http://x/?k=[masked]\"\nPRIORITY=6\n\
               SYSLOG_IDENTIFIER=workagent\nTARGET=t\nF_TOKEN=[masked]\nF_URL=\"http://x/?k=[masked]\"\n"],
        );
    }

    #[test]
    fn a_huge_event_is_cut_and_still_sent() {
        let cut = "x".repeat(LOG_EVENT_BYTES_MAX - 3);
        let expected = format!(
            "MESSAGE=t: {cut} … (983619 bytes more)\nPRIORITY=6\nSYSLOG_IDENTIFIER=workagent\nTARGET=t\n"
        );
        check(&[], || tracing::info!(target: "t", "{}", "x".repeat(1_000_000)), &[&expected]);
    }
}
