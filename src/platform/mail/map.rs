//! The pure map from the bytes of a mail to an [`Item`].

use std::time::Duration;

use mail_parser::MessageParser;

use super::address::{OwnAddresses, domain, is_usable};
use super::parse::Mail;
use super::{body, defuse, disposition, identity, reply};
use crate::model::item::AUTO_REPLY_SUSPECTED;
use crate::model::item::{Cut, Disposition, HiddenPart, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{cut, one_line, short_size};
use crate::model::time::Timestamp;
use crate::platform::hygiene::{HiddenParts, hidden_in_text};

/// A sender's clock may be wrong by this much before its date is not believed.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(24 * 3600);

/// Mail is not older than this (1980); such dates come from machines without a clock.
const DATE_MIN: Timestamp = Timestamp(315_532_800_000);

/// What a transport knows about a mail besides its bytes.
#[derive(Clone, Debug)]
pub struct MailContext<'a> {
    /// The transport's own key, which becomes the item's: `uid:0000000007:0000000042`.
    pub key: String,
    /// The user's addresses.
    pub own: &'a OwnAddresses,
    /// The mailbox a reply leaves from.
    pub from: &'a Party,
    /// When the transport got it (INTERNALDATE, a file's time): used where the mail gives no credible date.
    pub received_at: Option<Timestamp>,
    /// Where a reply appears, for people: "mail", "mail file in /home/me/out".
    pub place: &'a str,
    /// The whole size, where `raw` is only its beginning.
    pub total_bytes: Option<u64>,
    /// The transport's flags and labels.
    pub labels: Vec<String>,
}

/// A mail as an item. Whatever the bytes are, there is an item: what cannot be read is said in its disposition and
/// warnings. The disposition is about the mail itself; a baseline is for the connector to decide.
#[must_use]
pub fn to_item(raw: &[u8], context: MailContext<'_>) -> Item {
    let defused = defuse::defuse(raw);
    match MessageParser::default().parse(&*defused) {
        Some(message) if !message.parts.is_empty() => read(&Mail { raw, message }, context),
        _ => unreadable(raw, context),
    }
}

fn read(mail: &Mail<'_>, context: MailContext<'_>) -> Item {
    let missing_bytes = context.total_bytes.map_or(0, |total| total.saturating_sub(mail.raw.len() as u64));
    let mut warnings = Vec::new();
    let mut hidden = HiddenParts::default();
    let (title, hidden_in_title) = title(mail.subject());
    for part in hidden_in_title {
        hidden.push(&format!("{} in the subject", part.why), &part.text);
    }
    let body = body::read(&mail.message, missing_bytes, &mut hidden);

    let from = mail.mailboxes("from");
    let targets = reply::targets(mail, context.own);
    let disposition = disposition::decide(mail, &from, &targets, context.own);
    let at = date(mail, context.received_at, &mut warnings);
    warn_of_headers(mail, &from, &targets, &disposition, &mut warnings);
    let mut labels = context.labels;
    if disposition == Disposition::Work && disposition::sounds_automatic(&title) {
        labels.push(AUTO_REPLY_SUSPECTED.to_owned());
        warnings.push("it looks like an automatic reply".into());
    }
    warnings.extend(body.warnings);
    if missing_bytes > 0 {
        let (read, all) = (mail.raw.len() as u64, mail.raw.len() as u64 + missing_bytes);
        let (read, all) = (short_size(read), short_size(all));
        warnings.push(format!("only the first {read} of {all} were read; files further on are not listed"));
    }

    let body_hash = identity::body_hash(mail.body_bytes());
    let content_id = identity::content_id(mail, &body_hash);
    let threads = identity::threads(mail, &content_id);
    let mut identities = vec![content_id];
    if disposition == Disposition::Own {
        identities.extend(identity::own_marker(mail));
    }
    Item {
        key: context.key,
        revision: cut(&body_hash, 16).to_owned(),
        identities,
        threads,
        kind: "mail".into(),
        title: if title.is_empty() { "(no subject)".into() } else { title },
        author: from.into_iter().next(),
        at,
        url: None,
        body: body.text,
        hidden: hidden.finish(),
        attachments: body.attachments,
        cut: body.cut,
        labels,
        reply: reply::reply_way(mail, context.own, context.from, context.place),
        offers: Vec::new(),
        disposition,
        warnings: bounded(warnings),
    }
}

