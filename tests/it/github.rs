//! The connector `github` against a scripted server: baseline, pages, overlap, edits, limits, garbage, lost answers.

mod cases;
mod day;
mod garbage;
mod inbox;
mod limits;
mod repos;
mod send;
mod way;

use std::time::Duration;

use workagent::model::item::{Disposition, Item};
use workagent::model::time::Clock;
use workagent::platform::github::SPEC;
use workagent::unit::value::Value;

use crate::support::connector::{Bench, NOW, secret, text};
use crate::support::github::FakeGithub;

const MINUTE: Duration = Duration::from_secs(60);

/// A connector and the GitHub that it reads, both with one clock.
struct Scene {
    hub: FakeGithub,
    bench: Bench,
}

impl Scene {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(keys: &[(&str, Value)]) -> Self {
        let clock = Clock::manual(NOW);
        let hub = FakeGithub::start(&clock);
        let url = hub.url();
        let mut all = vec![("login", text("Pat")), ("token", secret()), ("base_url", text(&url))];
        all.extend(keys.iter().map(|(name, value)| (*name, value.clone())));
        let mut bench = Bench::new(&SPEC, "/nonexistent".as_ref(), &all);
        // One clock for both: the bench makes its own.
        let clock = bench.clock.clone();
        hub.hub().clock = clock;
        bench.items_max = 200;
        Self { hub, bench }
    }

    fn later(&self, span: Duration) {
        self.bench.clock.advance(span);
    }

    /// An issue of Kim's about which the user is told, as thread 9000 + number.
    fn issue(&self, number: u64) {
        let mut hub = self.hub.hub();
        hub.open("acme/app", number, false, "kim", &format!("Crash {number}"), "It crashes.");
        hub.notify(9000 + number, "acme/app", number, "mention");
    }
}

/// `issue: It crashes.`, one line an item, with what is not work in brackets.
fn shown(items: &[Item]) -> Vec<String> {
    let line = |item: &Item| {
        let body = item.body.replace('\n', " ");
        match &item.disposition {
            Disposition::Work => format!("{}: {body}", item.kind),
            Disposition::NoReply { .. } => format!("({}: {body})", item.kind),
            Disposition::Own => format!("[own {}]", item.key),
            Disposition::Baseline => format!("[before {}]", item.key),
            Disposition::Quarantined { reason } => format!("!{}: {reason}", item.kind),
        }
    };
    items.iter().map(line).collect()
}
