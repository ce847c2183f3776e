//! The ring of real peers: the `imap` connector against Dovecot and Postfix. Runs where `WORKAGENT_LAB=1` is set.

use std::time::Duration;

use tokio::time::timeout;
use workagent::model::class::{ErrorClass, chain};
use workagent::model::item::{Backlog, Disposition, ReplyWay};
use workagent::model::outbound::Confirmation;

use crate::support::connector::{Bench, Polled};
use crate::support::lab::{MailLab, arrived, injecting, mail_lab};
use crate::support::mailbox::{answer, titles};

const PLENTY: Duration = Duration::from_secs(60);

fn mail(to: &str, subject: &str) -> String {
    format!(
        "From: Bob <bob@lab.test>\r\nTo: {to}@lab.test\r\nSubject: {subject}\r\nMessage-ID: <{}.{to}@lab.test>\r\n\
         Date: Mon, 30 Nov 2026 07:00:00 +0000\r\n\r\nCould you have a look?\r\n",
        subject.replace(' ', "-")
    )
}

#[tokio::test]
async fn delivered_mail_becomes_items_and_stays_unread() {
    let Some(lab) = mail_lab() else { return };
    let mut bench = lab.keys("reads").bench(Backlog::New);
    assert!(bench.poll().await.unwrap().items.is_empty());
    for subject in ["one", "two"] {
        lab.deliver("bob@lab.test", "reads@lab.test", &mail("reads", subject)).await;
    }
    let items = arrived(&mut bench, 2).await;
    assert!(items.iter().all(|item| item.disposition == Disposition::Work), "{items:?}");
    assert_eq!(items.iter().map(|item| item.body.trim()).collect::<Vec<_>>(), ["Could you have a look?"; 2]);
    assert!(bench.cursor.as_ref().unwrap().0.contains("\"highestmodseq\":"), "{:?}", bench.cursor);
    assert!(!bench.cursor.as_ref().unwrap().0.contains("\"highestmodseq\":null"), "{:?}", bench.cursor);
    let flags: Vec<_> =
        lab.client("reads").await.mails("INBOX").await.into_iter().map(|(_, flags)| flags).collect();
    assert_eq!(flags, [[""; 0]; 2]);
}

