//! Channels: what is told on them, what comes back, and how a message is read. Pure.

use std::time::Duration;

use super::time::Timestamp;

/// How much of a draft a notice tells to whoever sees the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// That something waits, and how much. Nothing can be decided by it.
    None,
    /// Also to whom, and on what.
    #[default]
    Subject,
    /// Also the text.
    Full,
}

impl Detail {
    /// As in unit files.
    pub const WORDS: [&'static str; 3] = ["none", "subject", "full"];

    /// From its word; [`Detail::Subject`] for any other.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "full" => Self::Full,
            _ => Self::Subject,
        }
    }
}

/// What is told on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The same for every try to tell it, so that a far side can know a repeat.
    pub key: String,
    /// One line.
    pub title: String,
    /// What stands in front of the entries, or the whole of it.
    pub text: String,
    /// What waits, each by itself.
    pub entries: Vec<Entry>,
}

/// One thing that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is about: "to ada@example.org: the plan".
    pub line: String,
    /// As much of the text as the unit allows.
    pub body: Option<String>,
    /// By which it is decided here: `k7f3`.
    pub reference: Option<String>,
    /// What can be said with the reference.
    pub verbs: &'static [&'static str],
    /// The command that decides it elsewhere.
    pub command: String,
}

/// What is said of a draft.
pub const DRAFT_VERBS: &[&str] = &["approve", "reject", "defer", "show"];

/// What is said of a question.
pub const QUESTION_VERBS: &[&str] = &["answer", "show"];

impl Notice {
    /// A notice that is only a text.
    #[must_use]
    pub fn plain(key: impl Into<String>, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: key.into(), title: title.into(), text: text.into(), entries: Vec::new() }
    }

    /// The whole of it but the title, for channels that show text.
    #[must_use]
    pub fn body(&self) -> String {
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(self.text.clone());
        }
        for entry in &self.entries {
            let mut part = entry.line.clone();
            if let Some(body) = &entry.body {
                part.push_str("\n\n");
                part.push_str(body.trim_end());
                part.push('\n');
            }
            match &entry.reference {
                Some(reference) => {
                    let said: Vec<String> =
                        entry.verbs.iter().map(|verb| format!("{verb} {reference}")).collect();
                    part.push_str(&format!("\n→ {}", said.join(" | ")));
                }
                None => part.push_str(&format!("\n→ {}", entry.command)),
            }
            parts.push(part);
        }
        parts.join("\n\n")
    }
}

/// A message that came in on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The channel's own name of it: a message is taken once.
    pub id: String,
    /// Who sent it, as the channel itself tells; never what the text claims.
    pub user: String,
    /// Where an answer goes: a room, a chat; empty where there is one place only.
    pub address: String,
    /// What it says.
    pub text: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// The one user of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paired {
    /// Who alone may decide.
    pub user: String,
    /// Where notices go.
    pub address: String,
    /// Since when.
    pub at: Timestamp,
}

/// A message that says something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What.
    pub verb: Verb,
    /// Of which notice.
    pub reference: String,
    /// What stands behind it.
    pub rest: String,
}

/// What can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Send it as it is.
    Approve,
    /// Do not send it; with a text, another try with that.
    Reject,
    /// Later.
    Defer,
    /// Tell it once more as it is now.
    Show,
    /// Answer the question.
    Answer,
}

