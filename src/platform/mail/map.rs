//! The pure map from the bytes of a mail to an [`Item`].

use super::address::OwnAddresses;
use crate::model::item::{Disposition, Item, Party, ReplyWay};
use crate::model::time::Timestamp;

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
    Item {
        key: context.key,
        revision: String::new(),
        identities: Vec::new(),
        threads: Vec::new(),
        kind: "mail".into(),
        title: String::new(),
        author: None,
        at: context.received_at,
        url: None,
        body: String::from_utf8_lossy(raw).into_owned(),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: context.labels,
        reply: ReplyWay::Nowhere { reason: String::new() },
        disposition: Disposition::Work,
        warnings: Vec::new(),
    }
}
