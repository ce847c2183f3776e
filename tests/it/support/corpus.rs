//! A thousand mails of a mailbox as people have them: threads whose mails name each other in all the ways that mail
//! programs know, and what machines send.

#![expect(clippy::indexing_slicing, reason = "a generator over lists of its own making")]

use std::collections::BTreeSet;

use lettre::message::header::{ContentTransferEncoding, HeaderName, HeaderValue};

/// Mails in all.
pub const MAILS: usize = 1000;
const THREADS: usize = 266;
/// Of the threads, those that end with a colleague's out-of-office.
const AWAY_THREADS: usize = 6;
const LIST: usize = 20;
const AWAY: usize = 6;
const BOUNCES: usize = 10;
const NO_REPLY: usize = 10;
const OWN: usize = 10;

/// What an answer to a thread must look like.
#[derive(Clone, Debug)]
pub struct Thread {
    pub number: usize,
    /// The one address that gets it.
    pub to: String,
    pub subject: String,
    /// The id of the mail that is answered.
    pub in_reply_to: String,
    /// The ids that References must hold, oldest first, those of which a reader can know.
    pub references: Vec<String>,
    pub mails: usize,
}

pub struct Corpus {
    /// In the order of their arrival.
    pub mails: Vec<String>,
    pub threads: Vec<Thread>,
    /// Cases of machines' and own mails: recorded, never worked on.
    pub silent_cases: usize,
    /// Mails that came a second time.
    pub again: usize,
}

/// The mailbox of `me`, at `@lab.test`. The same every time.
pub fn thousand(me: &str) -> Corpus {
    let mut threads = Vec::new();
    let mut queues: Vec<Vec<String>> = Vec::new();
    for number in 0..THREADS {
        let (thread, mails) = thread(me, number);
        threads.push(thread);
        queues.push(mails);
    }
    let machines: Vec<String> = (0..LIST)
        .map(|n| {
            let more = format!(
                "List-Id: <dev{n}.lists.lab.test>\r\nList-Post: <mailto:dev@lab.test>\r\nPrecedence: list"
            );
            mail(
                &format!("lee{n}@lab.test"),
                "dev@lab.test",
                &format!("[dev] build {n}"),
                &format!("list-{n}"),
                &more,
                "Done.",
            )
        })
        .chain((0..AWAY).map(|n| away(me, &format!("away-{n}"), "")))
        .chain((0..BOUNCES).map(|n| bounce(me, n)))
        .chain((0..NO_REPLY).map(|n| {
            mail(
                "noreply@lab.test",
                me,
                &format!("Your receipt {n}"),
                &format!("receipt-{n}"),
                "",
                "Thank you.",
            )
        }))
        .chain((0..OWN).map(|n| mail(me, me, &format!("note to self {n}"), &format!("own-{n}"), "", "Milk.")))
        .collect();
    let silent_cases = machines.len();
    queues.extend(machines.into_iter().map(|mail| vec![mail]));
    let mut mails = interleave(queues);
    let again = MAILS - mails.len();
    // Delivered twice: to the address and to an alias of it.
    for n in 0..again {
        let copy =
            format!("Received: by alias{n}.lab.test; Mon, 30 Nov 2026 07:00:09 +0000\r\n{}", mails[n * 7]);
        mails.push(copy);
    }
    Corpus { mails, threads, silent_cases, again }
}

/// The first of each, then the second of each…, so that mails of one thread lie apart.
fn interleave(queues: Vec<Vec<String>>) -> Vec<String> {
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|round| queues.iter().filter_map(move |queue| queue.get(round).cloned())).collect()
}

