//! A thread of Codex between runs, as it is kept with the run: its id, and what it has used so far, because the program
//! tells only the sum. Pure.

use std::fmt;

use crate::model::run::Usage;

/// A thread.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Session {
    pub id: String,
    /// Tokens so far; what is not known stays unknown.
    pub used: Usage,
}

impl Session {
    /// Out of what [`fmt::Display`] wrote: `ID in=33 out=7`; an id alone does too.
    pub(super) fn read(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let id = words.next().unwrap_or_default().to_owned();
        let mut used = Usage::default();
        for word in words {
            match word.split_once('=') {
                Some(("in", number)) => used.input_tokens = number.parse().ok(),
                Some(("out", number)) => used.output_tokens = number.parse().ok(),
                _ => {}
            }
        }
        Self { id, used }
    }

    /// After a run that used so much.
    pub(super) fn after(id: String, before: Option<&Self>, usage: &Usage) -> Self {
        let sum = |earlier: Option<u64>, now: Option<u64>| match before {
            None => now,
            Some(_) => earlier?.checked_add(now?),
        };
        let earlier = before.map(|before| before.used.clone()).unwrap_or_default();
        let used = Usage {
            input_tokens: sum(earlier.input_tokens, usage.input_tokens),
            output_tokens: sum(earlier.output_tokens, usage.output_tokens),
            ..Usage::default()
        };
        Self { id, used }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        for (name, number) in [("in", self.used.input_tokens), ("out", self.used.output_tokens)] {
            if let Some(number) = number {
                write!(f, " {name}={number}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
    }

    #[test]
    fn sums_go_from_run_to_run() {
        let first = Session::after("id-1".into(), None, &usage(33, 7));
        assert_eq!(first.to_string(), "id-1 in=33 out=7");
        let second = Session::after("id-1".into(), Some(&Session::read(&first.to_string())), &usage(33, 7));
        assert_eq!(second.to_string(), "id-1 in=66 out=14");
        let unknown = Session::after("id-1".into(), Some(&Session::read("id-1")), &usage(1, 1));
        assert_eq!(unknown.to_string(), "id-1");
    }

    #[test]
    fn whatever_stands_there_is_read() {
        assert_eq!(Session::read("").id, "");
        assert_eq!(Session::read("a in=x out=1 z=3 y").used.output_tokens, Some(1));
    }
}
