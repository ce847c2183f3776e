//! How an answer to a mail travels: recipients, subject, thread.

use serde::{Deserialize, Serialize};

use super::address::{OwnAddresses, is_usable};
use super::parse::{Mail, bracketed};
use crate::model::draft::Envelope;
use crate::model::item::{Party, ReplyWay};
use crate::model::limits;
use crate::model::text::one_line;

/// Answers go to few people; a `Reply-To` of hundreds is somebody's trick.
const TO_LEN_MAX: usize = 20;

/// References kept from the end, besides the first (which names the thread): enough for every mail program, and the
/// header does not grow for ever.
const LAST_REFERENCES_LEN_MAX: usize = 20;

/// What [`Envelope::thread`](crate::model::draft::Envelope) holds for mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MailThread {
    /// The answered mail's Message-ID with its brackets, or empty where it has none.
    pub in_reply_to: String,
    /// The references of the reply with their brackets, oldest first.
    pub references: Vec<String>,
    /// Whom "answer to all" would add as copies; never our own addresses.
    pub reply_all: Vec<String>,
    /// The list's own address, for a person who wants the list to get it.
    pub list_post: Option<String>,
}

/// The way of an answer to a mail: to `Reply-To`, else to all of `From`, never to a list or to everybody by itself.
pub(super) fn reply_way(mail: &Mail<'_>, own: &OwnAddresses, from: &Party, place: &str) -> ReplyWay {
    let to = targets(mail, own);
    if to.is_empty() {
        let asked = mail.mailboxes("reply-to").into_iter().chain(mail.mailboxes("from"));
        let reason = match asked.into_iter().find(|party| is_usable(&party.address)) {
            Some(_) => "it would go to yourself".into(),
            None => "the sender gives no address that could be answered".into(),
        };
        return ReplyWay::Nowhere { reason };
    }
    let thread = MailThread {
        in_reply_to: mail.message_id().and_then(bracketed).unwrap_or_default(),
        references: references(mail),
        reply_all: everybody_else(mail, own, &to),
        list_post: list_post(mail),
    };
    ReplyWay::To(Envelope {
        from: from.address.clone(),
        to,
        cc: Vec::new(),
        subject: reply_subject(&super::map::title(mail.subject()).0),
        place: place.to_owned(),
        thread: serde_json::to_value(thread).unwrap_or_default(),
        effects: Vec::new(),
    })
}

/// Whom an answer goes to: usable addresses, each once, not our own.
pub(super) fn targets(mail: &Mail<'_>, own: &OwnAddresses) -> Vec<String> {
    let mut targets = distinct(mail.mailboxes("reply-to"), own);
    if targets.is_empty() {
        targets = distinct(mail.mailboxes("from"), own);
    }
    targets.truncate(TO_LEN_MAX);
    targets
}

fn distinct(parties: impl IntoIterator<Item = Party>, own: &OwnAddresses) -> Vec<String> {
    let mut addresses: Vec<String> = Vec::new();
    for address in parties.into_iter().map(|party| party.address) {
        let known = addresses.iter().any(|other| other.eq_ignore_ascii_case(&address));
        if is_usable(&address) && !own.contains(&address) && !known {
            addresses.push(address);
        }
    }
    addresses
}

fn everybody_else(mail: &Mail<'_>, own: &OwnAddresses, to: &[String]) -> Vec<String> {
    let all = ["from", "to", "cc"].into_iter().flat_map(|name| mail.mailboxes(name));
    let mut others = distinct(all, own);
    others.retain(|address| !to.iter().any(|other| other.eq_ignore_ascii_case(address)));
    others.truncate(limits::ITEM_LIST_LEN_MAX);
    others
}

/// `List-Post: <mailto:dev@lists.example.org>`.
fn list_post(mail: &Mail<'_>) -> Option<String> {
    let line = mail.raw_line("list-post")?;
    let (_, rest) = line.split_once("<mailto:")?;
    let address = rest.split(['>', '?']).next()?;
    is_usable(address).then(|| address.to_owned())
}

/// The answered mail's references and its own id (RFC 5322 section 3.6.4), the middle left out where they are many.
fn references(mail: &Mail<'_>) -> Vec<String> {
    let mut parents = mail.ids("references");
    if parents.is_empty() {
        // Only a single id there is surely the parent.
        parents = Some(mail.ids("in-reply-to")).filter(|ids| ids.len() == 1).unwrap_or_default();
    }
    let mut references: Vec<String> = parents.into_iter().filter_map(bracketed).collect();
    if let Some(id) = mail.message_id().and_then(bracketed) {
        references.retain(|other| *other != id);
        references.push(id);
    }
    if references.len() > LAST_REFERENCES_LEN_MAX + 1 {
        references.drain(1..references.len() - LAST_REFERENCES_LEN_MAX);
    }
    references
}

/// The subject of an answer: one `Re: `, whatever pile of prefixes there was.
fn reply_subject(subject: &str) -> String {
    one_line(&format!("Re: {}", without_reply_prefixes(subject)), limits::TITLE_BYTES_MAX)
}

/// The subject without `Re:`, `AW:`, `Re[2]:` and their like in front.
pub(super) fn without_reply_prefixes(subject: &str) -> &str {
    let mut rest = subject.trim();
    while let Some((head, tail)) = rest.split_once([':', '：']) {
        let word = head.split('[').next().unwrap_or(head).trim().to_lowercase();
        if !matches!(word.as_str(), "re" | "aw" | "antw" | "sv" | "odp" | "rif" | "rép" | "回复" | "答复")
        {
            break;
        }
        rest = tail.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_prefix_and_no_pile() {
        for (subject, expected) in [
            ("Plan", "Re: Plan"),
            ("Re: Plan", "Re: Plan"),
            ("RE: AW: Re: Plan", "Re: Plan"),
            ("Re[2]:Plan", "Re: Plan"),
            ("Fwd: Plan", "Re: Fwd: Plan"),
            ("Report: done", "Re: Report: done"),
            ("[dev] build", "Re: [dev] build"),
            ("", "Re:"),
        ] {
            assert_eq!(reply_subject(subject), expected);
        }
    }
}
