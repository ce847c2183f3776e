//! Cases from the field: pages with ties, etiquette, a first run, the own-comment loop, what is too large.

use workagent::model::class::ErrorClass;
use workagent::model::item::Backlog;
use workagent::model::marker;

use super::*;
use crate::support::http::{Answer, HttpServer};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/fixtures/github/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// S15: only the first page is read, or siblings of the newest are lost or come again.
mod page_drain_and_ties {
    use super::*;

    /// Seven notifications over three pages, newest first; the two newest share their second.
    fn window(server: &str) -> [Answer; 3] {
        let entry = |n: u64, second: u64| {
            format!(
                r#"{{"id": "{n}", "reason": "mention", "updated_at": "2026-11-30T08:01:{second:02}Z",
                 "subject": {{"title": "message {n}", "type": "Novelty"}}, "repository": {{"full_name": "a/b"}}}}"#
            )
        };
        let page = |entries: &[(u64, u64)], next: Option<u64>| {
            let list: Vec<String> = entries.iter().map(|(n, second)| entry(*n, *second)).collect();
            let answer = Answer::ok(format!("[{}]", list.join(",")));
            match next {
                Some(next) => {
                    answer.header("Link", &format!("<{server}/notifications?page={next}>; rel=\"next\""))
                }
                None => answer,
            }
        };
        [
            page(&[(7, 5), (6, 5), (5, 4)], Some(2)),
            page(&[(4, 3), (3, 2)], Some(3)),
            page(&[(2, 1), (1, 0)], None),
        ]
    }

    fn poll2() -> Answer {
        let entry = |n: u64, second: u64| {
            format!(
                r#"{{"id": "{n}", "reason": "mention", "updated_at": "2026-11-30T08:01:{second:02}Z",
                 "subject": {{"title": "message {n}", "type": "Novelty"}}, "repository": {{"full_name": "a/b"}}}}"#
            )
        };
        Answer::ok(format!("[{},{},{}]", entry(9, 6), entry(8, 5), entry(7, 5)))
    }

    #[tokio::test]
    async fn seven_then_nine_and_never_more() {
        let mut scene = Scene::new();
        scene.bench.poll().await.unwrap();
        scene.later(2 * MINUTE);
        for answer in window(&scene.hub.url()) {
            scene.hub.once("GET", "/notifications", answer);
        }
        assert_eq!(scene.bench.poll().await.unwrap().new.len(), 7);
        scene.hub.once("GET", "/notifications", poll2());
        let second = scene.bench.poll().await.unwrap();
        assert_eq!(second.new, ["message 8 (a/b)", "message 9 (a/b)"]);
        for _ in 0..3 {
            scene.hub.once("GET", "/notifications", poll2());
            assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0);
        }
    }

    #[tokio::test]
    async fn a_page_that_fails_moves_no_cursor() {
        for failure in [Answer::new(500, ""), Answer::cut_after_body(), Answer::ok("[").cut_in_answer()] {
            let mut scene = Scene::new();
            scene.bench.poll().await.unwrap();
            scene.later(2 * MINUTE);
            let before = scene.bench.cursor.clone();
            let [first, _, _] = window(&scene.hub.url());
            scene.hub.once("GET", "/notifications", first);
            scene.hub.once("GET", "/notifications", failure);
            scene.bench.poll().await.unwrap_err();
            assert_eq!(scene.bench.cursor, before);
            for answer in window(&scene.hub.url()) {
                scene.hub.once("GET", "/notifications", answer);
            }
            assert_eq!(scene.bench.poll().await.unwrap().new.len(), 7);
        }
    }
}

/// S16: validators, the server's interval, limits with and without a time.
mod github_etiquette {
    use super::*;

    #[tokio::test]
    async fn the_exchange() {
        let server = HttpServer::start([]);
        let list = fixture("S16/notifications.json").replace("http://127.0.0.1:18082", &server.url(""));
        let secondary = || Answer::new(403, fixture("S16/secondary.json"));
        for answer in [
            Answer::ok(r#"{"id": 1, "login": "pat"}"#),
            Answer::ok(list)
                .header("Last-Modified", "Mon, 30 Nov 2026 08:00:00 GMT")
                .header("ETag", "W/\"aa1\"")
                .header("X-Poll-Interval", "120"),
            Answer::new(304, "").header("X-Poll-Interval", "120"),
            secondary().header("Retry-After", "90").header("X-RateLimit-Remaining", "4911"),
            secondary().header("X-RateLimit-Remaining", "4910"),
            Answer::ok(fixture("S16/graphql-limited.json")),
            Answer::ok("[]"),
        ] {
            server.push(answer);
        }
        let keys = [("login", text("pat")), ("token", secret()), ("base_url", text(&server.url("")))];
        let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys);
        // 1: no validator.
        let first = bench.poll().await.unwrap();
        assert_eq!((first.new.len(), first.baseline), (0, 2));
        assert_eq!(first.last.unwrap().not_before, Some(2 * MINUTE));
        assert!(server.seen()[1].header("if-none-match").is_none());
        // 2: the validators of 1, to the letter; nothing was changed, nothing comes.
        bench.clock.advance(2 * MINUTE);
        let page = bench.page().await.unwrap();
        assert_eq!((page.items.len(), page.not_before, page.cursor), (0, Some(2 * MINUTE), None));
        let seen = server.seen();
        assert_eq!(seen[2].header("if-none-match"), Some("W/\"aa1\""));
        assert_eq!(seen[2].header("if-modified-since"), Some("Mon, 30 Nov 2026 08:00:00 GMT"));
        // 3 to 5: a limit with a time, one without, one inside a success.
        let mut waits = Vec::new();
        for _ in 0..3 {
            bench.clock.advance(2 * MINUTE);
            let ErrorClass::RateLimited { until } = bench.page().await.unwrap_err().class else { panic!() };
            let wait = until.since(bench.clock.now());
            waits.push(wait.as_secs());
            let asked = server.seen().len();
            bench.clock.advance(wait - Duration::from_secs(1));
            bench.page().await.unwrap_err();
            assert_eq!(server.seen().len(), asked, "no request leaves before its time");
        }
        assert_eq!(waits, [90, 60, 120]);
        // 6: after a wait that has grown.
        bench.clock.advance(Duration::from_secs(1));
        assert_eq!(bench.poll().await.unwrap().items.len(), 0);
        assert_eq!(server.seen().len(), 7);
    }
}

