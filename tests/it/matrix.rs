//! Matrix over a scripted homeserver: silent snapshots, gaps, edits, redactions, limits, lost answers.

#![expect(clippy::indexing_slicing, reason = "a test's helper fails the test")]

use serde_json::{Value as Json, json};
use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item};
use workagent::model::outbound::Confirmation;
use workagent::platform::matrix::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, Polled, secret, text};
use crate::support::http::{Answer, HttpServer, Seen};

fn fixture(name: &str) -> Answer {
    Answer::ok(std::fs::read(format!("tests/fixtures/matrix/{name}")).unwrap())
}

fn ok(body: Json) -> Answer {
    Answer::ok(body.to_string()).header("content-type", "application/json")
}

fn refusal(status: u16, body: Json) -> Answer {
    Answer::new(status, body.to_string()).header("content-type", "application/json")
}

/// Who the token belongs to, what we are called, which rooms are direct.
fn hello() -> [Answer; 3] {
    [
        ok(json!({"user_id": "@me:example.org", "device_id": "DEV"})),
        ok(json!({"displayname": "Kim"})),
        refusal(404, json!({"errcode": "M_NOT_FOUND", "error": "none"})),
    ]
}

fn bench_with(server: &HttpServer, more: &[(&str, Value)]) -> Bench {
    let mut keys =
        vec![("homeserver", text(&server.url(""))), ("user", text("@me:example.org")), ("token", secret())];
    keys.extend(more.iter().cloned());
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys)
}

fn bench(server: &HttpServer) -> Bench {
    bench_with(server, &[])
}

/// A bench behind its first, silent look.
async fn begun(server: &HttpServer) -> Bench {
    for answer in hello().into_iter().chain([fixture("snapshot.json")]) {
        server.push(answer);
    }
    let mut bench = bench(server);
    bench.poll().await.unwrap();
    bench
}

fn message(id: &str, sender: &str, body: &str) -> Json {
    json!({"type": "m.room.message", "event_id": id, "sender": sender, "origin_server_ts": NOW.0,
        "content": {"msgtype": "m.text", "body": body}})
}

/// An answer with these events in the room `!ops`.
fn news(next: &str, events: Vec<Json>) -> Json {
    json!({"next_batch": next, "rooms": {"join": {"!ops": {"timeline": {"events": events}}}}})
}

fn limited(next: &str, events: Vec<Json>) -> Answer {
    let timeline = json!({"events": events, "limited": true, "prev_batch": "p9"});
    ok(json!({"next_batch": next, "rooms": {"join": {"!ops": {"timeline": timeline}}}}))
}

