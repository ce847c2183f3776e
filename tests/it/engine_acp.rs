//! The engine for agents that speak the Agent Client Protocol, with agents in processes of their own.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use workagent::engine::acp::SPEC;
use workagent::model::run::{EngineResult, RunFailure};
use workagent::secret::random::random_hex;
use workagent::unit::plan::EnvUnit;
use workagent::unit::value::{Setting, Value};

use crate::support::acp_agent::{self, HANGING, REPLY, ROLE};
use crate::support::children::alive;
use crate::support::engine::EngineBench;

/// Not a test: the agent of the others.
#[test]
#[ignore = "started by the tests of this file"]
fn the_agent() {
    acp_agent::act();
}

fn list(entries: &[&str]) -> Value {
    Value::List(entries.iter().map(|entry| (*entry).into()).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// An engine whose agent is this test binary in a role; the token finds its processes.
fn bench_with(role: &str, keys: &[(&str, Value)]) -> (EngineBench, String) {
    let token = format!("token-{}", random_hex(12));
    let program = std::env::current_exe().unwrap().display().to_string();
    let mut all = vec![
        ("preset", text("custom")),
        ("program", Value::Text(program)),
        ("args", list(&["engine_acp::the_agent", "--exact", "--ignored", "--nocapture", "--"])),
    ];
    for (key, value) in keys {
        all.retain(|(known, _)| known != key);
        all.push((key, value.clone()));
    }
    let set = [(ROLE, role), ("WA_TOKEN", &token)];
    let set = set.into_iter().map(|(name, value)| (name.to_owned(), Setting::Text(value.into()))).collect();
    let env = EnvUnit { name: "role".into(), set, ..EnvUnit::default() };
    let mut bench = EngineBench::new(&SPEC, &all).env(env);
    bench.unit_model("");
    (bench, token)
}

async fn check(role: &str, keys: &[(&str, Value)], expected: &str) {
    let (bench, token) = bench_with(role, keys);
    assert_eq!(bench.shown().await, expected);
    assert_eq!(alive(&token), Vec::<String>::new(), "alive after the run");
}

// Drafts.

#[tokio::test]
async fn a_draft_between_the_marks() {
    check("marks", &[], &format!("reply {REPLY:?}")).await;
    check("noisy", &[], "reply \"a\\u{2028}b\"").await;
}

#[tokio::test]
async fn what_is_printed_is_no_draft() {
    let detail = "the answer does not hold the draft between the marks that were asked for";
    check("prints", &[], &format!("protocol: {detail}")).await;
}

#[tokio::test]
async fn a_submitted_draft_wins_over_all_that_was_said() {
    let (bench, token) = bench_with("submits", &[]);
    let outcome = bench.run().await.unwrap();
    assert_eq!(outcome.result, EngineResult::Reply(REPLY.into()));
    assert_eq!((outcome.labels, outcome.remarks), (vec!["vip".to_owned()], vec!["ask Kim".to_owned()]));
    assert_eq!(outcome.facts.session.as_deref(), Some("s-1"));
    assert_eq!(outcome.facts.program.as_deref(), Some("double 1.0"));
    assert_eq!(alive(&token), Vec::<String>::new());
}

// What an agent may do.

#[tokio::test]
async fn permission_is_refused_and_the_reviewer_is_told() {
    let (bench, _) = bench_with("asks", &[]);
    let outcome = bench.run().await.unwrap();
    assert_eq!(outcome.result, EngineResult::Reply("allowed: false".into()));
    assert_eq!(outcome.remarks, ["it was not allowed to run the command `rm -rf /`"]);
}

#[tokio::test]
async fn with_ask_the_question_goes_to_the_user() {
    let ask = [("permission", text("ask"))];
    let expected = "question: double 1.0 asks to be allowed to run the command `rm -rf /`";
    check("asks", &ask, expected).await;
}

#[tokio::test]
async fn files_and_terminals_are_refused() {
    check("reads", &[], "reply \"refused 3 of 3\"").await;
}

#[tokio::test]
async fn it_works_in_an_empty_directory_with_an_environment_of_its_own() {
    let (bench, _) = bench_with("environment", &[]);
    let EngineResult::Reply(told) = bench.run().await.unwrap().result else { panic!("no reply") };
    assert!(told.ends_with(" in a directory of 0"), "{told}");
    let names: Vec<&str> = told.split(' ').take_while(|name| *name != "in").collect();
    let expected = ["HOME", "LANG", "PATH", "TMPDIR", "WA_AGENT", "WA_TOKEN", "WORKAGENT_RUN"];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn an_agent_without_the_wanted_mode_is_not_run() {
    let mode = [("mode", text("plan"))];
    check("marks", &mode, "config: the agent offers no choice, so not the mode `plan`").await;
}

// Ends.

#[tokio::test]
async fn an_agent_that_dies_is_a_failure_in_its_own_words() {
    let (bench, _) = bench_with("dies", &[]);
    let shown = bench.shown().await;
    assert!(shown.starts_with("exit: exit status 7 before it had answered"), "{shown}");
    assert!(shown.contains("cannot reach my own settings"), "{shown}");
}

#[tokio::test]
async fn a_line_over_the_cap_is_no_answer() {
    let detail = "protocol: line too long: it wrote a line that is longer than any answer";
    check("giant", &[], detail).await;
}

#[tokio::test]
async fn a_silent_agent_is_ended() {
    let (mut bench, token) = bench_with("kind", &[]);
    bench.limits.idle = Duration::from_millis(1500);
    assert_eq!(bench.shown().await, "timeout-idle: it fell silent for 1s");
    assert_eq!(alive(&token), Vec::<String>::new());
}

/// Cancelled once it hangs; how long it took from there.
async fn cancelled(role: &str) -> Duration {
    let (bench, token) = bench_with(role, &[]);
    let cancel = bench.cancel.clone();
    let hangs = async {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !bench.run_dir().join("work").join(HANGING).exists() {
            assert!(Instant::now() < deadline, "it does not hang");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
        Instant::now()
    };
    let (ended, since) = tokio::join!(bench.run(), hangs);
    let took = since.elapsed();
    assert_eq!(ended.unwrap_err().failure, RunFailure::Cancelled);
    assert_eq!(alive(&token), Vec::<String>::new(), "alive after a cancel");
    took
}

#[tokio::test]
async fn a_cancel_is_said_in_the_protocol_and_ends_within_three_seconds() {
    let took = cancelled("kind").await;
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn a_cancel_of_the_deaf_leaves_nothing() {
    cancelled("deaf").await;
}

// Recordings.

fn recordings() -> (PathBuf, Vec<(String, String)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines/acp");
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let of = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = rows.iter().map(|row| (of(row, "file"), of(row, "outcome"))).collect();
    (folder, rows)
}

#[tokio::test]
async fn every_recorded_agent_comes_to_its_outcome() {
    let (folder, rows) = recordings();
    for (file, expected) in rows {
        let preset = match file.split('-').next().unwrap() {
            "claude" => "claude-agent-acp",
            "codex" => "codex-acp",
            other => other,
        };
        let mut keys = vec![("preset", text(preset)), ("allow", list(&["stubmcp/save_draft"]))];
        if preset == "codex-acp" {
            keys.push(("auth_method", text("api-key")));
        }
        let role = format!("replay {}", folder.join(&file).display());
        let (mut bench, token) = bench_with(&role, &keys);
        if expected == "cancelled" {
            // Hangs until somebody ends it: its idle limit does, and the agent says that it stopped.
            bench.limits.idle = Duration::from_millis(1500);
        }
        let shown = bench.shown().await;
        let wanted = match expected.as_str() {
            "ok" | "undetectable" => "reply \"Stub answer: the request was understood.\"".to_owned(),
            "cancelled" => "timeout-idle: it fell silent for 1s".to_owned(),
            other => format!("{}: ", other.replace('_', "-")),
        };
        assert!(shown.starts_with(&wanted), "{file}: {shown}");
        assert_eq!(alive(&token), Vec::<String>::new(), "{file}");
    }
}
