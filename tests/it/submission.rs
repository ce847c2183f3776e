//! Replies of the `imap` connector against a scripted submission server: what is known of a mail after each way in
//! which sending can end, and what the mailbox of sent mail proves.

use std::time::Duration;

use workagent::model::class::{ErrorClass, PortError, chain};
use workagent::model::item::Backlog;
use workagent::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};

use crate::support::connector::NOW;
use crate::support::imap::{Fault, ImapServer};
use crate::support::mailbox::{Keys, answer};
use crate::support::smtp::{Mode, SmtpServer};

const ME: &str = "me@example.org";

struct Sent {
    outcome: Result<Receipt, PortError>,
    stored: Vec<Vec<u8>>,
    payload: Payload,
}

fn keys(imap: &ImapServer, smtp: &SmtpServer) -> Keys {
    Keys::loopback(imap.port())
        .text("smtp_host", "127.0.0.1")
        .port("smtp_port", smtp.port())
        .text("smtp_security", "none")
        .time("send_timeout", Duration::from_millis(300))
}

async fn send_as(mode: Mode, action: &OutboundAction) -> (Sent, Vec<String>) {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(mode));
    let connector = keys(&imap, &smtp).text("sent_copy", "none").bench(Backlog::New).connector;
    let payload = connector.prepare(action, NOW).unwrap();
    let outcome = connector.deliver(action, &payload).await;
    (Sent { outcome, stored: smtp.stored(), payload }, smtp.commands())
}

async fn send(mode: Mode) -> Sent {
    send_as(mode, &answer(ME, &["pat@example.net"], "Thank you.\n.\n..two dots")).await.0
}

async fn check(mode: Mode, class: ErrorClass, copies: usize) {
    let sent = send(mode).await;
    let error = sent.outcome.unwrap_err();
    assert_eq!((error.class, sent.stored.len()), (class, copies), "{mode:?}: {}", chain(&error));
    assert!(!format!("{error:?}").contains("CANARY"), "{error:?}");
}

#[tokio::test]
async fn a_taken_mail_has_the_servers_word_and_arrives_to_the_byte() {
    let sent = send(Mode::Ok).await;
    let receipt = sent.outcome.unwrap();
    assert_eq!(receipt.evidence, "250 2.0.0 Ok: queued as 4XyZ");
    assert_eq!(receipt.remote_id, sent.payload.marker);
    assert_eq!(sent.stored.len(), 1);
    assert_eq!(String::from_utf8_lossy(&sent.stored[0]), String::from_utf8_lossy(&sent.payload.bytes));
}

#[tokio::test]
async fn refused_before_the_content_it_is_surely_not_sent() {
    check(Mode::Temp, ErrorClass::NETWORK, 0).await;
    check(Mode::CutBeforeContent, ErrorClass::NETWORK, 0).await;
    check(Mode::NoGreeting, ErrorClass::NETWORK, 0).await;
    check(Mode::BadLogin, ErrorClass::Auth, 0).await;
    check(Mode::BusyLogin, ErrorClass::NETWORK, 0).await;
}

#[tokio::test]
async fn a_refusal_of_the_whole_mail_is_definite() {
    check(Mode::TempAfter, ErrorClass::NETWORK, 1).await;
    check(Mode::TooLarge, ErrorClass::Permanent, 1).await;
}

#[tokio::test]
async fn a_lost_answer_is_never_a_failure() {
    check(Mode::Drop, ErrorClass::Uncertain, 1).await;
    check(Mode::Hang, ErrorClass::Uncertain, 1).await;
    check(Mode::Late, ErrorClass::Uncertain, 1).await;
    check(Mode::Garbage, ErrorClass::Uncertain, 1).await;
    check(Mode::CutInContent, ErrorClass::Uncertain, 0).await;
}

