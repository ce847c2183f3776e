//! The fields of events and spans as text.

use std::fmt;

use tracing::field::{Field, Visit};

use crate::model::class::chain;

/// Name and text, in the order recorded; a field recorded again replaces the earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// A field's text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Adds or replaces.
    pub fn put(&mut self, name: &str, text: String) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = text,
            None => self.0.push((name.to_owned(), text)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value.to_owned());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field.name(), chain(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }
}
