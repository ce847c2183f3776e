//! ntfy: what goes to the server, what comes back, what is kept secret.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::*;
use crate::support::binary::{House, wait_until};
use crate::support::http::{Answer, HttpServer, Seen};

const TOPIC: &str = "topic-canary-7f3a";
const DECISIONS: &str = "decisions-canary-91cc";
const TOKEN: &str = "tk_canary_0123456789";

/// A server with two topics.
#[derive(Clone, Default)]
struct Topics {
    published: Arc<Mutex<Vec<Value>>>,
    said: Arc<Mutex<Vec<Value>>>,
    /// Answers nothing well any more.
    broken: Arc<AtomicBool>,
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
            let after =
                |said: &[Value]| said.iter().position(|one| one["id"] == since).map_or(0, |at| at + 1);
            // A subscription that does not poll stays open until something is said.
            let asked = Instant::now();
            let broken = || topics.broken.load(Ordering::Relaxed);
            while !query.contains("poll=1") && !broken() && asked.elapsed() < Duration::from_secs(20) {
                let said = topics.said.lock().unwrap();
                if after(&said) < said.len() {
                    break;
                }
                drop(said);
                std::thread::sleep(Duration::from_millis(20));
            }
            if broken() {
                return Answer::new(500, "no");
            }
            let said = topics.said.lock().unwrap();
            let after = after(&said);
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

#[test]
fn the_daemon_hears_while_it_waits_and_its_log_names_no_topic() {
    let topics = Topics::default();
    let server = topics.server();
    let house = House::new();
    for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp"] {
        std::fs::create_dir_all(house.path(folder)).unwrap();
    }
    house.unit("inbox.connector.toml", INBOX);
    house.unit("polite.engine.toml", POLITE);
    house.unit("answers.route.toml", ROUTE);
    house.unit(
        "phone.channel.toml",
        &format!(
            "[channel]\nchannel = \"ntfy\"\nbatch = \"0s\"\n[ntfy]\nserver = \"{}\"\ntopic = {{ secret = \"ntfy/topic\" }}\n\
             decisions = {{ secret = \"ntfy/decisions\" }}\ntoken = {{ secret = \"ntfy/token\" }}\n[install]\nenabled = true\n",
            server.url("")
        ),
    );
    for (name, value) in [("topic", TOPIC), ("decisions", DECISIONS), ("token", TOKEN)] {
        house.secret(&format!("ntfy/{name}"), value);
    }
    house.unit("workagent.daemon.toml", "[log]\nlevel = \"debug\"\n");
    let daemon = house.daemon(&[]);
    let now = || workagent::model::time::Clock::system().now();
    let shown = house.ok(&["pair", "phone", "--no-wait"]);
    topics.say(shown.lines().find_map(|line| line.strip_prefix("    ")).unwrap(), now());
    wait_until("the pairing", || house.ok(&["pair"]).contains("paired with the topic"));
    topics.told();
    house.write("in/new/1", &mail("a", "the plan", ""));
    let told = std::cell::RefCell::new(Vec::new());
    wait_until("the notice", || {
        told.borrow_mut().extend(topics.told());
        !told.borrow().is_empty()
    });
    let text = told.borrow()[0]["message"].as_str().unwrap().to_owned();
    let reference = text.split_once("approve ").unwrap().1.split(' ').next().unwrap().to_owned();
    topics.say(&format!("approve {reference}"), now());
    wait_until("the receipt", || house.ok(&["outbox", "list"]).contains("sent"));
    // What goes wrong is told without what must not be told.
    topics.broken.store(true, Ordering::Relaxed);
    wait_until("the fault", || {
        house.status().0.units.iter().any(|unit| unit.unit == "phone.channel" && unit.failures_in_a_row > 0)
    });
    let status = house.run(&["status", "phone.channel"]).out;
    let log = daemon.stop();
    for canary in [TOPIC, DECISIONS, TOKEN] {
        assert!(!log.contains(canary) && !status.contains(canary), "{canary}: {status}{log}");
    }
    let state = std::fs::read_dir(house.path("state")).unwrap().map(|entry| entry.unwrap().path());
    for file in state.filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        for canary in [TOPIC, DECISIONS, TOKEN] {
            let has = bytes.windows(canary.len()).any(|part| part == canary.as_bytes());
            assert!(!has, "{canary} in {}", file.display());
        }
    }
}
