//! The machine against recorded agents, made-up ones, and ten thousand broken streams.

use std::path::PathBuf;

use super::super::permission::Otherwise;
use super::super::presets;
use super::*;
use crate::engine::fixtures::{item, request};
use crate::engine::prompt::{self, Fence};
use crate::model::run::EngineResult;
use crate::model::time::Timestamp;

mod fuzz;

const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn task(preset: &str) -> (Task, Fence) {
    let prompt = prompt::build(&request(vec![item("t", "b")]));
    let preset = presets::find(preset).unwrap();
    let config = preset.config.iter().map(|(id, value)| ((*id).into(), (*value).into())).collect();
    let task = Task {
        cwd: "/case".into(),
        servers: Vec::new(),
        prompt: prompt.text(),
        session: None,
        wanted: Wanted { mode: preset.mode.into(), model: String::new(), config },
        auth_method: if preset.name == "codex-acp" { "api-key".into() } else { String::new() },
        login: preset.login,
        policy: Policy { allow: vec!["stubmcp/save_draft".into()], otherwise: Otherwise::Reject },
    };
    (task, prompt.draft)
}

fn client(task: Task) -> Client {
    Client::new(task, Clock::manual(NOW))
}

/// One line of a recording.
#[derive(Clone, Debug)]
struct Recorded {
    ours: bool,
    msg: Value,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines/acp")
}

fn recording(file: &str) -> Vec<Recorded> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    text.lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            Recorded { ours: line["dir"] == "client->agent", msg: line["msg"].take() }
        })
        .collect()
}

fn preset_of(file: &str) -> &'static str {
    match file.split('-').next().unwrap() {
        "claude" => "claude-agent-acp",
        "codex" => "codex-acp",
        other => presets::find(other).unwrap().name,
    }
}

/// Plays the agent's side: what it said after a request of the same method, with our number. What was not asked in the
/// recording is granted.
struct Player {
    recorded: Vec<Recorded>,
    at: usize,
    /// Of the prompt, from which the model learns the marks.
    fence: Option<Fence>,
}

/// What is said to one line of ours; `None` where the recording waits for a cancel.
type Said = Vec<Option<Vec<u8>>>;

impl Player {
    fn hear(&mut self, line: &[u8]) -> Said {
        let ours: Value = serde_json::from_slice(line).unwrap();
        let (Some(method), Some(id)) = (ours["method"].as_str(), ours["id"].as_u64()) else {
            return Vec::new();
        };
        let is = |recorded: &Recorded| recorded.ours && recorded.msg["method"] == method;
        let Some(found) = self.recorded[self.at..].iter().position(is) else {
            return vec![Some(json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string().into_bytes())];
        };
        let number = self.recorded[self.at + found].msg["id"].clone();
        self.at += found + 1;
        let mut said = Vec::new();
        while let Some(recorded) = self.recorded.get(self.at) {
            if recorded.ours {
                if recorded.msg["method"] == "session/cancel" {
                    said.push(None);
                } else if recorded.msg.get("method").is_some() {
                    break;
                }
            } else {
                let mut msg = recorded.msg.clone();
                if msg.get("method").is_none() && msg["id"] == number {
                    msg["id"] = json!(id);
                }
                said.push(Some(self.marked(&msg.to_string()).into_bytes()));
            }
            self.at += 1;
        }
        said
    }

    /// The model's answer between the marks that the prompt asks for.
    fn marked(&self, line: &str) -> String {
        match &self.fence {
            Some(fence) => line
                .replace("\"text\":\"Stub answer", &format!("\"text\":\"{}\\nStub answer", fence.open()))
                .replace("\"text\":\"ood.\"", &format!("\"text\":\"ood.\\n{}\"", fence.close())),
            None => line.to_owned(),
        }
    }
}

