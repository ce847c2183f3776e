//! What known programs printed, and what it is read as: all recorded transcripts, then torn and mixed ones at random.

#![expect(clippy::indexing_slicing, reason = "places in streams are drawn within their bounds")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Deserialize;
use workagent::engine::dialect::{Dialect, Transcript};
use workagent::model::run::{EngineError, RunLimits};
use workagent::model::time::{Clock, Timestamp};
use workagent::process::{ChildEnd, ChildReport};

/// When the transcripts were recorded.
const NOW: Timestamp = Timestamp(1_796_025_600_000);

const LIMITS: RunLimits = RunLimits {
    first_event: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    total: Duration::from_secs(600),
};

#[derive(Deserialize)]
struct Manifest {
    fixtures: Vec<Fixture>,
}

#[derive(Deserialize)]
struct Fixture {
    file: String,
    cli: String,
    exit_code: i32,
    outcome: String,
    #[serde(default)]
    stderr_head: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines")
}

/// Those of programs with event lines of their own; the rest of the manifest speaks another protocol.
fn fixtures() -> Vec<Fixture> {
    let text = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    manifest.fixtures.into_iter().filter(|fixture| !fixture.file.starts_with("acp/")).collect()
}

impl Fixture {
    fn bytes(&self) -> Vec<u8> {
        std::fs::read(folder().join(&self.file)).unwrap()
    }

    fn dialect(&self) -> Dialect {
        Dialect::of(&self.cli).unwrap()
    }

    /// How the process ended. Those that the recorder ended are ours: it played the daemon's part.
    fn end(&self) -> ChildEnd {
        match (self.outcome.as_str(), self.exit_code) {
            ("timeout", -9) => ChildEnd::TimedOutTotal,
            ("cancelled", -15 | 143) => ChildEnd::Cancelled,
            (_, code) if code < 0 => ChildEnd::Signalled(-code),
            (_, code) => ChildEnd::Exited(code),
        }
    }

    fn report(&self, end: ChildEnd) -> ChildReport {
        ChildReport {
            end,
            stderr_tail: self.stderr_head.clone(),
            lines_skipped: 0,
            stdout_bytes: 0,
            swept: 0,
        }
    }

    fn read(&self, end: ChildEnd) -> Verdict {
        verdict(self.dialect(), &self.bytes(), &self.report(end))
    }
}

type Verdict = Result<workagent::engine::dialect::Heard, EngineError>;

fn verdict(dialect: Dialect, bytes: &[u8], report: &ChildReport) -> Verdict {
    let mut transcript = Transcript::new(dialect, Clock::manual(NOW), TimeZone::UTC);
    bytes.split(|byte| *byte == b'\n').for_each(|line| transcript.take(line));
    transcript.verdict(report, None, LIMITS)
}

/// In the words of the manifest.
fn class(verdict: &Verdict) -> String {
    match verdict {
        Ok(heard) if heard.remarks.iter().any(|remark| remark.starts_with("it was refused")) => {
            "ok_with_denials".to_owned()
        }
        Ok(_) => "ok".to_owned(),
        Err(error) => match error.failure.word() {
            "config" if error.detail.contains("model") => "config_model".to_owned(),
            "turn-limit" => "limit_turns".to_owned(),
            "budget-limit" => "limit_budget".to_owned(),
            "timeout-total" | "timeout-idle" => "timeout".to_owned(),
            word => word.replace('-', "_"),
        },
    }
}

