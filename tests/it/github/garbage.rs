//! Answers that nobody should give.

use workagent::model::class::{ErrorClass, chain};

use super::*;
use crate::support::http::{Answer, HttpServer};

async fn after_a_good_look(answer: Answer) -> (Scene, Result<crate::support::connector::Polled, ErrorClass>) {
    let mut scene = Scene::new();
    scene.issue(1);
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(2);
    let before = scene.bench.cursor.clone();
    scene.hub.once("GET", "/notifications", answer);
    let polled = scene.bench.poll().await.map_err(|error| error.class);
    if polled.is_err() {
        assert_eq!(scene.bench.cursor, before);
        assert_eq!(scene.bench.poll().await.unwrap().new, ["Crash 2 (acme/app#2)"], "nothing is lost");
    }
    (scene, polled)
}

#[tokio::test]
async fn what_is_no_list_takes_nothing_away() {
    for (answer, expected) in [
        (Answer::ok("<html>Sign in").header("Content-Type", "text/html"), ErrorClass::NETWORK),
        (Answer::new(502, "<html>Unicorn"), ErrorClass::NETWORK),
        (Answer::ok("[{\"id\": \"1\", \"upd"), ErrorClass::Auth),
        (Answer::ok("{\"message\": \"surprise\"}"), ErrorClass::Auth),
        (Answer::ok("[").cut_in_answer(), ErrorClass::NETWORK),
        (Answer::ok(vec![b' '; workagent::model::limits::JSON_BYTES_MAX + 1]), ErrorClass::NETWORK),
    ] {
        let (_, polled) = after_a_good_look(answer.clone()).await;
        assert_eq!(polled.unwrap_err(), expected, "{:.80}", format!("{answer:?}"));
    }
}

#[tokio::test]
async fn a_list_of_odd_things_is_read_as_far_as_it_goes() {
    let list = r#"[null, 7, "text", {}, {"id": "1"}, {"id": "2", "updated_at": "soon"},
        {"id": "3", "updated_at": "2026-11-30T08:00:40Z", "subject": null, "repository": null, "reason": null},
        {"id": "4", "updated_at": "2026-11-30T08:00:41Z", "reason": "mention", "subject": {"title": "T", "type": "Issue",
         "url": "https://evil.example/repos/a/b/issues/1"}, "repository": {"full_name": "a/b"}},
        {"id": "5", "updated_at": "2026-11-30T08:00:42Z", "reason": "mention", "subject": {"title": "T", "type": "Issue",
         "url": "/repos/a/b/issues/1"}, "repository": {"full_name": "../b"}}]"#;
    let (scene, polled) = after_a_good_look(Answer::ok(list)).await;
    let polled = polled.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "!odd: a notification without an id",
            "!odd: a notification without an id",
            "!odd: a notification without an id",
            "!odd: a notification without an id",
            "!odd: a notification without a time",
            "!odd: a notification without a time",
            "notification: something in . GitHub tells you of it: no reason given.",
            "notification: Issue in a/b. GitHub tells you of it: you were mentioned.",
            "notification: Issue in ../b. GitHub tells you of it: you were mentioned.",
        ]
    );
    assert!(
        !scene.hub.asked().iter().any(|line| line.contains("/repos/")),
        "nothing was asked for by odd addresses"
    );
}

#[tokio::test]
async fn a_thread_of_odd_things_is_read_as_far_as_it_goes() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    let comments = r#"[{"body": "no id"}, null, {"id": 7, "body": null, "user": null}, {"id": 8, "body": "fine", "created_at": "x"}]"#;
    scene.hub.once("GET", "/repos/acme/app/issues/1/comments", Answer::ok(comments));
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(
        shown(&polled.items),
        [
            "!odd: a comment without an id",
            "!odd: a comment without an id",
            "comment: (no text)",
            "comment: fine",
            "issue: It crashes.",
        ]
    );
}

