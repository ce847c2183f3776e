//! A day in the life of a busy inbox: 24 hours on a manual clock, 5,000 notifications, limits, outages, edits, two
//! restarts; through the real sync loop and the real record.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use workagent::model::class::ErrorClass;
use workagent::model::item::Item;
use workagent::model::time::Timestamp;
use workagent::supervise::restart::after_fault;
use workagent::supervise::{Cycle, Next};

use super::way::UNIT;
use crate::support::github::{FakeGithub, Outage, Trouble};
use crate::support::way::{START, Way};

const REPOS: [&str; 3] = ["acme/app", "acme/web", "acme/ops"];
const NOTIFICATIONS: usize = 5000;
const OLD_THREADS: u64 = 100;
const HOUR: u64 = 3600;

/// What happens at a second of the day.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Somebody does something in a thread, and the user is told.
    Told(u64),
    /// The author changes the newest comment of the thread; nobody is told.
    Edit(u64),
}

/// What should be in the record.
#[derive(Default)]
struct Expected {
    /// By thread: each text and how it reads by now.
    texts: BTreeMap<u64, BTreeMap<String, String>>,
    /// By thread: activity without a text, that may be an item.
    events: BTreeMap<u64, BTreeSet<String>>,
    /// When somebody last said something there.
    said: BTreeMap<u64, Timestamp>,
    edits: usize,
    /// Edits that the next activity must bring.
    pending_edits: BTreeMap<u64, (String, String)>,
}

/// The same day each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn repo(thread: u64) -> &'static str {
    let [app, web, ops] = REPOS;
    match thread % 3 {
        0 => app,
        1 => web,
        _ => ops,
    }
}

/// The day's plan in seconds.
fn plan(dice: &mut Dice) -> Vec<(u64, Event)> {
    let mut plan = Vec::new();
    for number in 0..NOTIFICATIONS {
        let thread = 1 + dice.roll(1500);
        // A third of the day's load in the two hours in which people come to work, and 200 within one minute.
        let second = match number % 25 {
            0 => 9 * HOUR + dice.roll(60),
            1..=8 => 8 * HOUR + dice.roll(2 * HOUR),
            _ => 60 + dice.roll(24 * HOUR - 60),
        };
        plan.push((second, Event::Told(thread)));
        if number % 20 == 0 {
            // Edited, and some hours later somebody answers.
            plan.push((second + 60, Event::Edit(thread)));
            plan.push((second + HOUR + dice.roll(3 * HOUR), Event::Told(thread)));
        }
    }
    plan.retain(|(second, _)| *second < 24 * HOUR);
    plan.sort_by_key(|(second, _)| *second);
    // Exactly as many as were promised.
    let mut told = 0;
    plan.retain(|(_, event)| {
        told += usize::from(matches!(event, Event::Told(_)));
        told <= NOTIFICATIONS
    });
    plan
}

fn troubles(at: impl Fn(u64) -> Timestamp) -> Vec<Outage> {
    [
        (2 * HOUR, 20 * 60, Trouble::BadGateway),
        (5 * HOUR, 10 * 60, Trouble::Cut),
        (8 * HOUR + 600, 5 * 60, Trouble::SecondaryWithTime),
        (10 * HOUR, 10 * 60, Trouble::Secondary),
        (13 * HOUR, 25 * 60, Trouble::Primary),
        (16 * HOUR, 12 * 60, Trouble::ThreadsFail),
    ]
    .map(|(from, span, trouble)| Outage { from: at(from), until: at(from + span), trouble })
    .into()
}

