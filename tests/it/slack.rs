//! Slack by itself against a double: what is read, what is new, limits, and messages of ours. The socket is in
//! `slack_socket`.

use std::time::Duration;

use serde_json::{Value as Json, json};
use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item};
use workagent::model::outbound::{Confirmation, OutboundAction};
use workagent::platform::slack::SPEC;
use workagent::unit::value::Value;

use super::support::connector::{Bench, NOW, Polled, secret, text};
use super::support::http::{Answer, HttpServer};
use super::support::slack::{ME, Slack, refused};

fn keys(slack: &Slack) -> Vec<(&'static str, Value)> {
    vec![("workspace", text("acme")), ("token", secret()), ("base_url", text(&slack.url()))]
}

fn bench(slack: &Slack) -> Bench {
    Bench::new(&SPEC, "/nonexistent".as_ref(), &keys(slack))
}

/// So many seconds after the beginning.
fn ts(seconds: i64) -> String {
    format!("{}.000100", NOW.0 / 1000 + seconds)
}

/// Begun with a channel C1 and a direct conversation D1.
async fn begun() -> (Slack, Bench) {
    let slack = Slack::start();
    slack.channel("C1", "channel").channel("D1", "im");
    let mut bench = bench(&slack);
    bench.poll().await.unwrap();
    slack.called();
    (slack, bench)
}

/// Polls, and tells the connector that the pages are in the record.
async fn look(bench: &mut Bench) -> Polled {
    let polled = bench.poll().await.unwrap();
    let keys: Vec<String> = polled.items.iter().map(|item| item.key.clone()).collect();
    bench.connector.committed(&keys).await.unwrap();
    polled
}

fn none() -> Json {
    json!({})
}

mod reading {
    use super::*;

    #[tokio::test]
    async fn what_is_said_to_us_and_nothing_else() {
        let (slack, mut bench) = begun().await;
        slack
            .say("C1", &ts(10), "UPAT", "nothing to do with you", none())
            .say("C1", &ts(11), "UPAT", "<@UME> can you look?", none())
            .say("C1", &ts(12), "UPAT", "", json!({ "subtype": "channel_join" }))
            .say("D1", &ts(13), "UPAT", "hello", none())
            .say("D1", &ts(14), ME, "hi Pat", none());
        let polled = look(&mut bench).await;
        assert_eq!(polled.new, ["@Name of UME can you look?", "hello"]);
        let mention = polled.items.iter().find(|item| item.key.starts_with("C1")).unwrap();
        assert_eq!(mention.author.as_ref().unwrap().name, "Name of UPAT");
        assert_eq!(mention.url.as_deref(), Some("https://acme.slack.com/archives/C1/p1796025611000100"));
        assert_eq!(mention.labels, ["#name-of-C1"]);
        let own = polled.items.iter().find(|item| item.disposition == Disposition::Own).unwrap();
        assert_eq!(own.body, "hi Pat");
        assert_eq!(look(&mut bench).await.items.len(), 0, "nothing is given twice");
    }

