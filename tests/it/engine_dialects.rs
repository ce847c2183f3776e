//! What known programs printed, and what it is read as: all recorded transcripts, then torn and mixed ones at random.

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