fn happen(fake: &FakeGithub, event: Event, dice: &mut Dice, expected: &mut Expected) {
    let mut hub = fake.hub();
    let now = hub.now();
    match event {
        Event::Told(thread) => {
            let (repo, old) = (repo(thread), thread <= OLD_THREADS);
            let texts = expected.texts.entry(thread).or_default();
            let known = hub.issues.contains_key(&(repo.to_owned(), thread));
            if !known {
                let pull = dice.roll(3) == 0;
                hub.open(
                    repo,
                    thread,
                    pull,
                    "kim",
                    &format!("Thread {thread}"),
                    &format!("Body of {thread}"),
                );
            }
            if old || !known {
                let issue = hub.issue(repo, thread);
                texts.insert(format!("issue:{}", issue.id), issue.body.clone());
            }
            let pull = hub.issue(repo, thread).pull;
            let quiet = expected.said.get(&thread).is_none_or(|at| now.since(*at) > Duration::from_secs(600));
            match dice.roll(10) {
                _ if !known => {}
                0 if quiet => {
                    let key = format!("thread:{}:{}", 9000 + thread, now.0 / 1000);
                    expected.events.entry(thread).or_default().insert(key);
                }
                1 | 2 if pull => {
                    let id = hub.diff_comment(repo, thread, "lee", "Why so?", None);
                    texts.insert(format!("review-comment:{id}"), "On src/a.rs line 3:\n\nWhy so?".into());
                }
                3 if pull => {
                    let id = hub.review(repo, thread, "lee", "CHANGES_REQUESTED", "Not yet.");
                    let body = "The review asks for changes.\n\nNot yet.";
                    texts.insert(format!("review:{id}"), body.into());
                }
                _ => {
                    let body = format!("Said at {}", now.0 / 1000);
                    let id = hub.comment(repo, thread, "lee", &body);
                    texts.insert(format!("issue-comment:{id}"), body);
                }
            }
            if let Some((key, body)) = expected.pending_edits.remove(&thread) {
                texts.insert(key, body);
                expected.edits += 1;
            }
            expected.said.insert(thread, now);
            hub.notify(9000 + thread, repo, thread, "subscribed");
        }
        Event::Edit(thread) => {
            let newest =
                hub.issues.get(&(repo(thread).to_owned(), thread)).and_then(|issue| issue.comments.last());
            let Some(comment) = newest.map(|comment| comment.id) else { return };
            let body = format!("Edited at {}", now.0 / 1000);
            hub.edit(repo(thread), thread, comment, &body);
            expected.pending_edits.insert(thread, (format!("issue-comment:{comment}"), body));
        }
    }
}