    #[tokio::test]
    async fn a_page_as_slack_sends_it() {
        let (slack, mut bench) = begun().await;
        let path = format!("{}/tests/fixtures/slack/history.json", env!("CARGO_MANIFEST_DIR"));
        slack.fault("conversations.history", Answer::ok(std::fs::read(path).unwrap()));
        let polled = look(&mut bench).await;
        let shown: Vec<String> = polled
            .items
            .iter()
            .map(|item| {
                let by = item.author.as_ref().map_or("", |author| author.name.as_str());
                let word = match &item.disposition {
                    Disposition::NoReply { .. } => "no reply",
                    Disposition::Quarantined { .. } => "quarantined",
                    Disposition::Work => "work",
                    _ => "other",
                };
                format!("{by} | {word} | {}", item.title)
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        Name of UPAT | work | <draft> see the plan (https://example.org/plan?a=1&b=2), @Name of UME — ok?
        Name of UPAT | work | <draft> see the plan (https://example.org/plan?a=1&b=2), @Name of UME — ok?
        deploys | no reply | for @Name of UME: web 1.2 is out
        Name of USAM | work | @Name of UME file
        Name of USAM | work | @Name of UME lunch?
         | quarantined | A message in #name-of-C1 that could not be read
        ");
        assert_eq!((polled.new.len(), polled.seen), (5, 1), "one message under two ids");
        assert_eq!(polled.items[0].hidden.len(), 1);
        assert_eq!(polled.items[3].attachments.len(), 2);
    }

    #[tokio::test]
    async fn a_message_of_next_year_hides_nothing_of_this_one() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(365 * 86_400), "UPAT", "from the future", none());
        slack.say("D1", &ts(10), "UPAT", "now", none());
        assert_eq!(look(&mut bench).await.new.len(), 2);
        bench.clock.advance(Duration::from_secs(7200));
        slack.say("D1", &ts(7000), "UPAT", "later", none());
        assert_eq!(look(&mut bench).await.new, ["later"]);
    }

    #[tokio::test]
    async fn every_message_if_the_unit_says_so() {
        let slack = Slack::start();
        slack.channel("C1", "channel");
        let keys = [keys(&slack), vec![("read", text("all"))]].concat();
        let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys);
        bench.poll().await.unwrap();
        slack.say("C1", &ts(10), "UPAT", "one", none()).say("C1", &ts(11), "UPAT", "two", none());
        assert_eq!(look(&mut bench).await.new, ["two", "one"]);
    }

    #[tokio::test]
    async fn asks_as_slack_wants_it() {
        let (slack, mut bench) = begun().await;
        look(&mut bench).await;
        let asked = slack.arguments();
        let (method, arguments, _) = &asked[0];
        assert_eq!(method, "conversations.history");
        let shown: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["channel=C1", "limit=200", "oldest=1796025600.000000"]);
        assert!(
            slack.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer CANARY-secret-1"))
        );
        assert!(slack.seen().iter().all(|seen| !seen.target.contains("CANARY")));
    }

    #[tokio::test]
    async fn answers_in_a_thread_are_not_in_the_history() {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), "UPAT", "<@UME> ping", none());
        let first = look(&mut bench).await;
        // Hours later, under the old message, by somebody who does not mention us.
        bench.clock.advance(Duration::from_secs(10_000));
        slack.say("C1", &ts(9000), "USAM", "me too", json!({ "thread_ts": ts(10) }));
        bench.restart();
        let polled = look(&mut bench).await;
        assert_eq!(polled.new, ["me too"]);
        assert_eq!(polled.items.last().unwrap().threads, first.items[0].threads);
    }

    #[tokio::test]
    async fn a_thread_of_others_is_left_alone() {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), "UPAT", "lunch?", json!({ "reply_count": 1, "thread_ts": ts(10) })).say(
            "C1",
            &ts(11),
            "USAM",
            "yes",
            json!({ "thread_ts": ts(10) }),
        );
        assert_eq!(look(&mut bench).await.items.len(), 0);
        assert!(!slack.called().contains(&"conversations.replies".to_owned()));
    }

    #[tokio::test]
    async fn answers_to_our_own_message_are_for_us() {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), ME, "who knows?", json!({ "reply_count": 1, "thread_ts": ts(10) })).say(
            "C1",
            &ts(11),
            "USAM",
            "I do",
            json!({ "thread_ts": ts(10) }),
        );
        // The thread is met with its first message, and has its turn in the next round.
        let mut new = look(&mut bench).await.new;
        new.extend(look(&mut bench).await.new);
        assert_eq!(new, ["I do"]);
    }

    #[tokio::test]
    async fn one_message_under_two_ids_is_one() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(10), "UPAT", "hello", json!({ "client_msg_id": "m-1" })).say(
            "D1",
            &ts(11),
            "UPAT",
            "hello",
            json!({ "client_msg_id": "m-1" }),
        );
        let polled = look(&mut bench).await;
        assert_eq!((polled.new.len(), polled.seen), (1, 1));
    }

    #[tokio::test]
    async fn edits_and_deletions() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(10), "UPAT", "hey", none());
        look(&mut bench).await;
        slack.change("D1", &ts(10), json!({ "text": "hello", "edited": { "user": "UPAT", "ts": ts(20) } }));
        assert_eq!(look(&mut bench).await.updated, ["hello"]);
        assert_eq!(look(&mut bench).await.items.len(), 0);
        slack.change("D1", &ts(10), json!({ "subtype": "tombstone", "text": "This message was deleted." }));
        let polled = look(&mut bench).await;
        assert_eq!((polled.updated.len(), polled.new.len()), (1, 0));
        assert_eq!(polled.items[0].warnings, ["it was deleted"]);
    }

    #[tokio::test]
    async fn bots_and_garbage() {
        let (slack, mut bench) = begun().await;
        slack
            .say(
                "D1",
                &ts(10),
                "UBOT",
                "build failed",
                json!({ "bot_id": "B1", "subtype": "bot_message", "user": null }),
            )
            .say("D1", &ts(11), "UPAT", "", json!({ "text": ["not", "a", "text"] }))
            .say("D1", &ts(12), "UPAT", "", json!({ "text": null, "files": null, "user": null }));
        let polled = look(&mut bench).await;
        let kinds: Vec<&str> = polled
            .items
            .iter()
            .map(|item| match item.disposition {
                Disposition::NoReply { .. } => "no reply",
                Disposition::Quarantined { .. } => "quarantined",
                _ => "work",
            })
            .collect();
        assert_eq!(kinds, ["work", "quarantined", "no reply"]);
    }

    #[tokio::test]
    async fn a_new_conversation_loses_nothing() {
        let (slack, mut bench) = begun().await;
        bench.clock.advance(Duration::from_secs(200));
        slack.channel("D2", "im").say("D2", &ts(150), "UPAT", "first word", none());
        assert_eq!(look(&mut bench).await.new.len(), 0, "not listed yet");
        bench.clock.advance(Duration::from_secs(200));
        assert_eq!(look(&mut bench).await.new, ["first word"]);
    }
}

