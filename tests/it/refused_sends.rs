//! Sends whose login is refused: seen in status, hastened by another secret or by hand, sent once. With the real binary.

use workagent::control::health::Health;
use workagent::control::wire::{StatusView, UnitView};
use workagent::model::time::Clock;

use crate::support::binary::{House, unit, wait_until};
use crate::support::github::FakeGithub;
use crate::support::http::Answer;
use crate::support::way::{POLITE, ROUTE};

const UNIT: &str = r#"
[connector]
platform = "github"
backlog = "all"
hold = "0s"
[github]
login = "pat"
token = { secret = "github/work" }
base_url = "{url}"
[install]
enabled = true
"#;

const OLD: &str = "old-token-0123456789";
const NEW: &str = "new-token-0123456789";

/// A house with an approved answer that GitHub refuses to take from this token, though it may read.
fn refused() -> (House, FakeGithub, crate::support::binary::Daemon) {
    let (house, fake) = (House::new(), FakeGithub::start(&Clock::system()));
    fake.hub().open("acme/app", 1, false, "kim", "Crash", "@pat, it crashes.");
    fake.hub().notify(9001, "acme/app", 1, "mention");
    house.unit("inbox.connector.toml", &UNIT.replace("{url}", &fake.url()));
    house.unit("polite.engine.toml", POLITE);
    house.unit("answers.route.toml", ROUTE);
    house.secret("github/work", OLD);
    let daemon = house.daemon(&[]);
    house.status_when("a draft", |view| view.counts.drafts_open == 1);
    fake.once(
        "POST",
        "/repos/acme/app/issues/1/comments",
        Answer::new(401, "{\"message\":\"Bad credentials\"}"),
    );
    house.ok(&["review", "approve", "d1"]);
    (house, fake, daemon)
}

fn is_refused(view: &StatusView) -> bool {
    unit(view, "inbox.connector").health == Some(Health::Failing)
}

fn said(unit: &UnitView) -> &str {
    unit.last_error.as_ref().map_or("", |error| error.message.as_str())
}

/// The tokens of the comments that were to be made.
fn tokens(fake: &FakeGithub) -> Vec<String> {
    let hub = fake.hub();
    let posts = hub.log.iter().filter(|asked| asked.method == "POST");
    let token = |headers: &[(String, String)]| {
        let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        found.map(|(_, value)| value.trim_start_matches("Bearer ").to_owned()).unwrap_or_default()
    };
    posts.map(|asked| token(&asked.headers)).collect()
}

fn is_sent(view: &StatusView) -> bool {
    view.counts.cases.get("sent") == Some(&1)
}

#[test]
fn another_secret_sends_it_once_and_until_then_status_says_what_to_do() {
    let (house, fake, daemon) = refused();
    let (view, code) = house.status_when("the refusal", is_refused);
    let inbox = unit(&view, "inbox.connector");
    let what_to_do = "a send waits for another login: workagent secret set github/work";
    assert!(
        said(inbox).starts_with("a send was refused: ") && said(inbox).contains("Bad credentials"),
        "{inbox:#?}"
    );
    assert_eq!(inbox.details.first().map(String::as_str), Some(what_to_do));
    assert_eq!((inbox.last_error.as_ref().unwrap().class.as_str(), code), ("auth", 3));
    let shown = house.run(&["status"]).out;
    assert!(shown.contains(&format!("    {what_to_do}\n")), "{shown}");
    assert_eq!(tokens(&fake), [OLD], "it waits");
    house.secret("github/work", NEW);
    let (view, _) = house.status_when("the send", is_sent);
    assert_eq!(unit(&view, "inbox.connector").health, Some(Health::Ok), "{view:#?}");
    assert_eq!(tokens(&fake), [OLD, NEW]);
    assert_eq!(fake.hub().issue("acme/app", 1).comments.len(), 1);
    daemon.stop();
}

#[test]
fn a_kick_by_hand_tries_it_again_at_once() {
    for order in ["kick", "restart"] {
        let (house, fake, daemon) = refused();
        house.status_when("the refusal", is_refused);
        house.ok(&[order, "inbox.connector"]);
        house.status_when("the send", is_sent);
        assert_eq!(tokens(&fake), [OLD, OLD], "{order}");
        daemon.stop();
    }
}

#[test]
fn a_daemon_that_starts_anew_tries_at_once() {
    let (house, fake, daemon) = refused();
    house.status_when("the refusal", is_refused);
    daemon.stop();
    let daemon = house.daemon(&[]);
    house.status_when("the send", is_sent);
    assert_eq!(tokens(&fake).len(), 2);
    daemon.stop();
}

#[test]
fn what_was_given_up_can_be_noted_and_is_no_news_any_more() {
    let (house, fake, daemon) = refused();
    house.status_when("the refusal", is_refused);
    let locked = Answer::new(403, "{\"message\":\"Unable to create comment because issue is locked.\"}");
    fake.once("POST", "/repos/acme/app/issues/1/comments", locked);
    house.ok(&["kick", "inbox.connector"]);
    let (view, _) = house.status_when("the end", |view| view.counts.actions.get("dead") == Some(&1));
    assert!(view.notes.iter().any(|note| note.contains("send was given up: workagent outbox")), "{view:#?}");
    assert_eq!(house.ok(&["outbox", "dismiss", "--all"]).lines().count(), 1);
    let (view, _) = house.status();
    assert_eq!((view.notes.len(), view.counts.actions.get("cancelled")), (0, Some(&1)), "{view:#?}");
    assert_eq!(house.ok(&["outbox", "dismiss", "--all"]), "no send was given up\n");
    let ran = house.run(&["outbox", "dismiss", "a1"]);
    assert!(ran.err.contains("a1 is cancelled and cannot be dismissed"), "{ran:?}");
    wait_until("the case to be dismissed", || house.status().0.counts.cases.get("dismissed") == Some(&1));
    daemon.stop();
}
