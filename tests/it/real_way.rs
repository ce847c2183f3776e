//! The ring of real peers: the whole way of mail, from Dovecot's mailbox over case, engine and approval to the
//! recipients' mailboxes, with the real binary. Runs where `WORKAGENT_LAB=1` is set.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mail_parser::MessageParser;
use workagent::control::wire::{CountsView, ReviewView};
use workagent::model::case::{Case, CaseState};
use workagent::model::outbound::{ActionState, OutboundAction};
use workagent::store::CaseRecord;

use crate::support::binary::{Daemon, House, unit, wait_until};
use crate::support::corpus::{self, Thread, thousand};
use crate::support::lab::{MailLab, mail_lab};

/// A busy machine may take long; what hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Answers with what it was told this case is about.
const ANSWER: &str = "about=$(grep -o 'T[0-9]*x' | sort -u | tr '\\n' ' ')\n\
                      printf 'Thank you. I read about %sand will answer.\\n' \"$about\"\n";

fn house(lab: &MailLab, name: &str, more: &str) -> House {
    let house = House::new();
    house.unit("inbox.connector.toml", &lab.unit(name, more));
    house.script("answer", ANSWER);
    house.unit(
        "shell.engine.toml",
        "[engine]\nengine = \"command\"\nconcurrency = 4\n[command]\nprogram = \"{root}/answer\"\n[install]\n\
         enabled = true\n",
    );
    house.unit("all.route.toml", "[route]\nengines = [\"shell\"]\n[install]\nenabled = true\n");
    house.secret(&format!("mail/{name}"), lab.password());
    house
}

fn json<T: serde::de::DeserializeOwned>(house: &House, args: &[&str]) -> T {
    let out = house.ok(args);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
}

fn reviews(house: &House) -> Vec<ReviewView> {
    json(house, &["review", "list", "--json"])
}

fn actions(house: &House) -> Vec<OutboundAction> {
    json(house, &["outbox", "list", "--json", "--limit", "1000"])
}

fn cases(house: &House) -> Vec<Case> {
    json(house, &["case", "list", "--json", "--limit", "10000"])
}