mod paging {
    use super::*;

    #[tokio::test]
    async fn three_pages_of_the_same_second() {
        let (slack, mut bench) = begun().await;
        slack.messages_max(100);
        for n in 0..250 {
            slack.say("D1", &format!("1796025610.{n:06}"), "UPAT", &format!("m{n}"), none());
        }
        let polled = look(&mut bench).await;
        assert_eq!((polled.new.len(), polled.baseline), (250, 0));
        assert_eq!(look(&mut bench).await.new.len(), 0);
        slack.say("D1", "1796025610.000250", "UPAT", "the next", none());
        assert_eq!(look(&mut bench).await.new, ["the next"]);
    }

    #[tokio::test]
    async fn a_walk_goes_on_after_a_restart_and_moves_nothing_before_its_end() {
        let (slack, mut bench) = begun().await;
        slack.messages_max(30);
        bench.items_max = 30;
        for n in 0..70 {
            slack.say("D1", &ts(10 + n), "UPAT", &format!("m{n}"), none());
        }
        let first = bench.page().await.unwrap();
        assert_eq!((first.items.len(), first.more), (30, true));
        bench.restart();
        let mut rest = bench.poll().await.unwrap().items;
        rest.extend(first.items);
        let mut keys: Vec<_> = rest.into_iter().map(|item| item.key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 70);
    }

    #[tokio::test]
    async fn a_forgotten_place_begins_the_list_again() {
        let (slack, mut bench) = begun().await;
        slack.messages_max(20);
        for n in 0..30 {
            slack.say("D1", &ts(10 + n), "UPAT", &format!("m{n}"), none());
        }
        let polled = {
            bench.items_max = 20;
            bench.page().await.unwrap();
            slack.fault("conversations.history", refused("invalid_cursor"));
            bench.poll().await.unwrap()
        };
        assert!(
            polled.notes.iter().any(|note| note.starts_with("a list was begun again")),
            "{:?}",
            polled.notes
        );
        assert_eq!(polled.new.len() + polled.seen, 30);
    }

