//! A loopback IMAP server over a mailbox in memory, with the faults that real ones have. One thread a connection.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::mailbox::mail;

/// A stored mail.
#[derive(Clone, Debug)]
pub struct Stored {
    pub raw: Vec<u8>,
    /// As INTERNALDATE is written, with its quotes; or `NIL`.
    pub date: String,
    pub flags: String,
}

/// A mailbox.
#[derive(Clone, Debug)]
pub struct Folder {
    pub uidvalidity: u32,
    pub uid_next: u32,
    pub modseq: u64,
    pub mails: BTreeMap<u32, Stored>,
    pub attributes: &'static str,
}

impl Folder {
    pub fn new(uidvalidity: u32) -> Self {
        Self { uidvalidity, uid_next: 1, modseq: 1, mails: BTreeMap::new(), attributes: "" }
    }

    pub fn put_at(&mut self, uid: u32, raw: impl Into<Vec<u8>>, date: &str) {
        self.modseq += 1;
        self.uid_next = self.uid_next.max(uid + 1);
        self.mails.insert(uid, Stored { raw: raw.into(), date: format!("\"{date}\""), flags: String::new() });
    }

    pub fn put(&mut self, raw: impl Into<Vec<u8>>) -> u32 {
        let uid = self.uid_next;
        self.put_at(uid, raw, "30-Nov-2026 08:00:00 +0000");
        uid
    }
}

/// What happens instead of the answer to a command.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This line, then the connection is closed.
    SayAndClose(&'static str),
    /// The tagged answer is this: `NO [LIMIT] later`.
    Refuse(&'static str),
    /// These bytes in front of the real answer.
    Before(Vec<u8>),
    /// Half of the answer, then the connection is closed.
    Half,
    /// Nothing, for ever.
    Silence,
    /// The answer in so many pieces with such a pause between.
    Drip(usize, Duration),
}

#[derive(Default)]
struct State {
    folders: BTreeMap<String, Folder>,
    capabilities: String,
    password: String,
    /// Every command line without its tag, the arguments of a login left out.
    log: Vec<String>,
    /// Commands that begin so get the fault, so many times.
    faults: VecDeque<(String, Fault, usize)>,
    /// Connections, for closing them all.
    connections: Vec<TcpStream>,
    idling: usize,
    bytes_sent: usize,
    logins: usize,
}

/// The server; ends with the value.
pub struct ImapServer {
    address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl ImapServer {
    /// With an empty INBOX of UIDVALIDITY 1001 and a mailbox `Sent`.
    pub fn start(capabilities: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Folder { attributes: "\\Sent", ..Folder::new(7) };
        let state = State {
            folders: BTreeMap::from([("INBOX".to_owned(), Folder::new(1001)), ("Sent".to_owned(), sent)]),
            capabilities: capabilities.to_owned(),
            password: "CANARY-imap-1".to_owned(),
            ..State::default()
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let inner = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&inner);
                lock(&shared).connections.push(stream.try_clone().unwrap());
                std::thread::spawn(move || Connection::new(stream, shared).serve());
            }
        });
        Self { address, shared }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Changes a mailbox; those who idle are told when it grew.
    pub fn change<R>(&self, folder: &str, change: impl FnOnce(&mut Folder) -> R) -> R {
        let result = change(lock(&self.shared).folders.get_mut(folder).unwrap());
        self.shared.1.notify_all();
        result
    }

    pub fn fault(&self, command: &str, fault: Fault, times: usize) {
        lock(&self.shared).faults.push_back((command.to_owned(), fault, times));
    }

    pub fn log(&self) -> Vec<String> {
        lock(&self.shared).log.clone()
    }

    pub fn forget_log(&self) {
        lock(&self.shared).log.clear();
    }

    pub fn logins(&self) -> usize {
        lock(&self.shared).logins
    }

    pub fn bytes_sent(&self) -> usize {
        lock(&self.shared).bytes_sent
    }

    pub fn close_connections(&self) {
        for stream in lock(&self.shared).connections.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn is_idling(&self) -> bool {
        lock(&self.shared).idling > 0
    }
}

fn lock(shared: &(Mutex<State>, Condvar)) -> MutexGuard<'_, State> {
    shared.0.lock().unwrap()
}

struct Connection {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    shared: Arc<(Mutex<State>, Condvar)>,
    open: String,
}

type Served = Option<()>;

impl Connection {
    fn new(stream: TcpStream, shared: Arc<(Mutex<State>, Condvar)>) -> Self {
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { reader, stream, shared, open: String::new() }
    }

    fn say(&mut self, bytes: impl AsRef<[u8]>) -> Served {
        lock(&self.shared).bytes_sent += bytes.as_ref().len();
        self.stream.write_all(bytes.as_ref()).ok()
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    }

