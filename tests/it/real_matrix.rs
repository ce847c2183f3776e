//! The ring of real peers: the `matrix` connector against Synapse. Runs where `WORKAGENT_LAB=1` is set.

#![expect(clippy::indexing_slicing, reason = "a test's helper fails the test")]

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::timeout;
use workagent::http::{Credentials, HttpRequest, HttpRoom};
use workagent::model::class::{ErrorClass, chain};
use workagent::model::effect::Effect;
use workagent::model::item::{Backlog, Disposition, Item};
use workagent::model::outbound::Confirmation;
use workagent::model::time::Clock;
use workagent::platform::matrix::SPEC;
use workagent::secret::SecretValue;

use crate::support::connector::{Bench, secret, text};
use crate::support::lab_script::LabScript;

const PLENTY: Duration = Duration::from_secs(60);

static LAB: OnceLock<LabScript> = OnceLock::new();

/// A person at the homeserver, by whatever client.
pub struct Person {
    http: HttpRoom,
    pub base: String,
    pub id: String,
    pub token: String,
}

impl Person {
    async fn register(lab: &LabScript, name: &str) -> Self {
        let mut person = Self {
            http: HttpRoom::default(),
            base: lab.fact("URL").to_owned(),
            id: format!("@{name}:lab.test"),
            token: String::new(),
        };
        let body = json!({"username": name, "password": "only for tests", "auth": {"type": "m.login.dummy"}});
        let answer = person.ask("POST", "register", Some(body)).await;
        answer["access_token"].as_str().unwrap().clone_into(&mut person.token);
        person
    }

    async fn try_ask(&self, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        let url = format!("{}/_matrix/client/v3/{path}", self.base).parse().unwrap();
        let token = Some(SecretValue::new(self.token.clone())).filter(|_| !self.token.is_empty());
        let mut request =
            HttpRequest::writing(method.parse().unwrap(), url).credentials(token.map(Credentials::Bearer));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = self.http.send(request).await.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Json>) -> Json {
        let (status, answer) = self.try_ask(method, path, body).await;
        assert_eq!(status, 200, "{method} {path}: {answer}");
        answer
    }

    pub async fn room(&self, name: &str, with: &[&Person]) -> String {
        let room =
            self.ask("POST", "createRoom", Some(json!({"preset": "private_chat", "name": name}))).await;
        let room = room["room_id"].as_str().unwrap().to_owned();
        for other in with {
            self.ask("POST", &format!("rooms/{room}/invite"), Some(json!({"user_id": other.id}))).await;
            other.ask("POST", &format!("join/{room}"), Some(json!({}))).await;
        }
        room
    }

    async fn put(&self, room: &str, kind: &str, content: Json) -> String {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let sent = self.ask("PUT", &format!("rooms/{room}/send/{kind}/t{number}"), Some(content)).await;
        sent["event_id"].as_str().unwrap().to_owned()
    }

    pub async fn say(&self, room: &str, body: &str) -> String {
        self.put(room, "m.room.message", json!({"msgtype": "m.text", "body": body})).await
    }

    async fn call(&self, room: &str, whom: &Person, body: &str) -> String {
        let mentions = json!({"user_ids": [whom.id]});
        self.put(room, "m.room.message", json!({"msgtype": "m.text", "body": body, "m.mentions": mentions}))
            .await
    }

    /// What stands in the room, oldest first.
    pub async fn history(&self, room: &str) -> Vec<Json> {
        let page = self.ask("GET", &format!("rooms/{room}/messages?dir=b&limit=200"), None).await;
        let mut events = page["chunk"].as_array().unwrap().clone();
        events.retain(|event| event["type"] == "m.room.message");
        events.reverse();
        events
    }

    fn bench(&self, backlog: Backlog) -> Bench {
        let keys = [("homeserver", text(&self.base)), ("user", text(&self.id)), ("token", secret())];
        let secrets = [("canary", self.token.as_str())];
        Bench::with_secrets(&SPEC, "/nonexistent".as_ref(), &keys, &secrets).backlog(backlog)
    }
}

pub async fn people<const N: usize>(names: [&str; N]) -> Option<[Person; N]> {
    let lab = LabScript::of(&LAB, "matrix")?;
    let mut people = Vec::new();
    for name in names {
        people.push(Person::register(lab, name).await);
    }
    people.try_into().ok()
}

fn bodies(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.body.as_str()).collect()
}

