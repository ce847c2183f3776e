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
        insta::assert_snapshot!(shown.join("\n"), @"");
        insta::assert_snapshot!(item(&polled, "comment:903").body, @"");
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

mod over_time {
    use super::*;

    #[tokio::test]
    async fn relative_minutes_and_never_a_date() {
        // The server's clock is two minutes ahead, and the account's zone is not ours.
        let server =
            HttpServer::start([myself().header("date", "Mon, 30 Nov 2026 08:02:00 GMT"), found(&[], None)]);
        let mut bench = bench(&server);
        let first = bench.poll().await.unwrap();
        assert!(first.notes.iter().any(|note| note.contains("clock")), "{:?}", first.notes);
        bench.clock.advance(Duration::from_secs(600));
        server.push(found(&[issue(1, 5)], None));
        server.push(comments(&[comment(50, "kim-1", 5, "New")]));
        assert_eq!(bench.poll().await.unwrap().new, ["APP-1 S1"]);
        bench.clock.advance(Duration::from_secs(3600));
        server.push(found(&[issue(1, 5)], None));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
        let mine = "(assignee = currentUser() OR reporter = currentUser() OR watcher = currentUser())";
        let expected =
            [15, 25, 82].map(|minutes| format!("{mine} AND updated >= \"-{minutes}m\" ORDER BY updated ASC"));
        assert_eq!(jqls(&server), expected);
    }

    #[tokio::test]
    async fn what_was_there_is_no_work() {
        let server = HttpServer::start([myself(), found(&[issue(1, 0)], None)]);
        let mut bench = bench(&server);
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
        server.push(found(&[issue(1, 5)], None));
        let old = json!({"id": "40", "author": {"accountId": "kim-1"}, "created": "2026-11-30T07:59:00.000+0000", "body": null});
        server.push(comments(&[comment(50, "kim-1", 5, "New"), old]));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.items[0].key.as_str()), (1, "comment:50"));
    }

    #[tokio::test]
    async fn three_pages_with_a_tie_at_the_border() {
        let server = HttpServer::start([myself()]);
        for (issues, token) in [([1, 2], Some("a")), ([3, 4], Some("b")), ([4, 5], None)] {
            server.push(found(&issues.map(|id| issue(id, 5)), token));
            for id in issues.into_iter().filter(|id| (*id, token) != (4, None)) {
                server.push(comments(&[comment(100 + id, "kim-1", 5, "x")]));
            }
        }
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.pages), (5, 3));
        let tokens: Vec<Option<String>> = server
            .seen()
            .iter()
            .filter(|seen| seen.target.contains("/search/jql"))
            .map(|seen| query(seen, "nextPageToken"))
            .collect();
        assert_eq!(tokens, [None, Some("a".to_owned()), Some("b".to_owned())]);
        // The same once more, as the look-back finds it: one request.
        let before = server.seen().len();
        server.push(found(&[1, 2, 3, 4, 5].map(|id| issue(id, 5)), None));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
        assert_eq!(server.seen().len(), before + 1);
    }

    #[tokio::test]
    async fn what_the_index_finds_late_is_not_lost() {
        let server = HttpServer::start([
            myself(),
            found(&[issue(2, 9)], None),
            comments(&[comment(52, "kim-1", 9, "b")]),
        ]);
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
        bench.poll().await.unwrap();
        // Changed before the other, and found after it.
        server.push(found(&[issue(1, 3), issue(2, 9)], None));
        server.push(comments(&[comment(51, "kim-1", 3, "a")]));
        assert_eq!(bench.poll().await.unwrap().new, ["APP-1 S1"]);
    }

    #[tokio::test]
    async fn a_position_given_twice_and_one_no_longer_known() {
        let server = HttpServer::start([myself(), found(&[], Some("a")), found(&[], Some("a"))]);
        let mut bench = bench(&server);
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.pages, 2);
        assert!(polled.notes[0].contains("the same page"), "{:?}", polled.notes);
        server.push(found(&[], Some("b")));
        let no = r#"{"errorMessages":["The page token is invalid or expired."],"errors":{}}"#;
        server.push(Answer::new(400, no));
        server.push(found(&[], None));
        let polled = bench.poll().await.unwrap();
        assert!(polled.notes[0].contains("begins anew"), "{:?}", polled.notes);
        // Again and again is a fault.
        server.push(found(&[], Some("b")));
        server.push(Answer::new(400, no));
        server.push(found(&[], Some("c")));
        server.push(Answer::new(400, no));
        assert_eq!(bench.poll().await.unwrap_err().class, ErrorClass::Permanent);
    }

    #[tokio::test]
    async fn edits_assignments_and_own_comments() {
        let server = HttpServer::start([myself(), found(&[], None)]);
        let mut bench = bench(&server);
        bench.poll().await.unwrap();
        let mut ours = comment(51, "me-1", 6, "Sent for me");
        ours["properties"] = json!([{"key": "workagent.action", "value": {"id": KEY}}]);
        let mut theirs = comment(53, "kim-1", 6, "With a mark like ours");
        theirs["properties"] = ours["properties"].clone();
        let mut assigned = issue(1, 6);
        assigned["changelog"] = json!({"histories": [
            {"id": "9", "author": {"accountId": "kim-1", "displayName": "Kim"}, "created": minute(6),
                "items": [{"field": "assignee", "to": "me-1"}]},
            {"id": "8", "author": {"accountId": "me-1"}, "created": minute(6), "items": [{"field": "assignee", "to": "me-1"}]}]});
        server.push(found(&[assigned], None));
        let said = [theirs, comment(52, "me-1", 6, "Typed"), ours, comment(50, "kim-1", 5, "Old")];
        server.push(comments(&said));
        let polled = bench.poll().await.unwrap();
        let own: Vec<&str> = polled
            .items
            .iter()
            .filter(|item| item.disposition == Disposition::Own)
            .map(|item| item.key.as_str())
            .collect();
        assert_eq!(own, ["comment:51", "comment:52"]);
        assert!(item(&polled, "change:9").body.starts_with("[Kim assigned it to you]"));
        assert_eq!(polled.new.len(), 3);
        server.push(found(&[issue(1, 7)], None));
        server.push(comments(&[comment(50, "kim-1", 5, "Old, and better")]));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.updated.len()), (0, 1));
    }

    #[tokio::test]
    async fn a_small_page_takes_more_turns_and_loses_nothing() {
        let server = HttpServer::start([myself()]);
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
        bench.items_max = 2;
        let said =
            |id: u64| comments(&[comment(2 * id, "kim-1", 5, "x"), comment(2 * id + 1, "kim-1", 5, "y")]);
        for known in 0..3 {
            server.push(found(&[1, 2, 3].map(|id| issue(id, 5)), None));
            // The next one is read, and kept only if there is room.
            (known + 1..=3).take(2).for_each(|id| server.push(said(id)));
        }
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.new.len(), polled.pages), (6, 3));
    }
}

