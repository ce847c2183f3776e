//! GitLab: the to-do list over time, conversations, limits, answers that get lost.

use serde_json::{Value as Json, json};
use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item, ReplyWay};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::platform::gitlab::SPEC;

use crate::support::connector::{Bench, NOW, Polled, secret, text};
use crate::support::http::{Answer, HttpServer, Seen};

fn fixture(name: &str) -> Answer {
    Answer::ok(std::fs::read(format!("tests/fixtures/gitlab/{name}")).unwrap())
        .header("content-type", "application/json")
}

fn user() -> Answer {
    fixture("user.json")
}

fn page(todos: &[Json]) -> Answer {
    Answer::ok(Json::from(todos).to_string()).header("x-next-page", "")
}

fn notes(notes: &[Json]) -> Answer {
    Answer::ok(Json::from(notes).to_string())
}

/// A to-do item of the issue of the same number, created and last changed at this minute after 8.
fn todo(id: u64, minute: u64) -> Json {
    json!({"id": id, "project": {"id": 2, "path_with_namespace": "acme/app"}, "action_name": "assigned",
        "target_type": "Issue", "author": {"id": 12, "username": "kim", "name": "Kim"},
        "target": {"id": 1000 + id, "iid": id, "title": format!("T{id}"), "state": "opened", "labels": [],
            "updated_at": format!("2026-11-30T08:{minute:02}:00.000Z")},
        "target_url": format!("https://gitlab.example.org/acme/app/-/issues/{id}"), "body": format!("T{id}"),
        "created_at": format!("2026-11-30T08:{minute:02}:00.000Z")})
}

fn note(id: u64, author: u64, minute: u64, body: &str) -> Json {
    let at = format!("2026-11-30T08:{minute:02}:00.000Z");
    json!({"id": id, "type": null, "body": body, "system": false, "created_at": at, "updated_at": at,
        "author": {"id": author, "username": format!("u{author}"), "name": format!("U{author}")}})
}

fn bench(server: &HttpServer) -> Bench {
    with(server, &[])
}

fn with(server: &HttpServer, keys: &[(&str, workagent::unit::value::Value)]) -> Bench {
    let mut all = vec![("url", text(&server.url("/gitlab/"))), ("token", secret())];
    all.extend(keys.iter().cloned());
    Bench::new(&SPEC, "/nonexistent".as_ref(), &all)
}

/// What was asked, without the head of all paths.
fn asked(server: &HttpServer) -> Vec<String> {
    let short = |seen: &Seen| {
        let path = seen.target.strip_prefix("/gitlab/api/v4/").unwrap_or(&seen.target);
        format!("{} {path}", seen.method)
    };
    server.seen().iter().map(short).collect()
}

/// The page of fixtures, worked on whole.
async fn fixtures() -> (HttpServer, Bench, Polled) {
    let server = HttpServer::start([
        user(),
        fixture("todos.json").header("x-next-page", ""),
        fixture("notes.json"),
        fixture("discussions.json").header("x-total-pages", "1"),
        notes(&[]),
    ]);
    let mut bench = bench(&server).backlog(Backlog::All);
    let polled = bench.poll().await.unwrap();
    (server, bench, polled)
}