fn shown(polled: &Polled) -> String {
    let line = |item: &Item| {
        let disposition = match &item.disposition {
            Disposition::NoReply { .. } => "no-reply".to_owned(),
            Disposition::Quarantined { .. } => "quarantined".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        format!(
            "{} {disposition} [{}] {} | {}",
            item.key,
            item.labels.join(" "),
            item.title,
            item.threads.join(" ")
        )
    };
    let notes = polled.notes.iter().map(|note| format!("note: {note}"));
    polled.items.iter().map(line).chain(notes).collect::<Vec<_>>().join("\n")
}

fn paths(server: &HttpServer) -> Vec<String> {
    let path = |seen: &Seen| seen.target.split('?').next().unwrap().replace("/_matrix/client/v3", "");
    server.seen().iter().map(|seen| format!("{} {}", seen.method, path(seen))).collect()
}

fn query(seen: &Seen, name: &str) -> Option<String> {
    let url = url::Url::parse(&format!("http://host{}", seen.target)).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn sent(seen: &Seen) -> Json {
    serde_json::from_slice(seen.body.as_ref().unwrap()).unwrap()
}

fn class(error: &PortError) -> &'static str {
    error.class.word()
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn the_first_look_is_silent_and_says_what_cannot_be_read() {
        let server = HttpServer::start(hello().into_iter().chain([fixture("snapshot.json")]));
        let mut bench = bench(&server);
        let first = bench.poll().await.unwrap();
        insta::assert_snapshot!(shown(&first), @r"
        note: the room Vault is encrypted; its messages cannot be read
        note: @bob:example.org invites you to the room Party; accept or decline in your Matrix client
        ");
        let sync = server.seen().pop().unwrap();
        assert_eq!(query(&sync, "since"), None);
        assert_eq!(query(&sync, "set_presence").as_deref(), Some("offline"));
        assert_eq!(query(&sync, "timeout").as_deref(), Some("0"));
        // Told again by the server, not by us; not after a restart either.
        bench.restart();
        hello().into_iter().for_each(|answer| server.push(answer));
        let encrypted = json!({"type": "m.room.encrypted", "event_id": "$e2", "sender": "@ann:example.org"});
        let invited = json!({"invite_state": {"events": []}});
        server.push(ok(json!({"next_batch": "s2", "rooms": {"invite": {"!party:example.org": invited},
            "join": {"!secret:example.org": {"timeline": {"events": [encrypted]}}}}})));
        let again = bench.poll().await.unwrap();
        assert_eq!(again.notes, Vec::<String>::new());
        assert_eq!(query(&server.seen().pop().unwrap(), "since").as_deref(), Some("s1"));
    }

    #[tokio::test]
    async fn which_messages_make_cases() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(fixture("news.json"));
        // The name of the direct room.
        server.push(refusal(404, json!({"errcode": "M_NOT_FOUND"})));
        let polled = bench.poll().await.unwrap();
        insta::assert_snapshot!(shown(&polled), @r"
        $mention work [mention] Ops: Kim: is the build broken? | $mention
        $mine own [] Ops: I look at it | $mine
        $answer work [reply] Ops: thanks | $answer $mine
        $thread work [reply] Ops: the same here | $thread $mine $root
        $notice no-reply [mention] Ops: @me:example.org build 7 failed | $notice
        $hello work [direct] Ann Lee: hello | $hello room !dm:example.org
        $nothing quarantined [direct] Ann Lee | $nothing room !dm:example.org
        $strange work [direct] Ann Lee: dances | $strange room !dm:example.org
        note: 2 events of !dm:example.org have no id or type and were left out
        ");
        assert_eq!(server.seen().len(), 6, "{:?}", paths(&server));
    }

    #[tokio::test]
    async fn a_reply_to_us_is_known_by_asking_once() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let reply = |id: &str| {
            let mut reply = message(id, "@ann:example.org", "yes");
            reply["content"]["m.relates_to"] = json!({"m.in_reply_to": {"event_id": "$old/mine"}});
            reply
        };
        server.push(ok(news("s2", vec![reply("$r1"), reply("$r2")])));
        server.push(ok(message("$old/mine", "@me:example.org", "what I said last year")));
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new, ["Ops: yes"; 2]);
        assert_eq!(paths(&server).pop().unwrap(), "GET /rooms/!ops/event/$old%2Fmine");
    }

    #[tokio::test]
    async fn a_list_of_rooms_keeps_the_others_out() {
        let server = HttpServer::start(hello().into_iter().chain([fixture("snapshot.json")]));
        let mut bench = bench_with(&server, &[("rooms", Value::List(vec!["!dm:example.org".into()]))]);
        assert!(bench.poll().await.unwrap().notes.is_empty());
        server.push(fixture("news.json"));
        server.push(ok(json!({"name": "Ann and me"})));
        let polled = bench.poll().await.unwrap();
        assert!(polled.items.iter().all(|item| item.title.starts_with("Ann and me")), "{}", shown(&polled));
        assert_eq!(polled.items.len(), 3);
        let filter = query(&server.seen()[4], "filter").unwrap();
        assert!(filter.contains("\"rooms\":[\"!dm:example.org\"]"), "{filter}");
    }

    #[tokio::test]
    async fn what_was_said_before_we_came_is_not_ours() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let member = |membership: &str, was: Json| {
            json!({"type": "m.room.member", "event_id": format!("${membership}"), "sender": "@ann:example.org",
                "state_key": "@me:example.org", "content": {"membership": membership},
                "unsigned": {"prev_content": was}})
        };
        let events = vec![
            message("$before", "@ann:example.org", "kim is slow"),
            member("invite", json!(null)),
            message("$with", "@ann:example.org", "hello kim"),
            member("join", json!({"membership": "invite"})),
            message("$after", "@ann:example.org", "welcome kim"),
        ];
        server.push(limited("s2", events));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: hello kim", "Ops: welcome kim"]);
    }

    #[tokio::test]
    async fn old_messages_only_where_the_unit_asks_for_them() {
        let day = 86_400_000;
        let aged = |id: &str, days: i64| {
            let mut message = message(id, "@ann:example.org", &format!("kim {id}"));
            message["origin_server_ts"] = json!(NOW.0 - days * day);
            message
        };
        for (backlog, expected) in [
            (
                Backlog::Since(std::time::Duration::from_secs(7 * 86_400)),
                vec!["Ops: kim $d1", "Ops: kim $d0"],
            ),
            (Backlog::All, vec!["Ops: kim $d9", "Ops: kim $d1", "Ops: kim $d0"]),
        ] {
            let server = HttpServer::start(hello());
            let named = json!({"events": [{"type": "m.room.name", "event_id": "$n", "state_key": "",
                "sender": "@a:x", "content": {"name": "Ops"}}]});
            let timeline = json!({"events": [aged("$d0", 0)], "limited": true, "prev_batch": "p0"});
            server.push(ok(json!({"next_batch": "s1",
                "rooms": {"join": {"!ops": {"state": named, "timeline": timeline}}}})));
            server.push(ok(json!({"chunk": [aged("$d1", 1), aged("$d9", 9)], "end": "p1"})));
            server.push(ok(json!({"chunk": []})));
            let polled = bench(&server).backlog(backlog).poll().await.unwrap();
            assert_eq!(polled.new, expected);
        }
    }
}

