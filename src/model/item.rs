//! What connectors read: items, and the pages they come in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::draft::Envelope;
use super::effect::Offer;
use super::limits;
use super::text::cut;
use super::time::Timestamp;

/// One thing read from a connector: a mail, a feed entry, a file.
///
/// Text fields hold no NUL or other C0 controls but tab and newline (see `text::clean`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The source's own id, growing where the source's ids grow (`uid:0000000007:0000000042`). Unique in the connector.
    pub key: String,
    /// Changes when the content does. Same key and same revision: nothing new.
    pub revision: String,
    /// Further names of the same thing that survive renumbering, moved links, re-delivery. An item one of whose
    /// identities is known is the known item.
    #[serde(default)]
    pub identities: Vec<String>,
    /// Names by which items of one thread find each other: this item's own (first), then those it refers to.
    /// An item that shares one with a case joins it.
    #[serde(default)]
    pub threads: Vec<String>,
    /// Kind within the platform, for routes: `mail`, `entry`, `note`, or what a program says.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Who wrote it.
    #[serde(default)]
    pub author: Option<Party>,
    /// When, by the source; `None` where it gave nothing credible.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// Where a person can look at it.
    #[serde(default)]
    pub url: Option<String>,
    /// Readable plain text, at most `limits::ITEM_TEXT_BYTES_MAX`.
    pub body: String,
    /// What a person would not see when looking at the original; shown in review, kept apart from `body`.
    #[serde(default)]
    pub hidden: Vec<HiddenPart>,
    /// Listed, never inlined.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Set when `body` is not all there was.
    #[serde(default)]
    pub cut: Option<Cut>,
    /// The platform's labels or flags.
    #[serde(default)]
    pub labels: Vec<String>,
    /// How an answer would travel.
    pub reply: ReplyWay,
    /// What an answer can do besides.
    #[serde(default)]
    pub offers: Vec<Offer>,
    /// What ingest shall do with it.
    pub disposition: Disposition,
    /// Things the reviewer should know: two From headers, impossible date, Reply-To on another domain.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Item {
    /// The item of a thread that an answer goes to: the newest that wants one. Only where none does (a person asked for
    /// one all the same), the newest that can be answered: a colleague's out-of-office in the thread must not become the
    /// recipient.
    #[must_use]
    pub fn answered(items: &[Self]) -> Option<(&Self, &Envelope)> {
        let newest = |wanted: fn(&Disposition) -> bool| {
            items.iter().rev().filter(|item| wanted(&item.disposition)).find_map(|item| match &item.reply {
                ReplyWay::To(envelope) => Some((item, envelope)),
                ReplyWay::Nowhere { .. } => None,
            })
        };
        newest(|disposition| *disposition == Disposition::Work).or_else(|| newest(|_| true))
    }

    /// What an answer to a thread can do besides.
    #[must_use]
    pub fn offered(items: &[Self]) -> &[Offer] {
        Self::answered(items).map(|(item, _)| item.offers.as_slice()).unwrap_or_default()
    }
}

/// A person or a program on the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// Shown name, may be empty.
    pub name: String,
    /// Address or account id, may be empty.
    pub address: String,
}

/// A part a person would not see, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenPart {
    /// `display:none`, `html comment`, `zero-width characters`, `bidi controls`…
    pub why: String,
    /// The text, cut to `limits::HIDDEN_TEXT_BYTES_MAX`.
    pub text: String,
}

/// A file that came along. The name is the sender's claim and never a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// As claimed.
    pub name: String,
    /// As claimed.
    pub media_type: String,
    /// Bytes, decoded.
    pub size_bytes: u64,
}

/// How much of the text was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Bytes in `body`.
    pub kept_bytes: u64,
    /// Bytes there were (a lower bound where the source does not say).
    pub total_bytes: u64,
}

impl Cut {
    /// The text as far as an item may hold it, and how much that is if it is not all.
    #[must_use]
    pub fn to_fit(mut text: String) -> (String, Option<Self>) {
        let total_bytes = text.len() as u64;
        let kept = cut(&text, limits::ITEM_TEXT_BYTES_MAX).len();
        if kept == text.len() {
            return (text, None);
        }
        text.truncate(kept);
        (text, Some(Self { kept_bytes: kept as u64, total_bytes }))
    }
}

/// How an answer would travel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyWay {
    /// To this envelope.
    To(Envelope),
    /// Not at all, and why.
    Nowhere {
        /// "the sender address has no host part"
        reason: String,
    },
}

/// What ingest shall do with an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// Make or join a case and work on it.
    Work,
    /// A case that is recorded but given to no engine: out-of-office, bounce, list, no-reply sender.
    NoReply {
        /// Shown to the user.
        reason: String,
    },
    /// Our own action read back: recorded as seen, never a case.
    Own,
    /// There before the connector was switched on: recorded as seen, never a case.
    Baseline,
    /// Could not be read well enough to be worked on: a case held for the user, with the reason.
    Quarantined {
        /// Shown to the user.
        reason: String,
    },
}

/// The label of an item that only words itself like an automatic reply. The loop guard looks for it: one is worth a
/// warning, a second in the same thread within a day is not answered.
pub const AUTO_REPLY_SUSPECTED: &str = "auto-reply-suspected";

/// A connector's durable position: JSON text of the connector's own making, at most `limits::CURSOR_BYTES_MAX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// One page of a poll. Items and cursor are committed in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// In the source's order.
    pub items: Vec<Item>,
    /// The position behind `items`; `None` keeps the old one.
    pub cursor: Option<Cursor>,
    /// There is more to fetch right now: poll again with the new cursor.
    pub more: bool,
    /// The source has more than is ever looked at: a bound of the connector's ended this look. What is counted from it is
    /// a lower bound.
    pub cut_short: bool,
    /// The source asked not to be polled again before this span.
    pub not_before: Option<Duration>,
    /// One line each for status: "mailbox was renumbered (1001 → 2002)", "2 items of the feed were repaired".
    pub notes: Vec<String>,
}

/// What a poll may take.
#[derive(Clone, Copy, Debug)]
pub struct PollRequest<'a> {
    /// `None` on the first poll of this account ever.
    pub cursor: Option<&'a Cursor>,
    /// What to do with what is already there on the first poll.
    pub backlog: Backlog,
    /// Now.
    pub now: Timestamp,
    /// Most items in a page.
    pub items_max: usize,
}

/// What to do with what is already there when a connector is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backlog {
    /// Only what comes from now on.
    New,
    /// What is younger than this.
    Since(Duration),
    /// Everything.
    All,
}
