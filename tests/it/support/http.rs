//! A loopback HTTP server, scripted request by request. It can do what ordinary mock servers cannot: cut the
//! connection before or after it took the body, and answer late.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// How the server meets one request.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    manner: Manner,
    fill: Option<Fill>,
}

/// Makes the body out of the request's body and the scripted one.
pub type Fill = fn(&[u8], Vec<u8>) -> Vec<u8>;

/// Answers each request by what it asks; its body has been taken.
pub type Router = Box<dyn Fn(&Seen) -> Answer + Send + Sync>;

#[derive(Clone, Debug, PartialEq)]
enum Manner {
    Proper,
    /// Takes the head, then closes.
    CutBeforeBody,
    /// Takes all (so the far side has acted), then closes without a word.
    CutAfterBody,
    /// Takes all, then answers only when told (`HttpServer::release`) or when the server ends.
    Late,
    /// Announces more than it sends.
    CutInAnswer,
    /// Sends the body in pieces of this size, waiting for `release` before each but the first.
    Pieces(usize),
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), manner: Manner::Proper, fill: None }
    }
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, body)
    }
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
    /// A body that depends on what was asked.
    pub fn filled(self, fill: Fill) -> Self {
        Self { fill: Some(fill), ..self }
    }
    fn manner(manner: Manner) -> Self {
        Self { manner, ..Self::new(200, "") }
    }
    pub fn cut_before_body() -> Self {
        Self::manner(Manner::CutBeforeBody)
    }
    pub fn cut_after_body() -> Self {
        Self::manner(Manner::CutAfterBody)
    }
    pub fn late(self) -> Self {
        Self { manner: Manner::Late, ..self }
    }
    pub fn cut_in_answer(self) -> Self {
        Self { manner: Manner::CutInAnswer, ..self }
    }
    pub fn pieces(self, bytes: usize) -> Self {
        Self { manner: Manner::Pieces(bytes), ..self }
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    /// `None`: the connection was cut before the body was taken.
    pub body: Option<Vec<u8>>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    /// Repeated when the script is used up.
    then: Option<Answer>,
    seen: Vec<Seen>,
    released: usize,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Requests being met, and the most there ever were.
    at_once: Mutex<(usize, usize)>,
    changed: Condvar,
    router: Option<Router>,
}

/// Ends with its value.
pub struct HttpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl HttpServer {
    /// Meets the first request with the first answer and so on; beyond the script with 500 and a complaint.
    pub fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let server = Self::serve(None);
        server.shared.state.lock().unwrap().script = script.into_iter().collect();
        server
    }

    /// A double that knows what it is asked for.
    pub fn by(router: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(Some(Box::new(router)))
    }

    fn serve(router: Option<Router>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { router, ..Shared::default() });
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if for_thread.state.lock().unwrap().ended {
                    return;
                }
                let shared = Arc::clone(&for_thread);
                // A client that hangs up is a normal event here.
                std::thread::spawn(move || drop(meet(&shared, stream.unwrap())));
            }
        });
        Self { address, shared }
    }

    /// Meets all requests like this.
    pub fn always(answer: Answer) -> Self {
        let server = Self::start([]);
        server.shared.state.lock().unwrap().then = Some(answer);
        server
    }

    pub fn push(&self, answer: Answer) {
        self.shared.state.lock().unwrap().script.push_back(answer);
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state.lock().unwrap().seen.clone()
    }

    /// The most requests that were waiting for the router's answer at once.
    pub fn most_at_once(&self) -> usize {
        self.shared.at_once.lock().unwrap().1
    }

    /// Lets one late answer or piece go.
    pub fn release(&self) {
        self.shared.state.lock().unwrap().released += 1;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn count(&self, change: isize) {
        let (now, most) = &mut *self.at_once.lock().unwrap();
        *now = now.saturating_add_signed(change);
        *most = (*most).max(*now);
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().ended = true;
        self.shared.changed.notify_all();
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(self.address));
    }
}

fn wait_released(shared: &Shared) {
    let mut state = shared.state.lock().unwrap();
    while state.released == 0 && !state.ended {
        state = shared.changed.wait(state).unwrap();
    }
    state.released = state.released.saturating_sub(1);
}

fn meet(shared: &Shared, mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut seen = Seen { method, target, headers, body: None };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut answer = if let Some(router) = &shared.router {
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        seen.body = Some(body);
        shared.count(1);
        let answer = router(&seen);
        shared.count(-1);
        answer
    } else {
        let mut state = shared.state.lock().unwrap();
        let missing = Answer::new(500, "the script has no answer for this request");
        let next = state.script.pop_front();
        next.or_else(|| state.then.clone()).unwrap_or(missing)
    };
    if answer.manner != Manner::CutBeforeBody && seen.body.is_none() {
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        seen.body = Some(body);
    }
    if let (Some(fill), Some(asked)) = (answer.fill, &seen.body) {
        answer.body = fill(asked, std::mem::take(&mut answer.body));
    }
    let head_only = seen.method == "HEAD";
    shared.state.lock().unwrap().seen.push(seen);
    shared.changed.notify_all();
    if matches!(answer.manner, Manner::CutBeforeBody | Manner::CutAfterBody) {
        return stream.shutdown(Shutdown::Both);
    }
    if answer.manner == Manner::Late {
        wait_released(shared);
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let surplus = if answer.manner == Manner::CutInAnswer { 1000 } else { 0 };
    if answer.status != 304 {
        head += &format!("content-length: {}\r\n", answer.body.len() + surplus);
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    if head_only || answer.status == 304 {
        return Ok(());
    }
    match answer.manner {
        Manner::Pieces(bytes) => {
            for (nth, piece) in answer.body.chunks(bytes).enumerate() {
                if nth > 0 {
                    wait_released(shared);
                }
                stream.write_all(piece)?;
                stream.flush()?;
            }
        }
        _ => stream.write_all(&answer.body)?,
    }
    stream.shutdown(Shutdown::Write)
}
