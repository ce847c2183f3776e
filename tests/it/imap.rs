//! The `imap` connector against a scripted server: positions, renumbering, broken servers, waiting.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::item::{Backlog, Cursor, Disposition, Item};
use workagent::model::secret_ref::SecretRef;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, Polled};
use crate::support::imap::{Fault, Folder, ImapServer};
use crate::support::mailbox::{Keys, mail, titles};

const PLENTY: Duration = Duration::from_secs(20);

fn reader(server: &ImapServer, backlog: Backlog) -> Bench {
    Keys::loopback(server.port()).bench(backlog)
}

fn with_mails(capabilities: &str, count: u32) -> ImapServer {
    let server = ImapServer::start(capabilities);
    server.change("INBOX", |inbox| {
        for number in 1..=count {
            inbox.put(mail(&format!("mail {number}")));
        }
    });
    server
}

/// Every command of the whole life of a server leaves the user's mailbox as it was.
fn assert_only_peeks(server: &ImapServer) {
    for command in server.log() {
        let harmless = !["SELECT", "STORE", "UID STORE", "EXPUNGE", "UID MOVE"]
            .iter()
            .any(|bad| command.starts_with(bad));
        assert!(harmless && !command.contains(" BODY[") && !command.contains("RFC822)"), "{command}");
    }
}

#[tokio::test]
async fn the_first_poll_makes_nothing_of_what_was_there() {
    let server = with_mails("", 3);
    let mut reader = reader(&server, Backlog::New);
    let page = reader.page().await.unwrap();
    assert_eq!((page.items.len(), page.more), (0, false));
    assert!(page.cursor.is_some());
    server.change("INBOX", |inbox| inbox.put(mail("after")));
    assert_eq!(titles(&mut reader).await, ["after"]);
    assert_eq!(titles(&mut reader).await, [""; 0]);
    assert_only_peeks(&server);
}

#[tokio::test]
async fn a_backlog_comes_in_pages_and_batches() {
    let server = with_mails("", 130);
    let mut reader = reader(&server, Backlog::All);
    reader.items_max = 120;
    let first = reader.page().await.unwrap();
    assert_eq!((first.items.len(), first.more), (120, true));
    let second = reader.page().await.unwrap();
    assert_eq!((second.items.len(), second.more), (10, false));
    let keys: Vec<_> = first.items.iter().chain(&second.items).map(|item| item.key.clone()).collect();
    assert!(keys.is_sorted());
    assert_eq!(keys[129], "uid:0000001001:0000000130");
    let batches: Vec<usize> = server
        .log()
        .iter()
        .filter(|command| command.contains("BODY.PEEK[]"))
        .map(|command| command.split(' ').nth(2).unwrap().split(',').count())
        .collect();
    assert_eq!(batches, [50, 50, 20, 10]);
    assert_only_peeks(&server);
}

#[tokio::test]
async fn a_backlog_by_age_goes_by_the_day_the_server_got_it() {
    let server = ImapServer::start("");
    server.change("INBOX", |inbox| {
        inbox.put_at(1, mail("old"), "20-Nov-2026 08:00:00 +0000");
        inbox.put_at(2, mail("young"), "29-Nov-2026 08:00:00 +0000");
    });
    let mut reader = reader(&server, Backlog::Since(Duration::from_secs(2 * 86_400)));
    assert_eq!(titles(&mut reader).await, ["young"]);
    // Behind the first list the date does not count: it is new here.
    server.change("INBOX", |inbox| inbox.put_at(3, mail("moved here"), "20-Nov-2026 08:00:00 +0000"));
    assert_eq!(titles(&mut reader).await, ["moved here"]);
}

#[tokio::test]
async fn the_echo_of_the_last_mail_is_not_taken_for_new_mail() {
    let server = with_mails("", 6);
    let mut reader = reader(&server, Backlog::All);
    reader.poll().await.unwrap();
    // Two more came and were deleted at once: UIDNEXT grew, so it has to ask for `7:*` and gets 6.
    server.change("INBOX", |inbox| inbox.uid_next = 9);
    server.forget_log();
    assert_eq!(titles(&mut reader).await, [""; 0]);
    assert!(server.log().iter().any(|command| command.starts_with("UID FETCH 7:*")), "{:?}", server.log());
}

