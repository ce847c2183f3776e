//! `case replay`: an engine runs a case once more; both texts are shown, nothing is sent, no draft is touched.

use workagent::model::case::CaseState;

use crate::support::binary::wait_until;
use crate::support::scene::{Plan, Scene};

const FRANK: &str = r#"[engine]
engine = "template"
[template]
text = "Thank you for {{ title }}.\nNo. {{ instruction }}"
[install]
enabled = true
"#;

const AWAY: &str = r#"[engine]
engine = "command"
[command]
program = "/bin/sh"
args = ["-c", "touch {root}/away; echo yes"]
[install]
enabled = true
"#;

#[test]
fn both_texts_side_by_side_and_nothing_moves() {
    let scene = Scene::new(Plan { outbound: "reviewed", ..Plan::default() });
    scene.unit("frank.engine.toml", FRANK);
    scene.unit("away.engine.toml", AWAY);
    let daemon = scene.start(None);
    scene.drop_note("n1");
    wait_until("a draft", || scene.cases().iter().any(|case| case.state == CaseState::Review));
    let case = scene.cases().remove(0);
    let before = scene.record(&case);
    let prompt = scene.write("prompt.txt", "Try {{ attempt }} by {{ engine }}.");

    let ran = scene.run(&["case", "replay", "c1", "--engine", "frank", "--prompt", prompt.to_str().unwrap()]);
    insta::assert_snapshot!(ran.out, @r#"
    --- polite
    +++ frank · r2
     Thank you for n1.md.
    +No. Try 1 by frank.
    "#);
    // The engine that the case has, with the same text as before.
    assert!(scene.ok(&["case", "replay", "c1"]).contains("the same text"));

    let after = scene.record(&case);
    assert_eq!((&after.case, &after.drafts, &after.actions), (&before.case, &before.drafts, &before.actions));
    assert_eq!(after.runs.len(), 3);

    // What must stay on this machine stays.
    scene.unit(
        "notes.route.toml",
        "[route]\nengines = [\"polite\"]\nprivate = true\n[match]\nconnector = [\"notes\"]\n",
    );
    // 3: the watcher was quicker.
    let reload = scene.run(&["reload"]);
    assert!([Some(0), Some(3)].contains(&reload.code), "{reload:?}");
    let ran = scene.run(&["case", "replay", "c1", "--engine", "away"]);
    assert!(ran.err.contains("the route notes is private, and away is not on this machine"), "{ran:?}");
    assert!(!scene.path("away").exists());
    drop(daemon);
}