mod gaps {
    use super::*;

    fn numbered(range: std::ops::Range<i32>) -> Vec<Json> {
        range.map(|n| message(&format!("${n}"), "@ann:example.org", &format!("kim {n}"))).collect()
    }

    fn page(range: std::ops::Range<i32>, end: Option<&str>) -> Answer {
        let mut chunk = numbered(range);
        chunk.reverse();
        ok(json!({"chunk": chunk, "end": end}))
    }

    #[tokio::test]
    async fn three_pages_of_the_same_moment_with_an_overlap_come_once_each() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(limited("s2", numbered(200..220)));
        server.push(page(100..201, Some("p8")));
        server.push(page(0..101, Some("p7")));
        server.push(page(0..0, None));
        let polled = bench.poll().await.unwrap();
        let expected: Vec<String> = (0..220).map(|n| format!("Ops: kim {n}")).collect();
        assert_eq!(polled.new, expected);
        assert_eq!((polled.pages, polled.seen), (2, 0));
        let asked: Vec<_> =
            server.seen().iter().filter(|seen| seen.target.contains("/messages")).cloned().collect();
        assert_eq!(query(&asked[0], "from").as_deref(), Some("p9"));
        assert_eq!(query(&asked[0], "to").as_deref(), Some("s1"));
        assert_eq!(query(&asked[1], "from").as_deref(), Some("p8"));
        // The next look goes on from there.
        server.push(ok(news("s3", vec![])));
        bench.poll().await.unwrap();
        assert_eq!(query(&server.seen().pop().unwrap(), "since").as_deref(), Some("s2"));
    }

    #[tokio::test]
    async fn the_position_stays_until_all_is_handed_over() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        bench.items_max = 2;
        server.push(ok(news("s2", numbered(0..5))));
        let page = bench.page().await.unwrap();
        assert_eq!((page.items.len(), page.cursor, page.more), (2, None, true));
        // The daemon dies here: the same look again, and nothing is lost.
        bench.restart();
        hello().into_iter().for_each(|answer| server.push(answer));
        server.push(ok(news("s2", numbered(0..5))));
        // The name of the room is asked for anew.
        server.push(ok(json!({"name": "Ops"})));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.items.len(), polled.pages), (5, 3));
    }

    #[tokio::test]
    async fn a_gap_that_breaks_off_is_taken_up_where_it_was() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(limited("s2", numbered(5..6)));
        server.push(page(3..5, Some("p8")));
        server.push(Answer::cut_after_body());
        assert_eq!(class(&bench.poll().await.unwrap_err()), "network");
        server.push(page(1..3, None));
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new, ["Ops: kim 1", "Ops: kim 2", "Ops: kim 3", "Ops: kim 4", "Ops: kim 5"]);
        assert_eq!(query(&server.seen().pop().unwrap(), "from").as_deref(), Some("p8"));
    }

    #[tokio::test]
    async fn a_gap_without_end_is_bounded_and_said() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(limited("s2", numbered(5000..5001)));
        for n in 0..11 {
            let from = 4900 - n * 100;
            server.push(page(from..from + 100, Some(&format!("p{n}"))));
        }
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new.len(), 1001);
        assert_eq!(polled.notes.len(), 1, "{:?}", polled.notes);
        // The same end again is an end.
        server.push(limited("s3", vec![]));
        server.push(page(6000..6001, Some("p9")));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim 6000"]);
    }
}