#[test]
fn every_transcript_is_what_the_manifest_says() {
    let mut wrong = Vec::new();
    let (mut seen, mut undetectable) = (0, 0);
    for fixture in fixtures() {
        let read = fixture.read(fixture.end());
        let expected = match fixture.outcome.as_str() {
            // The program hid why the model stopped: nobody can tell it from an answer. The marks that the prompt asks
            // for catch it, see below.
            "undetectable" => {
                undetectable += 1;
                "ok"
            }
            // Three turns in one process, the last of which was interrupted; the last one counts.
            "mixed" => "cancelled",
            outcome => outcome,
        };
        seen += 1;
        if class(&read) != expected {
            wrong.push(format!("{}: {expected}, read as {} {read:?}", fixture.file, class(&read)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((seen, undetectable), (91, 5));
}

// Torn, mixed, drowned and generated streams.

const SEED: u64 = 20_261_130;

/// Per dialect: five times ten thousand and some with six dialects.
const STREAMS: u64 = 10_000;

/// splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A recorded stream: its lines, and those of them that are a last word of success: without one of these nobody may call
/// a stream a success.
struct Recorded {
    lines: Vec<Vec<u8>>,
    last_words: Vec<Vec<u8>>,
}

/// By its letters alone, so that the readers are not measured by themselves.
fn is_last_word(dialect: Dialect, line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let has: &[&str] = match dialect {
        Dialect::Claude | Dialect::Qwen => &["\"type\":\"result\"", "\"is_error\":false"],
        Dialect::Codex => &["\"turn.completed\""],
        Dialect::Gemini => &["\"type\":\"result\"", "\"status\":\"success\""],
        Dialect::Opencode => &["\"reason\":\"stop\""],
        Dialect::Copilot => &["\"type\":\"result\"", "\"exitCode\":0"],
    };
    has.iter().all(|word| text.contains(word))
}

fn recorded(dialect: Dialect) -> Vec<Recorded> {
    let of_dialect = |fixture: &Fixture| fixture.dialect() == dialect;
    fixtures()
        .iter()
        .filter(|fixture| of_dialect(fixture))
        .map(|fixture| {
            let lines: Vec<Vec<u8>> = fixture
                .bytes()
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(<[u8]>::to_vec)
                .collect();
            let last_words = lines.iter().filter(|line| is_last_word(dialect, line)).cloned().collect();
            Recorded { lines, last_words }
        })
        .collect()
}

/// A stream made of recorded ones.
fn stream(chance: &mut Chance, pool: &[Recorded], others: &[Recorded]) -> Vec<u8> {
    let base = chance.one(pool);
    let mut lines = base.lines.clone();
    for _ in 0..=chance.below(4) {
        let at = chance.below(lines.len() + 1);
        match chance.below(11) {
            // Cut at a line, and in a line.
            0 => lines.truncate(at),
            1 | 2 => {
                lines.truncate(at);
                if let Some(last) = lines.last_mut() {
                    let length = chance.below(last.len() + 1);
                    last.truncate(length);
                }
            }
            // Two on a line; or half of one and the next.
            3 if at + 1 < lines.len() => {
                let next = lines.remove(at + 1);
                lines[at].extend(next);
            }
            4 if at + 1 < lines.len() => {
                let next = lines.remove(at + 1);
                let length = chance.below(lines[at].len() + 1);
                lines[at].truncate(length);
                lines[at].extend(next);
            }
            // Another order, again, not at all.
            5 if at < lines.len() => {
                let line = lines.remove(at);
                lines.insert(chance.below(lines.len() + 1), line);
            }
            6 if at < lines.len() => lines.insert(at, lines[at].clone()),
            7 if at < lines.len() => drop(lines.remove(at)),
            // Of another run, or of another program.
            8 => {
                let own = chance.below(2) == 0;
                let from = chance.one(if own { pool } else { others });
                lines.insert(at, chance.one(&from.lines).clone());
            }
            // Broken letters, changed bytes.
            9 if at < lines.len() && !lines[at].is_empty() => {
                let place = chance.below(lines[at].len());
                // A letter for a letter in a last word is another answer, and nobody can tell.
                let text = String::from_utf8_lossy(&lines[at]).into_owned();
                let is_last =
                    pool.iter().chain(others).flat_map(|of| &of.last_words).any(|word| contains(&text, word));
                let bytes: &[u8] =
                    if is_last { &[0xff, 0xc3] } else { &[0xff, 0xc3, b'"', b'{', b'}', 0, b'\\', b'e'] };
                lines[at][place] = *chance.one(bytes);
            }
            // Noise, and a giant of it now and then.
            _ => {
                let length = if chance.below(400) == 0 { 4 << 20 } else { chance.below(200) };
                let mut noise =
                    if chance.below(2) == 0 { b"{\"type\":\"noise\",\"x\":\"".to_vec() } else { Vec::new() };
                noise.extend(std::iter::repeat_n(b'x', length));
                if chance.below(2) == 0 {
                    noise.extend(b"\"}");
                }
                lines.insert(at, noise);
            }
        }
    }
    lines.join(&b'\n')
}

/// A whole last word of success is in it.
fn has_last_word(bytes: &[u8], pool: &[Recorded], others: &[Recorded]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    pool.iter().chain(others).flat_map(|of| &of.last_words).any(|word| contains(&text, word))
}

/// Broken letters are the same mark on both sides, and no word has one.
fn contains(text: &str, word: &[u8]) -> bool {
    text.contains(std::str::from_utf8(word).unwrap())
}

#[test]
fn no_torn_stream_is_a_success() {
    let pools: Vec<(Dialect, Vec<Recorded>)> =
        Dialect::ALL.into_iter().map(|dialect| (dialect, recorded(dialect))).collect();
    let mut chance = Chance(SEED);
    let mut table = String::new();
    for (dialect, pool) in &pools {
        let (mut success, mut failed, mut bytes_in) = (0_u64, 0_u64, 0_u64);
        for number in 0..STREAMS {
            let (_, others) = chance.one(&pools);
            let bytes = stream(&mut chance, pool, others);
            let end = *chance.one(&[
                ChildEnd::Exited(0),
                ChildEnd::Exited(0),
                ChildEnd::Exited(1),
                ChildEnd::Signalled(15),
                ChildEnd::TimedOutIdle,
                ChildEnd::Cancelled,
            ]);
            let report =
                ChildReport { end, stderr_tail: String::new(), lines_skipped: 0, stdout_bytes: 0, swept: 0 };
            let read = verdict(*dialect, &bytes, &report);
            bytes_in += bytes.len() as u64;
            match &read {
                Ok(heard) => {
                    success += 1;
                    let shown =
                        || String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4000)..]).into_owned();
                    let whole = has_last_word(&bytes, pool, others);
                    assert!(whole, "{} {number}: a success without a last word: {}", dialect.word(), shown());
                    assert_ne!(end, ChildEnd::Cancelled);
                    assert!(!heard.answer.text.is_empty() || heard.answer.object.is_some());
                }
                Err(_) => failed += 1,
            }
        }
        let megabytes = bytes_in >> 20;
        table += &format!(
            "{:>9}: {STREAMS} streams, {megabytes} MB: {success} successes, 0 of them false, {failed} failures\n",
            dialect.word()
        );
    }
    println!("{table}seed {SEED}");
}

#[test]
fn an_endless_stream_takes_no_memory() {
    // What is kept is bounded whatever comes; all that is kept is shown.
    let events = [
        (Dialect::Gemini, r#"{"type":"message","role":"assistant","content":"TEXT","delta":true}"#),
        (Dialect::Opencode, r#"{"type":"text","part":{"text":"TEXT"}}"#),
        (Dialect::Claude, r#"{"type":"system","subtype":"permission_denied","tool_name":"TEXT"}"#),
        (Dialect::Codex, r#"{"type":"error","message":"TEXT"}"#),
        (Dialect::Copilot, r#"{"type":"model.call_failure","data":{"errorMessage":"TEXT"}}"#),
        (Dialect::Qwen, r#"{"type":"result","is_error":false,"subtype":"success","result":"TEXT"}"#),
    ];
    for (dialect, event) in events {
        let line = event.replace("TEXT", &"x".repeat(1 << 20));
        let mut transcript = Transcript::new(dialect, Clock::manual(NOW), TimeZone::UTC);
        for _ in 0..16 {
            transcript.take(line.as_bytes());
        }
        let kept = format!("{transcript:?}").len();
        assert!(kept < 3 << 20, "{}: {kept} bytes", dialect.word());
    }
}
