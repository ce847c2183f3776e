//! What may leave without a person: of which kinds, to whom, how many are shown all the same, and after what record.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::draft::Envelope;
use super::ids::CaseId;
use super::pattern::Pattern;
use super::text::digest;

/// `[auto]` of a connector, as a unit says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutoSettings {
    /// Kinds of items, or globs; empty: all.
    pub kinds: Vec<String>,
    /// Recipients, or globs; empty: all.
    pub recipients: Vec<String>,
    /// One in so many cases is shown to a person all the same; `None`: none is.
    pub show_one_in: Option<u64>,
    /// So many decisions of a person come first.
    pub after: u64,
    /// At least so many of a hundred of them left the draft as the engine wrote it.
    pub agreement: u64,
}

impl AutoSettings {
    /// It bounds what goes by itself to kinds or recipients.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        !self.kinds.is_empty() || !self.recipients.is_empty()
    }
}

/// The same, ready to judge.
#[derive(Clone, Debug)]
pub struct AutoRule {
    settings: AutoSettings,
    kinds: Vec<Pattern>,
    recipients: Vec<Pattern>,
}

/// What a person decided about a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The kind of the case's newest item when it began.
    pub kind: String,
    /// Who was to get it.
    pub envelope: Envelope,
    /// It was approved, in the engine's very words.
    pub as_written: bool,
}

/// How often a person left drafts as they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Drafts a person decided about.
    pub decided: u64,
    /// Of them, approved as the engine wrote them.
    pub as_written: u64,
}

impl Agreement {
    /// That of these decisions.
    pub fn of<'a>(decided: impl IntoIterator<Item = &'a Decided>) -> Self {
        let mut all = Self::default();
        for one in decided {
            all.decided += 1;
            all.as_written += u64::from(one.as_written);
        }
        all
    }

    /// Whole percents, rounded down; `None` before the first decision.
    #[must_use]
    pub fn percent(self) -> Option<u64> {
        (self.as_written * 100).checked_div(self.decided)
    }
}

/// Why a draft of a connector that sends by itself is for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Of another kind.
    Kind(String),
    /// Somebody else gets it too.
    Recipient(String),
    /// Too few decisions came before it.
    TooFew {
        /// So far.
        so_far: Agreement,
        /// Wanted.
        wanted: u64,
    },
    /// A person changed or refused too many.
    Disagreement {
        /// So far.
        so_far: Agreement,
        /// Percent wanted.
        wanted: u64,
    },
    /// Picked by lot.
    Sample(u64),
}

impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "not sent by itself: [auto] kinds does not name {kind}"),
            Self::Recipient(recipient) => {
                write!(f, "not sent by itself: [auto] recipients does not name {recipient}")
            }
            Self::TooFew { so_far, wanted } => write!(
                f,
                "would be sent by itself after {} more decisions of yours; of {} so far you left {} as written",
                wanted.saturating_sub(so_far.decided),
                so_far.decided,
                so_far.as_written
            ),
            Self::Disagreement { so_far, wanted } => write!(
                f,
                "not sent by itself: of the last {} you left {} as written, and [auto] agreement wants {wanted} in a hundred",
                so_far.decided, so_far.as_written
            ),
            Self::Sample(of) => write!(f, "shown to you by lot, as one case in {of} is"),
        }
    }
}

impl AutoRule {
    /// Of what a unit says.
    ///
    /// # Errors
    /// A pattern that cannot be read; for people.
    pub fn new(settings: &AutoSettings) -> Result<Self, String> {
        let patterns = |texts: &[String]| -> Result<Vec<Pattern>, String> {
            texts.iter().map(|text| Pattern::new(text)).collect()
        };
        Ok(Self {
            kinds: patterns(&settings.kinds)?,
            recipients: patterns(&settings.recipients)?,
            settings: settings.clone(),
        })
    }

    /// As the unit says it.
    #[must_use]
    pub fn settings(&self) -> &AutoSettings {
        &self.settings
    }