mod trouble {
    use super::*;

    async fn refused(answer: Answer) -> (PortError, HttpServer, Bench) {
        let server = HttpServer::start([myself(), answer]);
        let mut bench = bench(&server).backlog(Backlog::All);
        let error = bench.poll().await.unwrap_err();
        (error, server, bench)
    }

    #[tokio::test]
    async fn limits_of_each_kind() {
        let wait_s = async |answer: Answer| {
            let (error, server, mut bench) = refused(answer).await;
            let ErrorClass::RateLimited { until } = error.class else { panic!("{:?}", error.class) };
            assert!(matches!(bench.poll().await.unwrap_err().class, ErrorClass::RateLimited { .. }));
            assert_eq!(server.seen().len(), 2, "the account rests");
            (until.since(NOW).as_secs(), chain(&error))
        };
        let limit = || Answer::new(429, r#"{"errorMessages":["Rate limit exceeded."],"errors":{}}"#);
        let reason = limit().header("retry-after", "7").header("ratelimit-reason", "jira-burst-based");
        let (wait, said) = wait_s(reason).await;
        assert_eq!(wait, 7);
        assert!(said.ends_with("Rate limit exceeded. (jira-burst-based)"), "{said}");
        let reset =
            limit().header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "2026-11-30T08:05Z");
        assert_eq!(wait_s(reset).await.0, 300);
        assert_eq!(wait_s(limit()).await.0, 60);
        assert_eq!(wait_s(Answer::new(503, "<html>").header("retry-after", "30")).await.0, 30);
    }

