//! A Slack workspace for tests: conversations, threads, paging, posting, and faults on demand; and a server for its
//! socket.

#![expect(clippy::indexing_slicing, reason = "JSON without a key is null")]

use std::collections::{BTreeMap, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept};
use url::Url;

use super::http::{Answer, HttpServer, Seen};

/// The account of the token.
pub const ME: &str = "UME";

/// What one call meets in place of the answer.
struct Fault {
    method: String,
    answer: Answer,
    /// Acts before.
    acts: bool,
}

#[derive(Default)]
struct World {
    channels: Vec<Value>,
    messages: BTreeMap<String, Vec<Value>>,
    calls: Vec<(String, BTreeMap<String, String>, Option<Value>)>,
    faults: VecDeque<Fault>,
    /// Most messages in one answer, whatever is asked for.
    messages_max: Option<usize>,
    socket_url: String,
    posted: u32,
    /// The clock there, as answers tell it.
    date: Option<String>,
}

/// The workspace "acme".
#[derive(Clone)]
pub struct Slack {
    world: Arc<Mutex<World>>,
    server: Arc<HttpServer>,
}

impl Slack {
    pub fn start() -> Self {
        let world = Arc::new(Mutex::new(World::default()));
        let of_server = Arc::clone(&world);
        let server = HttpServer::by(move |seen| of_server.lock().unwrap().answer(seen));
        Self { world, server: Arc::new(server) }
    }

    pub fn url(&self) -> String {
        self.server.url("/api/")
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.server.seen()
    }

    /// A conversation: `im`, `mpim` or `channel`.
    pub fn channel(&self, id: &str, kind: &str) -> &Self {
        let channel = json!({ "id": id, "name": format!("name-of-{id}"), "is_im": kind == "im", "is_mpim": kind == "mpim" });
        self.world.lock().unwrap().channels.push(channel);
        self
    }

    /// A message; fields of `more` in addition.
    pub fn say(&self, channel: &str, ts: &str, user: &str, text: &str, more: Value) -> &Self {
        let mut message = json!({ "type": "message", "ts": ts, "user": user, "text": text });
        for (name, field) in more.as_object().into_iter().flatten() {
            message[name] = field.clone();
        }
        self.world.lock().unwrap().add(channel, message);
        self
    }

    /// Changes a message where it stands; `null` takes it away.
    pub fn change(&self, channel: &str, ts: &str, fields: Value) {
        let mut world = self.world.lock().unwrap();
        let list = world.messages.get_mut(channel).unwrap();
        if fields.is_null() {
            list.retain(|message| message["ts"] != ts);
            return;
        }
        let message = list.iter_mut().find(|message| message["ts"] == ts).unwrap();
        for (name, field) in fields.as_object().unwrap() {
            message[name] = field.clone();
        }
    }

    /// The next call of the method meets this.
    pub fn fault(&self, method: &str, answer: Answer) {
        self.world.lock().unwrap().faults.push_back(Fault { method: method.into(), answer, acts: false });
    }

    /// The next call of the method is carried out, and then meets this.
    pub fn fault_after(&self, method: &str, answer: Answer) {
        self.world.lock().unwrap().faults.push_back(Fault { method: method.into(), answer, acts: true });
    }

    pub fn messages_max(&self, count: usize) {
        self.world.lock().unwrap().messages_max = Some(count);
    }

    /// Answers carry this as their date.
    pub fn date(&self, at: workagent::model::time::Timestamp) {
        self.world.lock().unwrap().date = Some(at.rfc_2822().replace("+0000", "GMT"));
    }

    pub fn socket_at(&self, url: &str) {
        self.world.lock().unwrap().socket_url = url.into();
    }

    /// Methods called so far, and forgets them.
    pub fn called(&self) -> Vec<String> {
        self.arguments().into_iter().map(|(method, _, _)| method).collect()
    }

    /// Calls so far with their arguments, and forgets them.
    pub fn arguments(&self) -> Vec<(String, BTreeMap<String, String>, Option<Value>)> {
        std::mem::take(&mut self.world.lock().unwrap().calls)
    }

    /// Texts in a conversation, oldest first.
    pub fn texts(&self, channel: &str) -> Vec<String> {
        let world = self.world.lock().unwrap();
        let text = |message: &Value| message["text"].as_str().unwrap_or_default().to_owned();
        world.messages.get(channel).into_iter().flatten().map(text).collect()
    }
}

pub fn refused(word: &str) -> Answer {
    Answer::ok(json!({ "ok": false, "error": word }).to_string())
}

impl World {
    fn add(&mut self, channel: &str, message: Value) {
        let list = self.messages.entry(channel.to_owned()).or_default();
        list.push(message);
        list.sort_by(|a, b| a["ts"].as_str().cmp(&b["ts"].as_str()));
    }

