//! Linear by itself against a scripted server: what is read, what is new, limits, and comments of ours.

use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item, ReplyWay};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::model::time::Timestamp;
use workagent::platform::linear::SPEC;

use super::support::connector::{Bench, NOW, secret, text};
use super::support::http::{Answer, HttpServer};

const ME: &str = "6f1c2b6e-0000-4000-8000-000000000001";

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/linear/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

fn bench_with(server: &HttpServer, comments: &str) -> Bench {
    let keys = [
        ("workspace", text("acme")),
        ("key", secret()),
        ("comments", text(comments)),
        ("base_url", text(&server.url("/graphql"))),
    ];
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
}

/// Of the inbox alone.
fn bench(server: &HttpServer) -> Bench {
    bench_with(server, "none")
}

fn viewer() -> Json {
    json!({ "id": ME, "name": "Kim Lee", "organization": { "urlKey": "acme" } })
}

/// `2026-11-30T08:00:00.000Z` and so many seconds.
fn at(seconds: i64) -> String {
    format!("{}.000Z", Timestamp(NOW.0 + seconds * 1000).to_string().trim_end_matches('Z'))
}

/// An assignment of that moment.
fn node(id: &str, seconds: i64) -> Json {
    json!({ "__typename": "IssueNotification", "id": id, "type": "issueAssignedToYou", "createdAt": at(seconds),
        "updatedAt": at(seconds), "issue": { "id": format!("i-{id}"), "identifier": id, "title": "" } })
}

fn said(id: &str, seconds: i64, body: &str) -> Json {
    json!({ "id": id, "body": body, "createdAt": at(1), "updatedAt": at(seconds), "issueId": "i-1",
        "user": { "id": "u-pat", "name": "Pat" }, "issue": { "id": "i-1", "identifier": "ENG-1", "title": "One" } })
}

fn list(field: &str, nodes: &[Json], next: Option<&str>) -> Answer {
    let list = json!({ "nodes": nodes, "pageInfo": { "hasNextPage": next.is_some(), "endCursor": next } });
    Answer::ok(json!({ "data": { "viewer": viewer(), field: list } }).to_string())
}

fn inbox(nodes: &[Json], next: Option<&str>) -> Answer {
    list("notifications", nodes, next)
}

fn comments(nodes: &[Json]) -> Answer {
    list("comments", nodes, None)
}

fn asked(server: &HttpServer, nth: usize) -> Json {
    let seen = server.seen();
    serde_json::from_slice(seen.get(nth).unwrap().body.as_ref().unwrap()).unwrap()
}

