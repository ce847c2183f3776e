//! The command engine with programs that behave, fail quietly, fail loudly, hang and spy.

use std::time::Duration;

use workagent::engine::command::SPEC;
use workagent::model::environment::Environment;
use workagent::model::run::RunFailure;
use workagent::model::secret_ref::SecretRef;
use workagent::unit::plan::EnvUnit;
use workagent::unit::value::{Setting, Value};

use crate::support::engine::EngineBench;

fn sh(output: &str, script: &str) -> EngineBench {
    let keys = [
        ("program", Value::Text("sh".into())),
        ("args", Value::List(vec!["-c".into(), script.into()])),
        ("output", Value::Text(output.into())),
    ];
    EngineBench::new(&SPEC, &keys)
}

async fn text(script: &str) -> String {
    sh("text", script).shown().await
}

async fn json(script: &str) -> String {
    sh("json", script).shown().await
}

// Exit codes and silence: done needs an answer of the expected kind and a clean end.

#[tokio::test]
async fn in_text_mode_the_output_is_the_reply() {
    assert_eq!(text("cat >/dev/null; echo 'Dear Pat,'; echo 'yes.'").await, r#"reply "Dear Pat,\nyes.""#);
    assert_eq!(text("cat >/dev/null; echo 'NOTHING_TO_DO: an advert'").await, "nothing to do: an advert");
}

#[tokio::test]
async fn a_program_that_heeds_the_marks_is_read_between_them() {
    let script = "open=$(grep -o '<<<draft-[0-9a-f]*' | head -1); echo Sure:; echo \"$open\"; echo Hello; \
                  echo \"${open#<<<}>>>\"; echo bye";
    assert_eq!(text(script).await, r#"reply "Hello""#);
}

#[tokio::test]
async fn exit_0_with_nothing_done_is_no_reply() {
    assert_eq!(text("echo 'quota exceeded' >&2").await, "empty: it printed nothing: quota exceeded");
    assert_eq!(json("echo thinking").await.split(':').next().unwrap(), "protocol");
    assert_eq!(
        text("echo 'API Error: 500 Internal'").await,
        r#"protocol: instead of a reply came a notice, "API Error…""#
    );
    assert_eq!(
        json(r#"echo '{"reply":"Not logged in · Please run /login"}'"#).await,
        r#"auth: instead of a reply came a notice, "Not logged in…""#
    );
}

#[tokio::test]
async fn a_bad_end_is_no_reply_whatever_was_printed() {
    assert_eq!(
        text("echo 'Dear Pat'; echo 'tool broke' >&2; exit 3").await,
        "exit: exit status 3: tool broke"
    );
    assert_eq!(json(r#"echo '{"reply":"Dear Pat"}'; exit 1"#).await, "exit: exit status 1");
    assert_eq!(text("kill -9 $$").await, "exit: ended by signal 9, by hand or because memory ran out");
}

#[tokio::test]
async fn a_program_says_itself_what_failed() {
    let usage =
        r#"{"error":{"class":"usage-limit","message":"weekly limit","until":"2026-12-01T08:00:00Z"}}"#;
    for exit in [0, 1] {
        let bench = sh("json", &format!("echo noise; echo '{usage}'; exit {exit}"));
        let error = bench.run().await.unwrap_err();
        assert!(matches!(error.failure, RunFailure::UsageLimit(Some(_))), "{error:?}");
        assert_eq!(error.to_string(), "weekly limit");
    }
}

#[tokio::test]
async fn an_answer_among_noise() {
    let script =
        r#"echo '(node) warning'; echo '{"type":"init"}'; echo '{"reply":"naïve café ✓"}'; printf done"#;
    assert_eq!(json(script).await, r#"reply "naïve café ✓""#);
    assert_eq!(json(r#"echo '{"question":"which Friday?"}'"#).await, "question: which Friday?");
}

#[tokio::test]
async fn an_endless_line_is_no_part_of_an_answer() {
    let script = r#"echo '{"reply":"one"}'; head -c 17000000 /dev/zero | tr '\0' x; echo"#;
    let expected = "protocol: line too long: it wrote a line of more than 16 MB";
    assert_eq!(json(script).await, expected);
    assert_eq!(text(script).await, expected);
}

// Input.

#[tokio::test]
async fn a_json_program_gets_the_case_and_the_prompt() {
    let script = r#"
        case=$(cat)
        for part in '"case":7' '"attempt":1' '"instruction":"Be brief."' '"title":"Lunch on Friday"' '"prompt":"Be brief.'; do
            case $case in *"$part"*) ;; *) echo "missing $part" >&2; exit 1 ;; esac
        done
        echo '{"reply":"all there"}'"#;
    assert_eq!(json(script).await, r#"reply "all there""#);
}

#[tokio::test]
async fn foreign_text_comes_fenced_and_hidden_text_not_at_all() {
    let bench = sh("text", "sed -n '/<<<data-/,/data-.*>>>/p' | tail -n +2; echo; env; pwd; ls -a");
    let shown = bench.shown().await;
    // What the engine sees of the mail stands between the marks.
    assert!(shown.contains("<<<data-") && shown.contains("CANARY-body"), "{shown}");
    assert!(!shown.contains("CANARY-hidden") && !shown.contains("CANARY-key"), "{shown}");
    // An empty directory of its own: no file of the user's or the daemon's to be picked up.
    assert!(shown.ends_with(r#"/run\n.\n..""#), "{shown}");
}

#[tokio::test]
async fn a_program_that_wants_a_terminal_fails_with_its_own_hint() {
    let script = "if [ -t 0 ]; then echo hi; else echo 'needs a terminal' >&2; exit 1; fi";
    assert_eq!(text(script).await, "exit: exit status 1: needs a terminal");
}

// Environment.

fn hostile() -> Environment {
    Environment::of([
        ("HOME", "/home/me"),
        ("PATH", "/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("XDG_RUNTIME_DIR", "/run/user/1"),
        ("ANTHROPIC_API_KEY", "CANARY-anthropic-0001"),
        ("OPENAI_API_KEY", "CANARY-openai-0002"),
        ("GITHUB_TOKEN", "CANARY-github-0003"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("NODE_OPTIONS", "--require=/nonexistent.js"),
    ])
}

const DUMP: &str =
    "cat >/dev/null; env | grep -v '^PWD=\\|^OLDPWD=\\|^SHLVL=\\|^_=' | sed 's/=.*//' | sort | tr '\\n' ' '";

#[tokio::test]
async fn nothing_of_a_hostile_environment_reaches_a_program() {
    let shown = sh("text", DUMP).environment(hostile()).shown().await;
    assert_eq!(shown, r#"reply "HOME LANG PATH WORKAGENT_RUN XDG_RUNTIME_DIR""#);
}

#[tokio::test]
async fn exactly_what_an_env_unit_declares_arrives() {
    let key = Setting::Secret(SecretRef::Stored("canary".into()));
    let unit = EnvUnit {
        path: Vec::new(),
        name: "work".into(),
        set: [("ANTHROPIC_API_KEY".to_owned(), key)].into(),
        unset: vec!["XDG_RUNTIME_DIR".into()],
        pass: vec!["NODE_OPTIONS".into()],
    };
    let bench =
        sh("text", &format!("{DUMP}; echo; test \"$ANTHROPIC_API_KEY\" = CANARY-key-1 && echo right"));
    let shown = bench.environment(hostile()).env(unit).shown().await;
    assert_eq!(shown, r#"reply "ANTHROPIC_API_KEY HOME LANG NODE_OPTIONS PATH WORKAGENT_RUN \nright""#);
}

#[tokio::test]
async fn a_key_does_not_come_back_in_an_error() {
    let key = Setting::Secret(SecretRef::Stored("canary".into()));
    let unit = EnvUnit { name: "work".into(), set: [("KEY".to_owned(), key)].into(), ..EnvUnit::default() };
    let shown = sh("text", "echo \"bad key $KEY\" >&2; exit 1").env(unit).shown().await;
    assert_eq!(shown, "exit: exit status 1: bad key [masked]");
}

#[tokio::test]
async fn a_missing_secret_is_an_auth_failure_and_nothing_is_started() {
    let key = Setting::Secret(SecretRef::Stored("gone".into()));
    let unit = EnvUnit { name: "work".into(), set: [("KEY".to_owned(), key)].into(), ..EnvUnit::default() };
    let bench = sh("text", "echo started").env(unit);
    let expected = "auth: read the secret for `KEY` of `work.env`: no secret is stored under `gone`";
    assert_eq!(bench.shown().await, expected);
    assert_eq!(bench.engine().probe().await.unwrap_err().failure, RunFailure::Auth);
}

// Limits.

#[tokio::test]
async fn limits_and_cancel_have_their_words() {
    let short = Duration::from_millis(300);
    let mut bench = sh("text", "sleep 600");
    bench.limits.first_event = short;
    assert_eq!(bench.shown().await, "timeout-idle: it said nothing for 0s");

    let mut bench = sh("text", "echo 'Dear Pat'; sleep 600");
    bench.limits.idle = short;
    assert_eq!(bench.shown().await, "timeout-idle: it fell silent for 0s");

    let mut bench = sh("text", "while :; do echo x; sleep 0.05; done");
    bench.limits.total = short;
    assert_eq!(bench.shown().await, "timeout-total: it took longer than 0s");

    let bench = sh("text", "sleep 600");
    let (shown, ()) = tokio::join!(bench.shown(), async { bench.cancel.cancel() });
    assert_eq!(shown, "cancelled: it was cancelled");
}

// What cannot be started.

#[tokio::test]
async fn a_program_that_is_not_there_is_a_config_failure() {
    let bench = EngineBench::new(&SPEC, &[("program", Value::Text("wa-no-such-engine".into()))]);
    let expected = "config: start `wa-no-such-engine`: not found on the PATH of the child, which is `/usr/bin:/bin`; give it by its \
         absolute path, or an engine its directory in `path`";
    assert_eq!(bench.shown().await, expected);
    assert_eq!(bench.engine().probe().await.unwrap_err().failure, RunFailure::Config);
    let found = sh("text", "").engine().probe().await.unwrap();
    assert_eq!(found, "/usr/bin/sh can be started");
}