mod changes {
    use super::*;

    fn edit(id: &str, target: &str, sender: &str, body: &str) -> Json {
        let mut edit = message(id, sender, &format!("* {body}"));
        edit["content"]["m.new_content"] = json!({"msgtype": "m.text", "body": body});
        edit["content"]["m.relates_to"] = json!({"rel_type": "m.replace", "event_id": target});
        edit
    }

    #[tokio::test]
    async fn the_newest_edit_wins_and_makes_no_second_case() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let mut late = edit("$e2", "$m", "@ann:example.org", "kim, look at B");
        late["origin_server_ts"] = json!(NOW.0 + 5);
        let early = edit("$e1", "$m", "@ann:example.org", "kim, look at A");
        server.push(ok(news("s2", vec![message("$m", "@ann:example.org", "kim, look"), late, early])));
        let polled = bench.poll().await.unwrap();
        assert_eq!(
            (polled.new, polled.updated),
            (vec!["Ops: kim, look".into()], vec!["Ops: kim, look at B".into()])
        );
    }

    #[tokio::test]
    async fn a_later_edit_keeps_the_way_back_to_the_thread() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let mut original = message("$m", "@ann:example.org", "kim?");
        original["content"]["m.relates_to"] = json!({"rel_type": "m.thread", "event_id": "$root"});
        // Not in a thread of ours.
        server.push(ok(news("s2", vec![original.clone()])));
        let first = bench.poll().await.unwrap();
        server.push(ok(news("s3", vec![edit("$e", "$m", "@ann:example.org", "kim!")])));
        server.push(ok(original));
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.updated, ["Ops: kim!"]);
        assert_eq!(polled.items[0].reply, first.items[0].reply);
        assert_eq!(polled.items[0].threads, ["$m", "$root"]);
    }

    #[tokio::test]
    async fn nobody_edits_the_words_of_others() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(ok(news(
            "s2",
            vec![
                message("$m", "@ann:example.org", "kim, look"),
                edit("$e", "$m", "@mallory:example.org", "kim, pay 100"),
            ],
        )));
        server.push(ok(message("$m", "@ann:example.org", "kim, look")));
        let polled = bench.poll().await.unwrap();
        assert_eq!((polled.items.len(), polled.updated.len()), (1, 0));
    }

    #[tokio::test]
    async fn an_edit_of_an_old_message_makes_a_case_only_if_it_calls_us() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let old = message("$old", "@ann:example.org", "somebody should look");
        server.push(ok(news("s2", vec![edit("$e1", "$old", "@ann:example.org", "somebody must look")])));
        server.push(ok(old.clone()));
        assert_eq!(bench.poll().await.unwrap().baseline, 1);
        let other = message("$older", "@ann:example.org", "who looks?");
        server.push(ok(news("s3", vec![edit("$e2", "$older", "@ann:example.org", "kim, do you look?")])));
        server.push(ok(other));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim, do you look?"]);
    }

    #[tokio::test]
    async fn a_removed_message_changes_its_item_and_makes_none() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let removal = |id: &str, target: &str| {
            json!({"type": "m.room.redaction", "event_id": id, "sender": "@ann:example.org", "redacts": target,
                "content": {"redacts": target}})
        };
        server.push(ok(news("s2", vec![message("$m", "@ann:example.org", "kim, look")])));
        bench.poll().await.unwrap();
        server.push(ok(news("s3", vec![removal("$r1", "$m"), removal("$r2", "$unknown")])));
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.updated, ["Ops: (message removed)"]);
        assert_eq!((polled.new.len(), polled.baseline), (0, 1));
    }
}

