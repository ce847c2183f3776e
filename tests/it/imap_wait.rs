//! The `imap` connector waiting for news of a scripted server.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::item::Backlog;
use workagent::unit::value::Value;

use crate::support::imap::{Fault, ImapServer, assert_only_peeks, with_mails};
use crate::support::mailbox::{Keys, mail, reader, titles};

const PLENTY: Duration = Duration::from_secs(20);

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