    /// It speaks of drafts of this kind to these people; else why not.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn covers(&self, kind: &str, envelope: &Envelope) -> Result<(), Stays> {
        if !self.kinds.is_empty() && !self.kinds.iter().any(|pattern| pattern.is_match(kind)) {
            return Err(Stays::Kind(kind.to_owned()));
        }
        if self.recipients.is_empty() {
            return Ok(());
        }
        let mut all: Vec<&str> = envelope.to.iter().chain(&envelope.cc).map(String::as_str).collect();
        if all.is_empty() {
            all.push(&envelope.place);
        }
        // Every single one: a copy to a stranger is a mail to a stranger.
        let is_named = |recipient: &&str| {
            let address = address(recipient);
            self.recipients.iter().any(|pattern| pattern.is_match(address))
        };
        match all.into_iter().find(|recipient| !is_named(recipient)) {
            Some(stranger) => Err(Stays::Recipient(stranger.to_owned())),
            None => Ok(()),
        }
    }

    /// How a person decided about what it speaks of.
    #[must_use]
    pub fn record(&self, decided: &[Decided]) -> Agreement {
        Agreement::of(decided.iter().filter(|one| self.covers(&one.kind, &one.envelope).is_ok()))
    }

    /// Why a draft is for a person; `None`: it may leave.
    #[must_use]
    pub fn stays(&self, case: CaseId, kind: &str, envelope: &Envelope, decided: &[Decided]) -> Option<Stays> {
        if let Err(stays) = self.covers(kind, envelope) {
            return Some(stays);
        }
        self.not_yet(self.record(decided)).or_else(|| self.sample(case))
    }

    /// The record is not what it has to be.
    #[must_use]
    pub fn not_yet(&self, so_far: Agreement) -> Option<Stays> {
        let AutoSettings { after, agreement, .. } = self.settings;
        if so_far.decided < after {
            return Some(Stays::TooFew { so_far, wanted: after });
        }
        let is_low = so_far.percent().is_some_and(|percent| percent < agreement);
        (after > 0 && is_low).then_some(Stays::Disagreement { so_far, wanted: agreement })
    }

    /// Picked to be shown. Of the case alone: another draft of it, or another look, comes to the same.
    fn sample(&self, case: CaseId) -> Option<Stays> {
        let of = self.settings.show_one_in.filter(|of| *of > 0)?;
        let lot = digest(&[b"shown", case.to_string().as_bytes()]);
        let number = u64::from_str_radix(lot.get(..12)?, 16).ok()?;
        (number % of == 0).then_some(Stays::Sample(of))
    }
}

/// What stands between angle brackets, if anything does: `Pat <pat@example.org>`.
fn address(recipient: &str) -> &str {
    let inner = recipient.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or(recipient, |(inner, _)| inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(recipients: &[&str]) -> Envelope {
        Envelope { to: recipients.iter().map(|&to| to.to_owned()).collect(), ..Envelope::default() }
    }

    fn decided(kind: &str, as_written: bool) -> Decided {
        Decided { kind: kind.to_owned(), envelope: to(&["pat@example.org"]), as_written }
    }

    fn rule(settings: AutoSettings) -> AutoRule {
        AutoRule::new(&settings).unwrap()
    }

    #[test]
    fn kinds_and_every_single_recipient_count() {
        let rule = rule(AutoSettings {
            kinds: vec!["mail".into()],
            recipients: vec!["*@example.org".into()],
            ..AutoSettings::default()
        });
        let check = |kind: &str, envelope: Envelope, expected: Option<Stays>| {
            assert_eq!(rule.stays(CaseId(1), kind, &envelope, &[]), expected);
        };
        check("mail", to(&["pat@example.org", "Kim <KIM@Example.org>"]), None);
        check("note", to(&["pat@example.org"]), Some(Stays::Kind("note".into())));
        let evil = "\"pat@example.org\" <evil@example.net>";
        check("mail", to(&["pat@example.org", evil]), Some(Stays::Recipient(evil.into())));
        let copied = Envelope { cc: vec!["x@example.net".into()], ..to(&["pat@example.org"]) };
        check("mail", copied, Some(Stays::Recipient("x@example.net".into())));
        let place = Envelope { place: "file beside note.md".into(), ..Envelope::default() };
        check("mail", place, Some(Stays::Recipient("file beside note.md".into())));
    }

    #[test]
    fn a_record_comes_first_and_only_what_the_rule_speaks_of_counts() {
        let rule = rule(AutoSettings {
            kinds: vec!["mail".into()],
            after: 4,
            agreement: 75,
            ..AutoSettings::default()
        });
        let stays = |decisions: &[Decided]| rule.stays(CaseId(1), "mail", &to(&["p@x"]), decisions);
        let (good, bad, other) = (decided("mail", true), decided("mail", false), decided("note", false));
        let three = [good.clone(), good.clone(), good];
        let so_far = Agreement { decided: 3, as_written: 3 };
        assert_eq!(stays(&three), Some(Stays::TooFew { so_far, wanted: 4 }));
        let enough = [three.as_slice(), &[bad.clone(), other.clone(), other]].concat();
        assert_eq!(stays(&enough), None);
        let low = [enough.as_slice(), &[bad]].concat();
        let so_far = Agreement { decided: 5, as_written: 3 };
        assert_eq!(stays(&low), Some(Stays::Disagreement { so_far, wanted: 75 }));
    }

    #[test]
    fn about_one_in_five_cases_is_shown_and_always_the_same() {
        let rule = rule(AutoSettings { show_one_in: Some(5), ..AutoSettings::default() });
        let shown = |case: i64| rule.stays(CaseId(case), "mail", &to(&["p@x"]), &[]).is_some();
        let count = (1..=1000).filter(|case| shown(*case)).count();
        assert!((150..=250).contains(&count), "{count}");
        assert!((1..=1000).all(|case| shown(case) == shown(case)));
    }
}