mod faults {
    use super::*;

    async fn error_of(answer: Answer) -> PortError {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let before = bench.cursor.clone();
        server.push(answer);
        let error = bench.poll().await.unwrap_err();
        assert_eq!(bench.cursor, before);
        error
    }

    fn wait(error: &PortError) -> u64 {
        let ErrorClass::RateLimited { until } = error.class else { panic!("{}", chain(error)) };
        until.since(NOW).as_secs()
    }

    #[tokio::test]
    async fn limits_in_the_header_and_in_the_body() {
        let body =
            json!({"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests", "retry_after_ms": 9000});
        assert_eq!(wait(&error_of(refusal(429, body.clone()).header("retry-after", "7")).await), 7);
        assert_eq!(wait(&error_of(refusal(429, body)).await), 9);
        assert_eq!(wait(&error_of(Answer::new(429, "slow down")).await), 60);
    }

    #[tokio::test]
    async fn a_limited_account_asks_nothing() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(refusal(429, json!({"errcode": "M_LIMIT_EXCEEDED"})).header("retry-after", "60"));
        bench.poll().await.unwrap_err();
        let asked = server.seen().len();
        assert_eq!(class(&bench.poll().await.unwrap_err()), "rate-limit");
        assert_eq!(server.seen().len(), asked);
        bench.clock.advance(std::time::Duration::from_secs(61));
        server.push(ok(news("s2", vec![])));
        bench.poll().await.unwrap();
    }

    #[tokio::test]
    async fn a_soft_logout_waits_for_a_new_token_and_heals() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let body = json!({"errcode": "M_UNKNOWN_TOKEN", "error": "expired", "soft_logout": true});
        server.push(refusal(401, body));
        let error = bench.poll().await.unwrap_err();
        assert_eq!(class(&error), "auth");
        assert!(
            chain(&error).contains("M_UNKNOWN_TOKEN: expired (the device may log in again"),
            "{}",
            chain(&error)
        );
        assert!(!chain(&error).contains("CANARY"));
        hello().into_iter().for_each(|answer| server.push(answer));
        server.push(ok(news("s2", vec![message("$m", "@ann:example.org", "kim")])));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim"]);
    }

    #[tokio::test]
    async fn somebody_elses_token_is_refused() {
        let server = HttpServer::start([ok(json!({"user_id": "@bob:example.org"}))]);
        let error = bench(&server).poll().await.unwrap_err();
        assert_eq!(class(&error), "config");
        assert!(chain(&error).contains("it belongs to @bob:example.org, and the unit says @me:example.org"));
    }

    #[tokio::test]
    async fn garbage_moves_nothing() {
        let html = Answer::ok("<html>log in</html>").header("content-type", "text/html");
        assert_eq!(class(&error_of(html).await), "network");
        assert_eq!(class(&error_of(Answer::ok("{\"next_batch\":\"s2\",\"rooms\":")).await), "permanent");
        for empty in ["{}", "[]", "null", "{\"next_batch\":5}"] {
            assert_eq!(class(&error_of(Answer::ok(empty)).await), "permanent", "{empty}");
        }
        assert_eq!(class(&error_of(Answer::ok("{\"next_batch\":\"s2\"}").cut_in_answer()).await), "network");
        assert_eq!(class(&error_of(Answer::new(502, "<html>")).await), "network");
        assert_eq!(class(&error_of(refusal(403, json!({"errcode": "M_FORBIDDEN"}))).await), "permanent");
    }

    #[tokio::test]
    async fn odd_shapes_inside_an_answer_are_stepped_over() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(ok(json!({"next_batch": "s2", "account_data": [], "rooms": {"join": {
            "!a": null, "!b": {"timeline": 5, "state": {"events": 7}}, "!c": {"timeline": {"events": [5, [], {}]}},
            "!ops": {"summary": [], "timeline": {"events": [message("$m", "@ann:example.org", "kim")]}}},
            "invite": [], "leave": null}})));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim"]);
    }

    #[tokio::test]
    async fn the_token_follows_no_redirect_to_another_host() {
        let elsewhere = HttpServer::always(ok(json!({"next_batch": "x"})));
        let error = error_of(Answer::new(302, "").header("location", &elsewhere.url("/steal"))).await;
        assert_eq!(class(&error), "config");
        assert!(elsewhere.seen().is_empty());
    }

    #[tokio::test]
    async fn a_server_that_forgot_us_starts_over_in_silence() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        server.push(refusal(400, json!({"errcode": "M_UNKNOWN", "error": "Invalid stream token"})));
        server.push(ok(news("s100", vec![message("$m", "@ann:example.org", "kim, from before")])));
        let polled = bench.poll().await.unwrap();
        assert!(polled.items.is_empty());
        assert_eq!(polled.notes.len(), 1);
        server.push(ok(news("s101", vec![message("$n", "@ann:example.org", "kim, now")])));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim, now"]);
    }
}

