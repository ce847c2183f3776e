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