    #[tokio::test]
    async fn many_conversations_take_turns() {
        let slack = Slack::start();
        for n in 0..100 {
            slack.channel(&format!("D{n:03}"), "im");
        }
        let mut bench = bench(&slack);
        bench.poll().await.unwrap();
        for n in 0..100 {
            slack.say(&format!("D{n:03}"), &ts(10), "UPAT", &format!("m{n}"), none());
        }
        slack.called();
        let mut new = 0;
        for _ in 0..3 {
            new += look(&mut bench).await.new.len();
            let histories = slack.called().iter().filter(|method| *method == "conversations.history").count();
            assert!(histories <= 40, "{histories}");
        }
        assert_eq!(new, 100);
    }
}

mod backlog {
    use super::*;

    async fn with(backlog: Backlog) -> Polled {
        let slack = Slack::start();
        slack.channel("D1", "im").say("D1", &ts(-90_000), "UPAT", "old", none()).say(
            "D1",
            &ts(-100),
            "UPAT",
            "young",
            none(),
        );
        let mut bench = bench(&slack).backlog(backlog);
        let mut polled = look(&mut bench).await;
        slack.say("D1", &ts(10), "UPAT", "new", none());
        polled.new.extend(look(&mut bench).await.new);
        polled
    }

    #[tokio::test]
    async fn what_was_there_before_is_no_work() {
        let polled = with(Backlog::New).await;
        assert_eq!(polled.new, ["new"]);
        assert_eq!(polled.notes, ["first poll: 1 conversations, read from now on (backlog = \"new\")"]);
        assert_eq!(with(Backlog::Since(Duration::from_secs(3600))).await.new, ["young", "new"]);
        assert_eq!(with(Backlog::All).await.new, ["young", "old", "new"]);
    }
}

mod refusals {
    use super::*;

