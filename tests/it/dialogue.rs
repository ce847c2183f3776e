//! Two-way talks with small programs, kind and hostile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use workagent::model::limits;
use workagent::process::{
    ChildEnd, ChildEnv, ChildLimits, ChildReport, ChildSpec, Dialogue, EnvValue, Heard, ProcessRoom,
};
use workagent::secret::SecretValue;
use workagent::secret::random::random_hex;

use crate::support::children::alive;

/// A child that fails a test by being slow is a hang, not a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A limit that is meant to be hit.
const SHORT: Duration = Duration::from_millis(300);

const ROOMY: ChildLimits = ChildLimits {
    first_output: LONG,
    idle: LONG,
    total: LONG,
    line_bytes_max: 1 << 20,
    stdout_bytes_max: 16 << 20,
};

/// One talk.
struct Talk {
    _dir: tempfile::TempDir,
    notes: PathBuf,
    token: String,
    cancel: CancellationToken,
    dialogue: Dialogue,
}

impl Talk {
    async fn with(program: &str, limits: ChildLimits, no_progress: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let token = format!("600.{}", u64::from_str_radix(&random_hex(12), 16).unwrap());
        let env = BTreeMap::from([
            ("PATH".to_owned(), EnvValue::Plain("/usr/bin:/bin".into())),
            ("WA_TOKEN".to_owned(), EnvValue::Plain(token.clone().into())),
            ("KEY".to_owned(), EnvValue::Secret(SecretValue::new("canary-0002".into()))),
        ]);
        let spec = ChildSpec {
            program: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures/dialogues")
                .join(program)
                .into(),
            args: Vec::new(),
            env: ChildEnv(env),
            cwd: dir.path().to_owned(),
            stdin: Vec::new(),
            limits,
        };
        let (cancel, notes) = (CancellationToken::new(), dir.path().join("notes"));
        let dialogue = ProcessRoom::new(notes.clone()).talk(spec, no_progress, &cancel).await.unwrap();
        Self { _dir: dir, notes, token, cancel, dialogue }
    }

    async fn new(program: &str) -> Self {
        Self::with(program, ROOMY, LONG).await
    }

    async fn line(&mut self) -> String {
        match self.dialogue.next().await {
            Heard::Line(line) => String::from_utf8(line).unwrap(),
            other => panic!("heard {other:?}"),
        }
    }

    async fn until_due(&mut self) -> ChildEnd {
        loop {
            match self.dialogue.next().await {
                Heard::Due(end) => return end,
                Heard::Over => panic!("it ended"),
                Heard::Line(_) | Heard::Skipped => {}
            }
        }
    }

    async fn close(self) -> ChildReport {
        let report = self.dialogue.close().await;
        assert_eq!(alive(&self.token), Vec::<String>::new(), "alive after the talk");
        assert_eq!(std::fs::read_dir(&self.notes).unwrap().count(), 0, "notes are left");
        report
    }
}

#[tokio::test]
async fn lines_go_both_ways_until_the_input_ends() {
    let mut talk = Talk::new("echo").await;
    for word in ["one", "naïve ✓", ""] {
        assert!(talk.dialogue.say(word.as_bytes()));
        assert_eq!(talk.line().await, format!("heard {word}"));
    }
    assert_eq!(talk.close().await.end, ChildEnd::Exited(0));
}

#[tokio::test]
async fn it_may_end_by_itself() {
    let mut talk = Talk::new("echo").await;
    assert!(talk.dialogue.say(b"stop"));
    assert_eq!((talk.line().await, talk.line().await), ("heard stop".to_owned(), "stopped".to_owned()));
    assert_eq!(talk.dialogue.next().await, Heard::Over);
    assert_eq!(talk.dialogue.next().await, Heard::Over);
    assert!(!talk.dialogue.say(b"anybody there?"));
    assert_eq!(talk.close().await.end, ChildEnd::Exited(0));
}

#[tokio::test]
async fn a_cancel_is_told_first_so_that_the_protocol_can_end_it() {
    let mut talk = Talk::new("echo").await;
    talk.cancel.cancel();
    assert_eq!(talk.until_due().await, ChildEnd::Cancelled);
    assert!(talk.dialogue.say(b"stop"));
    assert_eq!(talk.line().await, "heard stop");
    assert_eq!(talk.line().await, "stopped");
    assert_eq!(talk.dialogue.next().await, Heard::Over);
    assert_eq!(talk.close().await.end, ChildEnd::Cancelled);
}

