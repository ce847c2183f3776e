//! A loopback submission server that takes mail and then behaves as told.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// What it does with a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Takes it.
    Ok,
    /// Takes it, then closes before the last answer.
    Drop,
    /// Takes it, then says nothing.
    Hang,
    /// Says 451 to MAIL.
    Temp,
    /// Takes it, then answers only when told.
    Late,
    /// Says 451 to the whole mail.
    TempAfter,
    /// Says 552 to the whole mail.
    TooLarge,
    /// Says something that is not SMTP to the whole mail.
    Garbage,
    /// Closes in the middle of the content.
    CutInContent,
    /// Closes instead of the 354.
    CutBeforeContent,
    /// Says 550 to the second recipient.
    NoSecond,
    /// Says 535 to AUTH.
    BadLogin,
    /// Says 454 to AUTH.
    BusyLogin,
    /// Closes instead of a greeting.
    NoGreeting,
}

#[derive(Default)]
struct State {
    stored: Vec<Vec<u8>>,
    commands: Vec<String>,
    released: bool,
}

pub struct SmtpServer {
    address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl SmtpServer {
    pub fn start(mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let inner = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&inner);
                std::thread::spawn(move || talk(&stream, mode, &shared));
            }
        });
        Self { address, shared }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The mails taken, as they came, without the end mark and with dots undone.
    pub fn stored(&self) -> Vec<Vec<u8>> {
        self.shared.0.lock().unwrap().stored.clone()
    }

    /// The command lines, logins without their arguments.
    pub fn commands(&self) -> Vec<String> {
        self.shared.0.lock().unwrap().commands.clone()
    }

    /// `Late` answers now.
    pub fn release(&self) {
        self.shared.0.lock().unwrap().released = true;
        self.shared.1.notify_all();
    }
}

fn talk(stream: &TcpStream, mode: Mode, shared: &(Mutex<State>, Condvar)) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let close = || stream.shutdown(Shutdown::Both).ok();
    let say = |line: &str| {
        let mut out = stream;
        out.write_all(format!("{line}\r\n").as_bytes()).ok()
    };
    if mode == Mode::NoGreeting {
        return close();
    }
    say("220 case server")?;
    let mut recipients = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let command = line.trim_end();
        let shown = if command.starts_with("AUTH") { "AUTH" } else { command };
        shared.0.lock().unwrap().commands.push(shown.to_owned());
        match command.split([' ', ':']).next()? {
            "EHLO" => say("250-hello\r\n250-AUTH PLAIN\r\n250 8BITMIME")?,
            "AUTH" if mode == Mode::BadLogin => say("535 5.7.8 no")?,
            "AUTH" if mode == Mode::BusyLogin => say("454 4.7.0 later")?,
            "AUTH" => say("235 ok")?,
            "MAIL" if mode == Mode::Temp => say("451 busy, later")?,
            "RCPT" => {
                recipients += 1;
                say(if mode == Mode::NoSecond && recipients == 2 {
                    "550 5.1.1 no such user"
                } else {
                    "250 ok"
                })?;
            }
            "DATA" if mode == Mode::CutBeforeContent => return close(),
            "DATA" => {
                say("354 go")?;
                let mut body = Vec::new();
                loop {
                    let mut line = Vec::new();
                    if reader.read_until(b'\n', &mut line).ok()? == 0 {
                        return None;
                    }
                    if mode == Mode::CutInContent {
                        return close();
                    }
                    if line == b".\r\n" {
                        break;
                    }
                    body.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
                }
                shared.0.lock().unwrap().stored.push(body);
                match mode {
                    Mode::Drop => return close(),
                    Mode::Hang | Mode::Late => {
                        let state = shared.0.lock().unwrap();
                        drop(
                            shared
                                .1
                                .wait_while(state, |state| mode == Mode::Hang || !state.released)
                                .unwrap(),
                        );
                        say("250 stored")?;
                    }
                    Mode::TempAfter => say("451 4.3.0 later")?,
                    Mode::TooLarge => say("552 5.3.4 too large")?,
                    Mode::Garbage => say("HTTP/1.1 200 OK")?,
                    _ => say("250 2.0.0 Ok: queued as 4XyZ")?,
                }
            }
            "QUIT" => {
                say("221 bye")?;
                return close();
            }
            _ => say("250 ok")?,
        }
    }
}