#[tokio::test]
async fn a_day_of_five_thousand_notifications() {
    let fake = FakeGithub::start(&workagent::model::time::Clock::manual(START));
    let mut way = Way::new(&[("inbox.connector.toml", &UNIT.replace("{url}", &fake.url()))]).await;
    fake.hub().clock = way.clock.clone();
    let mut dice = Dice(7);
    // Threads that are there before; they become work only by what happens to them.
    for thread in 1..=OLD_THREADS {
        let mut hub = fake.hub();
        hub.open(
            repo(thread),
            thread,
            false,
            "kim",
            &format!("Thread {thread}"),
            &format!("Body of {thread}"),
        );
        hub.notify(9000 + thread, repo(thread), thread, "subscribed");
    }
    way.clock.advance(Duration::from_secs(HOUR));
    let begun = way.clock.now();
    let at = |second: u64| begun.plus(Duration::from_secs(second));
    fake.hub().outages = troubles(at);
    let plan = plan(&mut dice);
    let mut events = plan.iter().copied().peekable();
    let mut expected = Expected::default();
    let mut restarts = [12 * HOUR, 18 * HOUR + 1800].into_iter().peekable();
    let (mut passes, mut at_once, mut failures) = (0_usize, 0_usize, 0_u32);
    let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
    // Three hours more, in which nothing happens: what was put off is made up for.
    while way.clock.now() < at(27 * HOUR) {
        let now = way.clock.now();
        if restarts.next_if(|second| at(*second) <= now).is_some() {
            way.start().await;
        }
        let sync = std::sync::Arc::clone(way.assembly().bundle.app.sync[0].on().unwrap());
        let pass = sync.activate().await;
        passes += 1;
        let next = match &pass.fault {
            Some(fault) => {
                *faults.entry(fault.class.word()).or_default() += 1;
                let limited = matches!(fault.class, ErrorClass::RateLimited { .. });
                failures += u32::from(!limited);
                after_fault(&sync.restart(), fault.class, failures.max(1), now, 1).unwrap()
            }
            None => {
                failures = 0;
                match pass.next {
                    Next::Now => now,
                    Next::At(next) => next,
                    Next::WhenWoken => panic!("it would never look again"),
                }
            }
        };
        at_once = if next > now { 0 } else { at_once + 1 };
        assert!(at_once < 10, "it runs in circles at {now}");
        while let Some((second, event)) = events.next_if(|(second, _)| at(*second) <= next) {
            way.clock.advance(at(second).since(way.clock.now()));
            happen(&fake, event, &mut dice, &mut expected);
        }
        way.clock.advance(next.since(way.clock.now()));
    }
    let told = plan.iter().filter(|(_, event)| matches!(event, Event::Told(_))).count();
    assert_eq!((told, events.next().is_none()), (NOTIFICATIONS, true));
    compare(&way, &expected).await;
    assert!(expected.edits > 100, "{} edits", expected.edits);

    let hub = fake.hub();
    let mut by_hour: BTreeMap<i64, usize> = BTreeMap::new();
    for asked in hub.log.iter().filter(|asked| asked.status != 304) {
        *by_hour.entry(asked.at.0 / 3_600_000).or_default() += 1;
    }
    let (all, paid) = (hub.log.len(), by_hour.values().sum::<usize>());
    let busiest = by_hour.values().copied().max().unwrap_or_default();
    println!(
        "{NOTIFICATIONS} notifications, {} threads: {all} requests, {paid} of them paid for, {busiest} in the busiest \
         hour; {passes} passes; faults {faults:?}; {} edits",
        expected.texts.len(),
        expected.edits,
    );
    assert!(busiest < 5000, "{busiest} requests in an hour");
    assert!(paid < 4 * NOTIFICATIONS, "{paid} requests for {NOTIFICATIONS} notifications");
    // A minute between two looks, more while there is trouble.
    assert!(passes <= 27 * 60 + 60, "{passes} passes in 27 hours");
    assert_eq!(fake.most_at_once(), 1, "one request after the other");
    let kinds: Vec<&str> = faults.keys().copied().collect();
    assert_eq!(kinds, ["network", "rate-limit"]);
}

/// The number of the issue, out of the name that all of its thread have.
fn number_of(item: &Item) -> u64 {
    item.threads.last().unwrap().split_once('#').unwrap().1.parse().unwrap()
}

/// One case a thread, each text once and as it reads by now, nothing else.
async fn compare(way: &Way, expected: &Expected) {
    let store = &way.assembly().store;
    let cases = store.cases(None, 100_000).await.unwrap();
    let mut found: BTreeMap<u64, BTreeMap<String, String>> = BTreeMap::new();
    let mut events_found = 0;
    for case in cases {
        let record = store.case_record(case.id).await.unwrap();
        let number = number_of(record.items.first().unwrap());
        let mut texts = BTreeMap::new();
        for item in record.items {
            assert_eq!(number_of(&item), number, "{item:?}");
            if item.kind == "notification" {
                let events = expected.events.get(&number);
                assert!(events.is_some_and(|events| events.contains(&item.key)), "no such event: {item:?}");
                events_found += 1;
                continue;
            }
            assert!(texts.insert(item.key, item.body).is_none(), "twice in thread {number}");
        }
        assert!(found.insert(number, texts).is_none(), "two cases for thread {number}");
    }
    for (number, texts) in &expected.texts {
        let mut texts = texts.clone();
        let mut here = found.remove(number).unwrap_or_default();
        if let Some((key, _)) = expected.pending_edits.get(number) {
            // Nothing has happened there since: the edit may have been met or not.
            assert_eq!(texts.remove(key).is_some(), here.remove(key).is_some(), "thread {number}");
        }
        assert_eq!(here, texts, "thread {number}");
    }
    assert_eq!(found, BTreeMap::new(), "cases of nothing");
    let may_be = expected.events.values().map(BTreeSet::len).sum::<usize>();
    // One that something else happened right behind is not told of by itself.
    assert!(events_found > may_be * 3 / 4 && events_found <= may_be, "{events_found} of {may_be} events");
}