impl Verb {
    const WORDS: [(&'static str, Self); 5] = [
        ("approve", Self::Approve),
        ("reject", Self::Reject),
        ("defer", Self::Defer),
        ("show", Self::Show),
        ("answer", Self::Answer),
    ];
}

/// Reads a message: `approve k7f3`, `reject k7f3 too long`, `defer k7f3 2h`. `None`: it is no order.
#[must_use]
pub fn order(text: &str) -> Option<Order> {
    let (word, rest) = text.trim().split_once(char::is_whitespace)?;
    let verb = Verb::WORDS.into_iter().find(|(known, _)| word.eq_ignore_ascii_case(known))?.1;
    let rest = rest.trim_start();
    let (reference, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let reference = reference.to_ascii_lowercase();
    let fits = !reference.is_empty() && reference.len() <= CODE_LEN_MAX && reference.chars().all(is_letter);
    fits.then(|| Order { verb, reference, rest: rest.trim().to_owned() })
}

/// Letters of codes and references: none that looks like another.
pub const LETTERS: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";

/// Letters of a pairing code: 39 bits, for five tries in ten minutes.
pub const PAIRING_LEN: usize = 8;

/// No code or reference is longer.
const CODE_LEN_MAX: usize = 16;

fn is_letter(letter: char) -> bool {
    u8::try_from(letter).is_ok_and(|byte| LETTERS.contains(&byte))
}

/// A code out of random bytes, one letter each. A byte that would make some letters likelier than others is passed over;
/// `None`: there were not enough.
#[must_use]
pub fn code(random: &[u8], len: usize) -> Option<String> {
    let letters = LETTERS.len();
    let fair = 256 - 256 % letters;
    let picked = random.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < fair);
    let text: String = picked
        .filter_map(|byte| LETTERS.get(byte % letters))
        .take(len)
        .map(|byte| char::from(*byte))
        .collect();
    (text.len() == len).then_some(text)
}

/// As it is shown: `k7f3-92qx`.
#[must_use]
pub fn shown_code(code: &str) -> String {
    match code.split_at_checked(code.len() / 2) {
        Some((first, second)) if code.len() == PAIRING_LEN => format!("{first}-{second}"),
        _ => code.to_owned(),
    }
}

/// The pairing code that a text is, if it has the form of one: with or without the hyphen, large or small.
#[must_use]
pub fn pairing_code(text: &str) -> Option<String> {
    let text = text.trim();
    let text =
        text.get(..4).filter(|word| word.eq_ignore_ascii_case("pair")).map_or(text, |_| text[4..].trim());
    let bare: String = text.chars().filter(|letter| !matches!(letter, '-' | ' ')).collect();
    let bare = bare.to_ascii_lowercase();
    (bare.len() == PAIRING_LEN && bare.chars().all(is_letter)).then_some(bare)
}

/// A span as one says it: `2h`, `30m`, `1d`; `None`: it is none, or longer than a month.
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    let span = Duration::from_secs(number.trim().parse::<u64>().ok()?.checked_mul(seconds)?);
    (!span.is_zero() && span <= Duration::from_secs(31 * 86_400)).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read() {
        let check = |text: &str, expected: Option<(Verb, &str, &str)>| {
            let expected = expected.map(|(verb, reference, rest)| Order {
                verb,
                reference: reference.into(),
                rest: rest.into(),
            });
            assert_eq!(order(text), expected, "{text}");
        };
        check("approve k7f3", Some((Verb::Approve, "k7f3", "")));
        check("  Approve  K7F3 \n", Some((Verb::Approve, "k7f3", "")));
        check("reject k7f3 too long,\nsay less", Some((Verb::Reject, "k7f3", "too long,\nsay less")));
        check("defer k7f3 2h", Some((Verb::Defer, "k7f3", "2h")));
        check("answer k7f3 on Monday", Some((Verb::Answer, "k7f3", "on Monday")));
        for none in
            ["", "approve", "k7f3", "approve it!", "yes k7f3", "approve 0123", "approved k7f3", "ü k7f3"]
        {
            check(none, None);
        }
        check(&format!("approve {}", "k".repeat(17)), None);
    }

    #[test]
    fn codes_are_fair_and_known_again() {
        assert_eq!(code(&[0, 30, 31, 61, 255, 1], 5).unwrap(), "2z2z3");
        assert_eq!(code(&[255; 99], 1), None);
        assert_eq!(shown_code("k7f392qx"), "k7f3-92qx");
        for same in ["k7f3-92qx", "K7F3 92QX", " pair k7f392qx ", "PAIR K7F3-92qx\n"] {
            assert_eq!(pairing_code(same).as_deref(), Some("k7f392qx"), "{same}");
        }
        for none in
            ["", "pair", "k7f3", "k7f3-92q0", "k7f392qxx", "hello my friend", "ünmöglich", "pa\u{ef}r"]
        {
            assert_eq!(pairing_code(none), None, "{none}");
        }
    }

    #[test]
    fn spans() {
        assert_eq!(span("2h"), Some(Duration::from_secs(7200)));
        assert_eq!(span(" 30 m"), Some(Duration::from_secs(1800)));
        for none in ["", "h", "0h", "-2h", "2", "2y", "999999999999999999999d", "32d", "2ü"] {
            assert_eq!(span(none), None, "{none}");
        }
    }

    #[test]
    fn a_notice_as_text() {
        let entry = Entry {
            line: "to ada@example.org: the plan".into(),
            body: Some("Yes.\n".into()),
            reference: Some("k7f3".into()),
            verbs: DRAFT_VERBS,
            command: "workagent review show d1".into(),
        };
        let bare = Entry { reference: None, body: None, ..entry.clone() };
        let notice = Notice { entries: vec![entry, bare], ..Notice::plain("n", "2 drafts wait", "") };
        insta::assert_snapshot!(notice.body(), @r"
        to ada@example.org: the plan

        Yes.

        → approve k7f3 | reject k7f3 | defer k7f3 | show k7f3

        to ada@example.org: the plan
        → workagent review show d1
        ");
    }
}
