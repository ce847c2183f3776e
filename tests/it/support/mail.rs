//! Mails in and answers out, without a transport.

use std::path::Path;

use workagent::model::draft::Envelope;
use workagent::model::ids::{ActionId, CaseId, DraftId};
use workagent::model::item::{Item, Party, ReplyWay};
use workagent::model::outbound::{ActionState, OutboundAction};
use workagent::model::time::Timestamp;
use workagent::platform::mail::address::OwnAddresses;
use workagent::platform::mail::compose::compose;
use workagent::platform::mail::map::{MailContext, to_item};

/// When every mail arrives.
pub const ARRIVED: Timestamp = Timestamp(1_796_025_600_000);
/// The key of the action that answers.
pub const KEY: &str = "wa-7-0123456789abcdef";

/// The account.
pub fn me() -> Party {
    Party { name: "Me Example".into(), address: "me@example.org".into() }
}

/// A mail of which these are the first bytes, as an item.
pub fn read_part(raw: &[u8], total_bytes: Option<u64>) -> Item {
    let own = OwnAddresses::new(["me@example.org"]);
    let context = MailContext {
        key: "k".into(),
        own: &own,
        from: &me(),
        received_at: Some(ARRIVED),
        place: "mail",
        total_bytes,
        labels: Vec::new(),
    };
    to_item(raw, context)
}

/// A mail as an item.
pub fn read(raw: impl AsRef<[u8]>) -> Item {
    read_part(raw.as_ref(), None)
}

/// A file of `tests/fixtures/mail`.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mail").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How an answer would travel.
pub fn envelope(item: &Item) -> &Envelope {
    match &item.reply {
        ReplyWay::To(envelope) => envelope,
        ReplyWay::Nowhere { reason } => panic!("no way to answer `{}`: {reason}", item.title),
    }
}

/// An approved answer.
pub fn action(envelope: &Envelope, body: &str) -> OutboundAction {
    OutboundAction {
        destination: String::new(),
        id: ActionId(7),
        case: CaseId(1),
        draft: DraftId(1),
        connector: "mail".into(),
        envelope: envelope.clone(),
        body: body.into(),
        key: KEY.into(),
        hash: String::new(),
        state: ActionState::Approved,
        not_before: ARRIVED,
        attempts: 0,
        payload: None,
        receipt: None,
        last_error: None,
        approved_at: ARRIVED,
        sending_at: None,
    }
}

/// The bytes of an answer.
pub fn written(envelope: &Envelope, body: &str) -> Vec<u8> {
    compose(&action(envelope, body), &me(), ARRIVED).unwrap().bytes
}