/// A bench whose baseline was taken from an empty inbox.
async fn begun(server: &HttpServer) -> Bench {
    let mut bench = bench(server);
    bench.poll().await.unwrap();
    bench
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn what_an_inbox_holds() {
        let server = HttpServer::start([Answer::ok(fixture("inbox.json"))]);
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(3600)));
        let polled = bench.poll().await.unwrap();
        let shown: Vec<String> = polled
            .items
            .iter()
            .map(|item| {
                let disposition = match &item.disposition {
                    Disposition::NoReply { .. } => "no reply".to_owned(),
                    Disposition::Quarantined { .. } => "quarantined".to_owned(),
                    other => format!("{other:?}").to_lowercase(),
                };
                let by = item.author.as_ref().map(|author| author.name.clone()).unwrap_or_default();
                format!("{} | {} | {} | {by} | {disposition}", item.key, item.kind, item.title)
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        comment:c-1 | comment | ENG-12 Export fails | Pat Doe | work
        notification:n-assigned | assignment | ENG-13 Rotate keys |  | work
        notification:n-reaction | reaction | ENG-12 Export fails | Pat Doe | no reply
        notification:n-project | notification | Move to v2 project update created | Pat Doe | no reply
        notification:n-unknown | notification | something new | Linear | no reply
        notification:n-odd | notification | A notification that could not be read |  | quarantined
        comment:c-bot | comment | ENG-12 Export fails | GitHub | no reply
        ");
        let mention = &polled.items[0];
        assert_eq!(mention.body, "@kim can you look at this?");
        assert_eq!(mention.hidden.len(), 1);
        assert_eq!(mention.labels, ["issueCommentMention", "Bug"]);
        let ReplyWay::To(envelope) = &mention.reply else { panic!() };
        assert_eq!(envelope.thread, json!({ "on": "issueId", "id": "i-12", "parent": "c-0" }));
        assert_eq!(envelope.place, "a reply on ENG-12 in Linear (acme)");
        assert_eq!(mention.threads, ["issue:i-12"]);
    }

    #[tokio::test]
    async fn asks_with_the_bare_key_and_small() {
        let server = HttpServer::start([inbox(&[], None)]);
        begun(&server).await;
        let seen = &server.seen()[0];
        assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/graphql"));
        assert_eq!(seen.header("authorization"), Some("CANARY-secret-1"));
        assert_eq!(asked(&server, 0)["variables"], json!({ "first": 50, "after": null, "filter": {} }));
    }

    #[tokio::test]
    async fn an_oauth_token_is_a_bearer() {
        let server = HttpServer::start([inbox(&[], None)]);
        let keys = [
            ("workspace", text("acme")),
            ("token", secret()),
            ("comments", text("none")),
            ("base_url", text(&server.url("/graphql"))),
        ];
        Bench::new(&SPEC, "/nonexistent".as_ref(), &keys).poll().await.unwrap();
        assert_eq!(server.seen()[0].header("authorization"), Some("Bearer CANARY-secret-1"));
    }

    #[tokio::test]
    async fn a_comment_and_its_notification_are_one() {
        let told = json!({ "__typename": "IssueNotification", "id": "n1", "type": "issueNewComment", "createdAt": at(5),
            "updatedAt": at(5), "issue": { "id": "i-1", "identifier": "ENG-1" }, "comment": said("c1", 5, "Hello") });
        let server = HttpServer::start([
            inbox(&[], None),
            comments(&[]),
            inbox(&[told], None),
            comments(&[said("c1", 5, "Hello")]),
        ]);
        let mut bench = bench_with(&server, "mine");
        bench.poll().await.unwrap();
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.seen), (1, 1));
        let filter = &asked(&server, 3)["variables"]["filter"];
        assert_eq!(filter["issue"]["or"][2]["subscribers"]["some"]["isMe"]["eq"], true);
    }

    #[tokio::test]
    async fn an_edit_that_moves_nothing_else_is_seen() {
        let server = HttpServer::start([
            inbox(&[], None),
            comments(&[]),
            inbox(&[], None),
            comments(&[said("c1", 5, "Hello")]),
            inbox(&[], None),
            comments(&[said("c1", 90, "Hello, all")]),
            inbox(&[], None),
            comments(&[said("c1", 90, "Hello, all")]),
            inbox(&[], None),
            comments(&[json!({ "id": "c1", "archivedAt": at(200), "updatedAt": at(200), "issueId": "i-1" })]),
        ]);
        let mut bench = bench_with(&server, "all");
        bench.poll().await.unwrap();
        bench.clock.advance(Duration::from_secs(300));
        assert_eq!(bench.poll().await.unwrap().new.len(), 1);
        assert_eq!(bench.poll().await.unwrap().updated.len(), 1);
        let again = bench.poll().await.unwrap();
        assert_eq!((again.items.len(), again.last.unwrap().cursor), (0, None));
        let deleted = bench.poll().await.unwrap();
        assert_eq!((deleted.updated.len(), deleted.new.len()), (1, 0));
        assert_eq!(deleted.items[0].warnings, ["it was deleted"]);
    }

    #[tokio::test]
    async fn parts_that_are_refused_leave_the_rest() {
        let server = HttpServer::start([inbox(&[], None), Answer::ok(fixture("partial.json"))]);
        let mut bench = begun(&server).await;
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new, ["ENG-12 Export fails"]);
        assert_eq!(
            polled.items[0].warnings,
            ["Linear left a part out: You don't have access to this comment."]
        );
        assert_eq!(polled.notes, ["read the inbox of Linear: one was not given: gone"]);
    }

    #[tokio::test]
    async fn parts_that_are_missing_for_a_while_must_come_again() {
        let mut data: Json = serde_json::from_slice(&fixture("partial.json")).unwrap();
        data["errors"][0]["extensions"] = json!({ "type": "internal error" });
        let whole = inbox(&[node("A", 600)], None);
        let server = HttpServer::start([inbox(&[], None), Answer::ok(data.to_string()), whole]);
        let mut bench = begun(&server).await;
        let before = bench.cursor.clone();
        assert_eq!(bench.poll().await.unwrap_err().class, ErrorClass::NETWORK);
        assert_eq!(bench.cursor, before);
        assert_eq!(bench.poll().await.unwrap().new, ["A"]);
    }
}