    fn answer(&mut self, seen: &Seen) -> Answer {
        let url = Url::parse(&format!("http://localhost{}", seen.target)).unwrap();
        let method = url.path().trim_start_matches("/api/").to_owned();
        let arguments: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let body = seen.body.as_ref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        self.calls.push((method.clone(), arguments.clone(), body.clone()));
        let fault = self.faults.iter().position(|fault| fault.method == method);
        let fault = fault.and_then(|nth| self.faults.remove(nth));
        if let Some(Fault { answer, acts: false, .. }) = fault {
            return answer;
        }
        let done = self.done(&method, &arguments, body.unwrap_or_default());
        let answer = fault.map_or_else(|| Answer::ok(done.to_string()), |fault| fault.answer);
        match &self.date {
            Some(date) => answer.header("Date", date),
            None => answer,
        }
    }

    fn done(&mut self, method: &str, arguments: &BTreeMap<String, String>, body: Value) -> Value {
        let argument = |name: &str| arguments.get(name).map(String::as_str).unwrap_or_default();
        match method {
            "auth.test" => {
                json!({ "ok": true, "url": "https://acme.slack.com/", "team_id": "T1", "user": "kim", "user_id": ME })
            }
            "users.info" => {
                json!({ "ok": true, "user": { "id": argument("user"), "profile": { "display_name": format!("Name of {}", argument("user")) } } })
            }
            "users.conversations" => {
                json!({ "ok": true, "channels": self.channels, "response_metadata": { "next_cursor": "" } })
            }
            "conversations.history" | "conversations.replies" => {
                let root = argument("ts");
                let mut list: Vec<Value> =
                    self.messages.get(argument("channel")).cloned().unwrap_or_default();
                list.retain(|message| {
                    let in_thread =
                        message["thread_ts"].as_str().is_some_and(|thread| message["ts"] != thread);
                    let after = message["ts"].as_str() > Some(argument("oldest"));
                    let of_thread = message["thread_ts"] == root || message["ts"] == root;
                    if root.is_empty() {
                        after && (!in_thread || message["subtype"] == "thread_broadcast")
                    } else {
                        of_thread && (after || message["ts"] == root)
                    }
                });
                if root.is_empty() {
                    list.reverse();
                }
                let from: usize = argument("cursor").trim_start_matches('c').parse().unwrap_or(0);
                let limit: usize = argument("limit").parse().unwrap();
                let limit = limit.min(self.messages_max.unwrap_or(limit));
                let page: Vec<Value> = list.iter().skip(from).take(limit).cloned().collect();
                let has_more = from + page.len() < list.len();
                let next = if has_more { format!("c{}", from + page.len()) } else { String::new() };
                json!({ "ok": true, "messages": page, "has_more": has_more, "response_metadata": { "next_cursor": next } })
            }
            "chat.postMessage" => {
                self.posted += 1;
                let ts = format!("1796025700.{:06}", self.posted);
                let mut message = body.clone();
                message["text"] = body["markdown_text"].clone();
                message["user"] = json!(ME);
                message["ts"] = json!(ts);
                self.add(body["channel"].as_str().unwrap(), message);
                json!({ "ok": true, "channel": body["channel"], "ts": ts })
            }
            "reactions.add" => json!({ "ok": true }),
            "apps.connections.open" => json!({ "ok": true, "url": self.socket_url }),
            _ => json!({ "ok": false, "error": "unknown_method" }),
        }
    }
}

/// A server of sockets; connections are taken one by one.
pub struct SocketServer {
    listener: TcpListener,
}

/// One connection of it.
pub struct Line(WebSocket<TcpStream>);

impl SocketServer {
    pub fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    pub fn url(&self) -> String {
        format!("ws://{}/link/?ticket=CANARY-ticket", self.listener.local_addr().unwrap())
    }

    /// The next connection, greeted.
    pub fn greet(&self) -> Line {
        let mut line = self.accept();
        line.tell(&json!({ "type": "hello", "num_connections": 1 }));
        line
    }

    pub fn accept(&self) -> Line {
        Line(accept(self.listener.accept().unwrap().0).unwrap())
    }
}

impl Line {
    pub fn tell(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    pub fn event(&mut self, envelope: &str, event: Value) {
        let payload = json!({ "event_id": envelope, "event": event });
        self.tell(
            &json!({ "type": "events_api", "envelope_id": envelope, "payload": payload, "retry_attempt": 0 }),
        );
    }

    /// The next text from the other side; `None`: it is gone.
    pub fn hear(&mut self) -> Option<Value> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(text.as_str()).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub fn raw(&mut self) -> &mut WebSocket<TcpStream> {
        &mut self.0
    }
}