#[tokio::test]
async fn comments_beyond_measure_are_asked_for_in_smaller_pages() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    let huge = || Answer::ok(vec![b' '; workagent::model::limits::JSON_BYTES_MAX + 1]);
    scene.hub.once("GET", "/repos/acme/app/issues/1/comments?per_page=50", huge());
    scene.hub.hub().comment("acme/app", 1, "kim", "after all");
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&polled.items), ["issue: It crashes.", "comment: after all"]);
    // Beyond every measure: said, and the thread is over.
    scene.later(30 * MINUTE);
    scene.hub.hub().comment("acme/app", 1, "kim", "unreadable");
    scene.hub.hub().notify(9001, "acme/app", 1, "comment");
    for size in ["50", "5", "1"] {
        scene.hub.once("GET", &format!("/repos/acme/app/issues/1/comments?per_page={size}"), huge());
    }
    let polled = scene.bench.poll().await.unwrap();
    let last = polled.items.last().unwrap();
    assert!(last.kind == "notification" && last.warnings[0].contains("larger than"), "{last:?}");
    assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
}

#[tokio::test]
async fn no_token_goes_to_another_host() {
    let elsewhere = HttpServer::always(Answer::ok("[]"));
    // A redirect and a link to the next page.
    for answer in [
        Answer::new(301, "").header("Location", &elsewhere.url("/notifications")),
        Answer::ok(r#"[{"id": "5", "updated_at": "2026-11-30T08:00:59Z"}]"#)
            .header("Link", &format!("<{}>; rel=\"next\"", elsewhere.url("/x"))),
    ] {
        let (_, polled) = after_a_good_look(answer).await;
        assert_eq!(polled.unwrap_err(), ErrorClass::Config);
    }
    // A thread that has moved: told by its title.
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    let moved = Answer::new(301, "").header("Location", &elsewhere.url("/repos/acme/app/issues/1"));
    scene.hub.once("GET", "/repos/acme/app/issues/1", moved);
    let polled = scene.bench.poll().await.unwrap();
    assert!(polled.items[0].warnings[0].contains("another host"), "{:?}", polled.items);
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_renamed_repository_is_followed() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    scene.issue(1);
    let there = Answer::new(301, "").header("Location", "/repositories/7/issues/1");
    scene.hub.once("GET", "/repos/acme/app/issues/1", there);
    scene.hub.once(
        "GET",
        "/repositories/7/issues/1",
        Answer::ok(r#"{"id": 3, "title": "T", "body": "moved"}"#),
    );
    let polled = scene.bench.poll().await.unwrap();
    assert_eq!(shown(&polled.items)[..1], ["issue: moved"]);
}

#[tokio::test]
async fn a_list_that_repeats_itself_ends() {
    let mut scene = Scene::new();
    scene.bench.poll().await.unwrap();
    scene.later(MINUTE);
    let page = || {
        Answer::ok(r#"[{"id": "5", "updated_at": "2026-11-30T08:00:59Z"}]"#)
            .header("Link", "</notifications?page=2>; rel=\"next\"")
    };
    for _ in 0..5 {
        scene.hub.once("GET", "/notifications", page());
    }
    assert_eq!(scene.bench.poll().await.unwrap().new.len(), 1);
    let lists = scene.hub.asked().iter().filter(|line| line.contains("/notifications")).count();
    assert_eq!(lists, 3, "the first poll, then the page and what it leads to");
}

#[tokio::test]
async fn secrets_show_nowhere() {
    let mut scene = Scene::new();
    scene.hub.once("GET", "/user", Answer::new(401, "{\"message\": \"token CANARY-secret-1 is bad\"}"));
    let error = scene.bench.poll().await.unwrap_err();
    // What the server repeats is masked by the runtime; ours holds none.
    assert!(!format!("{:?}", error.doing).contains("CANARY"));
    let polled = scene.bench.poll().await.unwrap();
    assert!(
        !format!("{polled:?} {:?} {}", scene.bench.cursor, scene.bench.connector.identity())
            .contains("CANARY")
    );
    assert!(!chain(&scene.bench.poll().await.err().unwrap_or(error)).is_empty());
}