/// One thread: how its mails name each other depends on its number.
fn thread(me: &str, number: usize) -> (Thread, Vec<String>) {
    let count = 2 + number % 4;
    let person = format!("p{number}@lab.test");
    let colleague = format!("q{number}@lab.test");
    let subject = match number % 5 {
        0 => format!("Figures of week {number}"),
        1 => format!("Größe und Maße {number} – 寸法"),
        _ => format!("Question {number}"),
    };
    let ids: Vec<String> = (0..count).map(|n| format!("<{n}.{number}.thread@lab.test>")).collect();
    let mut mails = Vec::new();
    for n in 0..count {
        // The last one is the person's; before it a colleague or we ourselves may have had a word.
        let (from, to) = match (n, count) {
            (n, count) if n + 1 == count || n == 0 => (person.as_str(), me),
            (n, _) if number.is_multiple_of(3) && n == 2 => (me, person.as_str()),
            _ => (colleague.as_str(), me),
        };
        let mut more = vec![named(number, n, &ids)];
        if number.is_multiple_of(7) && from == person {
            more.push(format!("Reply-To: desk{number}@lab.test"));
        }
        if number % 4 == 1 {
            more.push("Cc: boss@lab.test, Team <team@lab.test>".to_owned());
        }
        more.retain(|line| !line.is_empty());
        let title = if n == 0 {
            subject.clone()
        } else {
            format!("{}{subject}", ["Re: ", "AW: ", "RE: Re: "][n % 3])
        };
        let body = format!("Hello,\r\n\r\nthis is about T{number}x, mail {n}.\r\n\r\n> ref\r\n");
        mails.push(mail(from, to, &title, &format!("{n}.{number}.thread"), &more.join("\r\n"), &body));
    }
    if number % 6 == 1 {
        // The answer overtakes the question.
        mails.swap(0, 1);
    }
    // What was read last is answered.
    let answered = if number % 6 == 1 && count == 2 { 0 } else { count - 1 };
    if number % 44 == 3 && number / 44 < AWAY_THREADS {
        mails.push(away(me, &format!("gone-{number}"), &format!("In-Reply-To: {}", ids[count - 1])));
    }
    let to = if number.is_multiple_of(7) { format!("desk{number}@lab.test") } else { person };
    let references = known(number, answered, &ids);
    let in_reply_to = ids[answered].clone();
    (
        Thread { number, to, subject: format!("Re: {subject}"), in_reply_to, references, mails: mails.len() },
        mails,
    )
}

/// The header lines by which mail `n` names the mails before it.
fn named(number: usize, n: usize, ids: &[String]) -> String {
    let Some(parent) = n.checked_sub(1).map(|parent| &ids[parent]) else { return String::new() };
    match number % 6 {
        0 => format!("In-Reply-To: {parent}\r\nReferences: {}", ids[..n].join("\r\n ")),
        1 => format!("In-Reply-To: {parent}"),
        2 => format!("References: {}", ids[..n].join(" ")),
        3 => format!("References: {} {parent}", ids[0]),
        4 => format!(
            "In-Reply-To: Message from p of \"Mon, 30 Nov\" {parent}\r\nReferences:\r\n\t{}",
            ids[..n].join("\r\n\t")
        ),
        _ => format!("In-Reply-To: {}", ids[0]),
    }
}

/// The references of an answer to mail `n`, by what that mail says.
fn known(number: usize, n: usize, ids: &[String]) -> Vec<String> {
    let mut references: Vec<String> = match (number % 6, n) {
        (_, 0) => Vec::new(),
        (1, n) => vec![ids[n - 1].clone()],
        (3, 1) | (5, _) => vec![ids[0].clone()],
        (3, n) => vec![ids[0].clone(), ids[n - 1].clone()],
        (_, n) => ids[..n].to_vec(),
    };
    references.push(ids[n].clone());
    references
}

/// A mail; `more` are further header lines without the last line end.
pub fn mail(from: &str, to: &str, subject: &str, id: &str, more: &str, body: &str) -> String {
    let subject = HeaderValue::new(HeaderName::new_from_ascii_str("Subject"), subject.to_owned());
    let mut headers = lettre::message::header::Headers::new();
    headers.insert_raw(subject);
    headers.set(ContentTransferEncoding::EightBit);
    let more = if more.is_empty() { String::new() } else { format!("{more}\r\n") };
    format!(
        "From: {from}\r\nTo: {to}\r\n{headers}Message-ID: <{id}@lab.test>\r\nDate: Mon, 30 Nov 2026 07:00:00 \
         +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n{more}\r\n{body}\r\n"
    )
}

/// What an auto-responder sends that says that it is one.
pub fn away(me: &str, id: &str, more: &str) -> String {
    let more = format!("Auto-Submitted: auto-replied\r\n{more}");
    mail(&format!("{id}@lab.test"), me, "Out of office", id, more.trim_end(), "I am away.")
}

fn bounce(me: &str, n: usize) -> String {
    format!(
        "Return-Path: <>\r\nFrom: MAILER-DAEMON@lab.test\r\nTo: {me}\r\nSubject: Undelivered Mail {n}\r\n\
         Message-ID: <bounce-{n}@lab.test>\r\nDate: Mon, 30 Nov 2026 07:00:00 +0000\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\nNo such user.\r\n\
         --b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n--b--\r\n"
    )
}

#[test]
fn it_is_a_thousand_of_distinct_threads() {
    let corpus = thousand("me@lab.test");
    assert_eq!((corpus.mails.len(), corpus.threads.len()), (MAILS, THREADS));
    assert!((1..=20).contains(&corpus.again), "{}", corpus.again);
    let to: BTreeSet<&String> = corpus.threads.iter().map(|thread| &thread.to).collect();
    assert_eq!(to.len(), THREADS);
    let away = corpus.mails.iter().filter(|mail| mail.contains("Message-ID: <gone-"));
    assert_eq!(away.count(), AWAY_THREADS);
}