/// S18: what is already there becomes work, or an interrupted first walk begins anew.
mod first_run_backfill {
    use super::*;

    #[tokio::test]
    async fn a_pause_of_a_day() {
        let mut scene = Scene::new();
        for number in 1..=300 {
            scene.issue(number);
            scene.later(Duration::from_secs(1));
        }
        assert_eq!(scene.bench.backlog, Backlog::New);
        let first = scene.bench.poll().await.unwrap();
        assert_eq!(first.new.len(), 0);
        assert_eq!(
            first.notes,
            ["first poll: about 300 notifications found, 0 of them to be worked on (backlog = \"new\")"]
        );
        scene.bench.restart();
        scene.later(1440 * MINUTE);
        for number in 1001..=1040 {
            scene.issue(number);
        }
        let polled = scene.bench.poll().await.unwrap();
        assert_eq!(polled.new.len(), 40);
        assert!(polled.new.iter().all(|title| title.starts_with("Crash 10")), "{:?}", polled.new);
    }
}

/// S23: the agent's own comment is read back as a request.
mod own_comment_loop {
    use super::*;

    async fn read(own_comments: Option<&str>, marked: bool) -> Vec<String> {
        let own: Vec<(&str, Value)> =
            own_comments.map(|rule| ("own_comments", text(rule))).into_iter().collect();
        let mut scene = Scene::with(&own);
        scene.bench.poll().await.unwrap();
        scene.later(120 * MINUTE);
        let mut comments: Vec<serde_json::Value> =
            serde_json::from_str(&fixture("S23/comments.json")).unwrap();
        for comment in &mut comments {
            let user = comment.get_mut("user").unwrap();
            let mine = user.get("login").is_some_and(|login| login == "owner");
            user.as_object_mut().unwrap().insert("id".into(), serde_json::json!(if mine { 1 } else { 77 }));
            let comment = comment.as_object_mut().unwrap();
            let body = comment.get("body").unwrap().as_str().unwrap().replace("@owner", "@pat");
            let sent = ["701", "703"].contains(&comment.get("id").unwrap().to_string().as_str());
            // The platform's copy has other white space.
            let stamped = marker::stamp(&body, "wa-7-0123456789abcdef").replace('\n', "\r\n  ");
            let body = if sent && marked { stamped } else { body };
            comment.insert("body".into(), serde_json::json!(body));
        }
        scene.hub.hub().open("acme/app", 1, false, "kim", "Trace", "x");
        scene.hub.hub().notify(9001, "acme/app", 1, "mention");
        let answer = Answer::ok(serde_json::to_string(&comments).unwrap());
        scene.hub.once("GET", "/repos/acme/app/issues/1/comments", answer);
        let polled = scene.bench.poll().await.unwrap();
        let mut shown: Vec<String> = polled
            .items
            .iter()
            .filter(|item| item.kind == "comment")
            .map(|item| {
                let taken = match item.disposition {
                    Disposition::Work => "work",
                    Disposition::NoReply { .. } => "recorded",
                    Disposition::Own => "own",
                    _ => "else",
                };
                format!("{} {taken}", item.key.trim_start_matches("issue-comment:"))
            })
            .collect();
        shown.sort();
        shown
    }

    #[tokio::test]
    async fn by_the_mark_alone() {
        let taken = read(None, true).await;
        assert_eq!(taken, ["701 own", "702 work", "703 own", "704 recorded", "705 work"]);
        assert_eq!(read(Some("all"), true).await, ["701 own", "702 work", "703 own", "704 work", "705 work"]);
        assert_eq!(
            read(Some("none"), true).await,
            ["701 own", "702 recorded", "703 own", "704 recorded", "705 work"]
        );
    }

    /// The keys are those that receipts name, by which the record knows what it sent (see the way through the house).
    #[tokio::test]
    async fn by_the_ids_of_the_receipts() {
        let taken = read(Some("all"), false).await;
        assert_eq!(taken, ["701 work", "702 work", "703 work", "704 work", "705 work"]);
    }
}

/// S25: one huge text eats the memory, or loses silently what mattered.
mod oversized {
    use super::*;

    #[tokio::test]
    async fn a_body_of_two_megabytes_is_cut_and_says_so() {
        let mut scene = Scene::new();
        scene.bench.poll().await.unwrap();
        scene.later(MINUTE);
        scene.hub.hub().open("acme/app", 1, false, "kim", "Log", &"line of a log\n".repeat(150_000));
        scene.hub.hub().notify(9001, "acme/app", 1, "mention");
        let polled = scene.bench.poll().await.unwrap();
        let cut = polled.items[0].cut.unwrap();
        assert_eq!(polled.new.len(), 1);
        assert!(cut.total_bytes > 2_000_000 && cut.kept_bytes <= 64 * 1024, "{cut:?}");
        assert_eq!(scene.bench.poll().await.unwrap().items.len(), 0, "it is handled once");
    }
}
