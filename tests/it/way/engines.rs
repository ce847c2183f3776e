//! An engine that needs its user: the cases behind the first one wait, and go on by themselves after the repair.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Plays Claude Code: not logged in until somebody does it.
const PLAYS: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.332 (Claude Code)'; exit; fi
cat >/dev/null
here=$(dirname "$0")
echo run >>"$CLAUDE_CONFIG_DIR/runs"
if [ ! -e "$here/repaired" ]; then
  echo 'Not logged in. Run the login command.' >&2
  exit 1
fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"x","structured_output":{"outcome":"reply","text":"Yes.","labels":[],"remarks":[]}}'
"#;

const AGENT: &str = r#"
[engine]
engine = "claude"
env = ["work"]
[claude]
program = "{root}/claude"
home = "{root}/home"
# Rights are taken away by the real binary, which is not at work here.
[sandbox]
files = "all"
[install]
enabled = true
"#;

const CASES: usize = 20;

#[tokio::test]
async fn twenty_cases_wait_for_one_login_and_lose_no_try() {
    let mut way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("answers.route.toml", &ROUTE.replace("polite", "agent")),
        ("agent.engine.toml", AGENT),
        ("work.env.toml", "[set]\nANTHROPIC_API_KEY = \"made-up\"\n"),
    ])
    .await;
    let program = way.path().join("claude");
    std::fs::write(&program, PLAYS).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for number in 0..CASES {
        way.deliver(&format!("m{number}"), &mail(&format!("m{number}"), &format!("Matter {number}"), ""));
    }
    way.start().await;
    let count = async |way: &Way, state: CaseState| {
        way.cases().await.iter().filter(|case| case.state == state).count()
    };
    let runs =
        |way: &Way| std::fs::read_to_string(way.path().join("home/runs")).unwrap_or_default().lines().count();
    for _ in 0..5 {
        way.cycle().await;
    }
    assert_eq!(way.cases().await.len(), CASES);
    assert_eq!(runs(&way), 1, "one run finds it out: {}", way.shown().await);
    assert_eq!(count(&way, CaseState::Parked).await, 1);
    assert_eq!(count(&way, CaseState::Queued).await, CASES - 1);
    assert!(
        way.cases()
            .await
            .iter()
            .filter(|case| case.state == CaseState::Queued)
            .all(|case| case.attempts == 0)
    );
    assert!(way.shown().await.contains("Not logged in. Run the login command."), "{}", way.shown().await);

    std::fs::write(way.path().join("repaired"), "").unwrap();
    way.cycle().await;
    assert_eq!(runs(&way), 1, "it rests until its time");
    way.clock.advance(Duration::from_secs(15 * 60 + 1));
    for _ in 0..=CASES {
        way.cycle().await;
    }
    assert_eq!(count(&way, CaseState::Review).await, CASES - 1, "{}", way.shown().await);
    assert_eq!(runs(&way), CASES);
}

/// Two layers: the program is not on the PATH of a service, and its first line asks for an interpreter that is not either.
#[tokio::test]
async fn a_program_off_the_path_and_its_interpreter_are_found_by_path() {
    let engine =
        shell("").replace("program = \"/bin/sh\"\nargs = [\"-c\", \"\"]", "program = \"fake-engine\"");
    let short = [
        ("inbox.connector.toml", INBOX),
        ("answers.route.toml", &ROUTE.replace("polite", "fake")),
        ("fake.engine.toml", &engine),
    ];
    let mut way = Way::new(&short).await;
    for (file, text) in [
        ("a/fake-engine", "#!/usr/bin/env wa-fake-node\n"),
        ("b/wa-fake-node", "#!/bin/sh\ncat >/dev/null; echo Yes.\n"),
    ] {
        let path = way.path().join(file);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let shown = way.shown().await;
    assert!(shown.starts_with("c1 parked"), "no try is lost on it: {shown}");
    assert!(
        shown.contains("`fake-engine`: not found on the PATH of the child, which is `/usr/bin:/bin`"),
        "{shown}"
    );
    // The program alone is not enough, and what is missing is named.
    way.unit("fake.engine.toml", &engine.replace("[command]", "path = [\"{root}/a\"]\n[command]"));
    way.start().await;
    way.assembly().store.retry_case(way.cases().await[0].id).await.unwrap();
    way.clock.advance(Duration::from_secs(3600));
    way.cycle().await;
    let shown = way.shown().await;
    assert!(shown.starts_with("c1 parked") && shown.contains("wa-fake-node"), "{shown}");
    way.unit(
        "fake.engine.toml",
        &engine.replace("[command]", "path = [\"{root}/a\", \"{root}/b\"]\n[command]"),
    );
    way.start().await;
    way.assembly().store.retry_case(way.cases().await[0].id).await.unwrap();
    way.clock.advance(Duration::from_secs(3600));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
    assert_eq!(way.drafts().await[0].body, "Yes.");
}
