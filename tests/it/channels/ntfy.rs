//! ntfy: what goes to the server, what comes back, what is kept secret.

use std::sync::{Arc, Mutex};

use super::*;
use crate::support::http::{Answer, HttpServer, Seen};

const TOPIC: &str = "topic-canary-7f3a";
const DECISIONS: &str = "decisions-canary-91cc";
const TOKEN: &str = "tk_canary_0123456789";

/// A server with two topics.
#[derive(Clone, Default)]
struct Topics {
    published: Arc<Mutex<Vec<Value>>>,
    said: Arc<Mutex<Vec<Value>>>,
}

impl Topics {
    fn server(&self) -> HttpServer {
        let topics = self.clone();
        HttpServer::by(move |seen: &Seen| {
            if seen.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
                return Answer::new(401, "{}");
            }
            if seen.method == "POST" && seen.target == "/" {
                let body = serde_json::from_slice(seen.body.as_deref().unwrap()).unwrap();
                topics.published.lock().unwrap().push(body);
                return Answer::ok("{}");
            }
            let Some(query) = seen.target.strip_prefix(&format!("/{DECISIONS}/json?since=")) else {
                return Answer::new(404, "{}");
            };
            let since = query.split('&').next().unwrap();
            let said = topics.said.lock().unwrap();
            let after = said.iter().position(|one| one["id"] == since).map_or(0, |at| at + 1);
            let lines: Vec<String> = said[after..].iter().map(Value::to_string).collect();
            Answer::ok(format!("{{\"id\":\"o\",\"time\":1,\"event\":\"open\"}}\n{}\n", lines.join("\n")))
        })
    }

    fn say(&self, text: &str, at: Timestamp) {
        let mut said = self.said.lock().unwrap();
        let id = format!("n{}", said.len());
        said.push(
            json!({ "id": id, "time": at.0 / 1000, "event": "message", "topic": DECISIONS, "message": text }),
        );
    }

    fn told(&self) -> Vec<Value> {
        std::mem::take(&mut self.published.lock().unwrap())
    }
}

async fn phone(server: &HttpServer, more: &str) -> Phone {
    let unit = format!(
        "[channel]\nchannel = \"ntfy\"\n[ntfy]\nserver = \"{}\"\ntopic = {{ env = \"NTFY_TOPIC\" }}\n\
         decisions = {{ env = \"NTFY_DECISIONS\" }}\ntoken = {{ env = \"NTFY_TOKEN\" }}\n{more}",
        server.url("")
    );
    let secrets = [("NTFY_TOPIC", TOPIC), ("NTFY_DECISIONS", DECISIONS), ("NTFY_TOKEN", TOKEN)];
    Phone::by(&unit, &secrets).await
}

#[tokio::test]
async fn a_draft_is_told_and_approved_on_the_other_topic() {
    let topics = Topics::default();
    let server = topics.server();
    let phone = phone(&server, "buttons = true").await;
    let later = || phone.way.clock.advance(Duration::from_secs(10));
    let code = phone.channel().begin_pairing().await.unwrap().code.unwrap();
    topics.say(&code, phone.way.clock.now());
    phone.pass().await;
    assert_eq!(phone.user().await.as_deref(), Some("the topic"));
    assert_eq!(topics.told()[0]["topic"], TOPIC);
    phone.draft("a").await;
    phone.pass().await;
    phone.way.clock.advance(MINUTE);
    phone.pass().await;
    let told = topics.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["title"], "1 draft waits for you");
    let actions = told[0]["actions"].as_array().unwrap();
    assert_eq!(actions.len(), 3);
    assert_eq!(actions[0]["url"], server.url(&format!("/{DECISIONS}")));
    let pressed = actions[0]["body"].as_str().unwrap();
    let reference = pressed.strip_prefix("approve ").unwrap();
    assert_eq!(reference.len(), 12, "nobody vouches for who speaks on a topic");
    topics.say(pressed, phone.way.clock.now());
    later();
    phone.pass().await;
    assert_eq!(topics.told()[0]["message"], "d1 is approved and leaves, as a1.");
    // The server gives what is behind the cursor, and that counts once.
    later();
    let summary = phone.pass().await;
    assert_eq!((summary.heard, summary.repeated), (0, 0));

    phone.keeps(&[TOPIC, DECISIONS, TOKEN]).await;
}

#[tokio::test]
async fn a_fault_names_no_topic_and_no_token() {
    let server = HttpServer::always(Answer::new(500, "no"));
    let phone = phone(&server, "").await;
    phone.channel().begin_pairing().await.unwrap();
    let pass = phone.channel().activate().await;
    let fault = pass.fault.expect("the server fails");
    assert_eq!(fault.word, "network");
    for canary in [TOPIC, DECISIONS, TOKEN] {
        assert!(!fault.message.contains(canary), "{}", fault.message);
    }
}
