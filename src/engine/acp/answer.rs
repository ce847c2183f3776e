//! What an agent said in its turn, in bounded memory. Pure.

use super::super::structured;
use crate::model::limits;

/// Text that is kept: a draft and a lot of talk around it.
pub(super) const KEPT_BYTES_MAX: usize = limits::DRAFT_BYTES_MAX * 8;

/// Denied tools that are named.
const DENIED_MAX: usize = 8;

/// What is kept of a turn.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Pieces that belong to a message of the model, where the agent marks those.
    of_messages: String,
    /// All others: notices of the vendor, errors as text, or everything where the agent marks nothing.
    others: String,
    over: bool,
    denied: Vec<String>,
    denied_more: usize,
    /// Millionths of a US dollar, of the whole session.
    pub(super) cost_micro_usd: Option<u64>,
}

impl Answer {
    /// A piece of text.
    pub(super) fn push(&mut self, text: &str, of_message: bool) {
        let kept = if of_message { &mut self.of_messages } else { &mut self.others };
        if kept.len() + text.len() > KEPT_BYTES_MAX {
            self.over = true;
        } else {
            kept.push_str(text);
        }
    }

    /// The agent was not allowed to do this.
    pub(super) fn denied(&mut self, what: String) {
        if self.denied.len() < DENIED_MAX {
            self.denied.push(what);
        } else {
            self.denied_more += 1;
        }
    }

    /// For the reviewer.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> =
            self.denied.iter().map(|what| format!("it was not allowed to {what}")).collect();
        if self.denied_more > 0 {
            remarks.push(format!("and {} more things that it was not allowed to do", self.denied_more));
        }
        remarks
    }

    /// What the model wrote; `None` if it was too much to keep. Vendors glue notices into it: where any piece is marked
    /// as the model's, only those count.
    pub(super) fn text(&self) -> Option<&str> {
        match (self.over, self.of_messages.is_empty()) {
            (true, _) => None,
            (false, true) => Some(&self.others),
            (false, false) => Some(&self.of_messages),
        }
    }
}

/// A number of dollars that can be one.
pub(super) fn micro_usd(amount: f64, currency: &str) -> Option<u64> {
    let micro = amount * 1_000_000.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the bounds just looked at"
    )]
    (currency == "USD" && (0.0..1e15).contains(&micro)).then(|| micro.round() as u64)
}

// A draft that fits its own way fits this one.
const _: () = assert!(KEPT_BYTES_MAX >= structured::BYTES_MAX);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_messages_win_over_notices() {
        let mut answer = Answer::default();
        assert_eq!(answer.text(), Some(""));
        answer.push("Warning: x", false);
        assert_eq!(answer.text(), Some("Warning: x"));
        answer.push("Dear ", true);
        answer.push("**Warning:** y", false);
        answer.push("Pat", true);
        assert_eq!(answer.text(), Some("Dear Pat"));
    }

    #[test]
    fn memory_is_bounded_and_what_was_lost_is_no_answer() {
        let mut answer = Answer::default();
        for _ in 0..1000 {
            answer.push(&"x".repeat(10_000), true);
            answer.push(&"x".repeat(10_000), false);
            answer.denied("use a tool".to_owned());
        }
        assert!(answer.of_messages.len() <= KEPT_BYTES_MAX && answer.others.len() <= KEPT_BYTES_MAX);
        assert_eq!(answer.text(), None);
        assert_eq!(answer.remarks().len(), DENIED_MAX + 1);
        assert_eq!(answer.remarks()[DENIED_MAX], "and 992 more things that it was not allowed to do");
    }

    #[test]
    fn money() {
        assert_eq!(micro_usd(0.000_692_8, "USD"), Some(693));
        for (amount, currency) in [(1.0, "EUR"), (-1.0, "USD"), (f64::NAN, "USD"), (1e300, "USD")] {
            assert_eq!(micro_usd(amount, currency), None);
        }
    }
}
