//! Slack's socket: what wakes a look, what survives a lost connection, and that no message hangs on an event.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::timeout;
use workagent::model::class::{PortError, chain};
use workagent::model::secret_ref::SecretRef;
use workagent::platform::slack::SPEC;
use workagent::unit::value::Value;

use super::support::connector::{Bench, NOW, secret, text};
use super::support::slack::{Line, ME, Slack, SocketServer};

const PLENTY: Duration = Duration::from_secs(20);

fn ts(seconds: i64) -> String {
    format!("{}.000100", NOW.0 / 1000 + seconds)
}

/// Begun with a channel C1 and a direct conversation D1.
async fn begun() -> (Slack, SocketServer, Bench) {
    let (slack, sockets) = (Slack::start(), SocketServer::start());
    slack.channel("C1", "channel").channel("D1", "im").socket_at(&sockets.url());
    let app = Value::Secret(SecretRef::Stored("app".into()));
    let keys = [
        ("workspace", text("acme")),
        ("token", secret()),
        ("app_token", app),
        ("base_url", text(&slack.url())),
    ];
    let secrets = [("canary", "CANARY-secret-1"), ("app", "xapp-CANARY")];
    let mut bench = Bench::with_secrets(&SPEC, "/nonexistent".as_ref(), &keys, &secrets);
    bench.poll().await.unwrap();
    slack.called();
    (slack, sockets, bench)
}

async fn wait(bench: &Bench) -> Result<(), PortError> {
    let changed = bench.connector.changed(bench.cursor.as_ref()).unwrap();
    timeout(PLENTY, changed).await.unwrap_or_else(|_| panic!("nothing woke it"))
}

/// Serves on a thread of its own while the connector waits.
fn serve<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> tokio::task::JoinHandle<T> {
    tokio::task::spawn_blocking(work)
}

/// The first wait opens the connection and asks for a look: what came before it is in the history.
async fn connected(sockets: SocketServer, bench: &Bench) -> (SocketServer, Line) {
    let server = serve(move || {
        let line = sockets.greet();
        (sockets, line)
    });
    wait(bench).await.unwrap();
    server.await.unwrap()
}

fn message(channel: &str, kind: &str, seconds: i64, text: &str) -> Json {
    json!({ "type": "message", "channel": channel, "channel_type": kind, "user": "UPAT", "text": text, "ts": ts(seconds) })
}