    /// The class of a poll in which the first look into a conversation met this; afterwards all is found.
    async fn met(answer: Answer) -> (ErrorClass, String) {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), "UPAT", "<@UME> hello", none());
        slack.fault("conversations.history", answer);
        let before = bench.cursor.clone();
        let error = bench.poll().await.unwrap_err();
        assert_eq!(bench.cursor, before);
        let shown = chain(&error);
        assert!(!format!("{shown} {error:?}").contains("CANARY"), "{shown}");
        bench.clock.advance(Duration::from_secs(7200));
        assert_eq!(look(&mut bench).await.new.len(), 1, "healed");
        (error.class, shown)
    }

    #[tokio::test]
    async fn each_kind() {
        assert_eq!(met(refused("invalid_auth")).await.0, ErrorClass::Auth);
        assert_eq!(met(refused("token_expired")).await.0, ErrorClass::Auth);
        assert_eq!(met(refused("internal_error")).await.0, ErrorClass::NETWORK);
        assert_eq!(met(Answer::new(401, "")).await.0, ErrorClass::Auth);
        assert_eq!(met(Answer::new(503, "")).await.0, ErrorClass::NETWORK);
        let until = NOW.plus(Duration::from_secs(30));
        let limited = Answer::new(429, "").header("Retry-After", "30");
        assert_eq!(met(limited).await.0, ErrorClass::RateLimited { until });
    }

    #[tokio::test]
    async fn garbage() {
        let page = Answer::ok("<!doctype html><title>Sign in").header("Content-Type", "text/html");
        let (class, shown) = met(page).await;
        assert_eq!(class, ErrorClass::NETWORK);
        assert!(shown.contains("a web page came instead"), "{shown}");
        assert_eq!(met(Answer::ok("{\"ok\":tr")).await.0, ErrorClass::Permanent);
        assert_eq!(met(Answer::ok("[]")).await.0, ErrorClass::NETWORK);
        assert_eq!(met(Answer::ok("{}")).await.0, ErrorClass::NETWORK);
        assert_eq!(met(Answer::ok("{\"ok\":true}").cut_in_answer()).await.0, ErrorClass::NETWORK);
    }

    #[tokio::test]
    async fn no_token_goes_to_another_host() {
        let elsewhere = HttpServer::always(Answer::ok("{\"ok\":true}"));
        let answer = Answer::new(302, "").header("Location", &elsewhere.url("/api/conversations.history"));
        assert_eq!(met(answer).await.0, ErrorClass::Config);
        assert_eq!(elsewhere.seen().len(), 0);
    }

    #[tokio::test]
    async fn a_limit_in_the_middle_keeps_what_was_taken() {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), "UPAT", "<@UME> hello", none()).say("D1", &ts(11), "UPAT", "hi", none());
        // The first look goes well.
        slack.fault_after(
            "conversations.history",
            Answer::ok(
                json!({ "ok": true, "messages": [
            { "ts": ts(10), "user": "UPAT", "text": "<@UME> hello" }] })
                .to_string(),
            ),
        );
        slack.fault("conversations.history", Answer::new(429, "").header("Retry-After", "20"));
        let polled = look(&mut bench).await;
        assert_eq!((polled.new.len(), polled.pages), (1, 1));
        assert_eq!(polled.last.unwrap().not_before, Some(Duration::from_secs(20)));
        bench.clock.advance(Duration::from_secs(21));
        assert_eq!(look(&mut bench).await.new, ["hi"]);
    }

    #[tokio::test]
    async fn a_method_that_rests_is_not_asked_and_others_are() {
        let (slack, mut bench) = begun().await;
        slack.fault("conversations.history", Answer::new(429, "").header("Retry-After", "30"));
        bench.poll().await.unwrap_err();
        slack.called();
        let again = bench.poll().await.unwrap_err();
        assert_eq!(again.class, ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(30)) });
        assert_eq!(slack.called(), [""; 0]);
        assert!(bench.connector.probe().await.is_ok());
    }

    #[tokio::test]
    async fn one_conversation_that_cannot_be_read_is_one() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(11), "UPAT", "hi", none());
        let missing = json!({ "ok": false, "error": "missing_scope", "needed": "channels:history" });
        slack.fault("conversations.history", Answer::ok(missing.to_string()));
        let polled = look(&mut bench).await;
        assert_eq!(polled.new, ["hi"]);
        assert_eq!(polled.notes, ["#name-of-C1 cannot be read: the app has not the scope channels:history"]);
    }

    #[tokio::test]
    async fn an_app_that_gets_little_goes_slowly() {
        let (slack, mut bench) = begun().await;
        slack.messages_max(15);
        for n in 0..40 {
            slack.say("C1", &ts(10 + n), "UPAT", &format!("<@UME> m{n}"), none());
        }
        let polled = look(&mut bench).await;
        assert!(polled.notes.iter().any(|note| note.contains("one look a minute")), "{:?}", polled.notes);
        slack.say("D1", &ts(100), "UPAT", "hi", none());
        let mut new = polled.new.len();
        for _ in 0..12 {
            slack.called();
            let polled = look(&mut bench).await;
            new += polled.new.len();
            assert!(slack.called().iter().filter(|method| method.starts_with("conversations.")).count() <= 1);
            assert_eq!(polled.last.unwrap().not_before, Some(Duration::from_secs(60)));
            bench.clock.advance(Duration::from_secs(60));
        }
        assert_eq!(new, 41, "all the same, nothing is lost");
    }

    #[tokio::test]
    async fn a_minute_of_waiting_is_the_slow_limit() {
        let (slack, mut bench) = begun().await;
        slack.fault("conversations.history", Answer::new(429, "").header("Retry-After", "60"));
        bench.poll().await.unwrap_err();
        bench.clock.advance(Duration::from_secs(61));
        let polled = look(&mut bench).await;
        assert!(polled.notes.iter().any(|note| note.contains("one look a minute")));
    }

    #[tokio::test]
    async fn a_token_of_another_workspace_is_not_used() {
        let slack = Slack::start();
        let other =
            json!({ "ok": true, "url": "https://globex.slack.com/", "user_id": "U9", "team_id": "T9" });
        slack.fault("auth.test", Answer::ok(other.to_string()));
        let error = bench(&slack).poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Config);
        assert!(
            chain(&error).ends_with("the token belongs to the workspace globex, not to acme"),
            "{}",
            chain(&error)
        );
    }

    #[tokio::test]
    async fn another_persons_token_makes_no_work_of_their_past() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(10), "UPAT", "for somebody else", none());
        let other = json!({ "ok": true, "url": "https://acme.slack.com/", "user_id": "U9", "user": "pat" });
        slack.fault("auth.test", Answer::ok(other.to_string()));
        bench.restart();
        bench.clock.advance(Duration::from_secs(60));
        let polled = look(&mut bench).await;
        assert_eq!(polled.new.len(), 0);
        assert!(polled.notes[0].starts_with("the token is pat's now"), "{:?}", polled.notes);
    }

    #[tokio::test]
    async fn people_without_names_are_ids() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(10), "UPAT", "hi <@USAM>", none());
        slack.fault("users.info", refused("missing_scope"));
        let polled = look(&mut bench).await;
        assert_eq!(polled.new, ["hi @USAM"]);
        assert!(polled.notes[0].contains("users:read"), "{:?}", polled.notes);
    }
}