#[tokio::test]
async fn a_late_answer_within_the_limit_is_waited_for() {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Late));
    let connector = keys(&imap, &smtp)
        .text("sent_copy", "none")
        .time("send_timeout", Duration::from_secs(30))
        .bench(Backlog::New)
        .connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    let (outcome, ()) = tokio::join!(connector.deliver(&action, &payload), async {
        while smtp.stored().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        smtp.release();
    });
    assert_eq!(outcome.unwrap().evidence, "250 stored");
}

#[tokio::test]
async fn one_refused_recipient_stops_the_whole_mail() {
    let action = answer(ME, &["pat@example.net", "kim@example.net"], "Thank you.");
    let (sent, commands) = send_as(Mode::NoSecond, &action).await;
    let error = sent.outcome.unwrap_err();
    assert_eq!((error.class, sent.stored.len()), (ErrorClass::Permanent, 0));
    assert!(
        chain(&error).contains("to kim@example.net: permanent error (550): 5.1.1 no such user"),
        "{}",
        chain(&error)
    );
    assert!(!commands.contains(&"DATA".to_owned()));
}

#[tokio::test]
async fn a_refused_connection_is_surely_not_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let connector = Keys::loopback(1)
        .text("smtp_host", "127.0.0.1")
        .port("smtp_port", port)
        .text("smtp_security", "none")
        .bench(Backlog::New)
        .connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    assert_eq!(connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::NETWORK);
}

#[tokio::test]
async fn without_starttls_nothing_is_said() {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Ok));
    let connector = keys(&imap, &smtp).text("smtp_security", "starttls").bench(Backlog::New).connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    let error = connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config);
    assert!(
        smtp.commands().iter().all(|command| command.starts_with("EHLO") || command == "QUIT"),
        "{:?}",
        smtp.commands()
    );
}

#[tokio::test]
async fn without_a_submission_server_nothing_is_prepared() {
    let connector = Keys::loopback(1).bench(Backlog::New).connector;
    let error = connector.prepare(&answer(ME, &["pat@example.net"], "Thank you."), NOW).unwrap_err();
    assert_eq!(error.class, ErrorClass::Config);
}

#[tokio::test]
async fn every_try_has_the_same_bytes() {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Drop));
    let connector = keys(&imap, &smtp).bench(Backlog::New).connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    for _ in 0..2 {
        assert_eq!(connector.deliver(&action, &payload).await.unwrap_err().class, ErrorClass::Uncertain);
    }
    let stored = smtp.stored();
    assert_eq!((stored.len(), &stored[0]), (2, &stored[1]));
}

/// Sends with the given policy, after `before` was done to the IMAP server. The evidence, and the copies in Sent.
async fn check_copy(policy: &str, before: impl FnOnce(&ImapServer, &Payload), evidence: &str, copies: usize) {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Ok));
    let connector = keys(&imap, &smtp).text("sent_copy", policy).bench(Backlog::New).connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    before(&imap, &payload);
    let receipt = connector.deliver(&action, &payload).await.unwrap();
    let shown = receipt.evidence.replace(&imap.port().to_string(), "PORT");
    assert_eq!(shown, format!("250 2.0.0 Ok: queued as 4XyZ{evidence}"));
    assert_eq!(imap.change("Sent", |sent| sent.mails.len()), copies);
    assert_eq!(smtp.stored().len(), 1);
}

#[tokio::test]
async fn the_copy_is_put_where_sent_mail_lies() {
    check_copy("auto", |_, _| (), "; a copy was put into Sent", 1).await;
    check_copy("append", |_, _| (), "; a copy was put into Sent", 1).await;
    check_copy("server", |_, _| (), "", 0).await;
    check_copy("none", |_, _| (), "", 0).await;
}

#[tokio::test]
async fn a_copy_that_the_server_stored_is_not_doubled() {
    let store = |imap: &ImapServer, payload: &Payload| {
        imap.change("Sent", |sent| sent.put(payload.bytes.clone()));
    };
    check_copy("auto", store, "; a copy is in Sent", 1).await;
}

