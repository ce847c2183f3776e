//! Real mail servers for the ring of real peers: Dovecot and Postfix, started by `tests/lab/mail.sh` once for all tests
//! of a run and gone with it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
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
use super::lab_script::LabScript;
use super::mailbox::Keys;

const PLENTY: Duration = Duration::from_secs(60);

pub struct MailLab(&'static LabScript);

/// The lab, or `None` (and a word about it) where the ring is not switched on. Switched on, a lab that does not start
/// is a failure.
pub fn mail_lab() -> Option<&'static MailLab> {
    static SCRIPT: OnceLock<LabScript> = OnceLock::new();
    static LAB: OnceLock<MailLab> = OnceLock::new();
    LabScript::of(&SCRIPT, "mail").map(|script| LAB.get_or_init(|| MailLab(script)))
}

impl MailLab {
    fn fact(&self, key: &str) -> &str {
        self.0.fact(key)
    }

    pub fn port(&self, key: &str) -> u16 {
        self.fact(key).parse().unwrap()
    }

    /// The file with the certificate that vouches for its servers.
    pub fn ca(&self) -> &str {
        self.fact("CA")
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

    /// Puts mails into the account of `name` as if they had come long ago, in this order; those of `seen` were read.
    pub fn fill(&self, name: &str, mails: &[impl AsRef<[u8]>], seen: impl Fn(usize) -> bool) {
        let vmail = Path::new(self.fact("VMAIL"));
        let owner = std::fs::metadata(vmail).unwrap();
        let own = |path: &Path| {
            std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        };
        let maildir = vmail.join(format!("{name}@lab.test"));
        for folder in [maildir.clone(), maildir.join("cur"), maildir.join("new"), maildir.join("tmp")] {
            std::fs::create_dir_all(&folder).unwrap();
            own(&folder);
        }
        for (number, mail) in mails.iter().enumerate() {
            let flags = if seen(number) { "S" } else { "" };
            let name = format!("{}.M{number}P1.lab:2,{flags}", 1_700_000_000 + number);
            std::fs::write(maildir.join("tmp").join(&name), mail).unwrap();
            own(&maildir.join("tmp").join(&name));
            std::fs::rename(maildir.join("tmp").join(&name), maildir.join("cur").join(&name)).unwrap();
        }
    }

    /// Every mail that lies in a mailbox of the account of `name`: the folder's name (empty for the inbox) and the text.
    pub fn lying(&self, name: &str) -> Vec<(String, String)> {
        let maildir = Path::new(self.fact("VMAIL")).join(format!("{name}@lab.test"));
        let mut found = Vec::new();
        for folder in ["", ".Sent"] {
            for part in ["new", "cur"] {
                let Ok(entries) = std::fs::read_dir(maildir.join(folder).join(part)) else { continue };
                for entry in entries {
                    let text =
                        String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()).into_owned();
                    found.push((folder.trim_start_matches('.').to_owned(), text));
                }
            }
        }
        found
    }

    /// Names of all accounts that ever got mail.
    pub fn accounts(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.fact("VMAIL")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix("@lab.test").map(str::to_owned)).collect()
    }

    /// The unit file of a connector for the account of `name`, its password under `mail/NAME`.
    pub fn unit(&self, name: &str, more: &str) -> String {
        format!(
            "[connector]\nplatform = \"imap\"\noutbound = \"reviewed\"\nbacklog = \"all\"\nhold = \"0s\"\n[imap]\n\
             host = \"localhost\"\nport = {}\nuser = \"{name}@lab.test\"\npassword = {{ secret = \"mail/{name}\" }}\n\
             ca_file = \"{}\"\nsmtp_host = \"localhost\"\nsmtp_port = {}\n{more}\n[schedule]\nevery = \"10s\"\n\
             [install]\nenabled = true\n",
            self.port("IMAPS_PORT"),
            self.fact("CA"),
            self.port("SUBMISSIONS_PORT"),
        )
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