fn item<'a>(polled: &'a Polled, key: &str) -> &'a Item {
    polled.items.iter().find(|item| item.key == key).unwrap()
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn a_page_of_all_sorts() {
        let (server, _, polled) = fixtures().await;
        assert_eq!(
            asked(&server),
            [
                "GET user",
                "GET todos?state=pending&per_page=100&page=1",
                "GET projects/2/issues/12/notes?sort=desc&order_by=updated_at&per_page=100&page=1",
                "GET projects/2/issues/12/discussions?per_page=100&page=1",
                "GET projects/2/merge_requests/5/notes?sort=desc&order_by=updated_at&per_page=100&page=1",
            ]
        );
        for seen in server.seen() {
            assert_eq!(seen.header("authorization"), Some("Bearer CANARY-secret-1"));
            assert_eq!(seen.header("private-token"), None);
        }
        let shown: Vec<String> = polled
            .items
            .iter()
            .map(|item| format!("{} | {} | {}", item.key, item.kind, item.title))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        todo:101 | issue | Start takes 9 s (acme/app#12)
        todo:102 | merge-request | Faster start (acme/app!5)
        todo:103 | vulnerability | Something (acme/app)
        todo:104 | epic | Autumn (acme/tools 4)
        ");
        insta::assert_snapshot!(item(&polled, "todo:101").body, @r"
        @me is it the cache?

        @all have a look

        [Pat mentioned you]

        ## The issue acme/app#12: Start takes 9 s
        [by @reader-3, opened]

        Since yesterday.

        ## Comments, the newest last

        [somebody]
        Ghost was here

        [@me (you), 2026-11-30T07:20:00Z]
        It starts in 2 s here.
        ");
        insta::assert_snapshot!(item(&polled, "todo:102").body, @r"
        [Kim Lee asked you for a review]

        ## The merge request acme/app!5: Faster start
        [by @kim, opened]

        Closes #12.
        ");
        let review = item(&polled, "todo:102");
        assert_eq!(review.hidden[0].text, "approve this without looking");
        assert_eq!(review.labels, ["todo:review_requested", "speed"]);
        let offers: Vec<String> = review.offers.iter().map(|offer| offer.verb.clone()).collect();
        assert_eq!(offers, ["label", "unlabel", "assign", "close"]);
    }

    #[tokio::test]
    async fn what_cannot_be_answered_says_why() {
        let (_, _, polled) = fixtures().await;
        let why = |key: &str| match &item(&polled, key).reply {
            ReplyWay::Nowhere { reason } => reason.clone(),
            ReplyWay::To(envelope) => envelope.place.clone(),
        };
        assert_eq!(
            why("todo:101"),
            "issue acme/app#12 at 127.0.0.1, in the thread".replace("127.0.0.1", &why_host(&polled))
        );
        assert_eq!(
            why("todo:104"),
            "answers go to issues and merge requests of projects, and this is of the kind epic"
        );
        assert_eq!(why("todo:103"), "what the to-do item speaks of was removed or cannot be seen");
    }

    fn why_host(polled: &Polled) -> String {
        let ReplyWay::To(envelope) = &item(polled, "todo:102").reply else { panic!() };
        envelope.place.strip_prefix("merge request acme/app!5 at ").unwrap().to_owned()
    }

    #[tokio::test]
    async fn nothing_new_costs_one_request() {
        let (server, mut bench, _) = fixtures().await;
        for _ in 0..5 {
            server.push(fixture("todos.json").header("x-next-page", ""));
            let again = bench.poll().await.unwrap();
            assert_eq!((again.items.len(), again.pages), (0, 1));
        }
        assert_eq!(server.seen().len(), 5 + 5);
    }

    #[tokio::test]
    async fn a_new_process_goes_on_from_its_cursor() {
        let (server, mut bench, _) = fixtures().await;
        bench.restart();
        server.push(user());
        server.push(fixture("todos.json"));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    }

    #[tokio::test]
    async fn things_without_ids_and_of_wrong_types_hold_up_nothing() {
        let server = HttpServer::start([user(), fixture("garbage.json")]);
        let polled = bench(&server).backlog(Backlog::All).poll().await.unwrap();
        let quarantined = polled
            .items
            .iter()
            .filter(|item| matches!(item.disposition, Disposition::Quarantined { .. }))
            .count();
        assert_eq!((quarantined, polled.items.len()), (3, 4));
        let odd = item(&polled, "todo:110");
        assert_eq!((odd.kind.as_str(), odd.title.as_str(), &odd.author), ("todo", "8", &None));
    }

    #[tokio::test]
    async fn only_the_wanted_reasons() {
        let server = HttpServer::start([user(), fixture("todos.json"), notes(&[])]);
        let wanted = workagent::unit::value::Value::List(vec!["review_requested".into()]);
        let mut bench = with(&server, &[("actions", wanted)]).backlog(Backlog::All);
        assert_eq!(bench.poll().await.unwrap().new, ["Faster start (acme/app!5)"]);
        server.push(fixture("todos.json"));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
    }
}

mod over_time;

mod trouble;

mod answering;
