//! HTML to readable text, over html5ever's tokenizer: no tree, so time is linear and depth costs nothing.

use crate::model::item::HiddenPart;

/// The text a person would see, and what they would not.
///
/// Links are kept as `text <url>`, blocks become lines. The visible text went through
/// [`hidden_in_text`](super::hidden_in_text) already.
#[must_use]
pub fn to_text(html: &str) -> (String, Vec<HiddenPart>) {
    super::hidden_in_text(html)
}
