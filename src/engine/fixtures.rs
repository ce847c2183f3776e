//! Small values for this room's tests.

use crate::model::ids::CaseId;
use crate::model::item::{Disposition, Item, Party, ReplyWay};
use crate::model::run::{EngineRequest, PromptSlot};

/// A mail by Pat.
pub fn item(title: &str, body: &str) -> Item {
    Item {
        key: "k".into(),
        revision: "r".into(),
        identities: Vec::new(),
        threads: Vec::new(),
        kind: "mail".into(),
        title: title.into(),
        author: Some(Party { name: "Pat".into(), address: "pat@example.org".into() }),
        at: None,
        url: None,
        body: body.into(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: Vec::new(),
        reply: ReplyWay::Nowhere { reason: "a fixture".into() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}

/// A case of these items, first try, no instruction.
pub fn request(items: Vec<Item>) -> EngineRequest {
    EngineRequest {
        session: None,
        prompt: PromptSlot::default(),
        case: CaseId(7),
        connector: "inbox".into(),
        attempt: 1,
        instruction: String::new(),
        items_total: items.len().try_into().unwrap(),
        items,
        notes: Vec::new(),
    }
}
