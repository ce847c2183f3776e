//! What makes a mail the same mail, and what makes mails one thread.

use sha2::{Digest, Sha256};

use super::parse::Mail;
use crate::model::limits;
use crate::model::marker::is_key;
use crate::model::text::hex;

/// The share of a body that goes into its hash. Transports cut large mails at different places, and the hash must not
/// depend on where.
const HASHED_BYTES_MAX: usize = 64 * 1024;

/// Fields that the way through the mail system adds and changes; they are no part of the mail.
const TRACE_FIELDS: [&str; 14] = [
    "received",
    "return-path",
    "delivered-to",
    "envelope-to",
    "delivery-date",
    "authentication-results",
    "received-spf",
    "arc-seal",
    "arc-message-signature",
    "arc-authentication-results",
    "dkim-signature",
    "status",
    "content-length",
    "lines",
];

/// Hash of the beginning of a body, the same for CRLF and LF: 64 hex digits.
pub(super) fn body_hash(body: &[u8]) -> String {
    let mut hasher = Sha256::new();
    update_without_cr(&mut hasher, body.get(..HASHED_BYTES_MAX).unwrap_or(body));
    hex(&hasher.finalize())
}

/// Names that survive renumbering and re-delivery.
///
/// The Message-ID alone will not do: the sender chooses it, and a copied one must not hide another mail.
pub(super) fn content_id(mail: &Mail<'_>, body_hash: &str) -> String {
    let short = body_hash.get(..32).unwrap_or(body_hash);
    match mail.message_id() {
        Some(id) => format!("mid:{}#{short}", crate::model::text::one_line(id, 900)),
        None => format!("sha:{}", header_hash(mail, body_hash)),
    }
}

fn header_hash(mail: &Mail<'_>, body_hash: &str) -> String {
    let mut hasher = Sha256::new();
    for header in mail.headers() {
        let name = header.name.as_str().to_ascii_lowercase();
        if name.starts_with("x-") || TRACE_FIELDS.contains(&name.as_str()) {
            continue;
        }
        hasher.update(name.as_bytes());
        update_without_cr(&mut hasher, mail.raw_value(header));
    }
    hasher.update(body_hash.as_bytes());
    hex(&hasher.finalize())
}

/// CR is the first byte of a line end or noise; transports differ in it.
fn update_without_cr(hasher: &mut Sha256, bytes: &[u8]) {
    for piece in bytes.split(|byte| *byte == b'\r') {
        hasher.update(piece);
    }
}

/// Names by which mails of one thread find each other, the mail's own first. `fallback` names a mail without an id.
///
/// Providers replace the id of what they send; Outlook keeps the first one in a field of its own.
pub(super) fn threads(mail: &Mail<'_>, fallback: &str) -> Vec<String> {
    let own = mail.message_id().map_or_else(|| fallback.to_owned(), name);
    let references = mail.ids("references");
    let referred = mail
        .ids("x-microsoft-original-message-id")
        .into_iter()
        .chain(mail.ids("in-reply-to"))
        .chain(references.first().copied())
        .chain(references.iter().rev().copied());
    let mut names = vec![own];
    for name in referred.map(name) {
        if names.len() >= limits::ITEM_LIST_LEN_MAX {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn name(id: &str) -> String {
    format!("<{}>", crate::model::text::one_line(id, 900))
}

/// The Message-ID with brackets, if it has the shape of those that this program makes: the marker of one of our
/// actions.
pub(super) fn own_marker(mail: &Mail<'_>) -> Option<String> {
    mail.message_id()
        .into_iter()
        .chain(mail.ids("x-microsoft-original-message-id"))
        .find(|id| id.split('@').next().is_some_and(is_key))
        .map(name)
}