#[tokio::test]
async fn a_thousand_mails_come_once_each() {
    let Some(lab) = mail_lab() else { return };
    let mut client = lab.client("thousand").await;
    for number in 0..1000 {
        client.append("INBOX", mail("thousand", &format!("mail {number}"))).await;
    }
    let mut bench = lab.keys("thousand").bench(Backlog::All);
    let polled = bench.poll().await.unwrap();
    assert_eq!((polled.new.len(), polled.items.len(), polled.pages), (1000, 1000, 5));
    bench.restart();
    assert!(bench.poll().await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_answer_arrives_once_in_the_thread_with_a_copy_among_sent_mail() {
    let Some(lab) = mail_lab() else { return };
    let mut asked = lab.keys("asked").text("from", "Ann Asked <asked@lab.test>").bench(Backlog::New);
    let mut asking = lab.keys("asking").bench(Backlog::New);
    asked.poll().await.unwrap();
    asking.poll().await.unwrap();
    let question = mail("asked", "question").replace("bob@lab.test", "asking@lab.test");
    lab.deliver("asking@lab.test", "asked@lab.test", &question).await;
    let item = arrived(&mut asked, 1).await.remove(0);
    assert!(
        matches!(&item.reply, ReplyWay::To(envelope) if envelope.to == ["asking@lab.test"]),
        "{:?}",
        item.reply
    );

    let action = asked.reply(&item, 1, "Thank you, naïve café.\n.\nBye");
    let payload = asked.prepare(&action);
    let receipt = asked.connector.deliver(&action, &payload).await.unwrap();
    assert!(receipt.evidence.starts_with("250 2.0.0 Ok: queued as "), "{}", receipt.evidence);
    assert!(receipt.evidence.ends_with("; a copy was put into Sent"), "{}", receipt.evidence);

    let answer = arrived(&mut asking, 1).await.remove(0);
    assert_eq!(
        (answer.title.as_str(), answer.body.trim()),
        ("Re: question", "Thank you, naïve café.\n.\nBye")
    );
    assert!(answer.threads.contains(&"<question.asked@lab.test>".to_owned()), "{:?}", answer.threads);
    let inbox = lab.client("asking").await.mails("INBOX").await;
    assert_eq!(inbox.len(), 1);
    for line in [
        "From: \"Ann Asked\" <asked@lab.test>\r\n",
        "To: asking@lab.test\r\n",
        "In-Reply-To: <question.asked@lab.test>\r\n",
        "References: <question.asked@lab.test>",
        &format!("Message-ID: {}\r\n", payload.marker),
    ] {
        assert!(inbox[0].0.contains(line), "{line} in {}", inbox[0].0);
    }

    let sent = lab.client("asked").await.mails("Sent").await;
    assert_eq!(sent, [(String::from_utf8(payload.bytes.clone()).unwrap(), vec!["Seen".to_owned()])]);
    let confirmed = asked.connector.confirm(&action, &payload, asked.clock.now()).await.unwrap();
    assert!(
        matches!(&confirmed, Confirmation::Sent(receipt) if receipt.evidence == "found in Sent"),
        "{confirmed:?}"
    );
}

#[tokio::test]
async fn starttls_protects_both_ways() {
    let Some(lab) = mail_lab() else { return };
    let keys = lab
        .keys("starttls")
        .port("port", lab.port("IMAP_PORT"))
        .text("security", "starttls")
        .port("smtp_port", lab.port("SUBMISSION_PORT"))
        .text("smtp_security", "starttls");
    let mut bench = keys.bench(Backlog::New);
    let found = bench.connector.probe().await.unwrap();
    assert!(found.contains("INBOX holds 0 mails; logged in to localhost:"), "{found}");
    bench.poll().await.unwrap();
    let action = answer("starttls@lab.test", &["starttls@lab.test"], "To myself.");
    let payload = bench.prepare(&action);
    bench.connector.deliver(&action, &payload).await.unwrap();
    let items = arrived(&mut bench, 1).await;
    assert_eq!(items[0].disposition, Disposition::Own);
}

#[tokio::test]
async fn what_was_put_in_before_the_handshake_is_thrown_away() {
    let Some(lab) = mail_lab() else { return };
    // Taken for the server's word, this would be its capabilities: no login, no IDLE.
    let (imap, mut imap_task) =
        injecting(lab.port("IMAP_PORT"), "Begin TLS", "* CAPABILITY IMAP4rev1 LOGINDISABLED\r\nw3 OK\r\n")
            .await;
    let (smtp, mut smtp_task) =
        injecting(lab.port("SUBMISSION_PORT"), "Ready to start TLS", "250 injected\r\n").await;
    let keys = lab
        .keys("injected")
        .port("port", imap)
        .text("security", "starttls")
        .port("smtp_port", smtp)
        .text("smtp_security", "starttls");
    let found = keys.bench(Backlog::New).connector.probe().await.unwrap();
    assert!(found.contains(&format!("logged in to localhost:{smtp}")), "{found}");
    for task in [&mut imap_task, &mut smtp_task] {
        assert!(timeout(PLENTY, task.join_next()).await.unwrap().unwrap().unwrap(), "nothing was put in");
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_ca_is_refused() {
    let Some(lab) = mail_lab() else { return };
    for keys in [
        lab.keys("stranger").without("ca_file"),
        lab.keys("stranger")
            .without("ca_file")
            .port("port", lab.port("IMAP_PORT"))
            .text("security", "starttls"),
    ] {
        let error = keys.bench(Backlog::New).poll().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::NETWORK);
        assert!(chain(&error).contains("invalid peer certificate: UnknownIssuer"), "{}", chain(&error));
    }
}

#[tokio::test]
async fn a_wrong_password_is_of_class_auth_both_ways() {
    let Some(lab) = mail_lab() else { return };
    let error =
        lab.keys("wrong").secret("password", "CANARY-no").bench(Backlog::New).poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth, "{}", chain(&error));
    assert!(!format!("{error:?}").contains("CANARY"));

    let bench = lab.keys("wrong").secret("smtp_password", "CANARY-no").bench(Backlog::New);
    let action = answer("wrong@lab.test", &["wrong@lab.test"], "Hello");
    let payload = bench.prepare(&action);
    let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth, "{}", chain(&error));
    assert!(!format!("{error:?}").contains("CANARY"));
}

#[tokio::test]
async fn refusals_of_a_real_server_are_told_apart() {
    let Some(lab) = mail_lab() else { return };
    let bench = lab.keys("refused").bench(Backlog::New);
    let too_large = "All work and no play makes Jack a dull boy.\n".repeat(28_000);
    for (to, body, class) in [
        ("reject@lab.test", "Hello", ErrorClass::Permanent),
        ("later@lab.test", "Hello", ErrorClass::NETWORK),
        ("anybody@lab.test", too_large.as_str(), ErrorClass::Permanent),
    ] {
        let action = answer("refused@lab.test", &[to], body);
        let payload = bench.prepare(&action);
        let error = bench.connector.deliver(&action, &payload).await.unwrap_err();
        assert_eq!(error.class, class, "{to}: {}", chain(&error));
    }
}

#[tokio::test]
async fn a_push_of_a_real_server_wakes_the_wait() {
    let Some(lab) = mail_lab() else { return };
    let mut bench = lab.keys("waits").bench(Backlog::New);
    bench.poll().await.unwrap();
    for round in 0..3 {
        let cursor = bench.cursor.clone();
        let wait = bench.connector.changed(cursor.as_ref()).unwrap();
        let subject = format!("round {round}");
        let (waited, ()) = tokio::join!(timeout(PLENTY, wait), async {
            lab.deliver("bob@lab.test", "waits@lab.test", &mail("waits", &subject)).await;
        });
        waited.unwrap().unwrap();
        assert_eq!(titles(&mut bench).await, [subject]);
    }
}

async fn renumber(bench: &mut Bench, lab: &MailLab) -> Polled {
    let mut client = lab.client("renumbered").await;
    client.delete("Work").await;
    client.create("Work").await;
    for subject in ["three", "one", "new", "two"] {
        client.append("Work", mail("renumbered", subject)).await;
    }
    bench.poll().await.unwrap()
}

#[tokio::test]
async fn a_mailbox_made_anew_brings_only_what_is_new() {
    let Some(lab) = mail_lab() else { return };
    let mut client = lab.client("renumbered").await;
    client.create("Work").await;
    for subject in ["one", "two", "three"] {
        client.append("Work", mail("renumbered", subject)).await;
    }
    let mut bench = lab.keys("renumbered").text("mailbox", "Work").bench(Backlog::All);
    assert_eq!(bench.poll().await.unwrap().new.len(), 3);
    let polled = renumber(&mut bench, lab).await;
    assert_eq!((polled.new, polled.seen), (vec!["new".to_owned()], 3));
    assert!(polled.notes[0].starts_with("mailbox was renumbered ("), "{:?}", polled.notes);
    assert!(bench.poll().await.unwrap().items.is_empty());
}

#[tokio::test]
async fn a_mailbox_with_letters_beyond_ascii_is_found() {
    let Some(lab) = mail_lab() else { return };
    let mut client = lab.client("umlaut").await;
    client.create("Entw&APw-rfe &- Pl&AOQ-ne").await;
    client.append("Entw&APw-rfe &- Pl&AOQ-ne", mail("umlaut", "found")).await;
    let mut bench = lab.keys("umlaut").text("mailbox", "Entwürfe & Pläne").bench(Backlog::All);
    assert_eq!(titles(&mut bench).await, ["found"]);
    let error = lab.keys("umlaut").text("mailbox", "Nirgends").bench(Backlog::All).poll().await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Config, "{}", chain(&error));
}

#[tokio::test]
async fn of_thirty_megabytes_the_beginning_is_fetched() {
    let Some(lab) = mail_lab() else { return };
    let file = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NQ==\r\n"
        .repeat(375_000);
    let huge = mail("huge", "the log").replace(
        "\r\n\r\nCould you have a look?",
        &format!(
            "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: \
             text/plain\r\n\r\nCould you have a look?\r\n--b\r\nContent-Type: application/octet-stream\r\n\
             Content-Disposition: attachment; filename=log.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n{file}\r\n\
             --b--"
        ),
    );
    lab.client("huge").await.append("INBOX", huge).await;
    let items = lab.keys("huge").bench(Backlog::All).poll().await.unwrap().items;
    assert_eq!(items[0].body.trim(), "Could you have a look?");
    assert_eq!(items[0].attachments[0].name, "log.bin");
    assert!(items[0].attachments[0].size_bytes > 20_000_000, "{:?}", items[0].attachments);
}