mod walking {
    use super::*;

    #[tokio::test]
    async fn three_pages_with_a_tie_at_the_border() {
        let page = |ids: &[&str], seconds: i64| ids.iter().map(|id| node(id, seconds)).collect::<Vec<_>>();
        let server = HttpServer::start([
            inbox(&[], None),
            inbox(&page(&["A", "B"], 300), Some("p1")),
            inbox(&page(&["C", "D"], 300), Some("p2")),
            inbox(&[node("E", 200), node("F", -100)], Some("p3")),
            inbox(&page(&["A", "B", "C", "D"], 300), None),
            inbox(&[node("G", 300), node("A", 300)], None),
        ]);
        let mut bench = begun(&server).await;
        bench.clock.advance(Duration::from_secs(600));
        // The walk goes on over a restart.
        bench.page().await.unwrap();
        bench.restart();
        let before = bench.cursor.clone();
        let rest = bench.page().await.unwrap();
        assert_eq!((rest.items.len(), rest.more), (2, true));
        assert_ne!(bench.cursor, before);
        // The server names a further page; what lies below the floor ends the walk.
        let rest = bench.page().await.unwrap();
        assert_eq!((rest.items.len(), rest.more), (2, false));
        let afters: Vec<_> = (1..4).map(|nth| asked(&server, nth)["variables"]["after"].clone()).collect();
        assert_eq!(afters, [json!(null), json!("p1"), json!("p2")]);
        let last = bench.page().await.unwrap();
        assert_eq!((last.items.len(), last.more), (0, false));
        // Another one of the same moment, later: it is found, the known one is not told again.
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new, ["G"]);
        assert_eq!(polled.items.len(), 1);
        let filter = asked(&server, 5)["variables"]["filter"]["updatedAt"]["gte"].clone();
        assert_eq!(filter, Timestamp(NOW.0 + 240_000).to_string());
    }

    #[tokio::test]
    async fn stops_below_the_floor_whatever_the_server_says() {
        let server = HttpServer::start([
            inbox(&[node("A", 0)], None),
            inbox(&[node("B", 20), node("Z", -1000)], Some("p1")),
        ]);
        let mut bench = begun(&server).await;
        assert_eq!(bench.poll().await.unwrap().pages, 1);
        assert_eq!(server.seen().len(), 2);
    }

    #[tokio::test]
    async fn a_repeated_place_ends_it() {
        let server = HttpServer::start([
            inbox(&[], None),
            inbox(&[node("A", 900)], Some("p1")),
            inbox(&[node("B", 800)], Some("p1")),
            inbox(&[], Some("p1")),
        ]);
        let mut bench = begun(&server).await;
        assert_eq!(bench.poll().await.unwrap().new, ["A", "B"]);
        assert_eq!(bench.poll().await.unwrap().pages, 1);
    }

    #[tokio::test]
    async fn a_forgotten_place_begins_the_walk_again() {
        let lost =
            json!({ "errors": [{ "message": "bad cursor", "extensions": { "code": "INPUT_ERROR" } }] });
        let server = HttpServer::start([
            inbox(&[], None),
            inbox(&[node("A", 900)], Some("p1")),
            Answer::new(400, lost.to_string()),
            inbox(&[node("A", 900)], Some("q1")),
            inbox(&[node("B", 800)], None),
        ]);
        let mut bench = begun(&server).await;
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new, polled.seen), (vec!["A".to_owned(), "B".to_owned()], 1));
    }

    #[tokio::test]
    async fn an_interrupted_walk_takes_nothing_for_taken() {
        let server = HttpServer::start([
            inbox(&[], None),
            inbox(&[node("A", 900)], Some("p1")),
            Answer::new(502, "<html>"),
            inbox(&[node("B", 800)], None),
        ]);
        let mut bench = begun(&server).await;
        assert_eq!(bench.page().await.unwrap().items.len(), 1);
        assert_eq!(bench.page().await.unwrap_err().class, ErrorClass::NETWORK);
        assert_eq!(bench.poll().await.unwrap().new, ["B"]);
    }
}

