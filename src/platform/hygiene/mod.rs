//! What a person would not see, told apart from what they would: for mail, feeds, notes and programs alike.
//!
//! Pure, linear in its input, bounded in what it reports.

mod element;
pub mod html;
pub mod markdown;
mod page;
pub mod spoken;
mod style;
pub mod text;

pub use text::hidden_in_text;

use crate::model::item::HiddenPart;
use crate::model::limits;
use crate::model::text::{clean, cut};

/// Collects hidden parts within the bounds of an item.
#[derive(Debug, Default)]
pub(crate) struct HiddenParts {
    parts: Vec<HiddenPart>,
    left_out: usize,
}

impl HiddenParts {
    /// Notes a part; blank ones are nothing to report.
    pub(crate) fn push(&mut self, why: &str, text: &str) {
        let text = clean(text);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        // One place is kept for the sentence about those left out.
        if self.parts.len() + 1 >= limits::ITEM_LIST_LEN_MAX {
            self.left_out += 1;
            return;
        }
        let kept = cut(text, limits::HIDDEN_TEXT_BYTES_MAX - '…'.len_utf8());
        let text = if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() };
        self.parts.push(HiddenPart { why: why.to_owned(), text });
    }

    /// Takes over what somebody else found.
    pub(crate) fn extend(&mut self, parts: Vec<HiddenPart>) {
        for part in parts {
            self.push(&part.why, &part.text);
        }
    }

    /// The parts, and one about those for which there was no room.
    pub(crate) fn finish(mut self) -> Vec<HiddenPart> {
        if self.left_out > 0 {
            let text = format!("{} more hidden parts are not shown", self.left_out);
            self.parts.push(HiddenPart { why: "too many hidden parts".into(), text });
        }
        self.parts
    }
}
