//! From a mention to a comment, through the whole house.

use std::time::Duration;

use workagent::model::case::CaseState;
use workagent::model::outbound::ActionState;

use super::MINUTE;
use crate::support::github::FakeGithub;
use crate::support::way::{POLITE, ROUTE, Way};

pub const UNIT: &str = r#"
[connector]
platform = "github"
hold = "0s"
[github]
login = "pat"
token = { env = "WAY_TOKEN" }
base_url = "{url}"
[schedule]
every = "1m"
[install]
enabled = true
"#;

/// A house that reads GitHub, past its first look.
async fn house() -> (Way, FakeGithub) {
    let fake = FakeGithub::start(&workagent::model::time::Clock::manual(crate::support::way::START));
    let way = Way::new(&[
        ("inbox.connector.toml", &UNIT.replace("{url}", &fake.url())),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    fake.hub().clock = way.clock.clone();
    way.cycle().await;
    way.clock.advance(MINUTE);
    (way, fake)
}

fn mention(fake: &FakeGithub) {
    fake.hub().open("acme/app", 1, false, "kim", "Crash", "@pat, it crashes.");
    fake.hub().notify(9001, "acme/app", 1, "mention");
}

fn comments(fake: &FakeGithub) -> Vec<String> {
    fake.hub().issue("acme/app", 1).comments.iter().map(|comment| comment.body.clone()).collect()
}

async fn approved(way: &Way) {
    way.cycle().await;
    let draft = way.drafts().await.remove(0);
    way.approve(&draft).await.unwrap();
    way.cycle().await;
}

#[tokio::test]
async fn a_mention_is_answered_once_and_the_answer_is_no_work() {
    let (way, fake) = house().await;
    mention(&fake);
    approved(&way).await;
    assert_eq!(way.shown().await, "c1 sent\n");
    assert_eq!(comments(&fake).len(), 1);
    assert!(comments(&fake)[0].starts_with("Thank you for Crash (acme/app#1)."), "{:?}", comments(&fake));
    // It is read back, with an answer to it.
    way.clock.advance(MINUTE);
    fake.hub().comment("acme/app", 1, "kim", "Thanks!");
    fake.hub().notify(9001, "acme/app", 1, "comment");
    way.cycle().await;
    let cases = way.cases().await;
    assert_eq!((cases.len(), cases[0].state, cases[0].items), (1, CaseState::Review, 2));
}

#[tokio::test]
async fn the_ids_of_what_was_sent_are_enough_to_know_it_again() {
    let (way, fake) = house().await;
    mention(&fake);
    approved(&way).await;
    // Somebody takes the mark out of the comment.
    fake.hub().issue("acme/app", 1).comments[0].body = "Thank you, @pat says.".into();
    way.clock.advance(MINUTE);
    fake.hub().notify(9001, "acme/app", 1, "comment");
    way.cycle().await;
    let cases = way.cases().await;
    assert_eq!((cases.len(), cases[0].items), (1, 1), "{:?}", way.shown().await);
}

#[tokio::test]
async fn a_lost_answer_ends_with_one_comment() {
    let (way, fake) = house().await;
    mention(&fake);
    fake.hub().lose_answers = 1;
    approved(&way).await;
    assert_eq!(way.actions().await[0].state, ActionState::Uncertain);
    assert_eq!(comments(&fake).len(), 1, "it was posted");
    for _ in 0..4 {
        way.clock.advance(Duration::from_secs(30));
        way.cycle().await;
    }
    assert_eq!(way.shown().await, "c1 sent\n");
    assert_eq!(comments(&fake).len(), 1, "and never again");
    let receipt = way.actions().await.remove(0).receipt.unwrap();
    assert!(receipt.evidence.starts_with("found, "), "{receipt:?}");
    let posts = fake.hub().log.iter().filter(|asked| asked.method == "POST").count();
    assert_eq!(posts, 1);
}

#[tokio::test]
async fn what_did_not_arrive_is_sent_after_two_looks() {
    let (way, fake) = house().await;
    mention(&fake);
    let cut = crate::support::http::Answer::cut_after_body();
    fake.once("POST", "/repos/acme/app/issues/1/comments", cut);
    approved(&way).await;
    assert_eq!(way.actions().await[0].state, ActionState::Uncertain);
    assert!(comments(&fake).is_empty());
    for _ in 0..6 {
        way.clock.advance(Duration::from_secs(30));
        way.cycle().await;
    }
    assert_eq!(way.shown().await, "c1 sent\n");
    assert_eq!(comments(&fake).len(), 1);
    let log = fake.hub().log.clone();
    let posts = log.iter().filter(|asked| asked.method == "POST").count();
    let looks = log.iter().rev().skip_while(|asked| asked.method != "POST").skip(1);
    let looks = looks.take_while(|asked| asked.method != "POST");
    let looks = looks.filter(|asked| asked.target.starts_with("/repos/acme/app/issues/1/comments")).count();
    assert_eq!(posts, 2);
    assert!(looks >= 2, "{looks} looks before it was sent again");
}