#[tokio::test]
async fn the_deaf_are_gone_within_three_seconds_of_a_cancel() {
    let mut talk = Talk::new("deaf").await;
    assert_eq!(talk.line().await, "ready");
    let steps = limits::DIALOGUE_ASKED_GRACE + limits::DIALOGUE_CLOSING_GRACE + limits::DIALOGUE_TERM_GRACE;
    assert!(steps < Duration::from_millis(2500), "{steps:?}");
    let since = Instant::now();
    talk.cancel.cancel();
    assert_eq!(talk.until_due().await, ChildEnd::Cancelled);
    // Nobody says goodbye: it is ended all the same.
    assert_eq!(talk.dialogue.next().await, Heard::Over);
    let report = talk.close().await;
    assert_eq!(report.end, ChildEnd::Cancelled);
    assert!(report.swept >= 1, "swept {}", report.swept);
    assert!(since.elapsed() >= steps, "no step is left out");
}

#[tokio::test]
async fn what_lingers_after_the_end_of_its_input_is_asked_by_a_signal() {
    let mut talk = Talk::new("lingers").await;
    assert_eq!(talk.line().await, "ready");
    // Both may come with one read; then the lines of it are first.
    let (one, other) = (talk.dialogue.next().await, talk.dialogue.next().await);
    let (skipped, line) = if one == Heard::Skipped { (one, other) } else { (other, one) };
    assert_eq!((skipped, line), (Heard::Skipped, Heard::Line(b"after".to_vec())));
    let report = talk.close().await;
    assert_eq!((report.end, report.lines_skipped), (ChildEnd::Exited(0), 1));
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    let mut talk = Talk::with("heartbeat", ROOMY, SHORT).await;
    assert_eq!(talk.until_due().await, ChildEnd::TimedOutProgress);
    assert_eq!(talk.close().await.end, ChildEnd::TimedOutProgress);

    let limits = ChildLimits { total: 4 * SHORT, ..ROOMY };
    let mut talk = Talk::with("heartbeat", limits, 2 * SHORT).await;
    let end = loop {
        match talk.dialogue.next().await {
            Heard::Line(_) => talk.dialogue.progress(),
            Heard::Due(end) => break end,
            other => panic!("heard {other:?}"),
        }
    };
    assert_eq!(end, ChildEnd::TimedOutTotal);
    assert_eq!(talk.close().await.end, ChildEnd::TimedOutTotal);
}

#[tokio::test]
async fn silence_is_a_limit_too() {
    let mut talk = Talk::with("not-reading", ChildLimits { idle: SHORT, ..ROOMY }, LONG).await;
    assert_eq!(talk.line().await, "ready");
    assert_eq!(talk.until_due().await, ChildEnd::TimedOutIdle);
    assert_eq!(talk.close().await.end, ChildEnd::TimedOutIdle);
}

#[tokio::test]
async fn a_flood_is_ended_without_a_word() {
    let mut talk = Talk::with("heartbeat", ChildLimits { stdout_bytes_max: 100, ..ROOMY }, LONG).await;
    while let Heard::Line(_) = talk.dialogue.next().await {}
    assert_eq!(talk.close().await.end, ChildEnd::OverCap);
}

#[tokio::test]
async fn a_child_that_does_not_read_cannot_fill_our_memory() {
    let mut talk = Talk::new("not-reading").await;
    assert_eq!(talk.line().await, "ready");
    let line = vec![b'x'; 1 << 20];
    let said = (0..64).take_while(|_| talk.dialogue.say(&line)).count();
    assert!((1..=4).contains(&said), "{said} MB wait");
    // What was not read holds no end up.
    talk.cancel.cancel();
    assert_eq!(talk.until_due().await, ChildEnd::Cancelled);
    assert_eq!(talk.close().await.end, ChildEnd::Cancelled);
}

#[tokio::test]
async fn a_dropped_talk_ends_its_tree() {
    let mut talk = Talk::new("deaf").await;
    assert_eq!(talk.line().await, "ready");
    let token = talk.token.clone();
    drop(talk);
    let deadline = Instant::now() + LONG;
    while !alive(&token).is_empty() {
        assert!(Instant::now() < deadline, "alive: {:?}", alive(&token));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_wait_that_was_given_up_loses_nothing() {
    let mut talk = Talk::new("echo").await;
    let mut heard = Vec::new();
    for number in 0..50 {
        assert!(talk.dialogue.say(format!("{number}").as_bytes()));
        // Given up at every possible place: after one look.
        for _ in 0..3 {
            tokio::select! {
                biased;
                next = talk.dialogue.next() => heard.push(next),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    while heard.len() < 50 {
        heard.push(talk.dialogue.next().await);
    }
    let expected: Vec<_> =
        (0..50).map(|number| Heard::Line(format!("heard {number}").into_bytes())).collect();
    assert_eq!(heard, expected);
    talk.close().await;
}
