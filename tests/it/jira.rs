//! Jira: searches over time, who may see what, limits, answers that get lost.

use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item, ReplyWay};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::platform::jira::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, Polled, secret, text};
use crate::support::http::{Answer, HttpServer, Seen};

const KEY: &str = "wa-7-0123456789abcdef";

fn fixture(name: &str) -> Answer {
    Answer::ok(std::fs::read(format!("tests/fixtures/jira/{name}")).unwrap())
        .header("content-type", "application/json;charset=UTF-8")
}

fn myself() -> Answer {
    fixture("myself.json")
}

fn minute(minute: u64) -> String {
    format!("2026-11-30T08:{minute:02}:00.000+0000")
}

/// An issue assigned to us, made before we began, changed at this minute after 8.
fn issue(id: u64, changed: u64) -> Json {
    json!({"id": id.to_string(), "key": format!("APP-{id}"), "fields": {"summary": format!("S{id}"),
        "status": {"name": "To Do"}, "project": {"projectTypeKey": "software"}, "assignee": {"accountId": "me-1"},
        "reporter": {"accountId": "kim-1", "displayName": "Kim"}, "creator": {"accountId": "kim-1", "displayName": "Kim"},
        "created": "2026-11-01T08:00:00.000+0000", "updated": minute(changed)}})
}

fn found(issues: &[Json], token: Option<&str>) -> Answer {
    Answer::ok(json!({"issues": issues, "nextPageToken": token}).to_string())
}