/// Waits until nothing moves any more and there are so many cases. How long it took to all cases, and to the end.
fn wait_for_cases(house: &House, daemon: &Daemon, wanted: usize) -> (Duration, Duration) {
    let begun = Instant::now();
    let mut made = None;
    loop {
        let counts = house.status().0.counts;
        let total: u64 = counts.cases.values().sum();
        if total >= wanted as u64 {
            let made = *made.get_or_insert(begun.elapsed());
            if settled(&counts) {
                return (made, begun.elapsed());
            }
        }
        assert!(begun.elapsed() < PATIENCE, "{counts:#?}\n{}", daemon.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn settled(counts: &CountsView) -> bool {
    ["new", "queued", "running", "approved"]
        .iter()
        .all(|state| counts.cases.get(*state).copied().unwrap_or(0) == 0)
}

/// `VmRSS` and `VmHWM` in kilobytes.
fn memory_kb(daemon: &Daemon) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
    };
    (line("VmRSS:"), line("VmHWM:"))
}

#[expect(clippy::print_stdout, reason = "figures for whoever runs this ring by hand")]
fn say(text: impl std::fmt::Display) {
    println!("{text}");
}

/// Threads that are answered: every way of naming, `Reply-To`, an out-of-office at the end, our own mail inside, letters
/// beyond ASCII.
const ANSWERED: [usize; 10] = [0, 1, 2, 3, 4, 5, 7, 11, 15, 47];

#[tokio::test]
async fn real_a_thousand_mails_go_the_whole_way() {
    let Some(lab) = mail_lab() else { return };
    let corpus = thousand("way@lab.test");
    lab.fill("way", &corpus.mails, |number| number % 10 == 0);
    let before = lab.client("way").await.mails("INBOX").await;
    assert_eq!(before.len(), corpus::MAILS);
    assert!(before.iter().zip(&corpus.mails).all(|((got, _), sent)| got == sent), "not in order");

    let house = house(lab, "way", "");
    let daemon = house.daemon(&[]);
    let wanted = corpus.threads.len() + corpus.silent_cases;
    let (to_cases, to_drafts) = wait_for_cases(&house, &daemon, wanted);
    let drafts = reviews(&house);
    let made = drafts.iter().map(|view| view.draft.id.0).max().unwrap();
    say(format!(
        "{wanted} cases after {to_cases:.1?}, {} drafts ({made} made) after {to_drafts:.1?}",
        drafts.len()
    ));
    say(format!("memory now and at most, kB: {:?}", memory_kb(&daemon)));
    assert_eq!((cases(&house).len(), drafts.len()), (wanted, corpus.threads.len()), "{}", daemon.log());
    for thread in &corpus.threads {
        let draft = &draft_of(&drafts, thread).draft;
        assert_eq!(
            draft.body.trim(),
            format!("Thank you. I read about T{}x and will answer.", thread.number)
        );
    }

    let begun = Instant::now();
    let threads: Vec<&Thread> = ANSWERED.iter().filter_map(|number| corpus.threads.get(*number)).collect();
    let ids: Vec<String> =
        threads.iter().map(|thread| draft_of(&drafts, thread).draft.id.to_string()).collect();
    let mut approve = vec!["review", "approve"];
    approve.extend(ids.iter().map(String::as_str));
    house.ok(&approve);
    wait_until("ten sends", || {
        let actions = actions(&house);
        actions.len() == 10 && actions.iter().all(|action| action.state == ActionState::Sent)
    });
    say(format!("ten sends recorded after {:.1?}", begun.elapsed()));
    wait_until("ten mails in ten boxes", || from_us(lab).len() == 10);
    wait_until("ten copies", || copies(lab).len() == 10);
    let sent = actions(&house);
    let answers: Answers =
        threads.iter().map(|thread| (thread.number, (*thread, check_answer(lab, thread, &sent)))).collect();
    let lying: BTreeSet<String> = copies(lab).into_iter().collect();
    assert_eq!(lying, answers.values().map(|(_, mail)| mail.clone()).collect());

    people_react(lab, &house, &answers).await;
    let states = |number: usize| {
        let (thread, _) = &answers[&number];
        let action = sent.iter().find(|action| action.envelope.to == [thread.to.clone()]).unwrap();
        let case = cases(&house).into_iter().find(|case| case.id == action.case).unwrap();
        (case.state, usize::try_from(case.items).unwrap() - thread.mails)
    };
    // An auto-responder's answer lies in the case and stirs nothing.
    assert_eq!(states(0), (CaseState::Sent, 1));
    // Of two that only sound like one, the first is shown with a warning, the second is not answered.
    assert_eq!(states(1), (CaseState::Dismissed, 2));
    // A person's answer opens the case again, also one that quotes us in full.
    assert_eq!(states(2), (CaseState::Review, 1));
    assert_eq!(states(5), (CaseState::Review, 1));
    // Our own mail is nobody's.
    assert_eq!(states(3), (CaseState::Sent, 0));
    assert_eq!(states(4), (CaseState::Sent, 0));
    assert_eq!((cases(&house).len(), actions(&house).len()), (wanted, 10));
    let drafts = reviews(&house);
    let again = &draft_of(&drafts, answers[&2].0).draft;
    assert_eq!(again.envelope.thread.get("in_reply_to").unwrap(), "<again@lab.test>");

    let record: CaseRecord = json(&house, &["case", "show", &again.case.to_string(), "--json"]);
    let events: BTreeSet<&str> = record.journal.iter().map(|line| line.event.as_str()).collect();
    for event in ["item", "routed", "approved", "sending", "sent"] {
        assert!(events.contains(event), "{event} in {events:?}");
    }
    assert!(
        record
            .actions
            .first()
            .unwrap()
            .receipt
            .as_ref()
            .unwrap()
            .evidence
            .starts_with("250 2.0.0 Ok: queued as ")
    );

    let log = daemon.stop();
    assert!(!log.contains(lab.password()), "the password is in the log");
    let daemon = house.daemon(&[]);
    let (view, _) = house.status_when("a poll", |view| unit(view, "inbox.connector").last_success.is_some());
    assert!(settled(&view.counts), "{view:#?}");
    assert_eq!((cases(&house).len(), actions(&house).len(), from_us(lab).len()), (wanted, 10, 10));
    let after = lab.client("way").await.mails("INBOX").await;
    assert!(
        after.iter().zip(&before).all(|(after, before)| after == before),
        "something changed in the mailbox"
    );
    say(format!("memory after a restart, now and at most, kB: {:?}", memory_kb(&daemon)));
    daemon.stop();
}

fn draft_of<'a>(drafts: &'a [ReviewView], thread: &Thread) -> &'a ReviewView {
    let mut found = drafts.iter().filter(|view| view.draft.envelope.to == [thread.to.clone()]);
    let one = found.next().unwrap_or_else(|| panic!("no draft for {thread:?}"));
    assert!(found.next().is_none(), "two drafts for {thread:?}");
    one
}

