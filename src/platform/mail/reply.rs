//! How an answer to a mail travels: recipients, subject, thread.

use serde::{Deserialize, Serialize};

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
