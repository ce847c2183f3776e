//! The `imap` connector against broken, busy and refusing servers.

use std::time::Duration;

use workagent::model::class::{ErrorClass, chain};
use workagent::model::item::{Backlog, Disposition, Item};
use workagent::model::secret_ref::SecretRef;
use workagent::unit::value::Value;

use crate::support::connector::Bench;
use crate::support::imap::{Fault, ImapServer, with_mails};
use crate::support::mailbox::{Keys, mail, reader, titles};

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
