//! From an approved action to the exact bytes of a mail.

use std::time::{Duration, SystemTime};

use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MessageBuilder, SinglePart};

use super::address::is_usable;
use super::parse::bracketed;
use super::reply::MailThread;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::Party;
use crate::model::marker::is_key;
use crate::model::outbound::{OutboundAction, Payload};
use crate::model::text::{clean, one_line};
use crate::model::time::Timestamp;

/// The header that carries the action's key.
pub const ACTION_HEADER: &str = "X-Workagent-Action";

/// The end of the year 9999, the last that a `Date` header can say.
const NOW_MAX_S: u64 = 253_402_300_799;

/// A shown name in `From`.
const NAME_BYTES_MAX: usize = 128;

/// A subject that was edited into something longer than this is not one.
const SUBJECT_BYTES_MAX: usize = 998;

/// Who the transport sends from and to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients {
    /// The return path: a bare address.
    pub from: String,
    /// Bare addresses, each once, `To` before `Cc`.
    pub to: Vec<String>,
}

/// The bytes of a mail (CRLF line ends, no line over 998 bytes), the same for the same action, `from` and `now`.
/// The marker is its Message-ID with brackets, `<wa-7-0123456789abcdef@example.org>`.
///
/// It leaves from the envelope's `from`; `from` here supplies the shown name, and the address where the envelope has
/// none. Every mail says `Auto-Submitted: auto-replied` (RFC 3834), so that other machines do not answer it, and carries
/// the action's key in [`ACTION_HEADER`], because providers replace Message-IDs.
///
/// # Errors
/// `Permanent` if an address is not usable or nobody would get it; `Bug` if the action's key is not one.
pub fn compose(action: &OutboundAction, from: &Party, now: Timestamp) -> Result<Payload, PortError> {
    if let Some(effect) = action.envelope.effects.first() {
        let doing = format!("do `{effect}`, which no mail can");
        return Err(PortError::new(ErrorClass::Permanent, doing));
    }
    let recipients = recipients(action, from)?;
    if !is_key(&action.key) {
        return Err(PortError::new(ErrorClass::Bug, "write a mail for an action without a proper key"));
    }
    let domain = recipients.from.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let marker = format!("<{}@{domain}>", action.key);
    let name = Some(one_line(&from.name, NAME_BYTES_MAX))
        .filter(|name| !name.is_empty() && from.address.eq_ignore_ascii_case(&recipients.from));

    let mut mail = Message::builder()
        .message_id(Some(marker.clone()))
        .date(SystemTime::UNIX_EPOCH + since_1970(now))
        .from(Mailbox::new(name, address(&recipients.from)?));
    for to in distinct(&action.envelope.to) {
        mail = mail.to(Mailbox::new(None, address(to)?));
    }
    for cc in distinct(&action.envelope.cc) {
        mail = mail.cc(Mailbox::new(None, address(cc)?));
    }
    mail = mail.subject(one_line(&action.envelope.subject, SUBJECT_BYTES_MAX));
    mail = into_thread(mail, action);
    mail = raw(mail, HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-replied");
    mail = raw(mail, HeaderName::new_from_ascii_str(ACTION_HEADER), &action.key);
    let text = format!("{}\n", clean(&action.body).trim_end());
    let part = SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text);
    let message = mail.singlepart(part).map_err(|error| {
        PortError::caused(ErrorClass::Permanent, format!("write the mail {marker}"), error)
    })?;
    Ok(Payload { marker, bytes: message.formatted() })
}

/// Who gets the mail of this action, for the transport. See [`compose`].
///
/// # Errors
/// As [`compose`].
pub fn recipients(action: &OutboundAction, from: &Party) -> Result<Recipients, PortError> {
    let envelope = &action.envelope;
    let from = if envelope.from.is_empty() { &from.address } else { &envelope.from };
    let to = distinct(envelope.to.iter().chain(&envelope.cc)).cloned().collect::<Vec<_>>();
    if let Some(bad) = to.iter().chain([from]).find(|address| !is_usable(address)) {
        let doing = format!("send to or from `{}`, which is not a mail address", one_line(bad, 100));
        return Err(PortError::new(ErrorClass::Permanent, doing));
    }
    if envelope.to.is_empty() {
        return Err(PortError::new(ErrorClass::Permanent, "send a mail that is addressed to nobody"));
    }
    Ok(Recipients { from: from.clone(), to })
}

fn distinct<'a>(addresses: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = &'a String> {
    let mut seen: Vec<String> = Vec::new();
    addresses.into_iter().filter(move |address| {
        let lower = address.to_ascii_lowercase();
        let new = !seen.contains(&lower);
        if new {
            seen.push(lower);
        }
        new
    })
}

fn address(text: &str) -> Result<Address, PortError> {
    text.parse().map_err(|error: lettre::address::AddressError| {
        PortError::caused(
            ErrorClass::Permanent,
            format!("address a mail to `{}`", one_line(text, 100)),
            error,
        )
    })
}

fn into_thread(mut mail: MessageBuilder, action: &OutboundAction) -> MessageBuilder {
    let thread: MailThread = serde_json::from_value(action.envelope.thread.clone()).unwrap_or_default();
    // The ids were checked when the mail was read; what lies in the database since then is checked again.
    let checked = |id: &String| bracketed(id.trim_start_matches('<').trim_end_matches('>'));
    if let Some(parent) = checked(&thread.in_reply_to) {
        mail = mail.in_reply_to(parent);
    }
    let references = thread.references.iter().filter_map(checked).collect::<Vec<_>>();
    if references.is_empty() { mail } else { mail.references(references.join(" ")) }
}

fn raw(mail: MessageBuilder, name: HeaderName, value: &str) -> MessageBuilder {
    mail.raw_header(HeaderValue::new(name, value.to_owned()))
}

fn since_1970(now: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(now.0 / 1000).unwrap_or(0).min(NOW_MAX_S))
}