#[tokio::test]
async fn a_word_to_us_wakes_and_is_acknowledged() {
    let (slack, sockets, mut bench) = begun().await;
    let (_sockets, mut line) = connected(sockets, &bench).await;
    let opened =
        slack.seen().into_iter().find(|seen| seen.target.ends_with("apps.connections.open")).unwrap();
    assert_eq!(opened.header("authorization"), Some("Bearer xapp-CANARY"));
    let server = serve(move || {
        line.event("e1", message("C1", "channel", 10, "among others"));
        line.event("e2", json!({ "type": "reaction_added", "user": "UPAT" }));
        line.event(
            "e3",
            json!({ "type": "message", "channel": "D1", "channel_type": "im", "user": ME, "ts": ts(11) }),
        );
        line.event("e4", message("C1", "channel", 12, "<@UME> look"));
        (0..4).map(|_| line.hear().unwrap()["envelope_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    });
    wait(&bench).await.unwrap();
    assert_eq!(server.await.unwrap(), ["e1", "e2", "e3", "e4"]);
    slack.say("C1", &ts(12), "UPAT", "<@UME> look", json!({}));
    slack.called();
    assert_eq!(bench.poll().await.unwrap().new, ["@Name of UME look"]);
    assert_eq!(slack.called()[0], "conversations.history");
}

#[tokio::test]
async fn an_envelope_that_comes_twice_makes_one_item() {
    let (slack, sockets, mut bench) = begun().await;
    let (_sockets, mut line) = connected(sockets, &bench).await;
    slack.say("D1", &ts(10), "UPAT", "hello", json!({}));
    let server = serve(move || {
        line.event("e1", message("D1", "im", 10, "hello"));
        line.hear();
        line
    });
    wait(&bench).await.unwrap();
    let mut line = server.await.unwrap();
    assert_eq!(bench.poll().await.unwrap().new, ["hello"]);
    let server = serve(move || {
        line.event("e1", message("D1", "im", 10, "hello"));
        line.hear().unwrap()
    });
    wait(&bench).await.unwrap();
    assert_eq!(server.await.unwrap(), json!({ "envelope_id": "e1" }));
    let again = bench.poll().await.unwrap();
    assert_eq!((again.new.len(), again.updated.len()), (0, 0));
}

#[tokio::test]
async fn a_mention_in_an_old_thread_is_found_there() {
    let (slack, sockets, mut bench) = begun().await;
    slack.say("C1", &ts(-90_000), "UPAT", "long ago", json!({}));
    let (_sockets, mut line) = connected(sockets, &bench).await;
    let server = serve(move || {
        let mut event = message("C1", "channel", 12, "<@UME> what about this?");
        event["thread_ts"] = json!(ts(-90_000));
        line.event("e1", event);
        line.hear()
    });
    wait(&bench).await.unwrap();
    server.await.unwrap();
    slack.say("C1", &ts(12), "USAM", "<@UME> what about this?", json!({ "thread_ts": ts(-90_000) }));
    let polled = bench.poll().await.unwrap();
    assert_eq!(polled.new, ["@Name of UME what about this?"]);
    // From now on the thread is watched.
    slack.say("C1", &ts(20), "USAM", "anyone?", json!({ "thread_ts": ts(-90_000) }));
    assert_eq!(bench.poll().await.unwrap().new, ["anyone?"]);
}

#[tokio::test]
async fn what_is_deleted_is_told_to_those_who_know_it() {
    let (slack, sockets, mut bench) = begun().await;
    slack.say("D1", &ts(10), "UPAT", "never mind", json!({ "client_msg_id": "m1" }));
    assert_eq!(bench.poll().await.unwrap().new, ["never mind"]);
    let (_sockets, mut line) = connected(sockets, &bench).await;
    slack.change("D1", &ts(10), Json::Null);
    let server = serve(move || {
        let previous = json!({ "ts": ts(10), "user": "UPAT", "text": "never mind" });
        line.event(
            "e1",
            json!({ "type": "message", "subtype": "message_deleted", "hidden": true, "channel": "D1",
            "deleted_ts": ts(10), "previous_message": previous }),
        );
        line.event("e2", json!({ "type": "message", "subtype": "message_deleted", "channel": "D1" }));
        line.hear()
    });
    wait(&bench).await.unwrap();
    server.await.unwrap();
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.updated.len(), polled.new.len()), (1, 0));
    assert_eq!(polled.items[0].warnings, ["it was deleted"]);
}

#[tokio::test]
async fn a_cut_in_the_middle_of_an_envelope_costs_no_message() {
    let (slack, sockets, mut bench) = begun().await;
    let (sockets, mut line) = connected(sockets, &bench).await;
    slack.say("D1", &ts(10), "UPAT", "hello", json!({}));
    let server = serve(move || {
        use std::io::Write as _;
        // The head of a text frame of 100 bytes, and 9 of them.
        line.raw().get_mut().write_all(b"\x81\x64{\"type\":\"").unwrap();
    });
    let error = wait(&bench).await.unwrap_err();
    assert!(chain(&error).ends_with("the last one was opened a moment ago"), "{}", chain(&error));
    server.await.unwrap();
    assert_eq!(bench.poll().await.unwrap().new, ["hello"], "the regular look finds it");
    // Later it is opened again, and asks for a look at once.
    bench.clock.advance(Duration::from_secs(61));
    let _connected = connected(sockets, &bench).await;
}

#[tokio::test]
async fn when_slack_is_about_to_close_the_new_one_comes_first() {
    let (_slack, sockets, bench) = begun().await;
    let (sockets, mut line) = connected(sockets, &bench).await;
    bench.clock.advance(Duration::from_secs(61));
    let server = serve(move || {
        line.tell(&json!({ "type": "disconnect", "reason": "refresh_requested" }));
        let new = sockets.greet();
        // Only now the old one ends.
        (line.hear(), new)
    });
    wait(&bench).await.unwrap();
    assert_eq!(server.await.unwrap().0, None);
}

#[tokio::test]
async fn a_switched_off_socket_leaves_the_regular_looks() {
    let (_slack, sockets, bench) = begun().await;
    let (_sockets, mut line) = connected(sockets, &bench).await;
    let server = serve(move || line.tell(&json!({ "type": "disconnect", "reason": "link_disabled" })));
    let error = wait(&bench).await.unwrap_err();
    assert!(chain(&error).ends_with("Socket Mode is switched off for the app"), "{}", chain(&error));
    server.await.unwrap();
}

#[tokio::test]
async fn no_ticket_goes_to_another_host() {
    let (slack, sockets, bench) = begun().await;
    slack.socket_at(&sockets.url().replace("127.0.0.1", "localhost"));
    let error = wait(&bench).await.unwrap_err();
    assert!(chain(&error).ends_with("Slack named no address of its own"), "{}", chain(&error));
}

#[tokio::test]
async fn a_refused_opening_shows_no_secret() {
    let (slack, sockets, bench) = begun().await;
    let server = serve(move || {
        // Closes before the greeting.
        drop(sockets.accept());
        sockets
    });
    let error = wait(&bench).await.unwrap_err();
    assert!(!format!("{error:?} {}", chain(&error)).contains("CANARY"), "{error:?}");
    drop(server.await.unwrap());
    let again = wait(&bench).await.unwrap_err();
    assert!(chain(&again).ends_with("the last one was opened a moment ago"), "no hammering");
    assert_eq!(slack.called(), ["apps.connections.open"]);
}

#[tokio::test]
async fn two_listeners_are_told_of() {
    let (_slack, sockets, mut bench) = begun().await;
    let server = serve(move || {
        let mut line = sockets.accept();
        line.tell(&json!({ "type": "hello", "num_connections": 2 }));
        (sockets, line)
    });
    wait(&bench).await.unwrap();
    let _line = server.await.unwrap();
    let notes = bench.poll().await.unwrap().notes;
    assert!(notes[0].starts_with("another program listens with the same app"), "{notes:?}");
}

#[tokio::test]
async fn without_an_app_token_there_is_nothing_to_wait_for() {
    let slack = Slack::start();
    let keys = [("workspace", text("acme")), ("token", secret()), ("base_url", text(&slack.url()))];
    let bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &keys);
    assert!(bench.connector.changed(None).is_none());
}