#[tokio::test]
async fn sparse_numbers_are_stepped_over() {
    let server = ImapServer::start("");
    server.change("INBOX", |inbox| {
        inbox.put_at(5, mail("first"), "30-Nov-2026 08:00:00 +0000");
        inbox.put_at(4_000_000_000, mail("last"), "30-Nov-2026 08:00:00 +0000");
    });
    assert_eq!(titles(&mut reader(&server, Backlog::All)).await, ["first", "last"]);
}

#[tokio::test]
async fn an_unchanged_mailbox_is_only_opened() {
    let server = with_mails("CONDSTORE", 2);
    let mut reader = reader(&server, Backlog::All);
    reader.poll().await.unwrap();
    // The last mail is gone; only the modseq tells that nothing else happened since.
    server.change("INBOX", |inbox| inbox.uid_next = 9);
    reader.poll().await.unwrap();
    server.forget_log();
    assert!(reader.page().await.unwrap().items.is_empty());
    assert_eq!(server.log(), ["NOOP", "EXAMINE \"INBOX\" (CONDSTORE)"]);
}

/// The mailbox of a table of the case: UIDVALIDITY and the mails.
fn folder(table: &str) -> Folder {
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let uidvalidity = lines.next().unwrap().last().unwrap().parse().unwrap();
    let mut folder = Folder::new(uidvalidity);
    for row in lines.skip(1) {
        let Ok([uid, id, date, subject]) = <[&str; 4]>::try_from(row) else { panic!("four columns") };
        let (day, time) = date.trim_end_matches('Z').split_once('T').unwrap();
        let day = day.rsplit('-').next().unwrap();
        let id = if id == "(none)" { String::new() } else { format!("Message-ID: {id}\r\n") };
        let raw = format!(
            "From: Pat <pat@example.net>\r\nTo: me@example.org\r\nSubject: {subject}\r\n{id}\r\nHello\r\n"
        );
        folder.put_at(uid.parse().unwrap(), raw, &format!("{day}-Nov-2026 {time}:00 +0000"));
    }
    folder
}