mod waiting {
    use super::*;

    #[tokio::test]
    async fn a_message_wakes_and_is_not_taken() {
        let server = HttpServer::start([]);
        let mut bench = begun(&server).await;
        let cursor = bench.cursor.clone();
        // Nothing at first, then something.
        server.push(ok(json!({"next_batch": "s1a"})));
        server.push(ok(news("s2", vec![message("$m", "@ann:example.org", "kim")])));
        bench.connector.changed(cursor.as_ref()).unwrap().await.unwrap();
        let seen = server.seen();
        assert_eq!(query(&seen[4], "since").as_deref(), Some("s1"));
        assert_eq!(query(&seen[4], "timeout").as_deref(), Some("30000"));
        assert_eq!(query(&seen[5], "since").as_deref(), Some("s1a"));
        assert!(query(&seen[4], "filter").unwrap().contains("\"not_senders\":[\"@me:example.org\"]"));
        // The poll asks from the stored position all the same.
        server.push(ok(news("s2", vec![message("$m", "@ann:example.org", "kim")])));
        assert_eq!(bench.poll().await.unwrap().new, ["Ops: kim"]);
        assert_eq!(query(&server.seen().pop().unwrap(), "since").as_deref(), Some("s1"));
    }

    #[tokio::test]
    async fn a_fault_ends_the_wait_and_the_unit_can_do_without() {
        let server = HttpServer::start([]);
        let bench = begun(&server).await;
        server.push(Answer::new(502, ""));
        assert!(bench.connector.changed(bench.cursor.as_ref()).unwrap().await.is_err());
        let still = bench_with(&server, &[("live", Value::Bool(false))]);
        assert!(still.connector.changed(None).is_none());
    }
}

mod sending {
    use super::*;

