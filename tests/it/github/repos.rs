//! Named repositories, for tokens that cannot read the inbox.

use workagent::model::class::ErrorClass;
use workagent::model::item::Backlog;

use super::*;
use crate::support::http::Answer;

fn scene(names: &[&str], participating: bool) -> Scene {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Scene::with(&[("repositories", Value::List(names)), ("participating", Value::Bool(participating))])
}

#[tokio::test]
async fn what_happens_from_now_on() {
    let mut scene = scene(&["acme/app"], false);
    scene.hub.hub().open("acme/app", 1, false, "kim", "Old", "long there");
    scene.later(10 * MINUTE);
    let first = scene.bench.poll().await.unwrap();
    assert_eq!((first.new.len(), first.items.len()), (0, 0));
    assert_eq!(
        first.notes,
        ["first poll of acme/app: 1 open issues and pull requests, none of them to be worked on"]
    );
    scene.later(10 * MINUTE);
    {
        let mut hub = scene.hub.hub();
        hub.comment("acme/app", 1, "lee", "Still there?");
        hub.open("acme/app", 2, true, "kim", "Fix", "Here.");
        hub.diff_comment("acme/app", 2, "lee", "Why?", None);
        hub.review("acme/app", 2, "lee", "APPROVED", "");
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "(issue: long there)",
            "pull-request: Here.",
            "review: The review approves the changes.",
            "comment: Still there?",
            "review-comment: On src/a.rs line 3:  Why?",
        ]
    );
    assert_eq!(polled.items[0].threads[1], polled.items[3].threads[1], "one case");
    let again = scene.bench.poll().await.unwrap();
    assert_eq!((again.new.len(), again.updated.len()), (0, 0));
}

#[tokio::test]
async fn while_nothing_changes_nothing_is_paid_for() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    scene.hub.asked();
    scene.later(10 * MINUTE);
    // The fake has no validators for lists: what goes out is looked at.
    scene.hub.hub().open("acme/app", 1, false, "kim", "New", "x");
    for list in ["/issues?", "/issues/comments?", "/pulls/comments?"] {
        let answer = Answer::ok("[]").header("ETag", &format!("\"{list}\""));
        scene.hub.once("GET", &format!("/repos/acme/app{list}"), answer);
    }
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    for list in ["/issues?", "/issues/comments?", "/pulls/comments?"] {
        scene.hub.once("GET", &format!("/repos/acme/app{list}"), Answer::new(304, ""));
    }
    let before = scene.bench.cursor.clone();
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
    assert_eq!(scene.bench.cursor, before);
    let log = scene.hub.hub().log.clone();
    let last: Vec<bool> = log.iter().rev().take(3).map(|asked| asked.conditional).collect();
    assert_eq!(last, [true; 3]);
    let targets: Vec<&str> = log.iter().rev().take(6).map(|asked| asked.target.as_str()).collect();
    assert_eq!(targets[..3], targets[3..], "the same addresses");
}

#[tokio::test]
async fn three_pages_with_ties_at_their_borders() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    // 19 by themselves, 50 in one second, 3 more.
    for number in 1..=72 {
        scene.hub.hub().open("acme/app", number, false, "kim", &format!("Issue {number}"), "x");
        if !(19..=68).contains(&number) {
            scene.later(Duration::from_secs(1));
        }
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(polled.new.len(), 72);
    assert!(scene.hub.asked().len() < 16);
    scene.later(10 * MINUTE);
    let again = scene.bench.poll().await.unwrap();
    assert_eq!((again.new.len(), again.updated.len()), (0, 0));
}

#[tokio::test]
async fn what_changes_while_the_list_is_read_hides_nothing() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    for number in 1..=50 {
        scene.hub.hub().open("acme/app", number, false, "kim", &format!("Issue {number}"), "x");
        scene.later(Duration::from_secs(1));
    }
    let page = scene.bench.page().await.unwrap();
    assert!(page.more && page.items.len() == 20);
    // The first ten move to the end of the list: by page numbers, ten others would be skipped.
    for number in 1..=10 {
        scene.hub.hub().comment("acme/app", number, "kim", "again");
    }
    let mut keys: Vec<String> = page.items.into_iter().map(|item| item.key).collect();
    keys.extend(scene.bench.poll().await.unwrap().items.into_iter().map(|item| item.key));
    keys.retain(|key| key.starts_with("issue:"));
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 50);
}

#[tokio::test]
async fn an_edit_is_seen_by_itself() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    scene.hub.hub().open("acme/app", 1, false, "kim", "New", "x");
    let comment = scene.hub.hub().comment("acme/app", 1, "lee", "typo");
    assert_eq!(scene.bench.poll().await.unwrap().new.len(), 2);
    scene.later(10 * MINUTE);
    scene.hub.hub().edit("acme/app", 1, comment, "type");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.updated.len()), (0, 1));
}