#[tokio::test]
async fn a_renumbered_mailbox_brings_only_what_is_really_new() {
    let server = ImapServer::start("");
    server.change("INBOX", |inbox| *inbox = folder(include_str!("../fixtures/imap/renumbered-before.tsv")));
    let mut reader = reader(&server, Backlog::All);
    let Polled { items, notes, new, .. } = reader.poll().await.unwrap();
    assert_eq!((items.len(), new.len()), (5, 5));
    assert!(notes.is_empty());

    server.change("INBOX", |inbox| *inbox = folder(include_str!("../fixtures/imap/renumbered-after.tsv")));
    let Polled { items, notes, new, .. } = reader.poll().await.unwrap();
    assert_eq!((items.len(), new), (6, vec!["arrived meanwhile".to_owned()]));
    assert_eq!(notes, ["mailbox was renumbered (1001 → 2002)"]);
    assert!(reader.cursor.as_ref().unwrap().0.starts_with(r#"{"uidvalidity":2002,"last_uid":6"#));

    let Polled { items, notes, .. } = reader.poll().await.unwrap();
    assert_eq!((items.len(), notes.len()), (0, 0), "the event is told once");
}

#[tokio::test]
async fn renumbering_makes_no_cases_of_what_was_there_before_the_start() {
    let server = ImapServer::start("");
    let dated = |subject: &str, date: &str| mail(subject).replace("Mon, 30 Nov 2026 07:00:00", date);
    let old = dated("old", "Fri, 20 Nov 2026 09:00:00");
    let new = dated("new", "Mon, 30 Nov 2026 09:00:00");
    server.change("INBOX", |inbox| inbox.put_at(10, old.as_str(), "20-Nov-2026 09:00:00 +0000"));
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    server.change("INBOX", |inbox| {
        *inbox = Folder::new(2002);
        // The move gave both the day of the move.
        inbox.put_at(1, old.as_str(), "30-Nov-2026 10:00:00 +0000");
        inbox.put_at(2, new.as_str(), "30-Nov-2026 10:00:00 +0000");
    });
    let items = reader.poll().await.unwrap().items;
    let found: Vec<_> = items.iter().map(|item| (item.title.as_str(), &item.disposition)).collect();
    assert_eq!(found, [("old", &Disposition::Baseline), ("new", &Disposition::Work)]);
    // What comes later is work whatever its date says.
    server.change("INBOX", |inbox| {
        inbox.put_at(3, dated("late", "Fri, 20 Nov 2026 09:30:00"), "30-Nov-2026 11:00:00 +0000");
    });
    let items = reader.poll().await.unwrap().items;
    assert_eq!(items[0].disposition, Disposition::Work);
}

#[tokio::test]
async fn of_a_huge_mail_the_beginning_is_fetched() {
    let server = ImapServer::start("");
    let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NQ==\r\n";
    let raw = format!(
        "From: Pat <pat@example.net>\r\nTo: me@example.org\r\nSubject: the log\r\nMessage-ID: <log@example.net>\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
         Please see the file.\r\n--b\r\nContent-Type: application/octet-stream; name=log.bin\r\n\
         Content-Disposition: attachment; filename=log.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n{}\r\n--b--\r\n",
        line.repeat(375_000)
    );
    let total = raw.len();
    server.change("INBOX", |inbox| inbox.put(raw));
    let items = reader(&server, Backlog::All).poll().await.unwrap().items;
    assert_eq!(items[0].body.trim(), "Please see the file.");
    assert_eq!(items[0].attachments[0].name, "log.bin");
    let size = items[0].attachments[0].size_bytes;
    assert!(size > 20_000_000 && size < 30_000_000, "{size} of {total}");
    assert!(
        items[0].warnings.iter().any(|warning| warning.starts_with("only the first 256 KB of 29 MB")),
        "{items:?}"
    );
    assert!(server.bytes_sent() < 300_000, "{} bytes", server.bytes_sent());
}

#[tokio::test]
async fn a_cut_answer_is_an_error_and_moves_nothing() {
    for fault in [Fault::Half, Fault::SayAndClose("* BYE going down"), Fault::Refuse("NO [SERVERBUG] no")] {
        let server = with_mails("", 3);
        let mut reader = reader(&server, Backlog::All);
        server.fault("UID FETCH 1,2,3", fault.clone(), 1);
        let error = reader.page().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK, "{fault:?}");
        assert_eq!(titles(&mut reader).await, ["mail 1", "mail 2", "mail 3"], "{fault:?}");
    }
}

#[tokio::test]
async fn a_goodbye_is_told() {
    let server = with_mails("", 1);
    server.fault("EXAMINE", Fault::SayAndClose("* BYE [UNAVAILABLE] maintenance"), 1);
    let error = reader(&server, Backlog::All).page().await.unwrap_err();
    assert_eq!(
        chain(&error).replace(&server.port().to_string(), "PORT"),
        "open mailbox INBOX on 127.0.0.1:PORT: the server closes the connection: [UNAVAILABLE] maintenance"
    );
}

/// Polls until all is fetched, as a runtime would, which goes on after errors. How often it failed, and the items.
async fn polls(reader: &mut Bench) -> (usize, Vec<Item>) {
    let (mut failures, mut items) = (0, Vec::new());
    for _ in 0..50 {
        match reader.page().await {
            Ok(page) => {
                items.extend(page.items);
                if !page.more {
                    return (failures, items);
                }
            }
            Err(error) => {
                assert_eq!(error.class, ErrorClass::NETWORK, "{}", chain(&error));
                failures += 1;
            }
        }
    }
    panic!("fifty polls and no end");
}

#[tokio::test]
async fn a_mail_that_cannot_be_fetched_is_set_aside() {
    let server = with_mails("", 4);
    // The server says nonsense whenever the second mail is among those asked for.
    server.fault("UID FETCH 1,2,3,4", Fault::Before(b"* 1 FETCH (((\r\n".to_vec()), usize::MAX);
    server.fault("UID FETCH 2 ", Fault::Before(b"* 1 FETCH (((\r\n".to_vec()), usize::MAX);
    let mut reader = reader(&server, Backlog::All);
    let (failures, items) = polls(&mut reader).await;
    assert_eq!(failures, 1);
    let found: Vec<_> = items.iter().map(|item| item.title.as_str()).collect();
    assert_eq!(found, ["mail 1", "(no subject)", "mail 3", "mail 4"]);
    assert!(
        matches!(&items[1].disposition, Disposition::Quarantined { reason } if reason.contains("cannot be read"))
    );
    assert!(items[1].identities.is_empty(), "nothing may take another such mail for this one");
    assert_eq!(polls(&mut reader).await.1.len(), 0);
}

#[tokio::test]
async fn an_answer_that_the_parser_panics_on_is_survived() {
    let server = with_mails("", 2);
    server.change("INBOX", |inbox| inbox.mails.get_mut(&1).unwrap().date = "NIL".into());
    let (failures, items) = polls(&mut reader(&server, Backlog::All)).await;
    assert_eq!((failures, items.len()), (1, 2));
}

#[tokio::test]
async fn a_flood_is_stopped() {
    let server = with_mails("", 1);
    let flood = b"* 1 EXISTS\r\n".repeat(200_000);
    server.fault("EXAMINE", Fault::Before(flood), 1);
    let error = reader(&server, Backlog::All).page().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
    assert!(chain(&error).contains("sends more than was asked for"), "{}", chain(&error));
}

#[tokio::test]
async fn a_server_that_falls_silent_is_noticed() {
    let server = with_mails("", 1);
    server.fault("EXAMINE", Fault::Silence, 1);
    let keys = Keys::loopback(server.port()).time("timeout", Duration::from_millis(200));
    let mut reader = keys.bench(Backlog::All);
    let error = reader.page().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NETWORK);
    assert!(chain(&error).ends_with("no answer in time"), "{}", chain(&error));
    assert_eq!(titles(&mut reader).await, ["mail 1"]);
}