    /// A message to answer.
    async fn asked(server: &HttpServer) -> (Bench, Item) {
        let mut bench = begun(server).await;
        let mut question = message("$q", "@ann:example.org", "kim, is it broken?");
        question["content"]["m.relates_to"] = json!({"rel_type": "m.thread", "event_id": "$root",
            "m.in_reply_to": {"event_id": "$before"}, "is_falling_back": true});
        question["content"]["m.mentions"] = json!({"user_ids": ["@me:example.org"]});
        server.push(ok(news("s2", vec![question])));
        let item = bench.poll().await.unwrap().items.remove(0);
        (bench, item)
    }

    fn not_encrypted() -> Answer {
        refusal(404, json!({"errcode": "M_NOT_FOUND", "error": "no such state"}))
    }

    const PUT: &str = "PUT /rooms/!ops/send/m.room.message/wa-1-0123456789abcdef";

    #[tokio::test]
    async fn a_reply_stands_in_its_thread_and_pings_one() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let action = bench.reply(&item, 1, "No, @room, it is <b>fine</b>.");
        server.push(not_encrypted());
        server.push(ok(json!({"event_id": "$sent"})));
        let receipt = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap();
        assert_eq!(receipt.remote_id, "$sent");
        assert_eq!(paths(&server).pop().unwrap(), PUT);
        let body = sent(&server.seen().pop().unwrap());
        assert_eq!(
            body,
            json!({
                "msgtype": "m.text",
                "body": "No, @\u{200b}room, it is <b>fine</b>.",
                "m.mentions": {"user_ids": ["@ann:example.org"]},
                "m.relates_to": {"rel_type": "m.thread", "event_id": "$root", "is_falling_back": false,
                    "m.in_reply_to": {"event_id": "$q"}},
                "workagent.key": "wa-1-0123456789abcdef",
            })
        );
        // Read back, it is ours.
        server.push(ok(news("s3", vec![message("$sent", "@me:example.org", "No")])));
        let mut bench = bench;
        assert_eq!(bench.poll().await.unwrap().items[0].disposition, Disposition::Own);
    }

    #[tokio::test]
    async fn a_lost_answer_ends_with_one_message() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let action = bench.reply(&item, 1, "No.");
        let payload = bench.prepare(&action);
        server.push(not_encrypted());
        server.push(Answer::cut_after_body());
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(class(&error), "uncertain");
        let mut found = message("$sent", "@me:example.org", "No.");
        found["content"]["workagent.key"] = json!(action.key);
        server.push(ok(json!({"chunk": [message("$x", "@me:example.org", "other"), found], "end": "p1"})));
        let confirmation = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        assert!(matches!(confirmation, Confirmation::Sent(receipt) if receipt.remote_id == "$sent"));
        let writes = paths(&server).into_iter().filter(|path| path.starts_with("PUT")).count();
        assert_eq!(writes, 1);
        let asked = server.seen().pop().unwrap();
        assert!(query(&asked, "filter").unwrap().contains("\"senders\":[\"@me:example.org\"]"));
    }

    #[tokio::test]
    async fn what_did_not_arrive_goes_again_under_the_same_name() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let action = bench.reply(&item, 1, "No.");
        let payload = bench.prepare(&action);
        server.push(not_encrypted());
        server.push(Answer::cut_before_body());
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "uncertain");
        // An older message of ours: everything since then was seen.
        let mut old = message("$old", "@me:example.org", "old");
        old["origin_server_ts"] = json!(NOW.0 - 86_400_000);
        server.push(ok(json!({"chunk": [old], "end": "p1"})));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
        server.push(not_encrypted());
        server.push(ok(json!({"event_id": "$sent"})));
        bench.connector.deliver(&action, &payload).await.unwrap();
        let writes: Vec<_> = paths(&server).into_iter().filter(|path| path.starts_with("PUT")).collect();
        assert_eq!(writes, [PUT, PUT]);
    }

    #[tokio::test]
    async fn a_search_without_end_leaves_it_to_the_user() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let action = bench.reply(&item, 1, "No.");
        let payload = bench.prepare(&action);
        for n in 0..10 {
            server
                .push(ok(json!({"chunk": [message("$x", "@me:example.org", "x")], "end": format!("p{n}")})));
        }
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::CannotTell);
        server.push(Answer::new(502, ""));
        assert!(bench.connector.confirm(&action, &payload, NOW).await.is_err());
    }

    #[tokio::test]
    async fn refusals_before_and_after_the_wire() {
        let outcome = async |status: u16, body: Json| {
            let server = HttpServer::start([]);
            let (bench, item) = asked(&server).await;
            let action = bench.reply(&item, 1, "No.");
            server.push(not_encrypted());
            server.push(refusal(status, body));
            class(&bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap_err())
        };
        assert_eq!(outcome(403, json!({"errcode": "M_FORBIDDEN"})).await, "permanent");
        assert_eq!(
            outcome(429, json!({"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 100})).await,
            "rate-limit"
        );
        assert_eq!(outcome(401, json!({"errcode": "M_UNKNOWN_TOKEN"})).await, "auth");
        assert_eq!(outcome(502, json!({})).await, "uncertain");
        assert_eq!(outcome(200, json!({"ok": true})).await, "uncertain");
    }

    #[tokio::test]
    async fn nothing_is_said_in_the_clear_where_encryption_came() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let action = bench.reply(&item, 1, "No.");
        for (answer, expected) in [
            (ok(json!({"algorithm": "m.megolm.v1.aes-sha2"})), "permanent"),
            (refusal(403, json!({"errcode": "M_FORBIDDEN"})), "permanent"),
            // Of a proxy, which knows nothing of the room.
            (Answer::new(404, "<h1>Not Found</h1>"), "permanent"),
            (refusal(404, json!({"errcode": "M_UNRECOGNIZED"})), "permanent"),
            (Answer::cut_before_body(), "network"),
        ] {
            server.push(answer);
            let error = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap_err();
            assert_eq!(class(&error), expected);
        }
        assert!(paths(&server).iter().all(|path| !path.starts_with("PUT")));
    }

    #[tokio::test]
    async fn what_cannot_be_sent_is_refused_before_the_wire() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let refused = |change: &dyn Fn(&mut workagent::model::outbound::OutboundAction)| {
            let mut action = bench.reply(&item, 1, "No.");
            change(&mut action);
            let error = bench.connector.prepare(&action, NOW).unwrap_err();
            assert_eq!(class(&error), "permanent");
            chain(&error)
        };
        assert!(refused(&|action| action.body = "x".repeat(62_000)).contains("more than a message may have"));
        refused(&|action| action.body = " \n".into());
        refused(&|action| action.envelope.to = vec!["#ops:example.org".into()]);
        refused(&|action| action.envelope.to.clear());
        refused(&|action| action.envelope.effects = vec![Effect::plain("close")]);
        refused(&|action| action.envelope.effects = vec![Effect::with("react", "hello")]);
    }

    #[tokio::test]
    async fn a_reaction_goes_first_and_may_go_again() {
        let server = HttpServer::start([]);
        let (bench, item) = asked(&server).await;
        let mut action = bench.reply(&item, 1, "");
        action.envelope.effects = vec![Effect::with("react", "👍")];
        let payload = bench.prepare(&action);
        server.push(not_encrypted());
        server.push(Answer::cut_after_body());
        assert_eq!(class(&bench.connector.deliver(&action, &payload).await.unwrap_err()), "uncertain");
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
        server.push(not_encrypted());
        server.push(refusal(400, json!({"errcode": "M_DUPLICATE_ANNOTATION", "error": "again"})));
        bench.connector.deliver(&action, &payload).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert!(seen.target.ends_with("/send/m.reaction/wa-1-0123456789abcdef-react-0"), "{}", seen.target);
        let relates = json!({"rel_type": "m.annotation", "event_id": "$q", "key": "👍"});
        assert_eq!(sent(&seen), json!({"m.relates_to": relates}));
    }
}