#[tokio::test]
async fn a_restart_in_the_middle_changes_nothing() {
    let mut scene = scene(&["acme/app", "acme/web"], false);
    scene.bench.backlog = Backlog::All;
    for number in 1..=45 {
        scene.hub.hub().open("acme/app", number, false, "kim", "A", "x");
        scene.hub.hub().open("acme/web", number, false, "kim", "W", "x");
        scene.hub.hub().comment("acme/web", number, "lee", "y");
        scene.later(MINUTE);
    }
    let mut items = scene.bench.page().await.unwrap().items;
    scene.bench.restart();
    items.extend(scene.bench.poll().await.unwrap().items);
    let mut keys: Vec<String> = items.into_iter().map(|item| item.key).collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3 * 45);
    assert!(all < 3 * 45 + 10, "{all}: what lies in the overlap comes again, not all");
}

#[tokio::test]
async fn only_where_the_user_takes_part() {
    let mut scene = scene(&["acme/app"], true);
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    {
        let mut hub = scene.hub.hub();
        hub.open("acme/app", 1, false, "kim", "Foreign", "x");
        hub.comment("acme/app", 1, "lee", "between us");
        hub.comment("acme/app", 1, "lee", "what does @pat think?");
        hub.open("acme/app", 2, false, "pat", "Mine", "x");
        hub.comment("acme/app", 2, "lee", "an answer");
    }
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&polled.items), ["(issue: x)", "comment: what does @pat think?", "comment: an answer"]);
}

#[tokio::test]
async fn one_repository_that_is_closed_to_us_silences_no_other() {
    let mut scene = scene(&["acme/app", "acme/gone"], false);
    let gone = || Answer::new(404, r#"{"message": "Not Found"}"#);
    scene.hub.once("GET", "/repos/acme/gone", gone());
    let polled = scene.bench.poll().await.unwrap();
    assert!(
        polled.notes.iter().any(|note| note.starts_with("acme/gone cannot be read")),
        "{:?}",
        polled.notes
    );
    scene.later(10 * MINUTE);
    scene.hub.hub().open("acme/app", 1, false, "kim", "New", "x");
    scene.hub.once("GET", "/repos/acme/gone", gone());
    assert_eq!(scene.bench.poll().await.unwrap().new, ["New (acme/app#1)"]);
    // All of them closed is a fault of the unit.
    let mut all = self::scene(&["acme/gone"], false);
    all.hub.once("GET", "/repos/acme/gone", gone());
    assert_eq!(all.bench.poll().await.unwrap_err().class, ErrorClass::Permanent);
}

#[tokio::test]
async fn a_new_name_is_told_and_taken() {
    let mut scene = scene(&["acme/old"], false);
    scene.hub.once("GET", "/repos/acme/old", Answer::new(301, "").header("Location", "/repos/acme/new"));
    let notes = scene.bench.poll().await.unwrap().notes;
    assert!(notes.contains(&"acme/old is now acme/new; change `repositories`".to_owned()), "{notes:?}");
    scene.later(10 * MINUTE);
    scene.hub.hub().open("acme/new", 1, false, "kim", "New", "x");
    assert_eq!(scene.bench.poll().await.unwrap().new, ["New (acme/new#1)"]);
}

#[tokio::test]
async fn a_change_of_next_year_hides_nothing_of_this_one() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    scene.later(10 * MINUTE);
    {
        let mut hub = scene.hub.hub();
        hub.open("acme/app", 1, false, "kim", "Odd", "From the future.");
        hub.issue("acme/app", 1).updated_at = NOW.plus(Duration::from_secs(365 * 86_400));
        hub.open("acme/app", 2, false, "kim", "New", "Now.");
    }
    assert_eq!(scene.bench.poll().await.unwrap().new.len(), 2);
    for number in 3..6 {
        scene.later(60 * MINUTE);
        scene.hub.hub().open("acme/app", number, false, "kim", "Later", "Later.");
        let polled = scene.bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.updated.len()), (1, 0), "{number}");
    }
}

#[tokio::test]
async fn a_place_that_was_carried_away_comes_back() {
    let mut scene = scene(&["acme/app"], false);
    scene.bench.poll().await.unwrap();
    let cursor = scene.bench.cursor.clone().unwrap().0;
    let away = NOW.plus(Duration::from_secs(365 * 86_400));
    let mut memory: serde_json::Value = serde_json::from_str(&cursor).unwrap();
    for stream in memory.pointer_mut("/repositories/acme~1app/streams").unwrap().as_array_mut().unwrap() {
        stream["upto"] = serde_json::to_value(away).unwrap();
    }
    scene.bench.cursor = Some(workagent::model::item::Cursor(memory.to_string()));
    scene.later(60 * MINUTE);
    scene.bench.poll().await.unwrap();
    scene.later(60 * MINUTE);
    scene.hub.hub().open("acme/app", 1, false, "kim", "New", "Now.");
    assert_eq!(scene.bench.poll().await.unwrap().new, ["New (acme/app#1)"]);
}