    #[tokio::test]
    async fn a_refused_token_as_a_web_page_and_a_new_one() {
        let server = HttpServer::start([
            Answer::new(401, "<html>Unauthorized</html>").header("content-type", "text/html")
        ]);
        let mut bench = bench(&server);
        let error = bench.poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Auth);
        assert!(!chain(&error).contains("CANARY"));
        server.push(myself());
        server.push(found(&[], None));
        bench.poll().await.unwrap();
    }

    #[tokio::test]
    async fn the_old_search_is_gone_on_cloud() {
        let gone = r#"{"errorMessages":["The requested API has been removed. Please migrate to /rest/api/3/search/jql."]}"#;
        let server = HttpServer::start([myself(), Answer::new(410, gone)]);
        let keys = [("url", text(&server.url(""))), ("token", secret()), ("deployment", text("data-center"))];
        let error = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys).poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Config);
        assert!(
            chain(&error).ends_with("this is Jira Cloud: set `deployment = \"cloud\"`"),
            "{}",
            chain(&error)
        );
    }

    #[tokio::test]
    async fn answers_that_are_none_take_nothing_away() {
        let html = Answer::ok("<html>Log in</html>").header("content-type", "text/html");
        let (error, server, mut bench) = refused(html).await;
        assert_eq!(error.class, ErrorClass::NETWORK);
        for bad in [
            Answer::ok("{\"issues\": ["),
            Answer::ok("{}"),
            Answer::ok("[]"),
            Answer::new(500, ""),
            found(&[], None).cut_in_answer(),
        ] {
            server.push(bad);
            bench.poll().await.unwrap_err();
        }
        assert_eq!(bench.cursor, None);
        let bad = r#"{"errorMessages":["Field 'asignee' does not exist."],"errors":{}}"#;
        let (error, ..) = refused(Answer::new(400, bad)).await;
        assert_eq!(error.class, ErrorClass::Permanent);
        assert!(chain(&error).ends_with("Field 'asignee' does not exist."), "{}", chain(&error));
    }

    #[tokio::test]
    async fn the_token_goes_to_no_other_host() {
        let other = HttpServer::always(found(&[], None));
        let (error, ..) =
            refused(Answer::new(302, "").header("location", &other.url("/rest/api/3/search/jql"))).await;
        assert_eq!(error.class, ErrorClass::Config);
        assert_eq!(other.seen().len(), 0);
    }

    #[tokio::test]
    async fn comments_that_may_not_be_read_hold_up_nothing() {
        let no = Answer::new(
            404,
            r#"{"errorMessages":["Issue does not exist or you do not have permission to see it."]}"#,
        );
        let server = HttpServer::start([
            myself(),
            found(&[issue(1, 5), issue(2, 5)], None),
            no,
            comments(&[comment(5, "kim-1", 5, "x")]),
        ]);
        let polled =
            bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400))).poll().await.unwrap();
        assert_eq!(
            (polled.new, polled.notes),
            (vec!["APP-2 S2".to_owned()], vec!["the comments of APP-1 cannot be read".to_owned()])
        );
    }

    #[tokio::test]
    async fn what_was_read_before_a_limit_is_kept() {
        let server = HttpServer::start([
            myself(),
            found(&[issue(1, 5), issue(2, 5)], None),
            comments(&[comment(51, "kim-1", 5, "x")]),
            Answer::new(429, "").header("retry-after", "30"),
        ]);
        let mut bench = bench(&server).backlog(Backlog::Since(Duration::from_secs(86_400)));
        let first = bench.page().await.unwrap();
        assert_eq!((first.items.len(), first.more), (1, true));
        bench.page().await.unwrap_err();
        bench.clock.advance(Duration::from_secs(31));
        server.push(found(&[issue(1, 5), issue(2, 5)], None));
        server.push(comments(&[comment(52, "kim-1", 5, "x")]));
        assert_eq!(bench.poll().await.unwrap().new, ["APP-2 S2"]);
    }

    #[tokio::test]
    async fn a_token_with_scopes_has_another_address() {
        let server = HttpServer::start([
            myself(),
            Answer::ok(r#"{"baseUrl":"https://example.atlassian.net"}"#),
            found(&[issue(1, 5)], None),
            comments(&[comment(5, "kim-1", 5, "x")]),
        ]);
        let base = server.url("/ex/jira/0a1b");
        let polled = with(&server, &[("url", text(&base))])
            .backlog(Backlog::Since(Duration::from_secs(86_400)))
            .poll()
            .await
            .unwrap();
        assert!(server.seen().iter().all(|seen| seen.target.starts_with("/ex/jira/0a1b/rest/api/3/")));
        assert_eq!(
            polled.items[0].url.as_deref(),
            Some("https://example.atlassian.net/browse/APP-1?focusedCommentId=5")
        );
    }
}