mod answering {
    use super::*;

    async fn reply(body: &str) -> (Slack, Bench, Item, OutboundAction) {
        let (slack, mut bench) = begun().await;
        slack.say("C1", &ts(10), "UPAT", "<@UME> ping", none());
        let item = look(&mut bench).await.items.remove(0);
        let action = bench.reply(&item, 7, body);
        slack.called();
        (slack, bench, item, action)
    }

    #[tokio::test]
    async fn in_the_thread_with_a_marker() {
        let (slack, bench, _, action) = reply("On it, **now**. @channel <!here>").await;
        let payload = bench.prepare(&action);
        assert_eq!(payload, bench.prepare(&action), "the same each time");
        let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
        assert_eq!(receipt.remote_id, "C1:1796025700.000001");
        let (method, _, body) = slack.arguments().remove(0);
        assert_eq!(method, "chat.postMessage");
        let body = body.unwrap();
        assert_eq!(body["client_msg_id"].as_str().unwrap().len(), 36);
        let mut rest = body;
        rest.as_object_mut().unwrap().remove("client_msg_id");
        let expected = json!({
            "channel": "C1",
            "markdown_text": "On it, **now**. @\u{2060}channel <\u{2060}!here>",
            "unfurl_links": false,
            "unfurl_media": false,
            "metadata": { "event_type": "workagent_action", "event_payload": { "id": action.key } },
            "thread_ts": ts(10),
        });
        assert_eq!(rest, expected);
    }

    #[tokio::test]
    async fn in_a_direct_conversation_below() {
        let (slack, mut bench) = begun().await;
        slack.say("D1", &ts(10), "UPAT", "hi", none());
        let item = look(&mut bench).await.items.remove(0);
        let action = bench.reply(&item, 7, "Hello");
        let payload = bench.prepare(&action);
        let body: Json = serde_json::from_slice(&payload.bytes).unwrap();
        assert_eq!((body["channel"].as_str(), body.get("thread_ts")), (Some("D1"), None));
    }

    #[tokio::test]
    async fn a_lost_answer_ends_with_one_message() {
        let (slack, bench, _, action) = reply("On it.").await;
        let payload = bench.prepare(&action);
        slack.fault_after("chat.postMessage", Answer::cut_after_body());
        let lost = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(lost.class, ErrorClass::Uncertain);
        let sure = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        let Confirmation::Sent(receipt) = sure else { panic!("{sure:?}") };
        assert_eq!(receipt.remote_id, "C1:1796025700.000001");
        let calls = slack.arguments();
        let (method, arguments, _) = &calls[2];
        assert_eq!(method, "conversations.replies");
        assert_eq!(arguments["oldest"], "1796025540.000000");
        assert_eq!(arguments["include_all_metadata"], "true");
        assert_eq!(slack.texts("C1"), ["<@UME> ping", "On it."], "posted once");
    }

