//! The `imap` connector against a scripted server: positions, backlogs, renumbering, sizes.

use std::time::Duration;

use workagent::model::class::ErrorClass;
use workagent::model::item::{Backlog, Cursor, Disposition};

use crate::support::connector::Polled;
use crate::support::imap::{Folder, ImapServer, assert_only_peeks, with_mails};
use crate::support::mailbox::{mail, reader, titles};

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
