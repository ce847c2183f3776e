//! A browser without eyes: raw requests, a cookie, the mark of the forms.

#![expect(clippy::indexing_slicing, reason = "lengths are what was read, and a test's helper fails the test")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Sends a request whose head lacks only its end, and reads until the connection closes. Status 0: no answer.
pub fn ask(host: &str, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server that refuses early closes while it is written to: what it said still counts.
    let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes());
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    Answer { status, headers: lines.filter_map(header).collect(), body: body.to_owned() }
}

pub struct Visitor {
    pub host: String,
    pub cookie: String,
    pub csrf: String,
}

impl Visitor {
    /// Logs in with a link.
    pub fn enter(url: &str) -> Self {
        let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let entered = ask(host, &format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n"), b"");
        let cookie =
            entered.headers.iter().find(|(name, _)| name == "set-cookie").map(|(_, value)| value.clone());
        let cookie = cookie.unwrap().split(';').next().unwrap().to_owned();
        let mut visitor = Self { host: host.to_owned(), cookie, csrf: String::new() };
        let today = visitor.get("/").body;
        let field =
            today.split("name=\"csrf\" value=\"").nth(1).unwrap_or_else(|| panic!("no form in {today}"));
        visitor.csrf = field.split('"').next().unwrap().to_owned();
        visitor
    }

    pub fn get(&self, path: &str) -> Answer {
        let Self { host, cookie, .. } = self;
        ask(host, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n"), b"")
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        let body = form.append_pair("csrf", &self.csrf).extend_pairs(fields).finish();
        let Self { host, cookie, .. } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            body.len()
        );
        ask(host, &head, body.as_bytes())
    }
}

/// Small, even and the same everywhere (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len())]
    }
}

const METHODS: &[&str] =
    &["GET", "GET", "GET", "POST", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"];
const PLACES: &[&str] = &[
    "/",
    "/review",
    "/review/",
    "/case",
    "/case/",
    "/outbox",
    "/outbox/",
    "/units",
    "/units/",
    "/login",
    "/pause/",
    "/v1/",
    "/style.css",
    "/page.js",
    "*",
    "/login?token=",
    "/case?state=",
    "/case?limit=",
];
const BITS: &[&str] = &[
    "d1",
    "c1",
    "a1",
    "d18446744073709551616",
    "-1",
    "%00",
    "%ff",
    "..",
    "/",
    "%2f",
    "?",
    "#",
    "&",
    "=",
    "<script>",
    "'",
    "\"",
    "decide",
    "cancel",
    "release",
    "kick",
    "retry",
    "notes.connector",
    "A",
    "%",
    "{}",
    "[]",
    ";",
    "\u{e9}",
    "new",
    "0",
];
const HEADERS: &[&str] = &[
    "Accept: */*\r\n",
    "Range: bytes=0-\r\n",
    "Cookie: workagent-1=x\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 5\r\n",
    "Content-Type: application/json\r\n",
    "Origin: null\r\n",
    "X: \u{1}\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: websocket\r\n",
    "Host: evil.example\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Accept-Encoding: gzip\r\n",
];

/// Requests of a logged-in browser gone mad, counted by status.
pub fn storm(visitor: &Visitor, requests: u32, seed: u64) -> BTreeMap<u16, u32> {
    let mut dice = Dice(seed);
    let mut counts = BTreeMap::new();
    for _ in 0..requests {
        let mut target = dice.of(PLACES).to_owned();
        for _ in 0..dice.roll(4) {
            target.push_str(dice.of(BITS));
        }
        let mut body = String::new();
        for _ in 0..dice.roll(5) {
            body.push_str(dice.of(BITS));
        }
        if dice.roll(4) == 0 {
            body = format!("csrf={}&do={}&hash={body}", visitor.csrf, dice.of(&["approve", "save", "x"]));
        }
        let mut head = format!("{} {target} HTTP/1.1\r\n", dice.of(METHODS));
        let host = &visitor.host;
        if dice.roll(20) > 0 {
            head.push_str(&format!("Host: {host}\r\n"));
        }
        if dice.roll(3) > 0 {
            head.push_str(&format!("Origin: http://{host}\r\n"));
        }
        if dice.roll(5) > 0 {
            head.push_str(&format!("Cookie: {}\r\n", visitor.cookie));
        }
        if dice.roll(3) > 0 {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        if dice.roll(4) == 0 {
            head.push_str(dice.of(HEADERS));
        }
        let answer = ask_briefly(host, &head, body.as_bytes());
        *counts.entry(answer).or_insert(0) += 1;
    }
    counts
}

/// The status alone; what is not a whole request is cut by closing our side.
fn ask_briefly(host: &str, head: &str, body: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes());
    let _ = stream.write_all(body);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut bytes = [0; 12];
    let mut length = 0;
    while length < bytes.len()
        && let Ok(more) = stream.read(&mut bytes[length..])
        && more > 0
    {
        length += more;
    }
    String::from_utf8_lossy(&bytes[..length])
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or(0)
}