#[tokio::test]
async fn a_copy_that_cannot_be_kept_leaves_the_mail_sent() {
    let refuse =
        |imap: &ImapServer, _: &Payload| imap.fault("APPEND", Fault::Refuse("NO [OVERQUOTA] full"), 1);
    let told = "; no copy among sent mail: store a copy in Sent on 127.0.0.1:PORT: the server says: [OVERQUOTA] full";
    check_copy("auto", refuse, told, 0).await;
    let silent = |imap: &ImapServer, _: &Payload| imap.fault("LOGIN", Fault::SayAndClose("* BYE busy"), 1);
    let told = "; no copy among sent mail: log in to 127.0.0.1:PORT as me@example.org: the server closes the \
                connection: busy";
    check_copy("auto", silent, told, 0).await;
}

#[tokio::test]
async fn a_silent_server_does_not_hold_up_the_record_of_a_sent_mail() {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Ok));
    imap.fault("APPEND", Fault::Silence, 1);
    let bench = keys(&imap, &smtp).time("timeout", Duration::from_millis(300)).bench(Backlog::New);
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let receipt = bench.connector.deliver(&action, &bench.prepare(&action)).await.unwrap();
    assert!(receipt.evidence.ends_with("no answer in time"), "{}", receipt.evidence);
}

async fn check_confirm(policy: &str, age_s: u64, to: &str, copy_in: Option<&str>, expected: &str) {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Drop));
    let bench = keys(&imap, &smtp).text("sent_copy", policy).bench(Backlog::New);
    let connector = &bench.connector;
    let action = answer(ME, &[to], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    if let Some(folder) = copy_in {
        imap.change(folder, |folder| folder.put(payload.bytes.clone()));
    }
    bench.clock.advance(Duration::from_secs(age_s));
    let shown = match connector.confirm(&action, &payload, NOW).await.unwrap() {
        Confirmation::Sent(receipt) => {
            assert_eq!(receipt.remote_id, payload.marker);
            receipt.evidence
        }
        other => format!("{other:?}"),
    };
    assert_eq!(shown, expected, "{policy} {age_s} {to} {copy_in:?}");
}

#[tokio::test]
async fn what_is_found_was_sent() {
    check_confirm("auto", 1, "pat@example.net", Some("Sent"), "found in Sent").await;
    check_confirm("server", 500, "pat@example.net", Some("Sent"), "found in Sent").await;
    check_confirm("none", 1, "Me@example.org", Some("INBOX"), "found in INBOX").await;
}

#[tokio::test]
async fn what_is_not_found_was_not_sent_only_where_the_server_keeps_copies() {
    check_confirm("server", 119, "pat@example.net", None, "AskAgain").await;
    check_confirm("server", 120, "pat@example.net", None, "NotSent").await;
    check_confirm("auto", 119, "pat@example.net", None, "AskAgain").await;
    check_confirm("auto", 120, "pat@example.net", None, "CannotTell").await;
    check_confirm("none", 120, "pat@example.net", None, "CannotTell").await;
    // Somebody else's mailbox is not looked into.
    check_confirm("auto", 120, "pat@example.net", Some("INBOX"), "CannotTell").await;
}

#[tokio::test]
async fn a_question_that_cannot_be_asked_stays_open() {
    let (imap, smtp) = (ImapServer::start(""), SmtpServer::start(Mode::Drop));
    let connector = keys(&imap, &smtp).bench(Backlog::New).connector;
    let action = answer(ME, &["pat@example.net"], "Thank you.");
    let payload = connector.prepare(&action, NOW).unwrap();
    imap.fault("UID SEARCH", Fault::SayAndClose("* BYE"), 1);
    assert_eq!(connector.confirm(&action, &payload, NOW).await.unwrap_err().class, ErrorClass::NETWORK);
}
