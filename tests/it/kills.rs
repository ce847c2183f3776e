//! `kill -9` at random moments, again and again, while mail comes in and a slow engine works.

use std::collections::BTreeMap;
use std::time::Duration;

use workagent::model::case::CaseState;
use workagent::model::outbound::OutboundAction;
use workagent::model::time::Clock;

use crate::support::binary::wait_until;
use crate::support::lab_script::is_switched_on;
use crate::support::proof::{Expected, check};
use crate::support::scene::{Plan, Scene};

/// splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// What comes in between two kills.
struct Post {
    mails: usize,
    asked: Vec<String>,
}

impl Post {
    /// Every fourth mail comes into the thread of an earlier one.
    fn deliver(&mut self, count: usize, scene: &Scene, expected: &mut Expected, chance: &mut Chance) {
        for _ in 0..count {
            // Mails are read in the order of their names.
            let id = format!("m{:03}", self.mails);
            self.mails += 1;
            let earlier = usize::try_from(chance.below(self.asked.len().max(1) as u64)).unwrap();
            if !self.mails.is_multiple_of(4) || self.asked.is_empty() {
                scene.deliver(&id, "");
                self.asked.push(id.clone());
            } else {
                // The newest mail of a thread is answered; the one before is, if there was time.
                let before = self.asked.swap_remove(earlier);
                scene.deliver(
                    &id,
                    &format!("In-Reply-To: <{before}@example.org>\nReferences: <{before}@example.org>\n"),
                );
                expected.mail(&before, 0..=1);
            }
            expected.mail(&id, 1..=1);
        }
        if self.mails % 8 < 4 {
            let id = format!("n{}", self.mails);
            scene.drop_note(&id);
            expected.note(&id);
        }
    }
}

#[test]
fn fifty_random_kills() {
    #[expect(clippy::disallowed_methods, reason = "the seed of chance")]
    let seed = std::env::var("WORKAGENT_SEED");
    let (kills, mails) = if is_switched_on() { (50, 200) } else { (3, 24) };
    let now = u64::try_from(Clock::system().now().0).unwrap();
    let seed: u64 = seed.map_or(now, |text| text.parse().expect("WORKAGENT_SEED is a number"));
    println!("WORKAGENT_SEED={seed}: {kills} kills, {mails} mails");

    let mut chance = Chance(seed);
    let (scene, mut expected) = (Scene::new(Plan { concurrency: 4, ..Plan::default() }), Expected::default());
    let mut log = String::new();
    let mut post = Post { mails: 0, asked: Vec::new() };
    for kill in 0..kills {
        scene.engine_seconds(&format!("0.0{}", 20 + chance.below(30)));
        post.deliver((mails * (kill + 1) / kills) - post.mails, &scene, &mut expected, &mut chance);
        let daemon = scene.start(None);
        std::thread::sleep(Duration::from_millis(chance.below(400)));
        log.push_str(&daemon.kill());
    }
    scene.engine_seconds("0.02");
    let daemon = scene.daemon(&[]);
    let released = release(&scene, expected.items());
    let spared = spare(&scene, expected.items());
    let records = check(&scene, &expected);
    log.push_str(&daemon.stop());

    let interrupted =
        records.iter().flat_map(|record| &record.runs).filter(|run| run.outcome == "interrupted");
    let unbegun: usize = records.iter().map(|record| record.case.attempts as usize - record.runs.len()).sum();
    let answers: usize = records.iter().map(|record| record.actions.len()).sum();
    let again =
        records.iter().flat_map(|record| &record.actions).filter(|action| action.attempts > 1).count();
    println!(
        "cases {}, items {}, answers {answers}, all once; runs interrupted {}, claims interrupted {unbegun}, \
         sends tried again {again}, cases whose tries were used up {spared}, \
         sends held since their thread went on {released}; found at the starts: {:?}",
        records.len(),
        expected.items(),
        interrupted.count(),
        found(&log),
    );
}

/// A mail into a thread whose answer was approved and had not left yet holds that answer for a person, who lets it go.
fn release(scene: &Scene, items: usize) -> usize {
    wait_until("everything to be read", || {
        scene.cases().iter().map(|case| case.items as usize).sum::<usize>() >= items
    });
    let held: Vec<OutboundAction> =
        scene.json(&["outbox", "list", "--state", "held", "--json", "--limit", "1000"]);
    for action in &held {
        let why = action.last_error.as_deref().unwrap_or_default();
        assert!(why.starts_with("something came or changed at its source after the approval"), "{action:?}");
        let ran = scene.run(&["outbox", "release", &action.id.to_string()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    held.len()
}

/// A case that was interrupted as often as a case is tried is put aside for a while; nobody waits for that here.
fn spare(scene: &Scene, items: usize) -> usize {
    let mut spared = 0;
    loop {
        let parked = scene.settled(items).into_iter().filter(|case| case.state == CaseState::Parked);
        let parked: Vec<_> = parked.collect();
        if parked.is_empty() {
            return spared;
        }
        for case in parked {
            let reason = case.reason.as_deref();
            assert_eq!(reason, Some("its tries are used up; the last one was interrupted"), "{case:?}");
            // Refused where it wakes by itself at this very moment.
            scene.run(&["case", "retry", &case.id.to_string()]);
            spared += 1;
        }
    }
}

/// What the starts said of their predecessors, added up.
fn found(log: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for line in log.lines().filter(|line| line.contains("rows of a killed daemon")) {
        *sums.entry("starts".to_owned()).or_default() += 1;
        for (name, number) in line.split_whitespace().filter_map(|word| word.split_once('=')) {
            *sums.entry(name.to_owned()).or_default() += number.parse::<u64>().unwrap_or(0);
        }
    }
    sums
}
