use std::path::PathBuf;

use super::super::Supervisor;
use super::super::calls::scripted::Scripted;
use super::*;

const RUNNING: &str = include_str!("../../../../tests/fixtures/service/launchctl/print-running.txt");
const SCHEDULED: &str = include_str!("../../../../tests/fixtures/service/launchctl/print-waiting.txt");
const NOT_FOUND: &str = "Could not find service \"local.workagent\" in domain for user gui: 501\n";
const ERROR_5: &str =
    "Bootstrap failed: 5: Input/output error\nTry re-running the command as root for richer errors.\n";

fn site() -> Site {
    Site {
        supervisor: Supervisor::Launchd,
        program: PathBuf::from("/usr/local/bin/workagent"),
        home: PathBuf::from("/Users/me"),
        config_home: PathBuf::from("/Users/me/.config"),
        user: "me".to_owned(),
        uid: 501,
        kept: Vec::new(),
    }
}

/// What was asked, the end of it, in lines.
async fn check(goal: Goal, script: &[(&'static str, i32, &'static str)]) -> String {
    let scripted = Scripted::new(script.iter().copied());
    let ended = drive(goal, &site(), &scripted).await;
    let mut lines = scripted.asked();
    lines.push(match ended {
        Ok(Some(job)) => format!("runs: {:?}", job.pid),
        Ok(None) => "gone".to_owned(),
        Err(error) => format!("failed: {error}"),
    });
    lines.join("\n")
}

#[tokio::test]
async fn a_first_install() {
    let script = [
        ("print", 113, NOT_FOUND),
        ("enable", 0, ""),
        ("bootstrap", 0, ""),
        ("print", 0, RUNNING),
        ("print", 0, RUNNING),
    ];
    insta::assert_snapshot!(check(Goal::Running, &script).await, @r#"
    launchctl print gui/501/local.workagent
    launchctl enable gui/501/local.workagent
    launchctl bootstrap gui/501 /Users/me/Library/LaunchAgents/local.workagent.plist
    launchctl print gui/501/local.workagent
    wait 500ms
    launchctl print gui/501/local.workagent
    runs: Some(4242)
    "#);
}

#[tokio::test]
async fn the_old_job_is_waited_for_and_error_5_is_tried_again() {
    let script = [
        ("print", 0, RUNNING),
        ("bootout", 36, "Boot-out failed: 36: Operation now in progress\n"),
        ("print", 0, RUNNING),
        ("print", 0, RUNNING),
        ("print", 113, NOT_FOUND),
        ("enable", 0, ""),
        ("bootstrap", 5, ERROR_5),
        ("print", 113, NOT_FOUND),
        ("bootstrap", 0, ""),
        ("print", 0, RUNNING),
        ("print", 0, RUNNING),
    ];
    insta::assert_snapshot!(check(Goal::Running, &script).await, @r#"
    launchctl print gui/501/local.workagent
    launchctl bootout gui/501/local.workagent
    launchctl print gui/501/local.workagent
    wait 500ms
    launchctl print gui/501/local.workagent
    wait 500ms
    launchctl print gui/501/local.workagent
    launchctl enable gui/501/local.workagent
    launchctl bootstrap gui/501 /Users/me/Library/LaunchAgents/local.workagent.plist
    launchctl print gui/501/local.workagent
    wait 1000ms
    launchctl bootstrap gui/501 /Users/me/Library/LaunchAgents/local.workagent.plist
    launchctl print gui/501/local.workagent
    wait 500ms
    launchctl print gui/501/local.workagent
    runs: Some(4242)
    "#);
}

#[tokio::test]
async fn a_load_that_is_refused_for_good_is_a_clear_failure() {
    let mut script = vec![("print", 113, NOT_FOUND), ("enable", 0, "")];
    for _ in 0..BOOTSTRAPS_MAX {
        script.extend([("bootstrap", 5, ERROR_5), ("print", 113, NOT_FOUND)]);
    }
    let told = check(Goal::Running, &script).await;
    let last = told.lines().last().unwrap();
    assert!(
        last.starts_with("failed: launchd refused the job 6 times (Bootstrap failed: 5: Input"),
        "{last}"
    );
    assert!(last.contains("it is not loaded"), "{last}");
}

#[tokio::test]
async fn an_old_job_that_does_not_go_is_a_clear_failure() {
    let mut script = vec![("print", 0, RUNNING), ("bootout", 0, "")];
    script.extend((0..LEAVING_LOOKS_MAX).map(|_| ("print", 0, RUNNING)));
    let told = check(Goal::Running, &script).await;
    let last = told.lines().last().unwrap();
    assert_eq!(last, "failed: the job that runs did not go; it is still loaded");
}

#[tokio::test]
async fn one_that_ends_at_once_is_a_clear_failure() {
    let script = [
        ("print", 113, NOT_FOUND),
        ("enable", 0, ""),
        ("bootstrap", 0, ""),
        ("print", 0, RUNNING),
        ("print", 0, SCHEDULED),
    ];
    let told = check(Goal::Running, &script).await;
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("failed: it ended at once with exit code 78 (the configuration"), "{last}");
}

#[tokio::test]
async fn without_a_graphical_session_nothing_is_tried_again() {
    let script = [
        ("print", 113, NOT_FOUND),
        ("enable", 0, ""),
        ("bootstrap", 125, "Bootstrap failed: 125: Domain does not support specified action\n"),
    ];
    assert!(check(Goal::Running, &script).await.contains("failed: there is no graphical session"));
}

#[tokio::test]
async fn a_job_that_is_not_there_is_gone() {
    assert!(check(Goal::Gone, &[("print", 113, NOT_FOUND)]).await.ends_with("gone"));
    let script = [("print", 0, RUNNING), ("bootout", 0, ""), ("print", 113, NOT_FOUND)];
    insta::assert_snapshot!(check(Goal::Gone, &script).await, @r#"
    launchctl print gui/501/local.workagent
    launchctl bootout gui/501/local.workagent
    launchctl print gui/501/local.workagent
    gone
    "#);
}

#[test]
fn every_way_comes_to_an_end() {
    // Whatever launchd answers, the same answer for ever.
    for (code, text) in [(0, RUNNING), (0, SCHEDULED), (0, ""), (5, ERROR_5), (113, NOT_FOUND), (1, "")] {
        for goal in [Goal::Running, Goal::Gone] {
            let mut machine = Machine::new(goal, 501, Path::new("/x.plist"));
            let mut answer = None;
            let mut steps = 0;
            loop {
                steps += 1;
                assert!(steps < 5000, "{code} {goal:?} never ends");
                match machine.next(answer.take().as_ref()) {
                    Step::Call(_) => {
                        answer = Some(Called { code, stdout: text.to_owned(), stderr: String::new() });
                    }
                    Step::Wait(_) => {}
                    Step::Running(_) | Step::Gone | Step::Failed(_) => break,
                }
            }
        }
    }
}