/// All that is said in a whole run, by us and by the agent.
fn play(client: &mut Client, player: &mut Player) -> Vec<Vec<u8>> {
    let mut ours = Vec::new();
    while !client.is_over() {
        let out = client.take_out();
        if out.is_empty() {
            break;
        }
        for line in out {
            for said in player.hear(&line) {
                match said {
                    Some(said) => drop(client.hear(&said)),
                    None => client.cancel(),
                }
            }
            ours.push(line);
        }
    }
    ours
}

/// The word of the manifest for what a turn came to.
fn word(turn: Option<&Turn>) -> &'static str {
    match turn {
        Some(Turn::Done) => "ok",
        Some(Turn::Failed(failure, _)) => match failure {
            RunFailure::RateLimited(_) => "rate_limited",
            RunFailure::UsageLimit(_) => "usage_limit",
            other => other.word(),
        },
        Some(Turn::Asks(_)) => "asks",
        None => "unfinished",
    }
}

fn manifest() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    rows.iter()
        .map(|row| (row["file"].as_str().unwrap().to_owned(), row["outcome"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn every_recording_comes_to_the_outcome_of_its_manifest() {
    let rows = manifest();
    assert_eq!(rows.len(), 25);
    for (file, expected) in rows {
        let (task, fence) = task(preset_of(&file));
        let mut client = client(task);
        let mut player = Player { recorded: recording(&file), at: 0, fence: Some(fence.clone()) };
        play(&mut client, &mut player);
        // What the agent hides cannot be told; it is taken at its word.
        let expected = if expected == "undetectable" { "ok" } else { &expected };
        assert_eq!(word(client.turn()), expected, "{file}: {:?}", client.turn());
        let read = prompt::read_answer(client.answer().text().unwrap(), &fence);
        if expected == "ok" {
            let wanted = EngineResult::Reply("Stub answer: the request was understood.".into());
            assert_eq!(read, Ok(wanted), "{file}");
            assert!(client.facts().session.is_some() && client.facts().program.is_some(), "{file}");
        }
    }
}

#[test]
fn without_the_marks_no_recording_gives_a_draft() {
    for (file, _) in manifest() {
        let (task, fence) = task(preset_of(&file));
        let mut client = client(task);
        play(&mut client, &mut Player { recorded: recording(&file), at: 0, fence: None });
        let read = prompt::read_answer(client.answer().text().unwrap(), &fence);
        assert!(read.is_err(), "{file}: {read:?}");
    }
}

#[test]
fn tokens_money_and_model_are_told() {
    let told = |file: &str| {
        let mut client = client(task(preset_of(file)).0);
        play(&mut client, &mut Player { recorded: recording(file), at: 0, fence: None });
        let (usage, facts) = (client.usage(), client.facts());
        format!(
            "{:?} {:?} {:?} {:?}",
            usage.input_tokens, usage.output_tokens, usage.cost_micro_usd, facts.model
        )
    };
    assert_eq!(told("gemini-mcp.jsonl"), r#"Some(58) Some(14) None Some("gemini-3.8-flash")"#);
    assert_eq!(told("claude-new-mcp.jsonl"), r#"Some(42) Some(26) Some(693) Some("claude-opus-5-5")"#);
    assert_eq!(told("opencode-normal.jsonl"), "Some(20) Some(7) None None");
    assert_eq!(told("qwen-normal.jsonl"), "None None None None");
}

// Made-up agents.

/// Says these lines in turn, one after each request of ours; `ID` is the number of the request.
fn scripted(task: Task, script: &[&str]) -> (Client, Vec<String>) {
    let mut client = client(task);
    let mut ours = Vec::new();
    let mut script = script.iter();
    loop {
        let out = client.take_out();
        let requests = out.iter().map(|line| String::from_utf8(line.clone()).unwrap());
        ours.extend(requests);
        if client.is_over() {
            return (client, ours);
        }
        let Some(lines) = script.next() else { return (client, ours) };
        let id = client.id.to_string();
        for line in lines.lines() {
            client.hear(line.replace("ID", &id).as_bytes());
        }
    }
}

fn custom() -> Task {
    task("custom").0
}

const HELLO: &str = r#"{"id":ID,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}}"#;
const SESSION: &str = r#"{"id":ID,"result":{"sessionId":"s"}}"#;

fn check(task: Task, script: &[&str], expected: &str) -> Vec<String> {
    let (client, ours) = scripted(task, script);
    let shown = match client.turn() {
        Some(Turn::Failed(failure, detail)) => format!("{}: {detail}", failure.word()),
        Some(other) => format!("{other:?}"),
        None => "unfinished".to_owned(),
    };
    assert_eq!(shown, expected);
    ours
}

#[test]
fn another_version_of_the_wire_is_not_spoken() {
    let hello = r#"{"id":ID,"result":{"protocolVersion":2}}"#;
    check(custom(), &[hello], "config: the agent speaks version 2 of the protocol, this is version 1");
}

#[test]
fn only_the_end_of_the_turn_says_that_it_is_done() {
    let end = |end: &str, expected: &str| {
        check(custom(), &[HELLO, SESSION, &format!(r#"{{"id":ID,"result":{end}}}"#)], expected);
    };
    end(r#"{"stopReason":"end_turn"}"#, "Done");
    end(r#"{"stopReason":"max_tokens"}"#, "cut: its answer was cut by an output limit");
    end(r#"{"stopReason":"max_turn_requests"}"#, "turn-limit: it used up its turns");
    end(r#"{"stopReason":"refusal"}"#, "refused: the model refused");
    end(r#"{"stopReason":"cancelled"}"#, "protocol: it says that it was cancelled, which nobody did");
    end(r#"{"stopReason":"later"}"#, "protocol: its turn ended with `later`, which is not known");
    end("{}", "protocol: its turn ended without a reason");
    end("null", "protocol: its turn ended without a reason");
    // The answer to another request is not the end of this one.
    check(custom(), &[HELLO, SESSION, r#"{"id":1,"result":{"stopReason":"end_turn"}}"#], "unfinished");
}

#[test]
fn a_session_that_is_gone_is_begun_anew() {
    let task = || Task { session: Some("old".into()), ..custom() };
    let can = r#"{"id":ID,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}}"#;
    let gone = r#"{"id":ID,"error":{"code":-32602,"message":"no such session"}}"#;
    let ours = check(task(), &[can, gone, SESSION], "unfinished");
    assert!(ours[1].contains(r#""method":"session/resume""#) && ours[1].contains(r#""sessionId":"old""#));
    assert!(ours[2].contains(r#""method":"session/new""#) && !ours[2].contains("old"));
    // One that cannot go on is not asked to.
    assert!(check(task(), &[HELLO, SESSION], "unfinished")[1].contains("session/new"));
    // What a loaded session plays back is no answer.
    let load = r#"{"id":ID,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
    let played = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"old"}}}}
{"id":ID,"result":{}}"#;
    let (client, ours) = scripted(task(), &[load, played]);
    assert!(ours[1].contains("session/load") && ours[2].contains(r#""sessionId":"old""#));
    assert_eq!(client.answer().text(), Some(""));
}

#[test]
fn whoever_is_not_logged_in_is_told_how() {
    let refused = r#"{"id":ID,"error":{"code":-32000,"message":"Authentication required"}}"#;
    check(
        task("opencode").0,
        &[HELLO, refused],
        "auth: Authentication required; run `opencode auth login` in a terminal",
    );
    let task = || Task { auth_method: "key".into(), ..custom() };
    check(
        task(),
        &[r#"{"id":ID,"result":{"protocolVersion":1,"authMethods":[{"id":"a"},{"id":"b"}]}}"#],
        "config: the agent has no way to log in called `key`; it has a, b",
    );
    let ours = check(
        task(),
        &[r#"{"id":ID,"result":{"protocolVersion":1,"authMethods":[{"id":"key"}]}}"#],
        "unfinished",
    );
    assert!(ours[1].contains(r#""method":"authenticate","params":{"methodId":"key"}"#));
}

#[test]
fn a_mode_that_is_not_offered_is_not_run_and_one_that_is_left_ends_it() {
    check(
        task("gemini").0,
        &[HELLO, SESSION],
        "config: the agent offers no choice, so not the mode `default`",
    );
    let session = r#"{"id":ID,"result":{"sessionId":"s","modes":{"currentModeId":"yolo","availableModes":[{"id":"default"}]}}}"#;
    let granted = r#"{"id":ID,"result":{}}"#;
    let left = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}}}"#;
    let ours = check(
        task("gemini").0,
        &[HELLO, session, granted, left],
        "protocol: the agent went from the mode `default` to `yolo` by itself",
    );
    assert!(ours[2].contains(r#""method":"session/set_mode","params":{"modeId":"default","sessionId":"s"}"#));
    assert!(ours[4].contains("session/cancel"));
    let refused = r#"{"id":ID,"error":{"code":-32603,"message":"no"}}"#;
    check(task("gemini").0, &[HELLO, session, refused], "config: the session could not be set up: no");
}

#[test]
fn files_and_terminals_are_not_offered() {
    let asks = r#"{"id":"x","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}
{"id":7,"method":"terminal/create","params":{"command":"sh"}}
{"id":8,"method":"_vendor/anything"}"#;
    let (_, ours) = scripted(custom(), &[HELLO, SESSION, asks]);
    assert!(ours[0].contains(r#""fs":{"readTextFile":false,"writeTextFile":false},"terminal":false"#));
    assert_eq!(
        ours[3],
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"fs/read_text_file is not offered"}}"#
    );
    assert!(
        ours[4].contains("terminal/create is not offered") && ours[5].contains("_vendor/anything is not")
    );
}

const PERMISSION: &str = r#"{"id":0,"method":"session/request_permission","params":{"toolCall":{"title":"rm -rf x","kind":"execute"},
"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}"#;

#[test]
fn permission_is_refused_once_and_the_reviewer_is_told() {
    let asks = PERMISSION.replace('\n', "");
    let (client, ours) = scripted(custom(), &[HELLO, SESSION, &asks]);
    assert_eq!(
        ours[3],
        r#"{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}"#
    );
    assert_eq!(client.answer().remarks(), ["it was not allowed to run the command `rm -rf x`"]);
}

#[test]
fn with_ask_the_turn_ends_with_the_question() {
    let policy = Policy { allow: Vec::new(), otherwise: Otherwise::Ask };
    let asks = PERMISSION.replace('\n', "");
    let cancelled = r#"{"id":ID,"result":{"stopReason":"cancelled"}}"#;
    let ours = check(
        Task { policy, ..custom() },
        &[HELLO, SESSION, &asks, cancelled],
        r#"Asks("run the command `rm -rf x`")"#,
    );
    assert!(ours[3].contains(r#"{"outcome":{"outcome":"cancelled"}}"#) && ours[4].contains("session/cancel"));
}

#[test]
fn after_a_cancel_open_questions_are_answered_cancelled() {
    let (mut client, _) = scripted(custom(), &[HELLO, SESSION]);
    client.cancel();
    client.hear(PERMISSION.replace('\n', "").as_bytes());
    let out: Vec<_> = client.take_out().into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
    assert_eq!(out[0], r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
    assert_eq!(out[1], r#"{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}"#);
    // An agent that was done all the same was cancelled.
    client.hear(format!(r#"{{"id":{},"result":{{"stopReason":"end_turn"}}}}"#, client.id).as_bytes());
    assert!(matches!(client.turn(), Some(Turn::Failed(RunFailure::Cancelled, _))));
}