    #[tokio::test]
    async fn the_look_needs_the_marker_not_the_text() {
        let (slack, bench, _, action) = reply("On it.").await;
        let payload = bench.prepare(&action);
        slack.say("C1", &ts(20), ME, "On it.", json!({ "thread_ts": ts(10) }));
        let early = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        assert_eq!(early, Confirmation::AskAgain);
        bench.clock.advance(Duration::from_secs(31));
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::NotSent);
        // Behind more than can be looked through, nothing is said.
        slack.messages_max(1);
        for n in 0..9 {
            slack.say("C1", &ts(30 + n), "UPAT", "more", json!({ "thread_ts": ts(10) }));
        }
        assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::CannotTell);
    }

    #[tokio::test]
    async fn anything_but_a_no_is_uncertain() {
        let cases = [
            (Answer::new(502, ""), ErrorClass::Uncertain),
            (Answer::ok("<html>").header("Content-Type", "text/html"), ErrorClass::Uncertain),
            (refused("fatal_error"), ErrorClass::Uncertain),
            (refused("ratelimited"), ErrorClass::Uncertain),
            (Answer::ok("{\"ok\":true}"), ErrorClass::Uncertain),
            (refused("msg_too_long"), ErrorClass::Permanent),
            (refused("not_in_channel"), ErrorClass::Config),
            (refused("token_revoked"), ErrorClass::Auth),
        ];
        let (slack, bench, _, action) = reply("On it.").await;
        let payload = bench.prepare(&action);
        for (answer, class) in cases {
            slack.fault("chat.postMessage", answer.clone());
            let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
            assert_eq!(error.class, class, "{answer:?}");
        }
        slack.fault("chat.postMessage", Answer::new(429, "").header("Retry-After", "5"));
        let limited = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(limited.class, ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(5)) });
        assert_eq!(slack.texts("C1"), ["<@UME> ping"]);
    }

    #[tokio::test]
    async fn our_own_message_read_back_is_no_work() {
        let (_slack, mut bench, item, action) = reply("On it.").await;
        let payload = bench.prepare(&action);
        let receipt = bench.connector.deliver(&action, &payload).await.unwrap();
        bench.clock.advance(Duration::from_secs(200));
        let polled = look(&mut bench).await;
        assert_eq!((polled.new.len(), polled.items.len()), (0, 1));
        let own = &polled.items[0];
        assert_eq!(own.disposition, Disposition::Own);
        assert_eq!(own.identities[0], receipt.remote_id);
        assert_eq!(own.threads, item.threads);
    }

    #[tokio::test]
    async fn a_reaction_may_be_there_already() {
        let (slack, bench, _, mut action) = reply("").await;
        action.envelope.effects = vec![Effect::with("react", ":eyes:")];
        let payload = bench.prepare(&action);
        bench.connector.deliver(&action, &payload).await.unwrap();
        let (method, _, body) = slack.arguments().remove(0);
        assert_eq!(method, "reactions.add");
        assert_eq!(body.unwrap(), json!({ "channel": "C1", "timestamp": ts(10), "name": "eyes" }));
        slack.fault("reactions.add", refused("already_reacted"));
        bench.connector.deliver(&action, &payload).await.unwrap();
        slack.fault("reactions.add", refused("invalid_name"));
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Permanent);
    }

    #[tokio::test]
    async fn what_cannot_be_sent_is_said_before_the_wire() {
        let (_slack, bench, _, action) = reply("").await;
        let refused = |action: &OutboundAction| {
            let error = bench.connector.prepare(action, NOW).unwrap_err();
            assert_eq!(error.class, ErrorClass::Permanent);
            chain(&error)
        };
        assert!(refused(&action).ends_with("there is neither text nor anything else to do"));
        let long = OutboundAction { body: "ä".repeat(12_001), ..action.clone() };
        assert!(refused(&long).ends_with("12001 characters, more than the 12000 that Slack takes"));
        let mut nowhere = OutboundAction { body: "x".into(), ..action };
        nowhere.envelope.thread = json!({});
        assert!(refused(&nowhere).ends_with("the draft does not say where it belongs"));
    }

    #[tokio::test]
    async fn who_it_is_is_known_without_asking() {
        let slack = Slack::start();
        let bench = bench(&slack);
        assert_eq!(bench.connector.identity(), "acme@127.0.0.1");
        assert_eq!(bench.connector.destination(), "messages in acme.slack.com");
        assert_eq!(slack.called(), [""; 0]);
        assert_eq!(bench.connector.probe().await.unwrap(), "kim in acme, without a socket");
    }
}
