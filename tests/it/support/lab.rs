//! Real mail servers for the ring of real peers: Dovecot and Postfix, started by `tests/lab/mail.sh` once for all tests
//! of a run and gone with it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use async_imap::types::Flag;
use futures_util::TryStreamExt;
use lettre::address::Envelope;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use workagent::model::item::Item;
use workagent::unit::value::Value;

use super::connector::Bench;
use super::mailbox::Keys;

const PLENTY: Duration = Duration::from_secs(60);

pub struct MailLab {
    facts: BTreeMap<String, String>,
    /// Its standard input ends with this process, and it with that.
    _script: Child,
}

/// The lab, or `None` (and a word about it) where the ring is not switched on. Switched on, a lab that does not start
/// is a failure.
pub fn mail_lab() -> Option<&'static MailLab> {
    static LAB: OnceLock<MailLab> = OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "the switch of a ring of tests")]
    let on = std::env::var("WORKAGENT_LAB").is_ok_and(|value| value == "1");
    if !on {
        #[expect(clippy::print_stdout, reason = "seen by whoever wonders why a test was so quick")]
        let () = println!("this is a test of the ring of real peers; WORKAGENT_LAB=1 runs it");
        return None;
    }
    Some(LAB.get_or_init(MailLab::start))
}

impl MailLab {
    fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("workagent-mail-").tempdir().unwrap().keep();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/mail.sh");
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut command = std::process::Command::new("bash");
        #[expect(clippy::zombie_processes, reason = "it ends with this process")]
        let mut script = command
            .arg(script)
            .arg("run")
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut facts = BTreeMap::new();
        for line in BufReader::new(script.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "ready" {
                return Self { facts, _script: script };
            }
            let (key, value) = line.split_once('=').unwrap();
            facts.insert(key.to_owned(), value.to_owned());
        }
        panic!("the mail lab did not start; `tests/lab/mail.sh install` installs what it needs");
    }

    fn fact(&self, key: &str) -> &str {
        self.facts.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    pub fn port(&self, key: &str) -> u16 {
        self.fact(key).parse().unwrap()
    }

    pub fn password(&self) -> &str {
        self.fact("PASSWORD")
    }

    /// Keys of the account of `name`, over TLS.
    pub fn keys(&self, name: &str) -> Keys {
        Keys::default()
            .text("host", "localhost")
            .port("port", self.port("IMAPS_PORT"))
            .text("user", &format!("{name}@lab.test"))
            .secret("password", self.password())
            .path("ca_file", Path::new(self.fact("CA")))
            .with("idle", Value::Bool(true))
            .text("smtp_host", "localhost")
            .port("smtp_port", self.port("SUBMISSIONS_PORT"))
    }

    /// Brings a mail from outside; it arrives a moment later.
    pub async fn deliver(&self, from: &str, to: &str, mail: &str) {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1")
            .port(self.port("SMTP_PORT"))
            .build();
        let envelope = Envelope::new(Some(from.parse().unwrap()), vec![to.parse().unwrap()]).unwrap();
        transport.send_raw(&envelope, mail.as_bytes()).await.unwrap();
    }

    /// Another mail program of the account of `name`.
    pub async fn client(&self, name: &str) -> MailClient {
        let tcp = TcpStream::connect(("127.0.0.1", self.port("IMAP_PORT"))).await.unwrap();
        let mut client = async_imap::Client::new(tcp);
        client.read_response().await.unwrap().unwrap();
        let login = client.login(format!("{name}@lab.test"), self.password()).await;
        MailClient(login.map_err(|(error, _)| error).unwrap())
    }
}

/// A mail program that is not the one under test.
pub struct MailClient(async_imap::Session<TcpStream>);

impl MailClient {
    pub async fn create(&mut self, mailbox: &str) {
        self.0.create(mailbox).await.unwrap();
    }

    pub async fn delete(&mut self, mailbox: &str) {
        self.0.delete(mailbox).await.unwrap();
    }

    pub async fn append(&mut self, mailbox: &str, mail: impl AsRef<[u8]>) {
        self.0.append(mailbox, None, None, mail).await.unwrap();
    }

    /// The mails of a mailbox and their flags but `\Recent`.
    pub async fn mails(&mut self, mailbox: &str) -> Vec<(String, Vec<String>)> {
        self.0.examine(mailbox).await.unwrap();
        let fetched: Vec<_> =
            self.0.uid_fetch("1:*", "(FLAGS BODY.PEEK[])").await.unwrap().try_collect().await.unwrap();
        let shown = |fetch: &async_imap::types::Fetch| {
            let flags = fetch.flags().filter(|flag| *flag != Flag::Recent).map(|flag| format!("{flag:?}"));
            (String::from_utf8_lossy(fetch.body().unwrap()).into_owned(), flags.collect())
        };
        fetched.iter().map(shown).collect()
    }
}

/// Polls until `count` items came.
pub async fn arrived(bench: &mut Bench, count: usize) -> Vec<Item> {
    let deadline = Instant::now() + PLENTY;
    let mut items = Vec::new();
    while items.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} mails arrived", items.len());
        items.extend(bench.poll().await.unwrap().items);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    items
}

/// A man in the middle: passes everything on, and puts `more` right behind the first piece from the server that holds
/// `behind`, in the same piece. Its port, and its task, which ends with whether it did so.
pub async fn injecting(to: u16, behind: &'static str, more: &'static str) -> (u16, JoinSet<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
            (client.into_split(), server.into_split());
        let up = async move { tokio::io::copy(&mut from_client, &mut to_server).await };
        let down = async move {
            let (mut buffer, mut injected) = (vec![0; 64 * 1024], false);
            loop {
                let count = from_server.read(&mut buffer).await.unwrap_or(0);
                let mut piece = buffer.split_at(count).0.to_vec();
                if count == 0 {
                    return injected;
                }
                if !injected && String::from_utf8_lossy(&piece).contains(behind) {
                    piece.extend_from_slice(more.as_bytes());
                    injected = true;
                }
                if to_client.write_all(&piece).await.is_err() {
                    return injected;
                }
            }
        };
        let (_, injected) = tokio::join!(up, down);
        injected
    });
    (port, tasks)
}
