//! What a person would not see, told apart from what they would: for mail, feeds, notes and programs alike.
//!
//! Pure, linear in its input, bounded in its output.

pub mod html;
pub mod text;

pub use text::hidden_in_text;
