//! What a program has told so far. Pure.

use serde_json::Value;

use super::TEXT_BYTES_MAX;
use crate::engine::notices::{self, Moment};
use crate::model::run::{RunFacts, RunFailure, Usage};
use crate::model::text::{one_line, short_size};
use crate::model::time::Timestamp;

/// Tools named in a remark.
const DENIED_MAX: usize = 10;

/// Remarks of a program beside its answer.
const REMARKS_MAX: usize = 10;

/// Names of tools, sessions, models.
const NAME_BYTES_MAX: usize = 128;

/// Of a program's own error message.
const MESSAGE_BYTES_MAX: usize = 400;

/// An answer as the final event gives it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text, never blank unless there is an object.
    pub text: String,
    /// The structured output, where the program has such a place.
    pub object: Option<Value>,
}

/// A failure, and a sentence for people.
pub type Trouble = (RunFailure, String);

/// What was told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Session, model, version.
    pub facts: RunFacts,
    /// Tokens and money.
    pub usage: Usage,
    /// What the session had used before this run, if it goes on in one.
    pub before: Option<Usage>,
    /// Tools that it was refused.
    pub denied: Vec<String>,
    /// For the reviewer.
    pub remarks: Vec<String>,
    /// What the final event says; the last one counts.
    pub end: Option<Result<Answer, Trouble>>,
    /// It goes on trying what cannot come to an end.
    pub hopeless: Option<Trouble>,
    /// Its last trouble on the way, for runs that come to no end.
    pub trouble: Option<String>,
    /// Where a field says that a limit ends.
    pub limit: Option<Timestamp>,
    /// Signs of getting further, so that retries without end are noticed.
    pub progress: u64,
    /// Lines that were not blank.
    pub lines: u64,
    /// Lines that were no events.
    pub odd_lines: u64,
    /// Of these, those that begin like an event: a piece of an answer that comes in pieces may be lost with one.
    pub torn_lines: u64,
}

impl Told {
    pub(super) fn session(&mut self, id: Option<&str>) {
        name_into(&mut self.facts.session, id);
    }

    pub(super) fn model(&mut self, name: Option<&str>) {
        name_into(&mut self.facts.model, name);
    }

    pub(super) fn program(&mut self, name: &str, version: Option<&str>) {
        let named = version.map(|version| format!("{name} {version}"));
        name_into(&mut self.facts.program, named.as_deref());
    }

    pub(super) fn deny(&mut self, tool: Option<&str>) {
        let tool = one_line(tool.unwrap_or("unknown"), NAME_BYTES_MAX);
        if self.denied.len() < DENIED_MAX && !self.denied.contains(&tool) {
            self.denied.push(tool);
        }
    }

    pub(super) fn remark(&mut self, remark: &str) {
        let remark = one_line(remark, MESSAGE_BYTES_MAX);
        if self.remarks.len() < REMARKS_MAX && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    pub(super) fn stumble(&mut self, message: &str) {
        self.trouble = Some(one_line(message, MESSAGE_BYTES_MAX));
    }

    /// The final event says that all is well: an answer, unless it is blank or a notice in the place of one.
    pub(super) fn finish(&mut self, text: &str, object: Option<Value>, moment: &Moment) {
        let text = text.trim();
        if object.is_none() && text.is_empty() {
            self.fail_as(RunFailure::Empty, "its answer was empty");
        } else if text.len() > TEXT_BYTES_MAX {
            let most = short_size(TEXT_BYTES_MAX as u64);
            self.fail_as(RunFailure::Protocol, &format!("its answer is longer than {most}"));
        } else if object.is_none()
            && let Some((notice, kind)) = notices::notice(text)
        {
            let failure = notices::failure(text, None, moment).unwrap_or(kind);
            self.fail_as(failure, &format!("instead of an answer came a notice, \"{notice}…\""));
        } else {
            self.end = Some(Ok(Answer { text: text.to_owned(), object }));
        }
    }

    /// The final event says that it failed, and how.
    pub(super) fn fail_as(&mut self, failure: RunFailure, message: &str) {
        self.end = Some(Err((failure, one_line(message, MESSAGE_BYTES_MAX))));
    }

    /// The final event says that it failed; what that means stands in its text or in a status.
    pub(super) fn fail(&mut self, message: &str, status: Option<u16>, moment: &Moment) {
        let failure = notices::failure(message, status, moment);
        let failure = failure.or_else(|| notices::failure(self.trouble.as_deref()?, None, moment));
        let message =
            if message.trim().is_empty() { "it ended with an error without a text" } else { message };
        self.fail_as(failure.unwrap_or(RunFailure::Protocol), message);
    }

    /// Adds the text of an answer that comes in pieces; `false` when it is too long.
    pub(super) fn append(into: &mut String, piece: &str) -> bool {
        if into.len() + piece.len() > TEXT_BYTES_MAX + 1 {
            return false;
        }
        into.push_str(piece);
        true
    }
}

fn name_into(place: &mut Option<String>, name: Option<&str>) {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        *place = Some(one_line(name, NAME_BYTES_MAX));
    }
}