/// Mails from the account that lie in the inbox of anybody else.
fn from_us(lab: &MailLab) -> Vec<String> {
    let others = lab.accounts().into_iter().filter(|name| name != "way");
    let lying = others.flat_map(|name| lab.lying(&name));
    lying.map(|(_, text)| text).filter(|text| text.contains("\nFrom: way@lab.test")).collect()
}

/// What lies among sent mail.
fn copies(lab: &MailLab) -> Vec<String> {
    let lying = lab.lying("way").into_iter();
    lying.filter(|(folder, _)| folder == "Sent").map(|(_, text)| text.replace("\r\n", "\n")).collect()
}

/// The one mail that the recipient got is what was approved, in its thread. The mail as it was sent.
fn check_answer(lab: &MailLab, thread: &Thread, actions: &[OutboundAction]) -> String {
    let action = actions.iter().find(|action| action.envelope.to == [thread.to.clone()]).unwrap();
    let receipt = action.receipt.as_ref().unwrap();
    let copies = copies(lab);
    let sent = copies.iter().find(|copy| copy.contains(&action.key)).unwrap().clone();
    let lying = lab.lying(thread.to.strip_suffix("@lab.test").unwrap());
    let [(_, got)] = lying.as_slice() else { panic!("{lying:#?}") };
    let got = got.replace("\r\n", "\n");
    assert!(got.ends_with(&sent), "{got}\n---\n{sent}");
    let mail = MessageParser::default().parse(sent.as_bytes()).unwrap();
    let line = |name: &str| {
        assert_eq!(mail.headers().iter().filter(|header| header.name.as_str() == name).count(), 1, "{name}");
        mail.header_raw(name).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("From"), "way@lab.test");
    assert_eq!(line("To"), thread.to);
    assert_eq!(line("In-Reply-To"), thread.in_reply_to);
    assert_eq!(line("References"), thread.references.join(" "));
    assert_eq!(mail.subject().unwrap(), thread.subject);
    assert_eq!(line("Auto-Submitted"), "auto-replied");
    assert_eq!(line("X-Workagent-Action"), action.key);
    assert_eq!(line("Message-ID"), receipt.remote_id);
    assert!(mail.header_raw("Cc").is_none());
    sent
}

/// What was sent, by the number of its thread.
type Answers<'a> = BTreeMap<usize, (&'a Thread, String)>;

/// What comes back after the ten answers; returns when all of it was read.
async fn people_react(lab: &MailLab, house: &House, answers: &Answers<'_>) {
    let me = "way@lab.test";
    let answered = |number: usize| {
        let (thread, mail) = &answers[&number];
        let mail = MessageParser::default().parse(mail.as_bytes()).unwrap();
        (*thread, format!("In-Reply-To: <{}>", mail.message_id().unwrap()))
    };
    let copy = |number: usize| answers[&number].1.replace('\n', "\r\n");
    let (away, line) = answered(0);
    lab.deliver(&away.to, me, &corpus::away(me, "away-again", &line)).await;
    let (sounds, line) = answered(1);
    let automatic =
        |id: &str| corpus::mail(&sounds.to, me, "Automatic reply: Re: it", id, &line, "I am away.");
    lab.deliver(&sounds.to, me, &automatic("sounds-1")).await;
    let (person, line) = answered(2);
    lab.deliver(&person.to, me, &corpus::mail(&person.to, me, "Re: it", "again", &line, "One more thing."))
        .await;
    let (_, line) = answered(5);
    let quoting: String = copy(5).lines().map(|line| format!("> {line}\r\n")).collect();
    lab.deliver("boss@lab.test", me, &corpus::mail("boss@lab.test", me, "Fwd: it", "fwd", &line, &quoting))
        .await;
    // Our own mail comes back: as it was, and as a list or a gateway would have it.
    lab.deliver(me, me, &copy(3)).await;
    let changed: String = copy(4)
        .lines()
        .filter(|line| !line.starts_with("X-Workagent"))
        .map(|line| format!("{}\r\n", line.replace(". ", ".  ")))
        .collect();
    lab.deliver(me, me, &format!("{changed}\r\n-- \r\nsent over a gateway\r\n")).await;
    read_all(lab, house, corpus::MAILS + 6).await;
    let drafts = reviews(house);
    let warned =
        drafts.iter().find(|view| view.items.iter().any(|item| item.title == "Automatic reply: Re: it"));
    let warnings = &warned.unwrap().items.last().unwrap().warnings;
    assert!(warnings.contains(&"it looks like an automatic reply".to_owned()), "{warnings:?}");
    lab.deliver(&sounds.to, me, &automatic("sounds-2")).await;
    read_all(lab, house, corpus::MAILS + 7).await;
}