#[tokio::test]
async fn a_slow_line_is_not_a_dead_one() {
    let server = with_mails("", 1);
    // In all longer than the wait for a sign of life.
    server.fault("UID FETCH 1 ", Fault::Drip(6, Duration::from_millis(120)), 1);
    let keys = Keys::loopback(server.port()).time("timeout", Duration::from_millis(500));
    assert_eq!(titles(&mut keys.bench(Backlog::All)).await, ["mail 1"]);
}

#[tokio::test]
async fn one_connection_serves_many_polls_and_is_replaced_when_dead() {
    let server = with_mails("", 1);
    let mut reader = reader(&server, Backlog::All);
    reader.poll().await.unwrap();
    reader.poll().await.unwrap();
    assert_eq!(server.logins(), 1);
    server.close_connections();
    server.change("INBOX", |inbox| inbox.put(mail("after")));
    assert_eq!(titles(&mut reader).await, ["after"]);
    assert_eq!(server.logins(), 2);
}

async fn check_login(keys: Keys, class: ErrorClass, told: &str) {
    let error = keys.bench(Backlog::New).page().await.unwrap_err();
    let shown = chain(&error);
    assert_eq!(error.class, class, "{shown}");
    assert!(shown.contains(told), "{shown}");
    assert!(!format!("{shown}{error:?}").contains("CANARY"), "{error:?}");
}

#[tokio::test]
async fn a_wrong_password_is_of_class_auth() {
    let server = ImapServer::start("");
    let keys = Keys::loopback(server.port()).secret("password", "CANARY-wrong");
    check_login(keys, ErrorClass::Auth, "as me@example.org: the server says: [AUTHENTICATIONFAILED] wrong")
        .await;
}

#[tokio::test]
async fn too_many_connections_are_not_a_wrong_password() {
    let server = ImapServer::start("");
    server.fault("LOGIN", Fault::Refuse("NO [ALERT] Too many simultaneous connections. (Failure)"), 1);
    check_login(Keys::loopback(server.port()), ErrorClass::NETWORK, "Too many simultaneous connections")
        .await;
}

#[tokio::test]
async fn a_refused_connection_is_of_class_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    check_login(Keys::loopback(port), ErrorClass::NETWORK, "Connection refused").await;
}

