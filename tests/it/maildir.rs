//! The maildir connector on real folders: what is new, what is left alone, what is put where, once.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use workagent::http::HttpRoom;
use workagent::model::class::{ErrorClass, PortError};
use workagent::model::draft::Envelope;
use workagent::model::environment::Environment;
use workagent::model::item::{Backlog, Cursor, Disposition, Page, PollRequest, ReplyWay};
use workagent::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use workagent::model::secret_ref::SecretRef;
use workagent::model::time::{Clock, Timestamp};
use workagent::platform::maildir::SPEC;
use workagent::platform::{Connector, ConnectorContext};
use workagent::process::ProcessRoom;
use workagent::secret::{SecretError, SecretStore, SecretValue};
use workagent::unit::value::{Settings, Value};

use crate::support;
use crate::support::mail::KEY;

const NOW: Timestamp = Timestamp(1_796_025_600_000);

struct NoSecrets;

impl SecretStore for NoSecrets {
    fn read<'a>(&'a self, _reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async { Err(SecretError::Missing { name: "none".into() }) })
    }
}

/// A Maildir, a state directory, and a cursor that is kept as the store would.
struct Desk {
    dir: tempfile::TempDir,
    keys: Vec<(String, Value)>,
    connector: Arc<dyn Connector>,
    cursor: Option<Cursor>,
}

