//! Telegram: a Bot API that is played.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::support::http::{Answer, HttpServer, Seen};

const TOKEN: &str = "123456:canary-AAbbCCdd";

/// A bot with its updates; those before an offset are gone, as at the real one.
#[derive(Clone, Default)]
struct Bot {
    updates: Arc<Mutex<Vec<Value>>>,
    number: Arc<AtomicI64>,
    sent: Arc<Mutex<Vec<Value>>>,
}

impl Bot {
    fn server(&self) -> HttpServer {
        let this = self.clone();
        HttpServer::by(move |seen: &Seen| {
            let ok = |result: Value| Answer::ok(json!({ "ok": true, "result": result }).to_string());
            let body: Value = serde_json::from_slice(seen.body.as_deref().unwrap()).unwrap();
            match seen.target.strip_prefix(&format!("/bot{TOKEN}/")) {
                Some("getUpdates") => {
                    let mut updates = this.updates.lock().unwrap();
                    let offset = body["offset"].as_i64().unwrap();
                    updates.retain(|update| update["update_id"].as_i64().unwrap() >= offset);
                    ok(json!(*updates))
                }
                Some("sendMessage") => {
                    this.sent.lock().unwrap().push(body);
                    ok(json!({}))
                }
                _ => Answer::new(404, json!({ "ok": false, "description": "Not Found" }).to_string()),
            }
        })
    }

    fn say(&self, from: i64, chat: &str, text: &str, at: Timestamp) {
        let mut updates = self.updates.lock().unwrap();
        let number = 7 + self.number.fetch_add(1, Ordering::Relaxed);
        updates.push(json!({ "update_id": number, "message": {
            "message_id": number, "from": { "id": from, "is_bot": false, "first_name": "x" },
            "chat": { "id": from, "type": chat }, "date": at.0 / 1000, "text": text } }));
    }

    fn last(&self) -> Value {
        self.sent.lock().unwrap().pop().unwrap()
    }
}

async fn phone(server: &HttpServer, token: &str) -> Phone {
    let unit = format!(
        "[channel]\nchannel = \"telegram\"\n[telegram]\nserver = \"{}\"\ntoken = {{ env = \"BOT_TOKEN\" }}\n",
        server.url("")
    );
    Phone::by(&unit, &[("BOT_TOKEN", token)]).await
}

#[tokio::test]
async fn the_paired_user_decides_in_the_chat_with_the_bot() {
    let bot = Bot::default();
    let server = bot.server();
    let phone = phone(&server, TOKEN).await;
    let later = || phone.way.clock.advance(Duration::from_secs(10));
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    // In a group others read the code along.
    bot.say(5, "group", &code, phone.way.clock.now());
    phone.pass().await;
    assert_eq!(phone.user().await, None);
    bot.say(42, "private", &code, phone.way.clock.now());
    later();
    phone.pass().await;
    assert_eq!(phone.user().await.as_deref(), Some("42"));
    assert_eq!(bot.last()["chat_id"], 42);
    phone.draft("a").await;
    phone.pass().await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let text = bot.last()["text"].as_str().unwrap().to_owned();
    let reference = text.split_once("approve ").unwrap().1.split(' ').next().unwrap();
    bot.say(43, "private", &format!("approve {reference}"), phone.way.clock.now());
    bot.say(42, "group", &format!("approve {reference}"), phone.way.clock.now());
    later();
    let summary = phone.pass().await;
    assert_eq!((summary.decided, summary.refused), (0, 1));
    bot.say(42, "private", &format!("approve {reference}"), phone.way.clock.now());
    later();
    assert_eq!(phone.pass().await.decided, 1);
    assert_eq!(bot.last()["text"], "workagent\n\nd1 is approved and leaves, as a1.");
    phone.keeps(&[TOKEN]).await;
}

#[tokio::test]
async fn a_refused_token_is_told_and_does_not_show() {
    let server = Bot::default().server();
    let phone = phone(&server, "99:other-canary-9911").await;
    phone.channel().begin_pairing().await.unwrap();
    let fault = phone.channel().activate().await.fault.unwrap();
    assert_eq!(fault.word, "auth");
    assert!(
        fault.message.ends_with("for getUpdates: the server answered 404: Not Found"),
        "{}",
        fault.message
    );
    assert!(!fault.message.contains("canary"), "{}", fault.message);
}