/// Waits until the inbox holds so many mails, the daemon read them, and nothing moves any more.
async fn read_all(lab: &MailLab, house: &House, mails: usize) {
    let deadline = Instant::now() + PATIENCE;
    while lab.client("way").await.mails("INBOX").await.len() < mails {
        assert!(Instant::now() < deadline, "not delivered");
    }
    let there = house.status().0.now;
    house.ok(&["kick", "inbox.connector"]);
    house.status_when("all mail to be read and drafted", |view| {
        let inbox = unit(view, "inbox.connector");
        inbox.last_try.is_some_and(|at| at > there)
            && inbox.last_success >= inbox.last_try
            && settled(&view.counts)
    });
}

/// A server rebuilt: all numbers are others, the order too; one mail is new (S17).
#[tokio::test]
async fn real_a_mailbox_made_anew_makes_no_case_twice() {
    let Some(lab) = mail_lab() else { return };
    let mail = |id: &str| corpus::mail("pat@lab.test", "anew@lab.test", &format!("About {id}"), id, "", id);
    let nameless = mail("four").replace("Message-ID: <four@lab.test>\r\n", "");
    let mut client = lab.client("anew").await;
    client.create("Work").await;
    for text in [mail("one"), mail("two"), mail("three"), nameless.clone()] {
        client.append("Work", text).await;
    }
    let house = house(lab, "anew", "mailbox = \"Work\"\nidle = false");
    let daemon = house.daemon(&[]);
    wait_for_cases(&house, &daemon, 4);

    client.delete("Work").await;
    client.create("Work").await;
    for text in [mail("three"), nameless, mail("five"), mail("one"), mail("two")] {
        client.append("Work", text).await;
    }
    house.ok(&["kick", "inbox.connector"]);
    let told = |lines: &[String]| lines.iter().any(|line| line.starts_with("mailbox was renumbered ("));
    house.status_when("the new numbers to be told", |view| told(&unit(view, "inbox.connector").details));
    wait_for_cases(&house, &daemon, 5);
    house.ok(&["kick", "inbox.connector"]);
    house.status_when("another poll", |view| !told(&unit(view, "inbox.connector").details));
    assert_eq!((cases(&house).len(), reviews(&house).len()), (5, 5));
    let log = daemon.stop();
    assert_eq!(log.matches("mailbox was renumbered (").count(), 1, "{log}");
}

/// A mail of thirty megabytes with forty lines of text is a case like any other (S25).
#[tokio::test]
async fn real_thirty_megabytes_are_a_case_like_any_other() {
    let Some(lab) = mail_lab() else { return };
    let house = house(lab, "thirty", "");
    let small = corpus::mail("pat@lab.test", "thirty@lab.test", "small", "small", "", "About T1x.");
    lab.fill("thirty", &[small], |_| false);
    let daemon = house.daemon(&[]);
    wait_for_cases(&house, &daemon, 1);
    let before = memory_kb(&daemon);

    let text = "About T2x, line after line.\r\n".repeat(40);
    let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NQ==\r\n";
    let parts = format!(
        "--b\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--b\r\nContent-Type: application/octet-stream\r\n\
         Content-Disposition: attachment; filename=log.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n{}--b--",
        line.repeat(400_000)
    );
    let huge = corpus::mail("pat@lab.test", "thirty@lab.test", "huge", "huge", "", &parts)
        .replace("text/plain; charset=utf-8\r\n", "multipart/mixed; boundary=b\r\n");
    assert!(huge.len() > 30_000_000);
    lab.client("thirty").await.append("INBOX", huge).await;
    wait_for_cases(&house, &daemon, 2);
    say(format!("memory before and after 30 MB, now and at most, kB: {before:?} {:?}", memory_kb(&daemon)));
    assert!(memory_kb(&daemon).1 < before.1 + 16 * 1024, "{before:?} {:?}", memory_kb(&daemon));

    let drafts = reviews(&house);
    let view = drafts.iter().find(|view| view.items.iter().any(|item| item.title == "huge"));
    let view =
        view.unwrap_or_else(|| panic!("{:#?} {:#?}", cases(&house), house.ok(&["case", "show", "c2"])));
    assert_eq!(view.draft.body.trim(), "Thank you. I read about T2x and will answer.");
    let card = house.ok(&["review", "show", &view.draft.id.to_string()]);
    for told in ["log.bin", "only the first", "of 31 MB were read"] {
        assert!(card.contains(told), "{told} in {card}");
    }
    house.ok(&["kick", "inbox.connector"]);
    wait_for_cases(&house, &daemon, 2);
    daemon.stop();
}