mod backlog {
    use super::*;

    #[tokio::test]
    async fn what_was_there_is_no_work() {
        let old = [node("B", -100), node("A", -200)];
        let server =
            HttpServer::start([inbox(&old, Some("p1")), inbox(&[node("C", 60), old[0].clone()], None)]);
        let mut bench = bench(&server);
        let first = bench.poll().await.unwrap();
        assert_eq!((first.new.len(), first.baseline, first.pages), (0, 2, 1));
        assert_eq!(first.notes, ["first poll: 2 items found, 0 of them to be worked on (backlog = \"new\")"]);
        assert_eq!(bench.poll().await.unwrap().new, ["C"]);
    }

    #[tokio::test]
    async fn so_many_days() {
        let server =
            HttpServer::start([inbox(&[node("B", -100), node("A", -86_000)], Some("p1")), inbox(&[], None)]);
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
        assert_eq!(bench.poll().await.unwrap().new, ["B", "A"]);
        let gte = asked(&server, 0)["variables"]["filter"]["updatedAt"]["gte"].clone();
        assert_eq!(gte, Timestamp(NOW.0 - 86_400_000 - 60_000).to_string());
    }

    #[tokio::test]
    async fn all() {
        let years = node("A", -86_400 * 900);
        let server = HttpServer::start([inbox(&[node("B", -100)], Some("p1")), inbox(&[years], None)]);
        let mut bench = bench(&server).backlog(Backlog::All);
        assert_eq!(bench.poll().await.unwrap().new, ["B", "A"]);
        assert_eq!(asked(&server, 0)["variables"]["filter"], json!({}));
    }

    #[tokio::test]
    async fn another_persons_key_makes_no_work_of_their_past() {
        let mut other =
            json!({ "data": { "viewer": viewer(), "notifications": { "nodes": [node("X", -50)] } } });
        other["data"]["viewer"]["id"] = json!("someone-else");
        let other = || Answer::ok(other.to_string());
        let server = HttpServer::start([inbox(&[node("A", -100)], None), other(), other()]);
        let mut bench = begun(&server).await;
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new.len(), 0);
        assert_eq!(polled.notes, ["the key is Kim Lee's now: what was in that inbox before is left alone"]);
    }
}

mod refusals {
    use super::*;

    async fn refused(answer: Answer) -> (ErrorClass, String) {
        let server = HttpServer::start([inbox(&[], None), answer, inbox(&[node("A", 60)], None)]);
        let mut bench = begun(&server).await;
        let before = bench.cursor.clone();
        let error = bench.poll().await.unwrap_err();
        assert_eq!(bench.cursor, before);
        let shown = chain(&error);
        assert!(!format!("{shown} {error:?}").contains("CANARY"), "{shown}");
        bench.clock.advance(Duration::from_secs(7200));
        assert_eq!(bench.poll().await.unwrap().new, ["A"], "healed");
        (error.class, shown)
    }