    fn serve(mut self) -> Served {
        self.say("* OK scripted server\r\n")?;
        loop {
            let line = self.line()?;
            let (tag, command) = line.split_once(' ')?;
            let shown = if command.starts_with("LOGIN") { "LOGIN" } else { command };
            lock(&self.shared).log.push(shown.to_owned());
            let fault = self.take_fault(command);
            match fault {
                Some(Fault::SayAndClose(said)) => {
                    self.say(format!("{said}\r\n"))?;
                    return self.stream.shutdown(Shutdown::Both).ok();
                }
                Some(Fault::Refuse(said)) => {
                    self.say(format!("{tag} {said}\r\n"))?;
                    continue;
                }
                Some(Fault::Silence) => loop {
                    self.line()?;
                },
                Some(Fault::Before(bytes)) => self.say(bytes)?,
                Some(Fault::Half) => {
                    let answer = self.answer(tag, command)?;
                    self.say(answer.split_at(answer.len() / 2).0)?;
                    return self.stream.shutdown(Shutdown::Both).ok();
                }
                Some(Fault::Drip(pieces, pause)) => {
                    let answer = self.answer(tag, command)?;
                    for piece in answer.chunks(answer.len().div_ceil(pieces)) {
                        self.say(piece)?;
                        std::thread::sleep(pause);
                    }
                    continue;
                }
                None => {}
            }
            let answer = self.answer(tag, command)?;
            self.say(answer)?;
            if command == "LOGOUT" {
                return None;
            }
        }
    }

    fn take_fault(&self, command: &str) -> Option<Fault> {
        let mut state = lock(&self.shared);
        let found = state
            .faults
            .iter_mut()
            .find(|(begin, _, left)| *left > 0 && command.starts_with(begin.as_str()))?;
        found.2 -= 1;
        Some(found.1.clone())
    }

    fn answer(&mut self, tag: &str, command: &str) -> Option<Vec<u8>> {
        let done = |text: &str| Some(format!("{tag} {text}\r\n").into_bytes());
        let mut words = command.split(' ');
        match words.next()? {
            "CAPABILITY" => {
                let capabilities = lock(&self.shared).capabilities.clone();
                Some(format!("* CAPABILITY IMAP4rev1 {capabilities}\r\n{tag} OK\r\n").into_bytes())
            }
            "LOGIN" => {
                let mut state = lock(&self.shared);
                let right = command.ends_with(&format!(" \"{}\"", state.password));
                state.logins += usize::from(right);
                done(if right { "OK welcome" } else { "NO [AUTHENTICATIONFAILED] wrong" })
            }
            "AUTHENTICATE" => self.authenticate(tag),
            "EXAMINE" => self.examine(tag, command),
            "LIST" => {
                let state = lock(&self.shared);
                let mut out = String::new();
                for (name, folder) in &state.folders {
                    let _ = write!(out, "* LIST ({}) \"/\" \"{name}\"\r\n", folder.attributes);
                }
                Some(format!("{out}{tag} OK\r\n").into_bytes())
            }
            "APPEND" => self.append(tag, command),
            "IDLE" => self.idle(tag),
            "UID" if command.starts_with("UID FETCH ") => self.fetch(tag, &command["UID FETCH ".len()..]),
            "UID" if command.starts_with("UID SEARCH OR ") => self.search(tag, command),
            "NOOP" | "ID" | "LOGOUT" => done("OK"),
            _ => done("BAD unknown command"),
        }
    }

    /// Only refuses: first with a challenge that wants an empty line, as the providers do it.
    fn authenticate(&mut self, tag: &str) -> Option<Vec<u8>> {
        self.say("+ \r\n")?;
        let first = self.line()?;
        self.say("+ eyJzdGF0dXMiOiI0MDAifQ==\r\n")?;
        let second = self.line()?;
        lock(&self.shared).log.extend([format!("first answer {first}"), format!("second answer {second:?}")]);
        Some(format!("{tag} NO [AUTHENTICATIONFAILED] invalid token\r\n").into_bytes())
    }

    fn examine(&mut self, tag: &str, command: &str) -> Option<Vec<u8>> {
        let name = command.split('"').nth(1)?.to_owned();
        let state = lock(&self.shared);
        let Some(folder) = state.folders.get(&name) else {
            return Some(format!("{tag} NO no such mailbox\r\n").into_bytes());
        };
        let modseq = if state.capabilities.contains("CONDSTORE") {
            format!("* OK [HIGHESTMODSEQ {}]\r\n", folder.modseq)
        } else {
            String::new()
        };
        let out = format!(
            "* {} EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n* OK [UIDVALIDITY {}]\r\n* OK [UIDNEXT {}]\r\n{modseq}{tag} \
             OK [READ-ONLY] done\r\n",
            folder.mails.len(),
            folder.uidvalidity,
            folder.uid_next
        );
        drop(state);
        self.open = name;
        Some(out.into_bytes())
    }