#[tokio::test]
async fn a_missing_secret_is_of_class_auth() {
    let server = ImapServer::start("");
    let keys =
        Keys::loopback(server.port()).with("password", Value::Secret(SecretRef::Env("NOT_SET".into())));
    check_login(keys, ErrorClass::Auth, "as me@example.org: no secret is stored under `$NOT_SET`").await;
}

#[tokio::test]
async fn a_refused_token_gets_its_empty_line() {
    let server = ImapServer::start("AUTH=XOAUTH2");
    let keys = Keys::loopback(server.port()).without("password").secret("token", "CANARY-token");
    check_login(keys, ErrorClass::Auth, "[AUTHENTICATIONFAILED] invalid token").await;
    // base64 of: user=me@example.org ^A auth=Bearer CANARY-token ^A ^A
    let first = "first answer dXNlcj1tZUBleGFtcGxlLm9yZwFhdXRoPUJlYXJlciBDQU5BUlktdG9rZW4BAQ==";
    assert!(server.log().contains(&first.to_owned()), "{:?}", server.log());
    assert!(server.log().contains(&"second answer \"\"".to_owned()), "{:?}", server.log());
}

#[tokio::test]
async fn a_server_without_starttls_gets_no_password() {
    let server = ImapServer::start("");
    let keys = Keys::loopback(server.port()).text("security", "starttls");
    check_login(keys, ErrorClass::Config, "the server does not offer STARTTLS").await;
    assert_eq!(server.log(), ["CAPABILITY"]);
}

#[tokio::test]
async fn passwords_are_refused_where_the_server_takes_none() {
    let server = ImapServer::start("LOGINDISABLED");
    check_login(Keys::loopback(server.port()), ErrorClass::Config, "takes no password without TLS").await;
    assert_eq!(server.log(), ["CAPABILITY"]);
}

#[tokio::test]
async fn a_mailbox_that_is_not_there_is_a_matter_of_the_unit() {
    let server = ImapServer::start("");
    let keys = Keys::loopback(server.port()).text("mailbox", "Arbeit");
    check_login(keys, ErrorClass::Config, "open mailbox Arbeit on 127.0.0.1").await;
}

#[tokio::test]
async fn the_probe_says_what_it_found() {
    let server = with_mails("", 2);
    let found = Keys::loopback(server.port()).bench(Backlog::New).connector.probe().await.unwrap();
    let expected = format!("logged in to 127.0.0.1:{}; INBOX holds 2 mails", server.port());
    assert_eq!(found, expected);
}

/// Waits until somebody idles.
async fn until_idle(server: &ImapServer) {
    let idles = async {
        while !server.is_idling() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PLENTY, idles).await.unwrap();
}

#[tokio::test]
async fn new_mail_wakes_the_wait() {
    let server = with_mails("IDLE", 1);
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    let (waited, ()) = tokio::join!(timeout(PLENTY, wait), async {
        until_idle(&server).await;
        server.change("INBOX", |inbox| inbox.put(mail("after")));
    });
    waited.unwrap().unwrap();
    assert_eq!(titles(&mut reader).await, ["after"]);
    assert_only_peeks(&server);
}

#[tokio::test]
async fn mail_that_came_before_the_wait_ends_it_at_once() {
    let server = with_mails("IDLE", 1);
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    server.change("INBOX", |inbox| inbox.put(mail("between")));
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    timeout(PLENTY, wait).await.unwrap().unwrap();
    assert!(!server.log().contains(&"IDLE".to_owned()));
}