    #[tokio::test]
    async fn a_used_up_limit_hides_in_a_bad_request() {
        let answer = Answer::new(400, fixture("ratelimited.json"))
            .header("X-RateLimit-Requests-Remaining", "0")
            .header("X-RateLimit-Requests-Reset", "1796025690000")
            .header("X-RateLimit-Complexity-Remaining", "2900000")
            .header("X-RateLimit-Complexity-Reset", "1796029200000");
        let (class, shown) = refused(answer).await;
        assert_eq!(class, ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(90)) });
        assert!(shown.contains("Only 2500 requests"), "{shown}");
    }

    #[tokio::test]
    async fn a_limited_account_is_left_alone_until_then() {
        let answer = Answer::new(400, fixture("ratelimited.json"));
        let server = HttpServer::start([inbox(&[], None), answer, inbox(&[], None)]);
        let mut bench = begun(&server).await;
        bench.poll().await.unwrap_err();
        let again = bench.poll().await.unwrap_err();
        assert_eq!(again.class, ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(60)) });
        assert_eq!(server.seen().len(), 2, "nothing was asked meanwhile");
        bench.clock.advance(Duration::from_secs(61));
        bench.poll().await.unwrap();
    }

    #[tokio::test]
    async fn each_kind() {
        let graph = |status: u16, extensions: Json| {
            let body = json!({ "errors": [{ "message": "no", "extensions": extensions }] });
            Answer::new(status, body.to_string())
        };
        let auth = graph(400, json!({ "type": "authentication error", "code": "AUTHENTICATION_ERROR" }));
        assert_eq!(refused(auth).await.0, ErrorClass::Auth);
        assert_eq!(refused(Answer::new(401, "")).await.0, ErrorClass::Auth);
        assert_eq!(refused(graph(200, json!({ "type": "forbidden" }))).await.0, ErrorClass::Config);
        assert_eq!(refused(graph(500, json!({ "type": "internal error" }))).await.0, ErrorClass::NETWORK);
        let limited = Answer::new(429, "").header("Retry-After", "30");
        let until = NOW.plus(Duration::from_secs(30));
        assert_eq!(refused(limited).await.0, ErrorClass::RateLimited { until });
        assert_eq!(refused(Answer::new(503, "")).await.0, ErrorClass::NETWORK);
    }

    #[tokio::test]
    async fn garbage() {
        let page = Answer::ok("<!doctype html><title>Sign in").header("Content-Type", "text/html");
        let (class, shown) = refused(page).await;
        assert_eq!(class, ErrorClass::NETWORK);
        assert!(shown.contains("a web page came instead"), "{shown}");
        assert_eq!(refused(Answer::ok("{\"data\":{\"viewer\"")).await.0, ErrorClass::Permanent);
        assert_eq!(refused(Answer::ok("{\"data\":null}")).await.0, ErrorClass::NETWORK);
        let none = json!({ "data": { "viewer": viewer(), "notifications": null } }).to_string();
        assert_eq!(refused(Answer::ok(none)).await.0, ErrorClass::NETWORK);
        assert_eq!(refused(Answer::ok(fixture("inbox.json")).cut_in_answer()).await.0, ErrorClass::NETWORK);
    }

    #[tokio::test]
    async fn no_key_goes_to_another_host() {
        let elsewhere = HttpServer::always(inbox(&[], None));
        let answer = Answer::new(307, "").header("Location", &elsewhere.url("/graphql"));
        assert_eq!(refused(answer).await.0, ErrorClass::Config);
        assert_eq!(elsewhere.seen().len(), 0);
    }

    #[tokio::test]
    async fn a_key_of_another_workspace_is_not_used() {
        let mut other = viewer();
        other["organization"]["urlKey"] = json!("globex");
        let body = json!({ "data": { "viewer": other, "notifications": { "nodes": [] } } });
        let (class, shown) = refused(Answer::ok(body.to_string())).await;
        assert_eq!(class, ErrorClass::Config);
        assert!(shown.ends_with("the key belongs to the workspace globex, not to acme"), "{shown}");
    }
}

mod answering {
    use super::*;

    fn created(id: &str) -> Answer {
        let comment =
            json!({ "id": id, "url": format!("https://linear.app/acme/issue/ENG-12#comment-{id}") });
        Answer::ok(
            json!({ "data": { "commentCreate": { "success": true, "comment": comment } } }).to_string(),
        )
    }

    fn found(nodes: &[Json]) -> Answer {
        Answer::ok(json!({ "data": { "comments": { "nodes": nodes } } }).to_string())
    }