    fn fetch(&mut self, tag: &str, arguments: &str) -> Option<Vec<u8>> {
        let (set, items) = arguments.split_once(' ')?;
        let state = lock(&self.shared);
        let folder = state.folders.get(&self.open)?;
        let mut out = Vec::new();
        for (sequence, (uid, mail)) in folder.mails.iter().enumerate() {
            if !in_set(set, *uid, folder) {
                continue;
            }
            let mut attributes = format!("UID {uid}");
            if items.contains("RFC822.SIZE") {
                let _ = write!(attributes, " RFC822.SIZE {}", mail.raw.len());
            }
            if items.contains("INTERNALDATE") {
                let _ = write!(attributes, " INTERNALDATE {} FLAGS ({})", mail.date, mail.flags);
            }
            let mut bytes = Vec::new();
            if let Some(at) = items.find("BODY.PEEK[]") {
                let (window, shown) = match items[at..].split_once("<0.") {
                    Some((_, rest)) => (rest.split('>').next()?.parse().ok()?, "<0>"),
                    None => (usize::MAX, ""),
                };
                bytes = mail.raw.split_at(mail.raw.len().min(window)).0.to_vec();
                let _ = write!(attributes, " BODY[]{shown} {{{}}}\r\n", bytes.len());
            }
            out.extend(format!("* {} FETCH ({attributes}", sequence + 1).into_bytes());
            out.extend(bytes);
            out.extend(b")\r\n");
        }
        out.extend(format!("{tag} OK\r\n").into_bytes());
        Some(out)
    }

    fn search(&mut self, tag: &str, command: &str) -> Option<Vec<u8>> {
        let wanted: Vec<&str> = command.split('"').skip(1).step_by(2).collect();
        let state = lock(&self.shared);
        let mut out = String::from("* SEARCH");
        for (uid, mail) in &state.folders.get(&self.open)?.mails {
            let text = String::from_utf8_lossy(&mail.raw);
            if wanted.iter().any(|wanted| text.contains(wanted)) {
                let _ = write!(out, " {uid}");
            }
        }
        Some(format!("{out}\r\n{tag} OK\r\n").into_bytes())
    }

    fn append(&mut self, tag: &str, command: &str) -> Option<Vec<u8>> {
        let name = command.split('"').nth(1)?.to_owned();
        let size: usize = command.rsplit('{').next()?.trim_end_matches('}').parse().ok()?;
        if !lock(&self.shared).folders.contains_key(&name) {
            return Some(format!("{tag} NO [TRYCREATE] no such mailbox\r\n").into_bytes());
        }
        self.say("+ go ahead\r\n")?;
        let mut raw = vec![0; size + 2];
        self.reader.read_exact(&mut raw).ok()?;
        raw.truncate(size);
        lock(&self.shared).folders.get_mut(&name)?.put(raw);
        Some(format!("{tag} OK\r\n").into_bytes())
    }

    /// Tells when the mailbox grows, until `DONE`.
    fn idle(&mut self, tag: &str) -> Option<Vec<u8>> {
        self.say("+ idling\r\n")?;
        let name = self.open.clone();
        let mut told = {
            let mut state = lock(&self.shared);
            state.idling += 1;
            state.folders.get(&name)?.mails.len()
        };
        self.shared.1.notify_all();
        // Reads `DONE` on this thread, tells on another.
        let (shared, mut out) = (Arc::clone(&self.shared), self.stream.try_clone().ok()?);
        let over = Arc::new(Mutex::new(false));
        let stop = Arc::clone(&over);
        let teller = std::thread::spawn(move || {
            let mut state = lock(&shared);
            while !*stop.lock().unwrap() {
                let now = state.folders.get(&name).map_or(0, |folder| folder.mails.len());
                if now > told {
                    told = now;
                    let _ = out.write_all(format!("* {now} EXISTS\r\n* 0 RECENT\r\n").as_bytes());
                }
                state = shared.1.wait(state).unwrap();
            }
        });
        let done = self.line();
        *over.lock().unwrap() = true;
        {
            let mut state = lock(&self.shared);
            state.idling -= 1;
            state.log.push(done.clone().unwrap_or_else(|| "closed in IDLE".into()));
        }
        self.shared.1.notify_all();
        teller.join().ok()?;
        done?;
        Some(format!("{tag} OK\r\n").into_bytes())
    }
}

/// `n:*` takes in the last mail even when its UID is below n, as the RFC wants it.
fn in_set(set: &str, uid: u32, folder: &Folder) -> bool {
    let last = folder.mails.keys().last().copied().unwrap_or(0);
    let number = |text: &str| if text == "*" { last } else { text.parse().unwrap() };
    set.split(',').any(|part| match part.split_once(':') {
        Some((from, to)) => {
            let (from, to) = (number(from), number(to));
            (from.min(to)..=from.max(to)).contains(&uid)
        }
        None => number(part) == uid,
    })
}

/// A server with mails `mail 1`, `mail 2`… in its INBOX.
pub fn with_mails(capabilities: &str, count: u32) -> ImapServer {
    let server = ImapServer::start(capabilities);
    server.change("INBOX", |inbox| {
        for number in 1..=count {
            inbox.put(mail(&format!("mail {number}")));
        }
    });
    server
}

/// Every command of the whole life of a server leaves the user's mailbox as it was.
pub fn assert_only_peeks(server: &ImapServer) {
    for command in server.log() {
        let harmless = !["SELECT", "STORE", "UID STORE", "EXPUNGE", "UID MOVE"]
            .iter()
            .any(|bad| command.starts_with(bad));
        assert!(harmless && !command.contains(" BODY[") && !command.contains("RFC822)"), "{command}");
    }
}