mod answering {
    use super::*;

    /// An answer to the question in the fixtures.
    async fn question(body: &str, effects: &[&str]) -> (HttpServer, Bench, OutboundAction) {
        let (server, bench, polled) = fixtures().await;
        let mut action = bench.reply(item(&polled, "comment:903"), 7, body);
        action.envelope.effects = effects.iter().map(|text| Effect::parse(text)).collect();
        action.sending_at = Some(NOW);
        (server, bench, action)
    }

    fn written(id: u64) -> Answer {
        Answer::new(201, json!({ "id": id.to_string() }).to_string())
    }

    fn state(status: &str) -> Answer {
        Answer::ok(json!({"id": "10012", "fields": {"status": {"name": status}, "labels": ["start"], "assignee": {"accountId": "me-1"}}}).to_string())
    }

    fn ways() -> Answer {
        Answer::ok(
            json!({"transitions": [{"id": "21", "name": "Start work", "to": {"name": "In Progress"}},
            {"id": "31", "name": "Resolve", "to": {"name": "Done"}}]})
            .to_string(),
        )
    }

    fn writes(server: &HttpServer) -> Vec<(String, Json)> {
        let writes = server.seen().into_iter().filter(|seen| seen.method != "GET");
        writes
            .map(|seen| {
                (
                    path(&seen),
                    serde_json::from_slice(seen.body.as_deref().unwrap_or(b"null")).unwrap_or_default(),
                )
            })
            .collect()
    }

    #[tokio::test]
    async fn as_a_document_in_its_thread_with_a_mark() {
        let (server, bench, action) = question("No, **not** `it`.\n\n- @all", &[]).await;
        let payload = bench.prepare(&action);
        server.push(written(990));
        let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
        assert_eq!(receipt.remote_id, "comment:990");
        let sent = writes(&server);
        assert_eq!(sent[0].0, "POST 3/issue/10012/comment");
        assert_eq!(
            sent[0].1,
            json!({"parentId": 901, "properties": [{"key": "workagent.action", "value": {"id": KEY}}],
                "body": {"type": "doc", "version": 1, "content": [
                    {"type": "paragraph", "content": [{"type": "text", "text": "No, "},
                        {"type": "text", "text": "not", "marks": [{"type": "strong"}]}, {"type": "text", "text": " "},
                        {"type": "text", "text": "it", "marks": [{"type": "code"}]}, {"type": "text", "text": "."}]},
                    {"type": "bulletList", "content": [{"type": "listItem", "content": [
                        {"type": "paragraph", "content": [{"type": "text", "text": "@all"}]}]}]}]}})
        );
    }

    #[tokio::test]
    async fn effects_come_first_and_only_what_is_not_so() {
        let (server, bench, action) =
            question("Done.", &["label: done", "label: start", "assign: Kim Lee", "transition: resolve"])
                .await;
        server.push(state("To Do"));
        server.push(Answer::new(204, ""));
        server.push(Answer::ok(json!([{"accountId": "kim-1", "displayName": "Kim Lee"}, {"accountId": "k2", "displayName": "Kim Leeds"}]).to_string()));
        server.push(Answer::new(204, ""));
        server.push(ways());
        server.push(Answer::new(204, ""));
        server.push(written(990));
        let payload = bench.prepare(&action);
        bench.connector.deliver(&action, &payload).await.unwrap();
        let mut sent = writes(&server);
        assert_eq!(sent.pop().unwrap().0, "POST 3/issue/10012/comment");
        assert_eq!(
            sent,
            [
                ("PUT 3/issue/10012".to_owned(), json!({"update": {"labels": [{"add": "done"}]}})),
                ("PUT 3/issue/10012/assignee".to_owned(), json!({"accountId": "kim-1"})),
                ("POST 3/issue/10012/transitions".to_owned(), json!({"transition": {"id": "31"}})),
            ]
        );
    }

