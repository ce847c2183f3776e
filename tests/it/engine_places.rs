//! How many runs there are at once, and how many in a minute: counted by the engines themselves.

use std::time::Duration;

use workagent::model::case::CaseState;

use crate::support::binary::wait_until;
use crate::support::scene::{Plan, Scene};
use crate::support::way::{INBOX, ROUTE, Way, mail, shell};

/// Notes how many run while it does, itself among them.
fn counting(keys: &str) -> String {
    let script = "cat >/dev/null; mkdir -p {root}/live; touch {root}/live/$$; ls {root}/live | wc -l >>{root}/counts; \
                  sleep 0.1; rm {root}/live/$$; echo yes";
    shell(script).replace("[engine]", &format!("[engine]\n{keys}"))
}

fn counts(way: &Way) -> Vec<usize> {
    let text = std::fs::read_to_string(way.path().join("counts")).unwrap_or_default();
    text.lines().map(|line| line.trim().parse().unwrap()).collect()
}

async fn run(units: &[(&str, &str)], mails: usize) -> Way {
    let way = Way::new(&[&[("inbox.connector.toml", INBOX)], units].concat()).await;
    for number in 0..mails {
        let subject = if number % 2 == 0 { "even" } else { "odd" };
        let extra = format!("Keywords: {subject}\n");
        way.deliver(
            &number.to_string(),
            &mail(&format!("m{number}"), &format!("{subject} {number}"), &extra),
        );
    }
    way.cycle().await;
    way
}

#[tokio::test]
async fn an_engine_runs_as_many_at_once_as_it_may() {
    for most in [1, 3] {
        let engine = counting(&format!("concurrency = {most}"));
        let way = run(&[("polite.engine.toml", &engine), ("answers.route.toml", ROUTE)], 9).await;
        let counts = counts(&way);
        assert_eq!((counts.len(), counts.iter().max().copied()), (9, Some(most)), "{counts:?}");
    }
}

#[tokio::test]
async fn engines_of_one_account_share_its_places() {
    for (account, most) in [("account = \"mine\"", 2), ("", 4)] {
        let engine = counting(&format!("concurrency = 2\n{account}"));
        // Two routes by size: every second mail is longer.
        let small = "[route]\nengines = [\"one\"]\n[match]\nsize_max = 30\n[install]\nenabled = true\n";
        let large = "[route]\nengines = [\"two\"]\npriority = -1\n[install]\nenabled = true\n";
        let units = [
            ("one.engine.toml", &*engine),
            ("two.engine.toml", &*engine),
            ("small.route.toml", small),
            ("zlarge.route.toml", large),
        ];
        let way = Way::new(&[&[("inbox.connector.toml", INBOX)], &units[..]].concat()).await;
        for number in 0..16 {
            let subject = if number % 2 == 0 { "it" } else { "a far longer matter than the others" };
            way.deliver(&number.to_string(), &mail(&format!("m{number}"), subject, ""));
        }
        way.cycle().await;
        let counts = counts(&way);
        let both = way.cases().await.iter().filter(|case| case.engine.as_deref() == Some("one")).count();
        assert!(both > 0 && both < 16, "{both}");
        assert_eq!(counts.len(), 16);
        assert_eq!(counts.iter().max().copied(), Some(most), "{account} {counts:?}");
    }
}

#[tokio::test]
async fn runs_of_a_minute_are_counted_over_a_restart() {
    let engine = counting("concurrency = 4\nruns_per_minute = 3");
    let mut way = run(&[("polite.engine.toml", &engine), ("answers.route.toml", ROUTE)], 8).await;
    let drafts = async |way: &Way| way.drafts().await.len();
    assert_eq!(drafts(&way).await, 3);
    way.clock.advance(Duration::from_secs(59));
    way.start().await;
    way.cycle().await;
    assert_eq!(drafts(&way).await, 3);
    let queued = way.cases().await.iter().filter(|case| case.state == CaseState::Queued).count();
    assert_eq!(queued, 5);
    way.clock.advance(Duration::from_secs(1));
    way.cycle().await;
    assert_eq!(drafts(&way).await, 6);
    way.clock.advance(Duration::from_secs(60));
    way.cycle().await;
    assert_eq!(drafts(&way).await, 8);
}

/// Notes how many of its kind are alive when it begins, itself among them; a process that only waits to be reaped is not.
const ALIVE: &str = r#"cat >/dev/null
echo $$ >>{root}/engine.pids
n=0
while read pid; do
    if read -r _ _ state _ <"/proc/$pid/stat" && [ "$state" != Z ]; then n=$((n + 1)); fi
done <{root}/engine.pids 2>/dev/null
echo $n >>{root}/counts
sleep "$(cat {root}/engine.seconds)"
echo '{"reply": "Yes."}'
"#;

/// A unit that starts the same program with the same login under another name.
const OTHER: &str = r#"[engine]
engine = "command"
account = "mine"
concurrency = 2
[command]
program = "/bin/sh"
args = ["{root}/engine.sh"]
output = "json"
[install]
enabled = true
"#;

#[test]
fn no_more_at_once_over_reloads_new_names_kills_and_retries() {
    let scene = Scene::new(Plan { engine_seconds: "0.3", outbound: "reviewed", ..Plan::default() });
    scene.write("engine.sh", ALIVE);
    scene.unit("program.engine.toml", OTHER);
    for number in 0..16 {
        scene.deliver(&format!("m{number}"), "");
    }
    let counts = || -> Vec<usize> {
        let text = std::fs::read_to_string(scene.path("counts")).unwrap_or_default();
        text.lines().filter_map(|line| line.trim().parse().ok()).collect()
    };
    let daemon = scene.start(None);
    wait_until("a few runs", || counts().len() >= 3);
    // The unit gets another name while runs of the old one go on; then it may run but one more.
    scene.unit("renamed.engine.toml", OTHER);
    scene.unit("mails.route.toml", "[route]\nengines = [\"renamed\"]\n[match]\nconnector = [\"inbox\"]\n");
    std::fs::remove_file(scene.path("units/program.engine.toml")).unwrap();
    wait_until("a few more", || counts().len() >= 7);
    daemon.kill();
    let daemon = scene.start(None);
    wait_until("yet more", || counts().len() >= 10);
    for case in scene.cases() {
        let _ = scene.run(&["case", "retry", &case.id.to_string()]);
    }
    wait_until("all drafts", || {
        scene.cases().iter().filter(|case| case.state == CaseState::Review).count() == 16
    });
    drop(daemon);
    let counts = counts();
    assert!(counts.len() >= 16, "{counts:?}");
    assert_eq!(counts.iter().max(), Some(&2), "{counts:?}");
}