/// Bytes in which the parser finds no header at all: nothing, or something that is not a mail.
fn unreadable(raw: &[u8], context: MailContext<'_>) -> Item {
    let reason = if raw.trim_ascii().is_empty() { "the mail is empty" } else { "these bytes are not a mail" };
    let whole = String::from_utf8_lossy(raw.get(..limits::ITEM_TEXT_BYTES_MAX).unwrap_or(raw));
    let (text, hidden) = hidden_in_text(&whole);
    let body = cut(&text, limits::ITEM_TEXT_BYTES_MAX).to_owned();
    let total_bytes = context.total_bytes.unwrap_or(0).max(raw.len() as u64);
    let hash = identity::body_hash(raw);
    // All empty mails are alike and still not the same mail.
    let identities = if raw.trim_ascii().is_empty() { Vec::new() } else { vec![format!("sha:{hash}")] };
    Item {
        key: context.key,
        revision: cut(&hash, 16).to_owned(),
        identities,
        threads: Vec::new(),
        kind: "mail".into(),
        title: "(no subject)".into(),
        author: None,
        at: context.received_at,
        url: None,
        cut: (total_bytes > whole.len() as u64).then_some(Cut { kept_bytes: body.len() as u64, total_bytes }),
        body,
        hidden,
        attachments: Vec::new(),
        labels: context.labels,
        reply: ReplyWay::Nowhere { reason: reason.into() },
        offers: Vec::new(),
        disposition: Disposition::Quarantined { reason: reason.into() },
        warnings: Vec::new(),
    }
}

/// A subject as one clean line, and what was hidden in it.
pub(super) fn title(subject: &str) -> (String, Vec<HiddenPart>) {
    let (visible, hidden) = hidden_in_text(subject);
    (one_line(&visible, limits::TITLE_BYTES_MAX), hidden)
}

/// The sender's date where it is credible, else the time of arrival.
fn date(mail: &Mail<'_>, received_at: Option<Timestamp>, warnings: &mut Vec<String>) -> Option<Timestamp> {
    let claimed = mail.date();
    let credible = claimed.filter(|date| {
        *date >= DATE_MIN && received_at.is_none_or(|received| *date <= received.plus(CLOCK_SKEW_MAX))
    });
    if credible.is_none() {
        let problem = match claimed {
            Some(date) => format!("its date is not credible ({date})"),
            None if mail.count("date") == 0 => "it has no date".into(),
            None => "its date is impossible".into(),
        };
        warnings.push(format!("{problem}; the time of arrival stands in for it"));
    }
    credible.or(received_at)
}

fn warn_of_headers(
    mail: &Mail<'_>,
    from: &[Party],
    targets: &[String],
    disposition: &Disposition,
    warnings: &mut Vec<String>,
) {
    for name in
        ["From", "Sender", "Reply-To", "To", "Subject", "Message-ID", "Date", "In-Reply-To", "References"]
    {
        let count = mail.count(name);
        if count > 1 {
            warnings.push(format!(
                "it has {count} {name} headers; another program may show another one than this"
            ));
        }
    }
    if mail.message_id().is_none() {
        warnings.push("it has no Message-ID; an answer cannot be put into its thread".into());
    }
    let named = from.iter().filter(|party| is_usable(&party.address));
    for party in named.clone() {
        let claims = party.name.split([' ', '"', '\'', '<', '>', '(', ')']).find(|word| is_usable(word));
        if let Some(claim) = claims.filter(|claim| !claim.eq_ignore_ascii_case(&party.address)) {
            warnings
                .push(format!("the sender's name contains another address than {}: {claim}", party.address));
        }
    }
    let domains = named.map(|party| domain(&party.address)).collect::<Vec<_>>();
    if let Some(target) = targets.iter().find(|target| !domains.contains(&domain(target))) {
        let from = domains.first().map_or("nowhere", String::as_str);
        warnings.push(format!("an answer goes to {target}, but the mail came from {from}"));
    }
    if *disposition != Disposition::Own && disposition::own_action(mail).is_some() {
        warnings.push("it carries the mark of a mail that workagent sent, but is not one".into());
    }
}

fn bounded(mut warnings: Vec<String>) -> Vec<String> {
    warnings.truncate(limits::ITEM_LIST_LEN_MAX);
    for warning in &mut warnings {
        *warning = one_line(warning, limits::TITLE_BYTES_MAX);
    }
    warnings
}