    fn standing(state: &str, labels: &[&str]) -> Answer {
        let states = json!([{ "id": "s-todo", "name": "Todo" }, { "id": "s-done", "name": "Done" }]);
        let issue = json!({ "id": "i-12", "identifier": "ENG-12", "labelIds": labels, "state": { "id": state },
            "assignee": null, "team": { "id": "t-1", "states": { "nodes": states } } });
        Answer::ok(json!({ "data": { "viewer": { "id": ME }, "issue": issue } }).to_string())
    }

    /// A bench, an item of the inbox and a reply to it.
    async fn reply(server: &HttpServer, body: &str, effects: &[&str]) -> (Bench, Item, OutboundAction) {
        server.push(Answer::ok(fixture("inbox.json")));
        let mut bench = bench(server).backlog(Backlog::All);
        let item = bench.poll().await.unwrap().items.remove(0);
        let mut action = bench.reply(&item, 7, body);
        action.envelope.effects = effects.iter().map(|text| Effect::parse(text)).collect();
        (bench, item, action)
    }

    #[tokio::test]
    async fn a_comment_under_the_first_of_its_thread_with_an_id_of_ours() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "On it.\u{200b}", &[]).await;
        let payload = bench.prepare(&action);
        assert_eq!(payload, bench.prepare(&action), "the same each time");
        server.push(created(&payload.marker));
        let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
        assert_eq!(receipt.remote_id, payload.marker);
        let input = asked(&server, 1)["variables"]["input"].clone();
        let expected =
            json!({ "id": payload.marker, "issueId": "i-12", "parentId": "c-0", "body": "On it." });
        assert_eq!(input, expected);
    }

    #[tokio::test]
    async fn a_lost_answer_ends_with_one_comment() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "On it.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(Answer::cut_after_body());
        let lost = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(lost.class, ErrorClass::Uncertain);
        // Not listed yet: too early to say.
        server.push(found(&[]));
        let early = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        assert_eq!(early, Confirmation::AskAgain);
        server.push(found(&[json!({ "id": payload.marker, "url": "https://linear.app/acme/x" })]));
        let sure = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        let Confirmation::Sent(receipt) = sure else { panic!("{sure:?}") };
        assert_eq!(receipt.remote_id, payload.marker);
        let writes = (0..server.seen().len())
            .filter(|nth| asked(&server, *nth)["query"].as_str().unwrap().starts_with("mutation"))
            .count();
        assert_eq!(writes, 1);
    }

    #[tokio::test]
    async fn what_never_arrived_may_go_again() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "On it.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(Answer::cut_before_body());
        let lost = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(lost.class, ErrorClass::Uncertain);
        bench.clock.advance(Duration::from_secs(31));
        server.push(found(&[]));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    }

    #[tokio::test]
    async fn an_id_that_is_there_already_is_our_own() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "On it.", &[]).await;
        let payload = bench.prepare(&action);
        let exists = json!({ "errors": [{ "message": "exists", "extensions": { "code": "INPUT_ERROR" } }] });
        server.push(Answer::ok(exists.to_string()));
        server.push(found(&[json!({ "id": payload.marker })]));
        assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap().remote_id, payload.marker);
        server.push(Answer::ok(exists.to_string()));
        server.push(found(&[]));
        assert_eq!(
            bench.connector.deliver(&action, &payload).await.unwrap_err().class,
            ErrorClass::Permanent
        );
    }

    #[tokio::test]
    async fn anything_but_a_no_is_uncertain() {
        let graph = |kind: &str| json!({ "errors": [{ "extensions": { "type": kind } }] }).to_string();
        let cases = [
            (Answer::new(502, "<html>"), ErrorClass::Uncertain),
            (Answer::ok("<html>").header("Content-Type", "text/html"), ErrorClass::Uncertain),
            (Answer::ok(graph("internal error")), ErrorClass::Uncertain),
            (Answer::ok("{\"data\":{\"commentCreate\":{\"success\":false}}}"), ErrorClass::Uncertain),
            (Answer::ok(graph("lock timeout")), ErrorClass::NETWORK),
            (Answer::new(401, ""), ErrorClass::Auth),
            (Answer::ok(graph("forbidden")), ErrorClass::Config),
        ];
        for (answer, class) in cases {
            let server = HttpServer::start([]);
            let (bench, _, action) = reply(&server, "On it.", &[]).await;
            let payload = bench.prepare(&action);
            server.push(answer.clone());
            let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
            assert_eq!(error.class, class, "{answer:?}");
        }
    }

    #[tokio::test]
    async fn our_own_comment_read_back_is_no_work() {
        let server = HttpServer::start([inbox(&[], None), comments(&[])]);
        let mut bench = bench_with(&server, "mine");
        bench.poll().await.unwrap();
        let mut mine = said("c9", 60, "On it.");
        mine["user"] = json!({ "id": ME, "name": "Pat" });
        server.push(inbox(&[], None));
        server.push(comments(&[mine]));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), &polled.items[0].disposition), (0, &Disposition::Own));
    }

    #[tokio::test]
    async fn effects_come_first_and_only_what_differs() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "Done.", &["state: done", "assign: me", "label: bug"]).await;
        let payload = bench.prepare(&action);
        let labels = json!({ "data": { "issueLabels": { "nodes": [{ "id": "l-bug", "name": "Bug" }] } } });
        let changed = json!({ "data": { "issueUpdate": { "success": true } } }).to_string();
        server.push(standing("s-todo", &["l-bug"]));
        server.push(Answer::ok(labels.to_string()));
        server.push(Answer::ok(changed));
        server.push(created(&payload.marker));
        bench.connector.deliver(&action, &payload).await.unwrap();
        let change = asked(&server, 3)["variables"].clone();
        assert_eq!(change, json!({ "issue": "i-12", "input": { "stateId": "s-done", "assigneeId": ME } }));
        assert!(asked(&server, 4)["query"].as_str().unwrap().contains("commentCreate"));
    }

    #[tokio::test]
    async fn effects_alone_need_no_comment_and_are_confirmed_by_how_it_stands() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "", &["state: Done"]).await;
        let payload = bench.prepare(&action);
        server.push(standing("s-todo", &[]));
        server.push(Answer::cut_after_body());
        let lost = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(lost.class, ErrorClass::Uncertain);
        server.push(standing("s-done", &[]));
        let sure = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        let Confirmation::Sent(receipt) = sure else { panic!("{sure:?}") };
        assert_eq!(receipt.evidence, "ENG-12: state: Done");
        server.push(standing("s-todo", &[]));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
    }

    #[tokio::test]
    async fn names_that_there_are_not_are_refused_before_anything_is_written() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "Done.", &["state: Finished"]).await;
        let payload = bench.prepare(&action);
        server.push(standing("s-todo", &[]));
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
        assert!(
            chain(&error).ends_with("the team has no state \"Finished\"; it has Todo, Done"),
            "{}",
            chain(&error)
        );
        assert_eq!(server.seen().len(), 2);
    }

    #[tokio::test]
    async fn what_cannot_be_sent_is_said_before_the_wire() {
        let server = HttpServer::start([]);
        let (bench, _, action) = reply(&server, "", &[]).await;
        let refused = |action: &OutboundAction| {
            let error = bench.connector.prepare(action, NOW).unwrap_err();
            assert_eq!(error.class, ErrorClass::Permanent);
            chain(&error)
        };
        assert!(refused(&action).ends_with("there is neither text nor anything else to do"));
        let long = OutboundAction { body: "x".repeat(65_537), ..action.clone() };
        assert!(refused(&long).ends_with("the text has 64 KB, more than 64 KB"), "{}", refused(&long));
        let mut nowhere = OutboundAction { body: "x".into(), ..action };
        nowhere.envelope.thread = json!({ "on": "teamId", "id": "x" });
        assert!(refused(&nowhere).ends_with("the draft does not say where it belongs"));
    }

    #[tokio::test]
    async fn who_it_is_is_known_without_asking() {
        let server = HttpServer::start([Answer::ok(json!({ "data": { "viewer": viewer() } }).to_string())]);
        let bench = bench(&server);
        assert_eq!(bench.connector.identity(), "acme@127.0.0.1");
        assert_eq!(bench.connector.destination(), "comments in linear.app/acme");
        assert_eq!(bench.connector.probe().await.unwrap(), "Kim Lee in linear.app/acme");
    }
}
