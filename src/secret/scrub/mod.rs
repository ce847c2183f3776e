//! The scrubber: masks every known secret value, in every usual encoding, whole or in pieces, wherever text leaves.
//!
//! A text is looked at as it is and as what it may be an encoding of (percent, backslash, entity, list of numbers); in
//! each view every run that shares [`SECRET_PIECE_BYTES`] bytes with a value is masked. Base64 and hex are searched
//! for in their encoded form, base64 at all three alignments, so that `user:password` in one header is found too.
//! Token shapes are a second net for what nobody stored.
//!
//! [`SECRET_PIECE_BYTES`]: crate::model::limits::SECRET_PIECE_BYTES

mod encodings;
mod pieces;
mod views;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use self::pieces::Pieces;
use super::value::SecretValue;
use crate::model::limits::{SECRET_MASKED_BYTES_MIN, SECRET_PIECE_BYTES, SECRETS_MASKED_LEN_MAX};
use crate::model::token_shape;

/// What stands in place of a secret.
pub const MASK: &str = "[masked]";

/// Knows the values in use. Cheap to clone; clones share what they know.
#[derive(Clone, Default)]
pub struct Scrubber(Arc<RwLock<Arc<Known>>>);

#[derive(Default)]
struct Known {
    /// Oldest first.
    values: VecDeque<SecretValue>,
    /// Pieces as they stand in a text.
    direct: Pieces,
    /// Pieces as they stand in a decoded view.
    decoded: Pieces,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scrubber({} values)", self.known().values.len())
    }
}

impl Scrubber {
    /// Knows no value yet; token shapes are masked from the start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on this value is masked, also after a rotation replaced it. Values under
    /// [`SECRET_MASKED_BYTES_MIN`] bytes are not: the answer is `false` then, and whoever stores one is told.
    pub fn register(&self, value: &SecretValue) -> bool {
        let bytes = value.expose_to_the_wire().as_bytes();
        if bytes.len() < SECRET_MASKED_BYTES_MIN {
            return false;
        }
        if self.known().holds(bytes) {
            return true;
        }
        let mut slot = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been quicker between the two locks.
        if !slot.holds(bytes) {
            let mut values = slot.values.clone();
            if values.len() == SECRETS_MASKED_LEN_MAX {
                values.pop_front();
            }
            values.push_back(value.clone());
            *slot = Arc::new(Known::of(values));
        }
        true
    }

    /// The text with everything secret masked; borrowed when there was nothing.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        masked(text, self.spans(text))
    }

    /// [`scrub`](Self::scrub) for a text that is given away.
    #[must_use]
    pub fn scrub_owned(&self, text: String) -> String {
        match self.scrub(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(scrubbed) => scrubbed,
        }
    }

    /// Masks inside the texts and names of a JSON value, so that it stays well-formed.
    pub fn scrub_json(&self, value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) => *text = self.scrub_owned(std::mem::take(text)),
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_json(item)),
            serde_json::Value::Object(fields) => {
                if fields.keys().any(|name| !self.spans(name).is_empty()) {
                    let renamed = std::mem::take(fields).into_iter();
                    *fields = renamed.map(|(name, value)| (self.scrub_owned(name), value)).collect();
                }
                fields.values_mut().for_each(|value| self.scrub_json(value));
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
        }
    }

    /// Masks where a whole value stands, in any usual encoding, and nothing else: for text that belongs to the user,
    /// in which eight common characters (`password`) or the look of a token prove nothing. Values under
    /// [`SECRET_PIECE_BYTES`] are left alone: a PIN is also a year.
    #[must_use]
    pub fn mask_whole<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known();
        if known.values.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut spans = known.whole(&known.direct, text.as_bytes());
        views::each(text.as_bytes(), |view| {
            spans
                .extend(known.whole(&known.decoded, &view.bytes).iter().filter_map(|span| view.source(span)));
        });
        masked(text, joined(text, spans))
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What to mask: on character boundaries, in order, apart from each other.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = token_shape::spans(text);
        let known = self.known();
        if !known.values.is_empty() {
            known.direct.find(text.as_bytes(), |span| spans.push(span));
            views::each(text.as_bytes(), |view| {
                known.decoded.find(&view.bytes, |span| spans.extend(view.source(&span)));
            });
        }
        joined(text, spans)
    }
}

impl Known {
    fn of(values: VecDeque<SecretValue>) -> Self {
        let mut direct = pieces::Builder::default();
        let mut decoded = pieces::Builder::default();
        for value in &values {
            let value = value.expose_to_the_wire();
            encodings::of_text(value, |pattern| decoded.add(pattern));
            encodings::of_text(value, |pattern| direct.add(pattern));
            encodings::of_bytes(value.as_bytes(), |pattern| direct.add(pattern));
        }
        Self { values, direct: direct.build(), decoded: decoded.build() }
    }

    /// Stretches made of pieces in which one of the longer values stands whole.
    fn whole(&self, pieces: &Pieces, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        pieces.find(bytes, |span| match runs.last_mut() {
            Some(last) if span.start <= last.end => last.end = span.end,
            _ => runs.push(span),
        });
        runs.retain(|run| self.stands_in(bytes.get(run.clone()).unwrap_or_default()));
        runs
    }

    fn stands_in(&self, bytes: &[u8]) -> bool {
        self.values.iter().map(|value| value.expose_to_the_wire()).any(|value| {
            let mut found = false;
            let mut look = |pattern: &[u8]| {
                found |= pattern.len() <= bytes.len()
                    && bytes.windows(pattern.len().max(1)).any(|window| window == pattern);
            };
            if value.len() >= SECRET_PIECE_BYTES {
                encodings::of_text(value, &mut look);
                encodings::of_bytes(value.as_bytes(), &mut look);
            }
            found
        })
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        self.values.iter().any(|value| value.expose_to_the_wire().as_bytes() == bytes)
    }
}

fn masked(text: &str, spans: Vec<Range<usize>>) -> Cow<'_, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        out.push_str(text.get(done..span.start).unwrap_or_default());
        out.push_str(MASK);
        done = span.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

fn joined(text: &str, mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let span = text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end);
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

#[cfg(test)]
mod tests;