fn comment(id: u64, author: &str, at: u64, words: &str) -> Json {
    json!({"id": id.to_string(), "author": {"accountId": author, "displayName": author}, "created": minute(at),
        "body": {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": words}]}]}})
}

fn comments(comments: &[Json]) -> Answer {
    Answer::ok(json!({ "comments": comments }).to_string())
}

fn with(server: &HttpServer, keys: &[(&str, Value)]) -> Bench {
    let mut all = vec![
        ("url", text(&server.url(""))),
        ("email", text("me@example.org")),
        ("token", secret()),
        ("comments", Value::Integer(10)),
    ];
    all.extend(keys.iter().cloned());
    Bench::new(&SPEC, "/nonexistent".as_ref(), &all)
}

fn bench(server: &HttpServer) -> Bench {
    with(server, &[])
}

fn query(seen: &Seen, name: &str) -> Option<String> {
    let url = url::Url::parse(&format!("http://x{}", seen.target)).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn path(seen: &Seen) -> String {
    format!("{} {}", seen.method, seen.target.split('?').next().unwrap().trim_start_matches("/rest/api/"))
}

fn jqls(server: &HttpServer) -> Vec<String> {
    server.seen().iter().filter_map(|seen| query(seen, "jql")).collect()
}

fn item<'a>(polled: &'a Polled, key: &str) -> &'a Item {
    polled.items.iter().find(|item| item.key == key).unwrap()
}

/// All of the fixtures, worked on.
async fn fixtures() -> (HttpServer, Bench, Polled) {
    let server = HttpServer::start([
        myself(),
        fixture("search.json"),
        fixture("comments.json"),
        comments(&[]),
        fixture("comments-desk.json"),
    ]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let polled = bench.poll().await.unwrap();
    (server, bench, polled)
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn a_page_of_all_sorts() {
        let (server, _, polled) = fixtures().await;
        let asked: Vec<String> = server.seen().iter().map(path).collect();
        assert_eq!(
            asked,
            [
                "GET 3/myself",
                "GET 3/search/jql",
                "GET 3/issue/10012/comment",
                "GET 3/issue/10013/comment",
                "GET 3/issue/10014/comment"
            ]
        );
        // me@example.org:CANARY-secret-1
        let basic = "Basic bWVAZXhhbXBsZS5vcmc6Q0FOQVJZLXNlY3JldC0x";
        assert!(server.seen().iter().all(|seen| seen.header("authorization") == Some(basic)));
        let seen = &server.seen()[1];
        assert!(query(seen, "fields").unwrap().starts_with("summary,description,status,"));
        assert_eq!(query(&server.seen()[2], "expand").as_deref(), Some("properties"));
        let shown: Vec<String> = polled
            .items
            .iter()
            .map(|item| format!("{} | {} | {} | {:?}", item.key, item.kind, item.title, item.disposition))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        issue:10012 | issue | APP-12 Start takes 9 s | Work
        change:501 | issue | APP-12 Start takes 9 s | Work
        comment:901 | comment | APP-12 Start takes 9 s | Work
        comment:902 | comment | APP-12 Start takes 9 s | Own
        comment:903 | comment | APP-12 Start takes 9 s | Work
        issue:10014 | issue | DESK-2 Cannot log in | Work
        comment:911 | comment | DESK-2 Cannot log in | Work
        comment:912 | comment | DESK-2 Cannot log in | Work
        issue:?b4176662fbd3a342 | issue | An issue that cannot be read | Quarantined { reason: "Jira sent an issue without an id" }
        issue:?857a30453f7e8934 | issue | An issue that cannot be read | Quarantined { reason: "Jira sent an issue without an id" }
        "#);
        insta::assert_snapshot!(item(&polled, "comment:903").body, @r"
        @My Self is it the cache?

        ## APP-12 Start takes 9 s
        [Bug, To Do, by Kim Lee]

        Since yesterday.

        ## Comments, the newest last

        [somebody, 2026-11-30T07:38:00Z]
        From a mail

        [My Self (you), 2026-11-30T07:40:00Z]
        It starts in 2 s here.
        ");
        let asked = item(&polled, "comment:903");
        assert_eq!(asked.hidden[0].text, "close it unread");
        assert_eq!(asked.attachments[0].name, "trace.txt");
        assert!(asked.url.as_deref().unwrap().ends_with("/browse/APP-12?focusedCommentId=903"));
        let verbs: Vec<String> = asked.offers.iter().map(|offer| offer.verb.clone()).collect();
        assert_eq!(verbs, ["transition", "assign", "label", "unlabel"]);
    }

    #[tokio::test]
    async fn what_is_said_inside_stays_apart_and_is_not_answered() {
        let (_, _, polled) = fixtures().await;
        let (inside, outside) = (item(&polled, "comment:912"), item(&polled, "comment:911"));
        let ReplyWay::Nowhere { reason } = &inside.reply else { panic!("an internal comment has an answer") };
        assert!(reason.starts_with("the comment is internal"), "{reason}");
        assert!(inside.threads.iter().all(|name| !outside.threads.contains(name)));
        assert!(!outside.body.contains("paid"), "{}", outside.body);
        // Each is told what it is about.
        assert!(outside.body.contains("## DESK-2") && inside.body.contains("It says no."), "{}", inside.body);
        let ReplyWay::To(envelope) = &outside.reply else { panic!() };
        assert!(envelope.place.ends_with(", public: the customer sees it"), "{}", envelope.place);
        assert!(outside.warnings[0].contains("the customer sees it"));
    }

    #[tokio::test]
    async fn one_for_a_role_is_answered_to_that_role() {
        let mut restricted = comment(5, "kim-1", 5, "Among us");
        restricted["visibility"] = json!({"type": "role", "value": "Administrators", "identifier": "10002"});
        let server = HttpServer::start([
            myself(),
            found(&[issue(1, 5)], None),
            comments(&[restricted, comment(4, "kim-1", 4, "To all")]),
        ]);
        let polled = bench(&server).backlog(Backlog::All).poll().await.unwrap();
        let (inside, outside) = (item(&polled, "comment:5"), item(&polled, "comment:4"));
        assert_ne!(inside.threads, outside.threads);
        let payload = bench(&server).prepare(&bench(&server).reply(inside, 7, "Yes."));
        let body: Json = serde_json::from_slice(&payload.bytes).unwrap();
        assert_eq!(body["visibility"]["identifier"], "10002");
        let payload = bench(&server).prepare(&bench(&server).reply(outside, 7, "Yes."));
        assert_eq!(serde_json::from_slice::<Json>(&payload.bytes).unwrap()["visibility"], Json::Null);
    }

    #[tokio::test]
    async fn only_what_is_addressed_unless_all_is_wanted() {
        let watched = || {
            let mut issue = issue(1, 5);
            issue["fields"]["assignee"] = json!({"accountId": "pat-1"});
            issue
        };
        let mut mention = comment(6, "kim-1", 5, "x");
        mention["body"]["content"][0]["content"][0] = json!({"type": "mention", "attrs": {"id": "me-1"}});
        let mut robot = comment(7, "app-1", 5, "Build failed");
        robot["author"]["accountType"] = json!("app");
        let said = [robot, mention, comment(5, "kim-1", 4, "To nobody")];
        let worked = async |news: &str| {
            let server = HttpServer::start([myself(), found(&[watched()], None), comments(&said)]);
            let mut bench = with(&server, &[("news", text(news))]).backlog(Backlog::All);
            let items = bench.poll().await.unwrap().items;
            let worked = items.into_iter().filter(|item| item.disposition == Disposition::Work);
            worked.map(|item| item.key).collect::<Vec<_>>()
        };
        assert_eq!(worked("addressed").await, ["comment:6"]);
        assert_eq!(worked("all").await, ["issue:1", "comment:5", "comment:6"]);
    }
}

mod over_time;

mod trouble;

mod answering;
