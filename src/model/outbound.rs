//! Outbound actions: approved effects and their state machine.

use serde::{Deserialize, Serialize};

use super::draft::Envelope;
use super::ids::{ActionId, CaseId, DraftId};
use super::time::Timestamp;

/// State of an outbound action.
///
/// `approved → sending → sent`; a crash or lost answer makes it `uncertain → confirm → sent | approved | held`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionState {
    /// Waits for its time.
    Approved,
    /// Journaled; the wire may have been touched.
    Sending,
    /// A receipt is stored.
    Sent,
    /// May have been sent: the platform is to be asked.
    Uncertain,
    /// Cannot be told: the user decides.
    Held,
    /// Will never be sent.
    Dead,
    /// Taken back by the user before it left.
    Cancelled,
}

impl ActionState {
    /// All states, for tables.
    pub const ALL: [Self; 7] =
        [Self::Approved, Self::Sending, Self::Sent, Self::Uncertain, Self::Held, Self::Dead, Self::Cancelled];

    /// The stable word for tables, SQL and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Uncertain => "uncertain",
            Self::Held => "held",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An approved effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutboundAction {
    /// Its id.
    pub id: ActionId,
    /// The case it belongs to.
    pub case: CaseId,
    /// The approved draft.
    pub draft: DraftId,
    /// The connector that sends it.
    pub connector: String,
    /// Where the connector sent when this was approved; empty in actions older than that note.
    #[serde(default)]
    pub destination: String,
    /// The recipients that were approved.
    pub envelope: Envelope,
    /// The text that was approved.
    pub body: String,
    /// Fixed at approval, the same for every try: `wa-<action>-<16 hex>`. The platform can find it again.
    pub key: String,
    /// The approval hash.
    pub hash: String,
    /// State.
    pub state: ActionState,
    /// Not sent before this moment (undo window, back-off).
    pub not_before: Timestamp,
    /// Tries so far.
    pub attempts: u32,
    /// Exact bytes built before the first try, by the connector's `prepare`.
    pub payload: Option<Payload>,
    /// The platform's answer.
    pub receipt: Option<Receipt>,
    /// The last error, for people.
    pub last_error: Option<String>,
    /// When it was approved.
    pub approved_at: Timestamp,
    /// When the first byte may have left.
    pub sending_at: Option<Timestamp>,
}

/// What will be handed to the wire, built once and stored before the first try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// What the platform can be asked for: a Message-ID, a file name, the action's key.
    pub marker: String,
    /// The exact bytes.
    pub bytes: Vec<u8>,
}

/// Proof of a send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The platform's id of what was sent; used to recognise it when it is read back.
    pub remote_id: String,
    /// Evidence for people: the server's 250 line, "found in Sent".
    pub evidence: String,
}

/// The answer to "did it arrive?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// It is there.
    Sent(Receipt),
    /// Surely not there: it may be tried again.
    NotSent,
    /// Not there yet, and too early to be sure: ask again later.
    AskAgain,
    /// The platform cannot be asked: the user decides.
    CannotTell,
}

/// What a platform can promise about a reply whose answer got lost: that it takes effect once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// It takes no replies.
    NoReplies,
    /// The far side takes each reply once, however often it is handed over; by what means.
    FarSide(&'static str),
    /// The reply carries a mark that the far side is searched for before anything is repeated; which mark.
    Marker(&'static str),
    /// The unit's settings decide; how.
    Depends(&'static str),
    /// The far side cannot be asked: what may have gone is held for the user, never repeated.
    Held,
}

impl Guarantee {
    /// The platform delivers replies.
    #[must_use]
    pub fn replies(self) -> bool {
        self != Self::NoReplies
    }

    /// One line for people: "taken once by the server (transaction id)".
    #[must_use]
    pub fn line(self) -> String {
        match self {
            Self::NoReplies => "takes no replies".to_owned(),
            Self::FarSide(means) => format!("taken once by the far side ({means})"),
            Self::Marker(mark) => format!("looked for before it is repeated ({mark})"),
            Self::Depends(how) => how.to_owned(),
            Self::Held => "held for you after a lost answer; never repeated".to_owned(),
        }
    }
}
