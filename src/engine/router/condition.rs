//! One condition of a route, and what it says about a case.

use super::Seen;
use crate::model::pattern::Pattern;
use crate::model::routing::Clause;
use crate::model::schedule::{Schedule, Window};
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::unit::plan::RouteMatch;

/// A condition.
#[derive(Debug)]
pub(super) enum Condition {
    /// What it looks at fits one of these.
    Globs {
        of: Field,
        patterns: Vec<Pattern>,
        shown: String,
    },
    /// It is one of these words.
    Words {
        of: Field,
        words: Vec<String>,
        shown: String,
    },
    SizeMin(u64),
    SizeMax(u64),
    /// Now is in one of these windows.
    Hours {
        windows: Box<Schedule>,
        shown: String,
    },
}

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Connector,
    Kind,
    Label,
    Author,
    Trust,
    Language,
}

impl Field {
    fn word(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Kind => "kind",
            Self::Label => "label",
            Self::Author => "author",
            Self::Trust => "trust",
            Self::Language => "language",
        }
    }

    fn of(self, seen: &Seen<'_>) -> Vec<String> {
        let facts = seen.facts;
        match self {
            Self::Connector => vec![facts.connector.to_owned()],
            Self::Kind => vec![facts.kind.to_owned()],
            Self::Label => facts.labels.to_vec(),
            Self::Author => vec![facts.author.to_owned()],
            Self::Trust => vec![seen.trust.word().to_owned()],
            Self::Language => vec![seen.language.unwrap_or("unknown").to_owned()],
        }
    }
}

/// The conditions of a `[match]` table, in the order in which they are told.
pub(super) fn of(matches: &RouteMatch) -> Result<Vec<Condition>, String> {
    let mut all = Vec::new();
    for (of, texts) in [
        (Field::Connector, &matches.connector),
        (Field::Kind, &matches.kind),
        (Field::Label, &matches.labels),
        (Field::Author, &matches.author),
    ] {
        if !texts.is_empty() {
            let patterns = texts.iter().map(|text| Pattern::new(text)).collect::<Result<_, _>>()?;
            all.push(Condition::Globs { of, patterns, shown: listed(texts) });
        }
    }
    for (of, words) in [(Field::Trust, &matches.trust), (Field::Language, &matches.language)] {
        if !words.is_empty() {
            all.push(Condition::Words { of, words: words.clone(), shown: listed(words) });
        }
    }
    all.extend(matches.size_min.map(Condition::SizeMin));
    all.extend(matches.size_max.map(Condition::SizeMax));
    if !matches.hours.is_empty() {
        let window =
            |text: &String| text.parse::<Window>().map_err(|error| format!("bad hours `{text}`: {error}"));
        let active = matches.hours.iter().map(window).collect::<Result<_, _>>()?;
        let windows = Box::new(Schedule { active, ..Schedule::default() });
        all.push(Condition::Hours { windows, shown: listed(&matches.hours) });
    }
    Ok(all)
}

impl Condition {
    /// What it looks at.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Globs { of, .. } | Self::Words { of, .. } => of.word(),
            Self::SizeMin(_) | Self::SizeMax(_) => "size",
            Self::Hours { .. } => "hours",
        }
    }

    /// Looks at the writer's language.
    pub fn reads_language(&self) -> bool {
        matches!(self, Self::Words { of: Field::Language, .. })
    }

    /// What it says about a case.
    pub fn judge(&self, seen: &Seen<'_>) -> Clause {
        let word = self.word();
        let clause =
            |met: bool, given: String, wanted: String| Clause { word: word.to_owned(), met, given, wanted };
        match self {
            Self::Globs { of, patterns, shown } => {
                let given = of.of(seen);
                let met = given.iter().any(|text| patterns.iter().any(|pattern| pattern.is_match(text)));
                clause(met, shown_foreign(&given), shown.clone())
            }
            Self::Words { of, words, shown } => {
                let given = of.of(seen);
                clause(given.iter().any(|word| words.contains(word)), shown_foreign(&given), shown.clone())
            }
            Self::SizeMin(least) => {
                let size = seen.facts.size_bytes;
                clause(size >= *least, size.to_string(), format!("at least {least} bytes"))
            }
            Self::SizeMax(most) => {
                let size = seen.facts.size_bytes;
                clause(size <= *most, size.to_string(), format!("at most {most} bytes"))
            }
            Self::Hours { windows, shown } => {
                let now = seen.facts.now;
                clause(windows.allows(now), now.to_string(), shown.clone())
            }
        }
    }

    /// When it will be met, if that is only a matter of time.
    pub fn opening(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Hours { windows, .. } => windows.opening(now),
            _ => None,
        }
    }
}

/// Labels and authors are foreign text.
fn shown_foreign(given: &[String]) -> String {
    let given: Vec<_> = given.iter().take(3).map(|text| format!("`{}`", one_line(text, 80))).collect();
    if given.is_empty() { "none".to_owned() } else { given.join(", ") }
}

fn listed(texts: &[String]) -> String {
    texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ")
}
