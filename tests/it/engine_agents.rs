//! The native engines with programs that play what the real ones were recorded to say.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use workagent::engine::{EngineSpec, claude, codex, command};
use workagent::model::environment::Environment;
use workagent::model::run::{EngineOutcome, EngineResult, RunFailure};
use workagent::model::secret_ref::SecretRef;
use workagent::unit::plan::EnvUnit;
use workagent::unit::value::{Setting, Value};

use crate::support::engine::EngineBench;

/// A folder with a program that plays an agent CLI, and its home.
struct Fake {
    dir: tempfile::TempDir,
    spec: &'static EngineSpec,
    keys: Vec<(&'static str, Value)>,
}

const VERSIONS: &str = r#"case "$0" in *codex) v='codex-cli 0.171.0';; *) v='2.1.332 (Claude Code)';; esac
if [ "$1" = --version ]; then echo "$v"; exit 0; fi
here=$(dirname "$0")
# Writes what it reads to the file that -o names.
answer() { while [ $# -gt 0 ]; do [ "$1" = -o ] && cat >"$2"; shift; done; }
"#;

impl Fake {
    /// `body` is a shell script; `$here` is its folder. It has a key, `canary`.
    fn new(spec: &'static EngineSpec, body: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join(spec.name);
        std::fs::write(&program, format!("#!/bin/sh\n{VERSIONS}{body}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let keys = vec![
            ("program", Value::Text(program.display().to_string())),
            ("home", Value::Path(dir.path().join("home"))),
            ("key", Value::Secret(SecretRef::Stored("canary".into()))),
        ];
        Self { dir, spec, keys }
    }

    fn claude(body: &str) -> Self {
        Self::new(&claude::SPEC, body)
    }

    fn codex(body: &str) -> Self {
        Self::new(&codex::SPEC, body)
    }

    /// Plays a file of fixtures.
    fn plays(spec: &'static EngineSpec, file: &str, code: i32) -> Self {
        let file = fixture(file);
        Self::new(spec, &format!("cat >/dev/null; cat '{}'; exit {code}", file.display()))
    }

    fn with(mut self, key: &'static str, value: Value) -> Self {
        self.keys.retain(|(name, _)| *name != key);
        self.keys.push((key, value));
        self
    }

    fn without(mut self, key: &str) -> Self {
        self.keys.retain(|(name, _)| *name != key);
        self
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    fn bench(&self) -> EngineBench {
        EngineBench::new(self.spec, &self.keys)
    }

    async fn shown(&self) -> String {
        self.bench().shown().await
    }

    async fn outcome(&self) -> EngineOutcome {
        self.bench().run().await.unwrap()
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines").join(name)
}

/// Claude Code's final event with this answer.
fn result_of(text: &str) -> String {
    let object =
        json!({ "outcome": "reply", "text": text, "labels": ["vip"], "remarks": ["check the date"] });
    json!({
        "type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "num_turns": 2,
        "result": object.to_string(), "structured_output": object, "permission_denials": [],
        "total_cost_usd": 0.5, "usage": { "input_tokens": 21, "cache_read_input_tokens": 12, "output_tokens": 7 },
        "model_usage_since_last_result": { "m": { "costUSD": 0.000_057 } },
    })
    .to_string()
}

const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m-1","claude_code_version":"2.1.332"}"#;

/// Says this as Claude Code does.
fn says(text: &str) -> Fake {
    let fake = Fake::claude("cat >\"$here/stdin\"; cat \"$here/out\"");
    fake.file("out", format!("{INIT}\n{}\n", result_of(text)));
    fake
}

#[tokio::test]
async fn claude_s_structured_output_is_the_draft() {
    let outcome = says("Dear Pat,\nyes.").outcome().await;
    assert_eq!(outcome.result, EngineResult::Reply("Dear Pat,\nyes.".into()));
    assert_eq!(
        (outcome.labels, outcome.remarks),
        (vec!["vip".to_owned()], vec!["check the date".to_owned()])
    );
    assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (Some(33), Some(7)));
    assert_eq!((outcome.usage.cost_micro_usd, outcome.usage.cost_source.as_str()), (Some(57), "engine"));
    assert_eq!(outcome.facts.program.as_deref(), Some("claude 2.1.332"));
    assert_eq!((outcome.facts.model.as_deref(), outcome.facts.session), (Some("m-1"), None));
}

const CODEX_OK: &str = r#"{"type":"thread.started","thread_id":"th-1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"Error: I am printed text"}}
{"type":"turn.completed","usage":{"input_tokens":66,"cached_input_tokens":16,"output_tokens":14}}"#;

fn codex_says(object: &str) -> Fake {
    let fake = Fake::codex(
        "echo \"$@\" >\"$here/args\"; cat >\"$here/stdin\"; cat \"$here/out\"; answer \"$@\" <\"$here/answer\"",
    );
    fake.file("out", CODEX_OK);
    fake.file("answer", object);
    fake
}

#[tokio::test]
async fn codex_s_last_message_file_is_the_draft() {
    let fake = codex_says(r#"{"outcome":"question","text":"When?","labels":[],"remarks":[]}"#);
    let outcome = fake.outcome().await;
    assert_eq!(outcome.result, EngineResult::Question("When?".into()));
    assert_eq!(outcome.usage.input_tokens, Some(66));
    assert_eq!(outcome.facts.program.as_deref(), Some("codex 0.171.0"));
    assert_eq!(outcome.facts.session, None);
    assert!(fake.read("args").contains("--ephemeral"));
}

#[tokio::test]
async fn what_a_program_prints_is_no_draft() {
    let check = async |fake: Fake, expected: &str| assert_eq!(fake.shown().await, expected);
    check(Fake::plays(&claude::SPEC, "claude/ok.jsonl", 0), "protocol: it gave no structured answer").await;
    check(
        Fake::plays(&claude::SPEC, "claude/schema-ok.jsonl", 0),
        "protocol: its structured answer has no `text`",
    )
    .await;
    check(
        Fake::plays(&claude::SPEC, "claude/tool-denied.jsonl", 0),
        "protocol: it gave no structured answer; it was refused Write",
    )
    .await;
    let no_file = Fake::plays(&codex::SPEC, "codex/ok.jsonl", 0).shown().await;
    assert!(no_file.starts_with("protocol: it wrote no file with its answer"), "{no_file}");
    check(codex_says("Dear Pat"), "protocol: its answer is not the JSON object that was asked for").await;
}

#[tokio::test]
async fn failures_keep_their_class_through_the_engine() {
    let check = async |spec, file: &str, code, expected: &str| {
        let error = Fake::plays(spec, file, code).bench().run().await.unwrap_err();
        assert_eq!(error.failure.word(), expected, "{file}: {error}");
    };
    check(&claude::SPEC, "claude/auth-401.jsonl", 1, "auth").await;
    check(&claude::SPEC, "claude/refusal.jsonl", 1, "refused").await;
    check(&claude::SPEC, "claude/max-turns.jsonl", 1, "turn-limit").await;
    check(&claude::SPEC, "claude/empty-answer.jsonl", 0, "empty").await;
    check(&claude::SPEC, "claude/sigterm-during-tool.jsonl", 143, "exit").await;
    check(&codex::SPEC, "codex/quota.jsonl", 1, "billing").await;
    check(&codex::SPEC, "codex/usage-limit.jsonl", 1, "usage-limit").await;
    check(&codex::SPEC, "codex/refusal.jsonl", 0, "empty").await;
    check(&codex::SPEC, "codex/output-cut.jsonl", 1, "cut").await;
}

#[tokio::test]
async fn a_limit_says_until_when() {
    let error = Fake::plays(&claude::SPEC, "claude/usage-limit-subscription.jsonl", 1)
        .bench()
        .run()
        .await
        .unwrap_err();
    let RunFailure::UsageLimit(Some(until)) = error.failure else { panic!("{error:?}") };
    assert_eq!(until.to_string(), "2026-11-30T09:00:00Z");
}

#[tokio::test]
async fn waiting_for_a_network_that_is_not_there_is_ended_at_once() {
    let file = fixture("codex/offline-waiting.jsonl");
    let fake = Fake::codex(&format!("cat >/dev/null; cat '{}'; sleep 600", file.display()));
    let error = fake.bench().run().await.unwrap_err();
    assert_eq!(error.failure.word(), "network", "{error}");
}

// Sessions.

#[tokio::test]
async fn a_session_is_kept_and_gone_on_in_if_the_unit_says_so() {
    let body = "echo \"$@\" >\"$here/args\"; cat >/dev/null; cat \"$here/out\"";
    let fake = Fake::claude(body).with("sessions", Value::Bool(true));
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    assert_eq!(bench.run().await.unwrap().facts.session.as_deref(), Some("s-1"));
    assert!(
        !fake.read("args").contains("--resume") && !fake.read("args").contains("--no-session-persistence")
    );
    bench.request.session = Some("s-1".into());
    bench.run().await.unwrap();
    assert!(fake.read("args").contains("--resume s-1 "), "{}", fake.read("args"));
}

#[tokio::test]
async fn a_session_that_is_gone_costs_no_run() {
    let body = "cat >/dev/null; case \"$*\" in *--resume*) echo 'No conversation found with session ID: s-0' >&2; \
                exit 1;; esac; cat \"$here/out\"";
    let fake = Fake::claude(body).with("sessions", Value::Bool(true));
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    bench.request.session = Some("s-0".into());
    assert_eq!(bench.shown().await, r#"reply "yes""#);
}

#[tokio::test]
async fn a_thread_of_codex_tells_only_what_this_run_used() {
    let fake = codex_says(r#"{"outcome":"reply","text":"yes","labels":[],"remarks":[]}"#)
        .with("sessions", Value::Bool(true));
    let mut bench = fake.bench();
    bench.request.session = Some("th-1 in=33 out=7".into());
    let outcome = bench.run().await.unwrap();
    assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (Some(33), Some(7)));
    assert_eq!(outcome.facts.session.as_deref(), Some("th-1 in=66 out=14"));
    assert!(fake.read("args").starts_with("exec resume ") && fake.read("args").ends_with("-- th-1 -\n"));
}

// S10: what reaches the program.

fn hostile() -> Environment {
    Environment::of([
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/me"),
        ("XDG_RUNTIME_DIR", "/run/user/1"),
        ("ANTHROPIC_API_KEY", "CANARY-anthropic-0001"),
        ("OPENAI_API_KEY", "CANARY-openai-0002"),
        ("GITHUB_TOKEN", "CANARY-github-0003"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("NODE_OPTIONS", "--require=/nonexistent.js"),
    ])
}

const DUMP: &str = "cat >/dev/null; env >\"$here/env\"; cat \"$here/out\"";

async fn env_of(fake: Fake, units: Vec<EnvUnit>) -> Vec<String> {
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench().environment(hostile());
    for unit in units {
        bench = bench.env(unit);
    }
    bench.run().await.unwrap();
    let mut lines: Vec<String> = fake.read("env").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn name(line: &str) -> &str {
    line.split('=').next().unwrap()
}

#[tokio::test]
async fn the_program_gets_its_own_key_and_nobody_else_s() {
    let lines = env_of(Fake::claude(DUMP), Vec::new()).await;
    let names: Vec<&str> = lines.iter().map(|line| name(line)).collect();
    assert!(!lines.iter().any(|line| line.contains("CANARY") && !line.contains("CANARY-key-1")), "{lines:?}");
    for absent in ["OPENAI_API_KEY", "GITHUB_TOKEN", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "NODE_OPTIONS"] {
        assert!(!names.contains(&absent), "{absent}");
    }
    for present in ["HOME", "PATH", "LANG", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR", "DISABLE_AUTOUPDATER"] {
        assert!(names.contains(&present), "{present}: {names:?}");
    }
    assert!(lines.contains(&"ANTHROPIC_API_KEY=CANARY-key-1".to_owned()), "{lines:?}");
}

#[tokio::test]
async fn a_subscription_never_sees_an_api_key() {
    let override_it = || EnvUnit {
        name: "work".into(),
        set: [("ANTHROPIC_API_KEY".into(), Setting::Text("override".into()))].into(),
        pass: vec!["OPENAI_API_KEY".into()],
        ..EnvUnit::default()
    };
    let with_key = Fake::claude(DUMP).without("key");
    let lines = env_of(with_key, vec![override_it()]).await;
    assert!(lines.contains(&"ANTHROPIC_API_KEY=override".to_owned()), "{lines:?}");

    let subscription = Fake::claude(DUMP).with("auth", Value::Text("subscription".into()));
    let lines = env_of(subscription, vec![override_it()]).await;
    assert!(!lines.iter().any(|line| name(line) == "ANTHROPIC_API_KEY"), "{lines:?}");
    assert!(lines.contains(&"CLAUDE_CODE_OAUTH_TOKEN=CANARY-key-1".to_owned()), "{lines:?}");
}

// S14: what stands on the command line and lies in files.

#[tokio::test]
async fn no_secret_and_no_text_of_a_case_is_on_a_command_line() {
    let body = "tr '\\0' '\\n' </proc/$$/cmdline >>\"$here/args\"; cat >\"$here/stdin\"; cat \"$here/out\"; \
                answer \"$@\" <\"$here/answer\"; ls -ld . >\"$here/dir\"; grep -rl CANARY-key . >\"$here/files\" || true";
    let answer = r#"{"outcome":"reply","text":"yes","labels":[],"remarks":[]}"#;
    let claude = Fake::claude(body);
    claude.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    claude.file("answer", "");
    let codex = Fake::codex(body);
    codex.file("out", CODEX_OK);
    codex.file("answer", answer);
    for fake in [claude, codex] {
        let mut bench = fake.bench();
        bench.request.instruction = "CANARY-instruction".into();
        bench.request.notes = vec!["CANARY-note".into()];
        bench.run().await.unwrap();
        let args = fake.read("args");
        assert!(args.contains("schema") && !args.contains("CANARY"), "{args}");
        assert!(fake.read("stdin").contains("CANARY-body"));
        assert_eq!(fake.read("files"), "", "the key lies in a file");
    }
}

// S31: the input.

#[tokio::test]
async fn the_input_is_closed_after_the_prompt() {
    let fake = Fake::claude("n=$(wc -c); [ \"$n\" -gt 200000 ] && cat \"$here/out\"");
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    bench.request.items[0].body = "x".repeat(240_000);
    assert_eq!(bench.shown().await, r#"reply "yes""#);
}

#[tokio::test]
async fn a_program_that_does_not_want_its_input_is_judged_by_what_it_says() {
    let fake = Fake::claude("exec <&-; cat \"$here/out\"");
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    bench.request.items[0].body = "x".repeat(240_000);
    assert_eq!(bench.shown().await, r#"reply "yes""#);
}

#[tokio::test]
async fn a_slow_reader_that_writes_much_is_no_deadlock() {
    let body = "while dd bs=4096 count=1 of=/dev/null 2>\"$here/dd\" && ! grep -q '^0+0' \"$here/dd\"; do \
                cat \"$here/noise\"; done; cat \"$here/out\"";
    let fake = Fake::claude(body);
    fake.file("noise", "noise ".repeat(2000) + "\n");
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    bench.request.items[0].body = "x".repeat(240_000);
    assert_eq!(bench.shown().await, r#"reply "yes""#);
}

#[tokio::test]
async fn a_program_that_wants_a_terminal_says_so_itself() {
    let fake = Fake::claude(
        "[ -t 0 ] || { echo 'this program needs a terminal or a prompt argument' >&2; exit 1; }",
    );
    assert_eq!(fake.shown().await, "exit: exit status 1: this program needs a terminal or a prompt argument");
}

// S33: lines.

const FINAL: &str = "final answer: naïve café ✓";

async fn stream(bytes: Vec<u8>, body: &str) -> String {
    let fake = Fake::claude(body);
    fake.file("out", bytes);
    fake.shown().await
}

#[tokio::test]
async fn however_the_lines_come_the_text_is_the_same() {
    let cat = "cat >/dev/null; cat \"$here/out\"";
    let expected = format!("reply {FINAL:?}");
    let assistant = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"thinking aloud"}]}}"#;
    let result = result_of(FINAL);
    let check = async |text: String, body: &str| assert_eq!(stream(text.into_bytes(), body).await, expected);
    check(format!("{INIT}\n{assistant}\n{result}\n"), cat).await;
    check(format!("{INIT}\n{assistant}\n{result}"), cat).await;
    check(format!("{INIT}{assistant}\n{result}\n"), cat).await;
    check(
        format!("\n\nwarming up\n{INIT}\n[debug] {{not json\n{{\"half\": \n{assistant}\n\n{result}\nbye\n"),
        cat,
    )
    .await;
    let flood = "cat >/dev/null; head -c 2000000 /dev/zero | tr '\\0' e >&2; cat \"$here/out\"";
    check(format!("{INIT}\n{result}\n"), flood).await;
    // In the middle of a letter.
    let text = format!("{INIT}\n{result}\n");
    let at = text.find('ï').unwrap() + 1;
    let split =
        format!("cat >/dev/null; head -c {at} \"$here/out\"; sleep 0.2; tail -c +{} \"$here/out\"", at + 1);
    check(text, &split).await;
}

#[tokio::test]
async fn a_giant_line_is_read_up_to_the_cap_and_named_beyond() {
    let cat = "cat >/dev/null; cat \"$here/out\"";
    let big = |bytes: usize| {
        let event = json!({ "type": "assistant", "message": { "content": "x".repeat(bytes) } });
        format!("{INIT}\n{event}\n{}\n", result_of(FINAL)).into_bytes()
    };
    assert_eq!(stream(big(8 << 20), cat).await, format!("reply {FINAL:?}"));
    assert_eq!(
        stream(big(17 << 20), cat).await,
        "protocol: line too long: it wrote a line of more than 16 MB"
    );
}

#[tokio::test]
async fn a_program_that_stays_after_its_last_word_does_not_lose_it() {
    let fake = Fake::claude("cat >/dev/null; cat \"$here/out\"; sleep 600");
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let mut bench = fake.bench();
    bench.limits.idle = Duration::from_secs(1);
    let outcome = bench.run().await.unwrap();
    assert!(outcome.remarks.iter().any(|remark| remark.contains("did not end by itself")), "{outcome:?}");
}

// S34, with the exit code and stderr of the case.

#[tokio::test]
async fn exit_0_is_no_success_by_itself() {
    let check = async |fake: Fake, expected: &str| assert_eq!(fake.shown().await, expected);
    let codex = |file: &str| Fake::plays(&codex::SPEC, &format!("exit0/{file}"), 0);
    check(codex("c-turn-failed.jsonl"), "usage-limit: usage limit reached for this plan").await;
    check(codex("d-no-final.jsonl"), "protocol: its output ended before its final event").await;
    check(
        Fake::plays(&claude::SPEC, "exit0/b-denied.jsonl", 0),
        "protocol: it gave no structured answer; it was refused Bash",
    )
    .await;

    let answer = r#"{"outcome":"reply","text":"The build fails because the config file is empty.","labels":[],"remarks":[]}"#;
    let good = Fake::codex(&format!(
        "cat >/dev/null; cat '{}'; answer \"$@\" <\"$here/answer\"",
        fixture("exit0/g-good.jsonl").display()
    ));
    good.file("answer", answer);
    check(good, r#"reply "The build fails because the config file is empty.""#).await;

    // The final event says that all is well, the exit code does not: a draft, and the reviewer sees it.
    let odd = Fake::claude("cat >/dev/null; cat \"$here/out\"; exit 1");
    odd.file("out", format!("{INIT}\n{}\n", result_of("Yes, Friday works.")));
    let outcome = odd.outcome().await;
    assert_eq!(outcome.result, EngineResult::Reply("Yes, Friday works.".into()));
    assert!(outcome.remarks.iter().any(|remark| remark.contains("exit status 1")), "{outcome:?}");
}

/// The command engine on a program of a known dialect.
fn dialect(output: &str, script: &str) -> EngineBench {
    let keys = [
        ("program", Value::Text("sh".into())),
        ("args", Value::List(vec!["-c".into(), script.into()])),
        ("output", Value::Text(output.into())),
    ];
    EngineBench::new(&command::SPEC, &keys)
}

#[tokio::test]
async fn other_programs_are_believed_between_the_marks_only() {
    let play = |file: &str| format!("cat >/dev/null; cat '{}'", fixture(file).display());
    let unmarked = "protocol: the answer does not hold the draft between the marks that were asked for";
    // Among them those whose programs hide that the answer was cut or censored.
    for (output, file) in [
        ("gemini", "gemini/ok.jsonl"),
        ("gemini", "gemini/output-cut.jsonl"),
        ("gemini", "gemini/refusal-safety.jsonl"),
        ("qwen", "qwen/output-cut.jsonl"),
        ("copilot", "copilot/output-cut.jsonl"),
        ("copilot", "copilot/refusal.jsonl"),
        ("opencode", "opencode/ok.jsonl"),
    ] {
        assert_eq!(dialect(output, &play(file)).shown().await, unmarked, "{file}");
    }
    let err = fixture("exit0/a-empty.err");
    let silent = dialect("gemini", &format!("cat >/dev/null; cat '{}' >&2", err.display())).shown().await;
    assert_eq!(
        silent,
        "empty: it printed nothing: Error when talking to the model. Full report written to a file."
    );
    let failed = dialect("gemini", &play("exit0/f-error-event.jsonl")).shown().await;
    assert_eq!(failed, "overloaded: no capacity for this model right now");
}

#[tokio::test]
async fn a_marked_answer_of_another_program_is_a_draft() {
    let script = r#"open=$(grep -o '<<<draft-[0-9a-f]*' | head -1); close="${open#<<<}>>>"
echo '{"type":"init","session_id":"g-1","model":"m"}'
printf '{"type":"message","role":"assistant","content":"Sure:\\n%s\\nDear Pat\\n%s","delta":true}\n' "$open" "$close"
echo '{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":3}}'"#;
    let outcome = dialect("gemini", script).run().await.unwrap();
    assert_eq!(outcome.result, EngineResult::Reply("Dear Pat".into()));
    assert_eq!((outcome.usage.input_tokens, outcome.facts.session.as_deref()), (Some(5), Some("g-1")));
}

// S35: somebody has to do something.

#[tokio::test]
async fn what_a_program_needs_from_its_user_has_its_class() {
    let check = async |code: i32, text: &str, expected: &str| {
        let fake = Fake::claude(&format!("cat >/dev/null; echo '{text}' >&2; exit {code}"));
        let shown = fake.shown().await;
        assert!(shown.starts_with(&format!("{expected}: ")) && shown.contains(text), "{shown}");
    };
    check(1, "Not logged in. Run the login command.", "auth").await;
    check(1, "Could not authenticate: the session has ended and could not be renewed", "auth").await;
    check(1, r#"{"error":{"type":"forbidden","message":"request not allowed"}}"#, "auth").await;
    check(1, "This folder is not trusted and the check was not switched off", "config").await;
    check(1, "key store is locked", "auth").await;
    check(1, "getaddrinfo failed for api.example.com", "network").await;
    check(2, "unknown option --output-formt", "config").await;
    check(126, "permission denied", "config").await;
    check(127, "not found", "config").await;
    let killed = Fake::claude("cat >/dev/null; kill -9 $$").shown().await;
    assert_eq!(killed, "exit: ended by signal 9, by hand or because memory ran out");
}

#[tokio::test]
async fn a_question_on_the_terminal_is_never_answered() {
    let body = "cat >/dev/null; echo 'Do you trust the files in this folder? 1. yes 2. no' >&2; read answer && \
                echo \"$answer\" >\"$here/answered\"; sleep 600";
    let fake = Fake::claude(body);
    let mut bench = fake.bench();
    bench.limits.idle = Duration::from_millis(300);
    let shown = bench.shown().await;
    assert!(shown.starts_with("timeout-idle: ") && shown.contains("Do you trust the files"), "{shown}");
    assert!(!fake.dir.path().join("answered").exists());
}

#[tokio::test]
async fn the_probe_finds_what_is_missing_before_the_first_case() {
    let probe = async |fake: &Fake| match fake.bench().engine().probe().await {
        Ok(text) => text,
        Err(error) => format!("{}: {error}", error.failure.word()),
    };
    let tidy = |fake: &Fake, text: String| text.replace(&fake.dir.path().display().to_string(), "DIR");
    let check = async |fake: Fake, expected: &str| assert_eq!(tidy(&fake, probe(&fake).await), expected);
    check(Fake::claude(""), "claude 2.1.332 at DIR/claude, with an API key").await;
    check(
        Fake::claude("").without("key"),
        "auth: no API key: set `key = { secret = … }` in [claude], or auth = \"subscription\"",
    )
    .await;
    let plan = || Value::Text("subscription".into());
    check(
        Fake::claude("").without("key").with("auth", plan()),
        "auth: not logged in: CLAUDE_CONFIG_DIR=DIR/home claude /login",
    )
    .await;
    check(
        Fake::codex("").without("key").with("auth", plan()),
        "auth: not logged in: CODEX_HOME=DIR/home codex login",
    )
    .await;
    let logged_in = Fake::codex("").without("key").with("auth", plan());
    std::fs::create_dir(logged_in.dir.path().join("home")).unwrap();
    logged_in.file("home/auth.json", "{}");
    check(logged_in, "codex 0.171.0 at DIR/codex, with the login of a subscription").await;
    let gone = Fake::claude("").with("program", Value::Text("/nonexistent/claude".into()));
    assert!(probe(&gone).await.starts_with("config: start `/nonexistent/claude`"), "{}", probe(&gone).await);
}

#[tokio::test]
async fn another_version_is_used_and_said() {
    let fake = Fake::claude("");
    let script = format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 3.0.1; exit; fi\n{DUMP}\n")
        .replace("$here", &fake.dir.path().display().to_string());
    fake.file("claude", script);
    fake.file("out", format!("{INIT}\n{}\n", result_of("yes")));
    let outcome = fake.outcome().await;
    assert_eq!(outcome.remarks[0], "claude 3.0.1: newer than this engine knows (2.1.332 to below 2.2.0)");
}
