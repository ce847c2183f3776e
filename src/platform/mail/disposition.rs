//! Is a mail work, or would an answer start a conversation between machines?

use mail_parser::MimeHeaders;

use super::address::{OwnAddresses, is_unread_box, is_usable};
use super::compose::ACTION_HEADER;
use super::identity;
use super::parse::Mail;
use crate::model::item::{Disposition, Party};
use crate::model::marker::is_key;

/// How automatic replies begin their subject, where no header says so.
const AUTO_REPLY_SUBJECTS: [&str; 15] = [
    "out of office",
    "out of the office",
    "out-of-office",
    "automatic reply",
    "automated reply",
    "auto reply",
    "auto-reply",
    "autoreply",
    "automatische antwort",
    "abwesenheit",
    "réponse automatique",
    "absence du bureau",
    "respuesta automática",
    "risposta automatica",
    "automatisch antwoord",
];

/// What ingest shall do with the mail. `from` are its senders, `targets` whom an answer would go to, usable ones only.
pub(super) fn decide(mail: &Mail<'_>, from: &[Party], targets: &[String], own: &OwnAddresses) -> Disposition {
    let usable = || from.iter().filter(|party| is_usable(&party.address));
    if usable().next().is_some() && usable().all(|party| own.contains(&party.address)) {
        // Our mark counts only in a mail that claims to be ours; anyone can copy a header.
        return if own_action(mail).is_some() { Disposition::Own } else { no_reply("it is your own mail") };
    }
    if let Some(reason) = machine_made(mail) {
        return no_reply(&reason);
    }
    if !targets.is_empty() && targets.iter().all(|address| is_unread_box(address)) {
        return no_reply("the sender's box is not read (no-reply address)");
    }
    if from.is_empty() {
        return Disposition::Quarantined { reason: "the mail does not say who sent it".into() };
    }
    if targets.is_empty() {
        return Disposition::Quarantined {
            reason: "the sender gives no address that could be answered".into(),
        };
    }
    Disposition::Work
}

/// The key or marker of our own action in this mail.
pub(super) fn own_action(mail: &Mail<'_>) -> Option<String> {
    mail.raw_line(ACTION_HEADER).filter(|key| is_key(key)).or_else(|| identity::own_marker(mail))
}

/// Words its subject like an automatic reply.
pub(super) fn sounds_automatic(subject: &str) -> bool {
    let subject = super::reply::without_reply_prefixes(subject).to_lowercase();
    AUTO_REPLY_SUBJECTS.iter().any(|beginning| subject.starts_with(beginning))
}

fn no_reply(reason: &str) -> Disposition {
    Disposition::NoReply { reason: reason.to_owned() }
}

/// What its header says about having been made by a machine (RFC 3834 section 2, and what is older than that).
fn machine_made(mail: &Mail<'_>) -> Option<String> {
    let word = |name: &str| {
        let line = mail.raw_line(name)?.to_ascii_lowercase();
        line.split([';', '(', ' ']).next().map(str::to_owned)
    };
    if let Some(word) = word("auto-submitted").filter(|word| word != "no") {
        return Some(format!("it was made by a machine (Auto-Submitted: {word})"));
    }
    if mail.message.parts.first().is_some_and(|root| root.is_content_type("multipart", "report")) {
        return Some("it is a delivery report".into());
    }
    if mail.raw_line("return-path").is_some_and(|path| path == "<>") {
        return Some("it is a bounce (empty Return-Path)".into());
    }
    for name in ["x-autoreply", "x-autorespond", "x-autoresponder"] {
        if mail.count(name) > 0 {
            return Some("it is an automatic reply".into());
        }
    }
    if let Some(list) = mail.raw_line("list-id").or_else(|| mail.raw_line("list-post")) {
        return Some(format!("it came over a mailing list ({list})"));
    }
    if let Some(word) =
        word("precedence").filter(|word| matches!(word.as_str(), "bulk" | "list" | "junk" | "auto_reply"))
    {
        return Some(format!("it was sent in bulk (Precedence: {word})"));
    }
    let suppress = mail.raw_line("x-auto-response-suppress").unwrap_or_default().to_ascii_lowercase();
    if suppress.split([',', ' ']).any(|word| matches!(word, "all" | "oof" | "autoreply")) {
        return Some("the sender asks for no automatic answers (X-Auto-Response-Suppress)".into());
    }
    None
}
