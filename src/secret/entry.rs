//! A stored secret as it is written and read: in the encrypted file, and in entries of keyrings.

use serde::{Deserialize, Serialize};

use super::grant::{GrantIn, GrantOut};
use crate::model::time::Timestamp;

/// As it is written.
#[derive(Serialize)]
pub(super) struct EntryOut<'a> {
    pub value: &'a str,
    pub version: u32,
    pub set_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantOut<'a>>,
}

/// As it is read.
#[derive(Deserialize)]
pub(super) struct EntryIn {
    pub value: String,
    pub version: u32,
    pub set_at: Timestamp,
    #[serde(default)]
    pub grant: Option<GrantIn>,
}