#[tokio::test]
async fn a_wait_given_up_is_taken_up_again() {
    let server = with_mails("IDLE", 1);
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    for _ in 0..3 {
        let mut wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
        // Runs until the server idles, and is then dropped.
        let given_up = timeout(PLENTY, async {
            loop {
                assert!((&mut wait).now_or_never().is_none());
                if server.is_idling() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        given_up.await.unwrap();
    }
    assert_eq!(server.logins(), 2, "one for polls, one for waiting");
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    server.change("INBOX", |inbox| inbox.put(mail("after")));
    timeout(PLENTY, wait).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_lost_connection_ends_the_wait_and_the_next_one_begins_anew() {
    let server = with_mails("IDLE", 1);
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    let (waited, ()) = tokio::join!(timeout(PLENTY, wait), async {
        until_idle(&server).await;
        server.close_connections();
    });
    assert_eq!(waited.unwrap().unwrap_err().class, ErrorClass::NETWORK);
    server.change("INBOX", |inbox| inbox.put(mail("after")));
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    timeout(PLENTY, wait).await.unwrap().unwrap();
    assert_eq!(titles(&mut reader).await, ["after"]);
}

#[tokio::test]
async fn the_wait_is_renewed() {
    let server = with_mails("IDLE", 1);
    let keys = Keys::loopback(server.port()).time("idle_renew", Duration::from_millis(20));
    let mut reader = keys.bench(Backlog::New);
    reader.poll().await.unwrap();
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    let (waited, ()) = tokio::join!(timeout(PLENTY, wait), async {
        while server.log().iter().filter(|command| *command == "DONE").count() < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.change("INBOX", |inbox| inbox.put(mail("after")));
    });
    waited.unwrap().unwrap();
    assert_eq!(titles(&mut reader).await, ["after"]);
    assert_eq!(server.logins(), 2);
}

#[tokio::test]
async fn a_wait_on_a_dead_connection_ends() {
    let server = with_mails("IDLE", 1);
    server.fault("IDLE", Fault::Silence, 1);
    let keys = Keys::loopback(server.port())
        .time("idle_renew", Duration::from_millis(20))
        .time("timeout", Duration::from_millis(200));
    let reader = keys.bench(Backlog::New);
    let error = timeout(PLENTY, reader.connector.changed(None).unwrap()).await.unwrap().unwrap_err();
    assert_eq!(chain(&error), "wait for new mail: no answer in time");
}

#[tokio::test]
async fn a_server_that_cannot_tell_leaves_it_to_the_schedule() {
    let server = with_mails("", 1);
    let mut reader = reader(&server, Backlog::New);
    reader.poll().await.unwrap();
    let wait = reader.connector.changed(reader.cursor.as_ref()).unwrap();
    assert!(timeout(Duration::from_millis(300), wait).await.is_err());
    let off = Keys::loopback(server.port()).with("idle", Value::Bool(false)).bench(Backlog::New);
    assert!(off.connector.changed(None).is_none());
}

#[tokio::test]
async fn a_cursor_that_is_not_ours_is_a_fault_and_not_a_fresh_start() {
    let server = with_mails("", 1);
    let mut reader = reader(&server, Backlog::All);
    reader.cursor = Some(Cursor("{}".into()));
    assert_eq!(reader.page().await.unwrap_err().class, ErrorClass::Bug);
}

#[tokio::test]
async fn bad_mail_stops_nothing_and_is_the_same_after_a_restart() {
    let mails: [&[u8]; 6] = [
        include_bytes!("../fixtures/mail/bad/1-good.eml"),
        include_bytes!("../fixtures/mail/bad/2-bad-from.eml"),
        include_bytes!("../fixtures/mail/bad/3-unknown-charset.eml"),
        include_bytes!("../fixtures/mail/bad/4-broken-multipart.eml"),
        include_bytes!("../fixtures/mail/bad/5-no-id-bad-date.eml"),
        include_bytes!("../fixtures/mail/bad/6-good.eml"),
    ];
    let server = ImapServer::start("");
    server.change("INBOX", |inbox| mails.map(|mail| inbox.put(mail)));
    let mut reader = reader(&server, Backlog::All);
    let polled = reader.poll().await.unwrap();
    assert_eq!(polled.items.len(), 6);
    assert!(matches!(&polled.items[0].disposition, Disposition::Work), "{:?}", polled.items[0]);
    assert!(matches!(&polled.items[5].disposition, Disposition::Work), "{:?}", polled.items[5]);
    reader.restart();
    assert!(reader.poll().await.unwrap().items.is_empty());
    // Read anew from the beginning, every one of them is known.
    reader.cursor = None;
    let again = reader.poll().await.unwrap();
    assert_eq!((again.new.len(), again.updated.len(), again.seen), (0, 0, 6));
}
