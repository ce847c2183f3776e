//! What the event lines of known programs mean. Pure: a reader per dialect is fed lines and says in the end what they
//! came to, together with how the process ended.
//!
//! The order of distrust: who ended it, the line cap, the program's own final event, its fields, its exit code, its
//! stderr. A success only exists if the final event says so and there is an answer. Unknown events and fields are skipped.

mod anthropic;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod told;
mod verdict;

use std::fmt;

use jiff::tz::TimeZone;
use serde_json::{Deserializer, Map, Value};

pub use self::told::{Answer, Told, Trouble};
pub use self::verdict::{Heard, Stop};
use super::notices::Moment;
use crate::model::limits;
use crate::model::run::{RunFailure, Usage};
use crate::model::time::Clock;

/// An answer as text: a draft in which each byte is escaped.
const TEXT_BYTES_MAX: usize = limits::DRAFT_BYTES_MAX * 8;

/// Whose lines they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Claude Code, `--output-format stream-json`.
    Claude,
    /// Codex CLI, `exec --json`.
    Codex,
    /// Gemini CLI, `-o stream-json`.
    Gemini,
    /// opencode, `run --format json`.
    Opencode,
    /// Qwen Code, `-o stream-json`: the same family as Claude Code's.
    Qwen,
    /// Copilot CLI, `--output-format json`.
    Copilot,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Qwen, Self::Copilot];

    /// The stable word, also for `output` of the command engine.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
        }
    }

    /// By its word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.word() == word)
    }

    fn reader(self) -> Box<dyn Reader> {
        match self {
            Self::Claude => Box::new(anthropic::Anthropic::new("claude", "claude_code_version")),
            Self::Qwen => Box::new(anthropic::Anthropic::new("qwen", "qwen_code_version")),
            Self::Codex => Box::<codex::Codex>::default(),
            Self::Gemini => Box::<gemini::Gemini>::default(),
            Self::Opencode => Box::<opencode::Opencode>::default(),
            Self::Copilot => Box::<copilot::Copilot>::default(),
        }
    }
}

/// Knows the events of one program.
trait Reader: fmt::Debug + Send {
    /// Takes an event; `kind` is its `type`.
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment);

    /// The stream has ended: for programs without a final event.
    fn end(&mut self, _told: &mut Told) {}

    /// What this program means by an exit code, if it has codes of its own.
    fn of_exit(&self, _code: i32, _moment: &Moment) -> Option<RunFailure> {
        None
    }
}

/// Takes a program's output line by line, in bounded memory.
#[derive(Debug)]
pub struct Transcript {
    reader: Box<dyn Reader>,
    told: Told,
    clock: Clock,
    zone: TimeZone,
}

impl Transcript {
    /// Nothing heard yet. Times of day in texts are of `zone`.
    #[must_use]
    pub fn new(dialect: Dialect, clock: Clock, zone: TimeZone) -> Self {
        Self { reader: dialect.reader(), told: Told::default(), clock, zone }
    }

    /// The program goes on in a session that had used so much before: what it tells of the session as a whole is not of
    /// this run.
    #[must_use]
    pub fn going_on_after(mut self, before: Usage) -> Self {
        self.told.before = Some(before);
        self
    }

    fn moment(&self) -> Moment {
        Moment { now: self.clock.now(), zone: self.zone.clone() }
    }

    /// Takes a line. What is no JSON object is counted and skipped: programs print log lines between their events, and
    /// some put two objects on a line. A line that is not whole UTF-8 is no event: nobody knows what it said.
    pub fn take(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        self.told.lines += 1;
        if line.first() != Some(&b'{') {
            self.told.odd_lines += 1;
            return;
        }
        let moment = self.moment();
        for value in Deserializer::from_slice(line).into_iter::<Value>() {
            let Ok(Value::Object(event)) = value else {
                self.told.odd_lines += 1;
                self.told.torn_lines += 1;
                return;
            };
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            self.reader.take(kind, &event, &mut self.told, &moment);
        }
    }

    /// What was told so far.
    #[must_use]
    pub fn told(&self) -> &Told {
        &self.told
    }
}

/// The text under a key.
fn text<'a>(event: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    event.get(key).and_then(Value::as_str)
}

/// The number at a path of a value.
fn count(value: Option<&Value>, key: &str) -> Option<u64> {
    value?.get(key)?.as_u64()
}

/// Dollars as millionths, if they are an amount that a run can cost.
fn micro_usd(dollars: Option<f64>) -> Option<u64> {
    let dollars = dollars.filter(|dollars| (0.0..1e6).contains(dollars))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let micro = (dollars * 1e6).round() as u64;
    Some(micro)
}