impl Desk {
    fn new(keys: &[(&str, Value)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["in/new", "in/cur", "in/tmp"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let mut all = vec![
            ("path".to_owned(), Value::Path(dir.path().join("in"))),
            ("address".to_owned(), Value::List(vec!["me@example.org".into()])),
            ("timeout".to_owned(), Value::Duration(Duration::from_secs(30))),
        ];
        all.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        let connector = connector(dir.path(), &all);
        Self { dir, keys: all, connector, cursor: None }
    }

    fn with_out() -> Self {
        let mut desk = Self::new(&[]);
        desk.keys.push(("out".into(), Value::Path(desk.path("out"))));
        desk.keys.push(("sent".into(), Value::Path(desk.path("sent"))));
        desk.restart();
        desk
    }

    fn with_program(script: &str) -> Self {
        let mut desk = Self::new(&[]);
        let program = desk.path("program");
        fs::write(&program, format!("#!/bin/sh\ncd '{}'\n{script}\n", desk.dir.path().display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let args = vec![program.display().to_string(), "-t".into()];
        desk.keys.push(("sendmail".into(), Value::List(args)));
        desk.restart();
        desk
    }

    /// The daemon starts anew: nothing is left in memory.
    fn restart(&mut self) {
        self.connector = connector(self.dir.path(), &self.keys);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn mail(&self, file: &str, id: &str) {
        let text = format!("From: pat@example.org\nSubject: {id}\nMessage-ID: <{id}@example.org>\n\nHello\n");
        fs::write(self.path(file), text).unwrap();
    }

    async fn try_poll(&self, backlog: Backlog, items_max: usize) -> Result<Page, PortError> {
        let cursor = self.cursor.as_ref();
        self.connector.poll(PollRequest { cursor, backlog, now: NOW, items_max }).await
    }

    /// One page, committed.
    async fn page(&mut self, backlog: Backlog, items_max: usize) -> Page {
        let page = self.try_poll(backlog, items_max).await.unwrap();
        if let Some(cursor) = &page.cursor {
            assert!(cursor.0.len() < 1024);
            self.cursor = Some(cursor.clone());
        }
        page
    }

    /// All there is, as titles.
    async fn all(&mut self, backlog: Backlog) -> Vec<String> {
        let mut titles = Vec::new();
        for _ in 0..100 {
            let page = self.page(backlog, 2).await;
            titles.extend(page.items.iter().map(|item| item.title.clone()));
            if !page.more {
                return titles;
            }
        }
        panic!("no end of pages");
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>();
        names.sort();
        names
    }

    fn prepared(&self) -> (OutboundAction, Payload) {
        let action = action();
        let payload = self.connector.prepare(&action, NOW).unwrap();
        (action, payload)
    }

    async fn deliver(&self) -> Result<Receipt, PortError> {
        let (action, payload) = self.prepared();
        self.connector.deliver(&action, &payload).await
    }

    async fn confirm(&self) -> Confirmation {
        let (action, payload) = self.prepared();
        self.connector.confirm(&action, &payload, NOW).await.unwrap()
    }
}

fn connector(dir: &Path, keys: &[(String, Value)]) -> Arc<dyn Connector> {
    let context = ConnectorContext {
        unit: "inbox".into(),
        settings: Settings(keys.iter().cloned().collect()),
        secrets: Arc::new(NoSecrets),
        clock: Clock::manual(NOW),
        state_dir: dir.join("state"),
        http: HttpRoom::default(),
        process: ProcessRoom::new(dir.join("children")),
        environment: Environment::of([("PATH", "/usr/bin:/bin"), ("CANARY", "leak")]),
    };
    (SPEC.build)(context).unwrap()
}

fn action() -> OutboundAction {
    let to = vec!["pat@example.org".into()];
    support::mail::action(&Envelope { to, subject: "Re: Plan".into(), ..Envelope::default() }, "Yes.")
}

#[tokio::test]
async fn new_mail_is_read_once_in_order_over_restarts() {
    let mut desk = Desk::new(&[]);
    for (file, id) in [("in/cur/3.c:2,S", "c"), ("in/new/1.a", "a"), ("in/new/2.b", "b"), ("in/tmp/4.d", "d")]
    {
        desk.mail(file, id);
    }
    assert_eq!(desk.all(Backlog::All).await, ["a", "b", "c"]);
    assert!(desk.all(Backlog::All).await.is_empty());
    desk.restart();
    assert!(desk.all(Backlog::All).await.is_empty());
    desk.mail("in/new/0.late", "late");
    assert_eq!(desk.all(Backlog::All).await, ["late"]);
}

#[tokio::test]
async fn a_quiet_poll_writes_nothing() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/new/1.a", "a");
    desk.all(Backlog::All).await;
    let page = desk.page(Backlog::All, 10).await;
    assert_eq!((page.cursor, page.more, page.notes.len()), (None, false, 0));
}

#[tokio::test]
async fn what_the_user_does_to_a_mail_is_no_news() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/new/1.a", "a");
    desk.all(Backlog::All).await;
    fs::rename(desk.path("in/new/1.a"), desk.path("in/cur/1.a:2,")).unwrap();
    assert!(desk.all(Backlog::All).await.is_empty());
    fs::rename(desk.path("in/cur/1.a:2,"), desk.path("in/cur/1.a:2,FRS")).unwrap();
    desk.restart();
    assert!(desk.all(Backlog::All).await.is_empty());
    assert_eq!(desk.files("in/cur"), ["1.a:2,FRS"]);
}

#[tokio::test]
async fn a_page_that_was_not_committed_is_read_again() {
    let mut desk = Desk::new(&[]);
    for id in ["a", "b", "c"] {
        desk.mail(&format!("in/new/1.{id}"), id);
    }
    desk.page(Backlog::All, 1).await;
    let titles = |page: &Page| page.items.iter().map(|item| item.title.clone()).collect::<Vec<_>>();
    for restart in [false, true] {
        if restart {
            desk.restart();
        }
        assert_eq!(titles(&desk.try_poll(Backlog::All, 1).await.unwrap()), ["b"]);
    }
    assert_eq!(desk.all(Backlog::All).await, ["b", "c"]);
}

#[tokio::test]
async fn a_store_from_a_backup_reads_what_it_missed() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/new/1.a", "a");
    desk.all(Backlog::All).await;
    let backup = desk.cursor.clone();
    desk.mail("in/new/2.b", "b");
    desk.all(Backlog::All).await;
    desk.cursor = backup;
    desk.restart();
    desk.mail("in/new/3.c", "c");
    assert_eq!(desk.all(Backlog::All).await, ["b", "c"]);
}

#[tokio::test]
async fn what_was_there_before_is_left_alone() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/cur/1.a:2,S", "a");
    assert!(desk.all(Backlog::New).await.is_empty());
    // Moved in from another folder: its name and times are old, and it is new here.
    desk.mail("in/cur/0.b:2,S", "b");
    assert_eq!(desk.all(Backlog::New).await, ["b"]);
}

#[tokio::test]
async fn a_backlog_by_age_goes_by_the_file_and_by_the_mail() {
    let mut desk = Desk::new(&[]);
    let text = |id: &str, day: u32| {
        format!(
            "From: pat@example.org\nSubject: {id}\nMessage-ID: <{id}@x>\nDate: {day} Nov 2026 08:00:00 +0000\n\nHi"
        )
    };
    let old_file = fs::File::create(desk.path("in/new/1.old-file")).unwrap();
    old_file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    // A sync tool fetched both today.
    for (id, day) in [("old", 2), ("young", 29)] {
        let path = desk.path(&format!("in/new/2.{id}"));
        fs::write(&path, text(id, day)).unwrap();
        let today = std::time::UNIX_EPOCH + Duration::from_millis(NOW.0.unsigned_abs());
        fs::File::options().write(true).open(&path).unwrap().set_modified(today).unwrap();
    }
    let page = desk.page(Backlog::Since(Duration::from_secs(7 * 86_400)), 10).await;
    let seen = page.items.iter().map(|item| (item.title.as_str(), &item.disposition)).collect::<Vec<_>>();
    assert_eq!(seen, [("old", &Disposition::Baseline), ("young", &Disposition::Work)]);
}

#[tokio::test]
async fn a_lost_list_makes_no_work_of_old_mail() {
    let mut desk = Desk::new(&[]);
    let old = fs::File::create(desk.path("in/cur/1.a:2,S")).unwrap();
    desk.mail("in/cur/1.a:2,S", "a");
    old.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    desk.page(Backlog::New, 10).await;
    fs::remove_dir_all(desk.path("state")).unwrap();
    desk.restart();
    let page = desk.page(Backlog::New, 10).await;
    assert_eq!(page.notes.len(), 1);
    assert_eq!(page.items[0].disposition, Disposition::Baseline);
    assert!(desk.all(Backlog::New).await.is_empty());
}

#[tokio::test]
async fn what_is_no_mail_is_passed_over() {
    let mut desk = Desk::new(&[]);
    fs::create_dir(desk.path("in/new/1.folder")).unwrap();
    std::os::unix::net::UnixListener::bind(desk.path("in/new/2.socket")).ok();
    std::os::unix::fs::symlink("/dev/null", desk.path("in/new/3.device")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path("in/new/4.dangling")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        desk.path("in/new/5.pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    fs::write(desk.path("in/new/.hidden"), "x").unwrap();
    fs::write(desk.path("in/new/6.empty"), "").unwrap();
    fs::write(desk.path("in/new/7.noise"), [0_u8, 255, 254]).unwrap();
    desk.mail("in/new/8.good", "good");
    let page = desk.page(Backlog::All, 10).await;
    let keys = page.items.iter().map(|item| item.key.as_str()).filter(|key| !key.contains("socket"));
    assert_eq!(keys.collect::<Vec<_>>(), ["6.empty", "7.noise", "8.good"]);
    assert_eq!(page.items.last().unwrap().disposition, Disposition::Work);
}

#[tokio::test]
async fn a_missing_folder_is_waited_for() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/new/1.a", "a");
    desk.all(Backlog::All).await;
    fs::rename(desk.path("in"), desk.path("away")).unwrap();
    let error = desk.try_poll(Backlog::All, 10).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
    assert!(desk.connector.probe().await.is_err());
    fs::rename(desk.path("away"), desk.path("in")).unwrap();
    assert!(desk.all(Backlog::All).await.is_empty());
    assert!(desk.connector.probe().await.unwrap().ends_with("holds 1 mails"));
}

#[tokio::test]
async fn a_reply_lands_in_the_out_maildir_once() {
    let desk = Desk::with_out();
    assert_eq!(desk.confirm().await, Confirmation::NotSent);
    let receipt = desk.deliver().await.unwrap();
    assert_eq!(receipt.remote_id, format!("<{KEY}@example.org>"));
    let again = desk.deliver().await.unwrap();
    assert_eq!(again.remote_id, receipt.remote_id);
    let name = format!("1796025600.{KEY}.workagent");
    assert_eq!((desk.files("out/new"), desk.files("sent/new")), (vec![name.clone()], vec![name.clone()]));
    let bytes = fs::read(desk.path("out/new").join(name)).unwrap();
    assert_eq!(bytes, desk.prepared().1.bytes);
    assert!(!bytes.contains(&b'\r') && bytes.starts_with(b"Message-ID: <wa-7-"));
    assert!(matches!(desk.confirm().await, Confirmation::Sent(_)));
}

#[tokio::test]
async fn a_reply_that_somebody_took_is_not_sent_again() {
    let mut desk = Desk::with_out();
    desk.deliver().await.unwrap();
    fs::remove_dir_all(desk.path("out/new")).unwrap();
    desk.restart();
    assert!(matches!(desk.confirm().await, Confirmation::Sent(_)));
    desk.deliver().await.unwrap();
    assert!(desk.files("out/new").is_empty());
}

#[tokio::test]
async fn a_reply_read_back_is_ours() {
    let mut desk = Desk::with_out();
    desk.deliver().await.unwrap();
    let name = format!("1796025600.{KEY}.workagent");
    fs::copy(desk.path("out/new").join(name), desk.path("in/new/9.back")).unwrap();
    let page = desk.page(Backlog::All, 10).await;
    assert_eq!(page.items[0].disposition, Disposition::Own);
}

#[tokio::test]
async fn without_a_way_out_no_answer_is_offered() {
    let mut desk = Desk::new(&[]);
    desk.mail("in/new/1.a", "a");
    let page = desk.page(Backlog::All, 10).await;
    assert!(matches!(page.items[0].reply, ReplyWay::Nowhere { .. }));
    assert_eq!(desk.connector.prepare(&action(), NOW).unwrap_err().class, ErrorClass::Config);
}

#[tokio::test]
async fn a_program_gets_the_mail_and_nothing_else() {
    let desk = Desk::with_program("cat > got; echo \"$@\" > args; env > vars");
    let receipt = desk.deliver().await.unwrap();
    assert!(receipt.evidence.contains("took it"), "{}", receipt.evidence);
    assert_eq!(fs::read(desk.path("got")).unwrap(), desk.prepared().1.bytes);
    assert_eq!(fs::read_to_string(desk.path("args")).unwrap(), "-t\n");
    assert!(!fs::read_to_string(desk.path("vars")).unwrap().contains("CANARY"));
    assert_eq!(desk.confirm().await, Confirmation::CannotTell);
}

#[tokio::test]
async fn a_programs_end_decides_the_class() {
    let class =
        |script: &'static str| async move { Desk::with_program(script).deliver().await.unwrap_err().class };
    assert_eq!(class("exit 75").await, ErrorClass::NETWORK);
    assert_eq!(class("echo 'no such user' >&2; exit 67").await, ErrorClass::Permanent);
    assert_eq!(class("cat > got; kill -9 $$").await, ErrorClass::Uncertain);
    let mut desk = Desk::with_program("cat > got; exec sleep 600");
    desk.keys.push(("timeout".into(), Value::Duration(Duration::from_secs(1))));
    desk.restart();
    assert_eq!(desk.deliver().await.unwrap_err().class, ErrorClass::Uncertain);
    fs::remove_file(desk.path("program")).unwrap();
    assert_eq!(desk.deliver().await.unwrap_err().class, ErrorClass::Config);
}

#[tokio::test]
async fn a_copy_proves_that_the_program_took_the_mail() {
    let mut desk = Desk::with_program("cat > got");
    desk.keys.push(("sent".into(), Value::Path(desk.path("sent"))));
    desk.restart();
    assert_eq!(desk.confirm().await, Confirmation::CannotTell);
    desk.deliver().await.unwrap();
    assert!(matches!(desk.confirm().await, Confirmation::Sent(_)));
}