#[tokio::test]
async fn a_mention_is_answered_by_exactly_one_event() {
    let Some([me, ann]) = people(["answers", "ann1"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    ann.room("a third keeps it from being a direct room", &[]).await;
    ann.say(&room, "answers: before the first look").await;
    let mut bench = me.bench(Backlog::New);
    assert!(bench.connector.probe().await.unwrap().contains("as @answers:lab.test, device "));
    assert!(bench.poll().await.unwrap().items.is_empty());
    let asked = ann.call(&room, &me, "is the build broken?").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    assert_eq!((item.key.as_str(), &item.disposition), (asked.as_str(), &Disposition::Work));
    assert_eq!(item.author.as_ref().unwrap().address, ann.id);

    let action = bench.reply(&item, 1, "No, @room, it is fine.");
    let payload = bench.prepare(&action);
    let now = Clock::system().now();
    assert_eq!(bench.connector.confirm(&action, &payload, now).await.unwrap(), Confirmation::NotSent);
    let first = bench.connector.deliver(&action, &payload).await.unwrap();
    let again = bench.connector.deliver(&action, &payload).await.unwrap();
    assert_eq!(first.remote_id, again.remote_id);
    let confirmed = bench.connector.confirm(&action, &payload, now).await.unwrap();
    assert!(matches!(confirmed, Confirmation::Sent(receipt) if receipt.remote_id == first.remote_id));
    let answers: Vec<Json> =
        ann.history(&room).await.into_iter().filter(|event| event["sender"] == me.id).collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["content"]["m.relates_to"]["m.in_reply_to"]["event_id"], asked.as_str());

    // Read back it is ours, and an answer to it finds the way.
    let own = bench.poll().await.unwrap().items;
    assert_eq!((own.len(), &own[0].disposition), (1, &Disposition::Own));
    let relates = json!({"m.in_reply_to": {"event_id": first.remote_id}});
    ann.put(&room, "m.room.message", json!({"msgtype": "m.text", "body": "thanks", "m.relates_to": relates}))
        .await;
    let thanks = bench.poll().await.unwrap().items;
    assert!(thanks[0].threads.contains(&first.remote_id));
    // After a restart too.
    bench.restart();
    let relates = json!({"m.in_reply_to": {"event_id": first.remote_id}});
    let third = ann.room("another", &[&me]).await;
    assert_ne!(third, room);
    ann.put(&room, "m.room.message", json!({"msgtype": "m.text", "body": "more", "m.relates_to": relates}))
        .await;
    assert_eq!(bodies(&bench.poll().await.unwrap().items), ["more"]);
}

#[tokio::test]
async fn a_new_device_finds_what_the_old_one_sent() {
    let Some([me, ann]) = people(["devices", "ann2"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    ann.call(&room, &me, "well?").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    let action = bench.reply(&item, 1, "Yes.");
    let payload = bench.prepare(&action);
    let sent = bench.connector.deliver(&action, &payload).await.unwrap();
    let login = json!({"type": "m.login.password", "password": "only for tests",
        "identifier": {"type": "m.id.user", "user": "devices"}});
    let answer = me.ask("POST", "login", Some(login)).await;
    let token = answer["access_token"].as_str().unwrap().to_owned();
    let other = Person { http: me.http.clone(), base: me.base.clone(), id: me.id.clone(), token };
    let now = Clock::system().now();
    let confirmed = other.bench(Backlog::New).connector.confirm(&action, &payload, now).await.unwrap();
    assert!(matches!(confirmed, Confirmation::Sent(receipt) if receipt.remote_id == sent.remote_id));
}

#[tokio::test]
async fn a_long_poll_wakes_at_a_message_and_takes_nothing() {
    let Some([me, ann]) = people(["waits", "ann3"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    let cursor = bench.cursor.clone();
    let waited = timeout(PLENTY, bench.connector.changed(cursor.as_ref()).unwrap());
    let (woken, _) = tokio::join!(waited, async {
        // Our own words do not wake us.
        me.say(&room, "I am here").await;
        ann.call(&room, &me, "wake up").await
    });
    woken.unwrap().unwrap();
    let polled = bench.poll().await.unwrap();
    assert_eq!(bodies(&polled.items), ["I am here", "wake up"]);
    // Nothing further: the wait goes on.
    let cursor = bench.cursor.clone();
    let mut wait = bench.connector.changed(cursor.as_ref()).unwrap();
    assert!(timeout(Duration::from_millis(1500), &mut wait).await.is_err());
    ann.say(&room, "chatter wakes too").await;
    timeout(PLENTY, wait).await.unwrap().unwrap();
}

#[tokio::test]
async fn many_messages_while_nobody_looked_come_once_each_in_order() {
    let Some([me, ann]) = people(["away", "ann4"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    ann.say(&room, "away: before").await;
    bench.poll().await.unwrap();
    for number in 0..75 {
        ann.call(&room, &me, &format!("number {number}")).await;
    }
    let polled = bench.poll().await.unwrap();
    let expected: Vec<String> = (0..75).map(|number| format!("number {number}")).collect();
    assert_eq!(bodies(&polled.items), expected);
    assert!(bench.poll().await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_invitation_is_told_and_its_first_words_are_read_after_joining() {
    let Some([me, ann]) = people(["invited", "ann5"]).await else { return };
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    let create = json!({"preset": "trusted_private_chat", "is_direct": true, "invite": [me.id]});
    let room = ann.ask("POST", "createRoom", Some(create)).await["room_id"].as_str().unwrap().to_owned();
    ann.say(&room, "hello, are you there?").await;
    let told = bench.poll().await.unwrap();
    assert_eq!((told.items.len(), told.notes.len()), (0, 1), "{:?}", told.notes);
    assert!(told.notes[0].starts_with("@ann5:lab.test invites you to the room "), "{}", told.notes[0]);
    me.ask("POST", &format!("join/{room}"), Some(json!({}))).await;
    let polled = bench.poll().await.unwrap();
    assert_eq!(bodies(&polled.items), ["hello, are you there?"]);
    assert_eq!(polled.items[0].labels, ["direct"]);
}

#[tokio::test]
async fn edits_and_removals_change_the_item() {
    let Some([me, ann]) = people(["edits", "ann6"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    let asked = ann.call(&room, &me, "is it up?").await;
    bench.poll().await.unwrap();
    let edit = json!({"msgtype": "m.text", "body": "* is it up now?", "m.mentions": {},
        "m.new_content": {"msgtype": "m.text", "body": "is it up now?", "m.mentions": {"user_ids": [me.id]}},
        "m.relates_to": {"rel_type": "m.replace", "event_id": asked}});
    ann.put(&room, "m.room.message", edit).await;
    let edited = bench.poll().await.unwrap();
    assert_eq!((edited.updated.len(), bodies(&edited.items)), (1, vec!["is it up now?"]));
    ann.ask("PUT", &format!("rooms/{room}/redact/{asked}/r1"), Some(json!({}))).await;
    let removed = bench.poll().await.unwrap();
    assert_eq!((removed.updated.len(), removed.new.len()), (1, 0));
    assert!(removed.items[0].body.contains("removed by @ann6:lab.test"));
}

#[tokio::test]
async fn an_encrypted_room_is_told_once_and_nothing_is_said_there() {
    let Some([me, ann]) = people(["secret", "ann7"]).await else { return };
    let room = ann.room("Vault", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    ann.call(&room, &me, "still in the clear").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    let algorithm = json!({"algorithm": "m.megolm.v1.aes-sha2"});
    ann.ask("PUT", &format!("rooms/{room}/state/m.room.encryption/"), Some(algorithm)).await;
    ann.put(&room, "m.room.encrypted", json!({"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"})).await;
    let told = bench.poll().await.unwrap();
    assert_eq!(told.notes, ["the room Vault is encrypted; its messages cannot be read"]);
    ann.put(&room, "m.room.encrypted", json!({"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "y"})).await;
    assert!(bench.poll().await.unwrap().notes.is_empty());
    let action = bench.reply(&item, 1, "a secret");
    let error = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Permanent, "{}", chain(&error));
    assert!(ann.history(&room).await.iter().all(|event| event["sender"] != me.id));
}

#[tokio::test]
async fn a_reaction_may_be_repeated() {
    let Some([me, ann]) = people(["reacts", "ann8"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    ann.call(&room, &me, "done?").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    for number in [1, 1, 2] {
        // The third is another action, of which the server knows no transaction.
        let mut action = bench.reply(&item, number, "");
        action.envelope.effects = vec![Effect::with("react", "👍")];
        bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap();
    }
    let url = format!("rooms/{room}/messages?dir=b&limit=50");
    let page = ann.ask("GET", &url, None).await;
    let reactions =
        page["chunk"].as_array().unwrap().iter().filter(|event| event["type"] == "m.reaction").count();
    assert_eq!(reactions, 1);
}

#[tokio::test]
async fn limits_logouts_and_lost_positions_are_known_for_what_they_are() {
    let Some([me, ann]) = people(["limits", "ann9"]).await else { return };
    let room = ann.room("Ops", &[&me]).await;
    let mut bench = me.bench(Backlog::New);
    bench.poll().await.unwrap();
    ann.call(&room, &me, "and?").await;
    let item = bench.poll().await.unwrap().items.remove(0);
    let mut limited = None;
    for number in 0..200 {
        let action = bench.reply(&item, number, "again");
        if let Err(error) = bench.connector.deliver(&action, &bench.prepare(&action)).await {
            limited = Some(error);
            break;
        }
    }
    let limited = limited.unwrap();
    assert!(matches!(limited.class, ErrorClass::RateLimited { .. }), "{}", chain(&limited));

    // Another bench: this one's account rests.
    let mut fresh = me.bench(Backlog::New);
    fresh.cursor = Some(workagent::model::item::Cursor(json!({"since": "nonsense"}).to_string()));
    let polled = fresh.poll().await.unwrap();
    assert_eq!((polled.items.len(), polled.notes.len()), (0, 1), "{:?}", polled.notes);
    me.ask("POST", "logout", Some(json!({}))).await;
    let error = fresh.poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth);
    assert!(chain(&error).contains("M_UNKNOWN_TOKEN"), "{}", chain(&error));
    assert!(!chain(&error).contains(&me.token));
}