    #[tokio::test]
    async fn a_transition_that_is_behind_us_is_no_fault() {
        // By the name of the status it leads to.
        let (server, bench, action) = question("", &["transition: Done"]).await;
        let payload = bench.prepare(&action);
        server.push(state("Done"));
        bench.connector.deliver(&action, &payload).await.unwrap();
        assert_eq!(writes(&server).len(), 0);
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
        // By its own name, which is no longer offered: our own step is in the history.
        let (server, bench, action) = question("", &["transition: Resolve"]).await;
        let payload = bench.prepare(&action);
        server.push(state("To Do"));
        server.push(ways());
        server.push(Answer::cut_after_body());
        assert_eq!(bench.connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::NETWORK);
        let history = |author: &str| {
            Answer::ok(json!({"id": "10012", "fields": {"status": {"name": "Done"}}, "changelog": {"histories": [
                {"id": "1", "author": {"accountId": author}, "created": minute(0), "items": [{"field": "status", "to": "5"}]}]}}).to_string())
        };
        let none = || Answer::ok(r#"{"transitions":[]}"#);
        server.push(history("me-1"));
        server.push(none());
        bench.connector.deliver(&action, &payload).await.unwrap();
        assert_eq!(writes(&server).len(), 1);
        // Somebody else's step is not ours.
        server.push(history("kim-1"));
        server.push(none());
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
        assert!(
            chain(&error).ends_with("there is no transition Resolve from Done; there is: none"),
            "{}",
            chain(&error)
        );
    }

    #[tokio::test]
    async fn a_lost_answer_is_looked_for_and_sent_once() {
        let lost = [
            Answer::cut_after_body(),
            Answer::new(502, "<html>"),
            Answer::ok("<html>").header("content-type", "text/html"),
        ];
        for lost in lost {
            let (server, bench, action) = question("Yes.", &[]).await;
            let payload = bench.prepare(&action);
            server.push(lost);
            assert_eq!(
                bench.connector.deliver(&action, &payload).await.unwrap_err().class,
                ErrorClass::Uncertain
            );
            let mut there = comment(990, "me-1", 0, "Yes.");
            there["properties"] = writes(&server)[0].1["properties"].clone();
            let mut copied = comment(992, "kim-1", 1, "Yes.");
            copied["properties"] = there["properties"].clone();
            server.push(comments(&[copied, comment(991, "me-1", 1, "Other"), there]));
            let Confirmation::Sent(receipt) = bench.connector.confirm(&action, &payload, NOW).await.unwrap()
            else {
                panic!("not found")
            };
            assert_eq!(receipt.remote_id, "comment:990");
            assert_eq!(writes(&server).len(), 1);
            let asked = server.seen().pop().unwrap();
            assert_eq!(query(&asked, "expand").as_deref(), Some("properties"));
            assert_eq!(query(&asked, "orderBy").as_deref(), Some("-created"));
        }
    }

    #[tokio::test]
    async fn a_server_that_keeps_no_properties_is_known_by_our_words() {
        let (server, bench, action) = question("Yes, **at once**.", &[]).await;
        let payload = bench.prepare(&action);
        let mut there = comment(990, "me-1", 0, "");
        there["body"] = serde_json::from_slice::<Json>(&payload.bytes).unwrap()["body"].clone();
        server.push(comments(&[there]));
        assert!(matches!(
            bench.connector.confirm(&action, &payload, NOW).await.unwrap(),
            Confirmation::Sent(_)
        ));
    }

    #[tokio::test]
    async fn what_never_left_is_sent_again_and_chatter_is_for_a_person() {
        let (server, bench, action) = question("Yes.", &[]).await;
        let payload = bench.prepare(&action);
        server.push(Answer::cut_before_body());
        assert_eq!(
            bench.connector.deliver(&action, &payload).await.unwrap_err().class,
            ErrorClass::Uncertain
        );
        let none = || comments(&[comment(1, "kim-1", 0, "Older")]);
        server.push(none());
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::AskAgain);
        bench.clock.advance(Duration::from_secs(30));
        server.push(none());
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
        for _ in 0..5 {
            server.push(comments(&(0..100).map(|id| comment(id, "kim-1", 5, "chatter")).collect::<Vec<_>>()));
        }
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::CannotTell);
    }

    #[tokio::test]
    async fn refusals_say_why_in_the_servers_words() {
        let (server, bench, action) = question("Yes.", &[]).await;
        let payload = bench.prepare(&action);
        for (status, class) in [
            (400, ErrorClass::Permanent),
            (403, ErrorClass::Permanent),
            (404, ErrorClass::Permanent),
            (413, ErrorClass::Permanent),
            (401, ErrorClass::Auth),
        ] {
            server.push(Answer::new(status, r#"{"errorMessages":[],"errors":{"comment":"no"}}"#));
            let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
            assert_eq!(error.class, class);
            assert!(chain(&error).ends_with("comment no"), "{}", chain(&error));
        }
    }

    #[tokio::test]
    async fn nothing_that_cannot_be_is_prepared() {
        let (_, bench, action) = question("Yes.", &[]).await;
        let no = |action: &OutboundAction| {
            let error = bench.connector.prepare(action, NOW).unwrap_err();
            assert_eq!(error.class, ErrorClass::Permanent);
            chain(&error)
        };
        assert!(no(&OutboundAction { body: String::new(), ..action.clone() }).ends_with("it is empty"));
        let long = OutboundAction { body: "ü".repeat(32_768), ..action.clone() };
        assert!(no(&long).ends_with("Jira's bound"), "{}", no(&long));
        for (effect, why) in [("label: two words", "no blanks"), ("close", "nothing that can be done")] {
            let mut with = action.clone();
            with.envelope.effects = vec![Effect::parse(effect)];
            assert!(no(&with).contains(why), "{}", no(&with));
        }
    }

    #[tokio::test]
    async fn data_center_speaks_version_2_and_wiki_markup() {
        let server =
            HttpServer::start([Answer::ok(r#"{"key":"JIRAUSER1","name":"me","displayName":"My Self"}"#)]);
        let mut asked = issue(1, 5);
        asked["fields"]["assignee"] = json!({"key": "JIRAUSER1", "name": "me"});
        let page =
            |issues: &[Json]| Answer::ok(json!({"startAt": 0, "total": 7, "issues": issues}).to_string());
        server.push(page(&[asked.clone()]));
        server.push(Answer::ok(
            json!({"comments": [{"id": "5", "author": {"key": "K", "name": "kim", "displayName": "Kim"},
            "body": "[~me] h1. ready?", "created": minute(5)}]})
            .to_string(),
        ));
        server.push(page(&[]));
        let keys =
            [("url", text(&server.url("/jira"))), ("token", secret()), ("deployment", text("data-center"))];
        let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
            .backlog(Backlog::Since(Duration::from_secs(86_400)));
        let polled = bench.poll().await.unwrap();
        assert!(polled.items[0].body.starts_with("[~me] h1. ready?"));
        let seen = server.seen();
        assert_eq!(seen[1].header("authorization"), Some("Bearer CANARY-secret-1"));
        let starts: Vec<Option<String>> = seen
            .iter()
            .filter(|seen| seen.target.starts_with("/jira/rest/api/2/search?"))
            .map(|seen| query(seen, "startAt"))
            .collect();
        assert_eq!(starts, [Some("0".to_owned()), Some("1".to_owned())]);
        let action =
            OutboundAction { sending_at: Some(NOW), ..bench.reply(&polled.items[0], 7, "**Yes**, [~kim]") };
        let payload = bench.prepare(&action);
        server.push(Answer::cut_after_body());
        assert_eq!(
            bench.connector.deliver(&action, &payload).await.unwrap_err().class,
            ErrorClass::Uncertain
        );
        let sent: Json =
            serde_json::from_slice(server.seen().last().unwrap().body.as_ref().unwrap()).unwrap();
        assert_eq!(sent, json!({ "body": format!("*Yes*, \\[~kim\\]\n{{anchor:{KEY}}}") }));
        server.push(Answer::ok(
            json!({"comments": [{"id": "9", "author": {"key": "JIRAUSER1"}, "created": minute(0),
            "body": sent["body"].as_str().unwrap().replace('\n', "\r\n")}]})
            .to_string(),
        ));
        assert!(matches!(
            bench.connector.confirm(&action, &payload, NOW).await.unwrap(),
            Confirmation::Sent(_)
        ));
    }

    #[tokio::test]
    async fn the_probe_says_who_and_where() {
        let server = HttpServer::start([myself(), found(&[issue(1, 5)], Some("more"))]);
        let said = bench(&server).connector.probe().await.unwrap();
        assert!(
            said.starts_with("My Self at 127.0.0.1:")
                && said.ends_with(" as me@example.org, 1 and more issues found"),
            "{said}"
        );
    }
}
