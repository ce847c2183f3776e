//! Reloads without rest while cases flow through slow engines: nothing is lost, nothing is sent twice, no engine is cut
//! off, what nobody touched does not notice, and the daemon does not grow.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test's helper fails the test; figures are for whoever reads them"
)]

mod edits;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use mail_parser::MessageParser;
use serde::de::DeserializeOwned;
use workagent::control::client::Client;
use workagent::control::wire::units::{ReloadOutcome, ReloadView};
use workagent::control::wire::{ActiveState, ReleaseBody, StatusView};
use workagent::model::case::{Case, CaseState};
use workagent::model::draft::DraftState;
use workagent::model::outbound::{ActionState, OutboundAction};
use workagent::model::time::{Clock, Timestamp};
use workagent::store::CaseRecord;

use self::edits::Hand;
use crate::support::binary::{House, LONG, unit, wait_until};
use crate::support::lab_script::lab_is_on;
use crate::support::scene::is_alive;

/// Tells of its begin and end, works for a while, answers; one in twelve says no, and the route's next engine is asked.
const ENGINE: &str = r#"cat >/dev/null
echo "begin $$" >>{root}/engine.log
sleep "0.$(printf %03d $((50 + $$ % 151)))"
echo "end $$" >>{root}/engine.log
if [ $(($$ % 12)) = 0 ]; then
  echo '{"error": {"class": "refused", "message": "not today"}}'
else
  echo '{"reply": "Thank you, I will come back to you."}'
fi
"#;

/// Units that nobody touches, and that a reload must not touch.
const STILL: [&str; 8] = [
    "still.connector",
    "polite.engine",
    "rest.route",
    "ingest.runtime",
    "worker.runtime",
    "review.runtime",
    "pending.runtime",
    "scheduler.runtime",
];

/// Units that are stopped and started by hand.
const ORDERED: [&str; 5] =
    ["moving.connector", "box@one.connector", "slow.engine", "second.engine", "tick.timer"];

const BOXES: [&str; 3] = ["still", "moving", "box/one"];

/// The size of a storm.
struct Size {
    reloads: usize,
    mails: usize,
}

#[test]
fn forty_reloads_while_sixty_cases_flow() {
    storm(&Size { reloads: 40, mails: 60 }, 7);
}

#[test]
fn real_two_hundred_reloads_while_five_hundred_cases_flow() {
    if !lab_is_on() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the seed of chance")]
    let seed = std::env::var("WORKAGENT_SEED");
    let now = u64::try_from(Clock::system().now().0).unwrap();
    let seed = seed.map_or(now, |text| text.parse().expect("WORKAGENT_SEED is a number"));
    storm(&Size { reloads: 200, mails: 500 }, seed);
}

/// The running daemon, asked over its socket.
struct Asked {
    client: Client,
    runtime: tokio::runtime::Runtime,
}

impl Asked {
    fn new(house: &House) -> Self {
        let client = Client::new(house.path("state/run/control.sock"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { client, runtime }
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> T {
        self.runtime.block_on(self.client.get(path)).unwrap()
    }

    fn post<T: DeserializeOwned>(&self, path: &str) -> T {
        self.runtime.block_on(self.client.post(path, &())).unwrap()
    }

    /// An order that may be refused: the unit may be gone or off by its file.
    fn order(&self, path: &str) -> bool {
        self.runtime.block_on(self.client.post::<_, ReloadView>(path, &())).is_ok()
    }

    fn cases(&self) -> Vec<Case> {
        self.get("/v1/cases?limit=10000")
    }
}

/// What the reloads came to.
#[derive(Default)]
struct Told {
    outcomes: BTreeMap<&'static str, u64>,
    /// Of reloads that did not wait for a file that may be half written.
    spans: Vec<Duration>,
    waited: u64,
    orders: u64,
    generations: BTreeSet<i64>,
}

impl Told {
    fn view(&mut self, view: &ReloadView, took: Duration) {
        *self.outcomes.entry(view.outcome.word()).or_default() += 1;
        self.generations.insert(view.generation);
        // Such a wait is for the rest of the file's first second.
        if took > Duration::from_millis(700) {
            self.waited += 1;
        } else {
            self.spans.push(took);
        }
    }

    fn percentile(&self, part: usize) -> Duration {
        let mut spans = self.spans.clone();
        spans.sort();
        spans[(spans.len() * part / 100).min(spans.len() - 1)]
    }
}

fn storm(size: &Size, seed: u64) {
    println!("WORKAGENT_SEED={seed}: {} reloads, {} mails", size.reloads, size.mails);
    let mut house = House::new();
    // With the shipped units below ours: the targets.
    let units = house.path("units").display().to_string();
    house.set("WORKAGENT_UNIT_PATH", &format!("{units}:"));
    house.write("engine.sh", ENGINE);
    for name in BOXES {
        for folder in ["new", "cur", "tmp"] {
            fs::create_dir_all(house.path(name).join(folder)).unwrap();
        }
    }
    let mut hand = Hand::new(&house, seed);
    let daemon = house.daemon(&[]);
    let asked = Asked::new(&house);
    let is_up = |view: &StatusView| STILL.iter().all(|name| unit(view, name).active == ActiveState::Active);
    let (begun, _) = house.status_when("everything to be up", is_up);
    let pid = daemon.pid();

    let (mut told, mut mails, mut sizes) = (Told::default(), 0, Vec::new());
    let mut last_look = still(&begun);
    let (mut stopped, mut offline) = (BTreeSet::new(), false);
    for number in 1..=size.reloads {
        while mails < size.mails * number / size.reloads {
            deliver(&house, mails);
            mails += 1;
        }
        hand.edit();
        if hand.chance.below(5) == 0 {
            told.orders += 1;
            by_hand(&asked, &mut hand, &mut stopped, &mut offline);
        }
        let at = Instant::now();
        let view: ReloadView = asked.post("/v1/reload");
        told.view(&view, at.elapsed());
        let spoiled = matches!(view.outcome, ReloadOutcome::Invalid | ReloadOutcome::AppliedWithFailures);
        assert_eq!(spoiled, !hand.broken.is_empty(), "reload {number}: {:?}: {view:#?}", hand.broken);
        assert_eq!(view.errors > 0, spoiled, "reload {number}: {view:#?}");
        let status: StatusView = asked.get("/v1/status");
        last_look = untouched(&last_look, &status);
        sizes.push(resident_kb(pid));
        std::thread::sleep(Duration::from_millis(hand.chance.below(80)));
    }

    hand.calm();
    // Orders name only what was there at the last look.
    asked.post::<ReloadView>("/v1/reload");
    asked.post::<ReloadView>("/v1/isolate/default");
    for name in ORDERED {
        assert!(asked.order(&format!("/v1/units/{name}/start")), "{name}");
    }
    let view: ReloadView = asked.post("/v1/reload");
    assert_eq!(view.errors, 0, "{view:#?}");
    asked.post::<ReloadView>("/v1/units/tick.timer/stop");
    let released = come_to_rest(&asked, mails);
    let end: StatusView = asked.get("/v1/status");
    untouched(&last_look, &end);
    told.generations.insert(end.generation);

    let cases = asked.cases();
    let records: Vec<CaseRecord> =
        cases.iter().map(|case| asked.get(&format!("/v1/cases/{}", case.id))).collect();
    let runs = check_records(&records, mails);
    check_answers(&house, mails);
    check_engines(&house);
    println!("done: {:?}", hand.done);
    println!(
        "outcomes {:?}, by hand {}, generations {}; reload p50 {:?} p99 {:?} over {} ({} more waited for a young file)",
        told.outcomes,
        told.orders,
        end.generation,
        told.percentile(50),
        told.percentile(99),
        told.spans.len(),
        told.waited,
    );
    println!("cases {}, runs {runs:?}, sends released {released}", cases.len());
    check_memory(&sizes);

    daemon.stop();
    check_generations(&house, end.generation);
    // The files alone say the same as all that was done.
    let daemon = house.daemon(&[]);
    let (again, _) = house.status_when("everything to be up again", is_up);
    assert_eq!((again.generation, again.findings), (end.generation, 0));
    daemon.stop();
}

/// Stops, starts, restarts units; isolates.
fn by_hand(asked: &Asked, hand: &mut Hand<'_>, stopped: &mut BTreeSet<&'static str>, offline: &mut bool) {
    let name = ORDERED[usize::try_from(hand.chance.below(5)).unwrap()];
    match hand.chance.below(4) {
        0 => {
            *offline = !*offline;
            let target = if *offline { "offline" } else { "default" };
            asked.post::<ReloadView>(&format!("/v1/isolate/{target}"));
        }
        1 => {
            asked.order(&format!("/v1/units/{name}/restart"));
            stopped.remove(name);
        }
        _ if stopped.remove(name) => drop(asked.order(&format!("/v1/units/{name}/start"))),
        _ => {
            if asked.order(&format!("/v1/units/{name}/stop")) {
                stopped.insert(name);
            }
        }
    }
}

/// Whole or not at all, as a mail server does.
fn deliver(house: &House, number: usize) {
    let folder = BOXES[number % BOXES.len()];
    let mail = format!(
        "From: Sender <s{number}@example.org>\nTo: Me <me@example.org>\nSubject: About {number}\n\
         Message-ID: <m{number}@example.org>\nDate: Mon, 30 Nov 2026 07:00:00 +0000\n\nWhat about {number}?\n"
    );
    let whole = house.write(&format!("{folder}/tmp/{number:04}"), &mail);
    fs::rename(whole, house.path(folder).join(format!("new/{number:04}"))).unwrap();
}

/// Since when each of the still units is what it is, when it was last tried, and how often it was begun again.
type Look = BTreeMap<&'static str, (Option<Timestamp>, Option<Timestamp>, u32)>;

fn still(view: &StatusView) -> Look {
    let look = |name| {
        let unit = unit(view, name);
        (unit.since, unit.last_try, unit.restarts)
    };
    STILL.into_iter().map(|name| (name, look(name))).collect()
}

/// A unit that was entered anew would have another `since`, and would have forgotten its last try.
fn untouched(before: &Look, view: &StatusView) -> Look {
    let now = still(view);
    for (name, (since, tried, restarts)) in before {
        let (since_now, tried_now, restarts_now) = &now[name];
        assert_eq!((since, restarts), (since_now, restarts_now), "{name}: {view:#?}");
        assert!(tried <= tried_now, "{name}: {view:#?}");
    }
    now
}

/// Waits until all mails are answered. What was to leave through a connector that was off waits for a person: it is
/// released here, and counted.
fn come_to_rest(asked: &Asked, mails: usize) -> usize {
    use CaseState::{Closed, Dead, Dismissed, Parked, Sent};
    let (mut released, deadline) = (0, Instant::now() + 3 * LONG);
    loop {
        let held: Vec<OutboundAction> = asked.get("/v1/outbox?state=held&limit=10000");
        for action in held {
            let why = action.last_error.as_deref();
            assert_eq!(why, Some("its connector is switched off or broken"), "{action:?}");
            let path = format!("/v1/outbox/{}/release", action.id);
            let body = ReleaseBody { was_sent: false };
            asked.runtime.block_on(asked.client.post::<_, ()>(&path, &body)).unwrap();
            released += 1;
        }
        let cases = asked.cases();
        let lost = cases.iter().find(|case| match case.state {
            Parked => case.until.is_none(),
            other => matches!(other, Dead | Dismissed),
        });
        if let Some(lost) = lost {
            panic!("{:#?}", asked.get::<CaseRecord>(&format!("/v1/cases/{}", lost.id)));
        }
        let answered = cases.iter().filter(|case| case.state == Sent).count();
        let moving: Vec<&Case> = cases.iter().filter(|case| !matches!(case.state, Sent | Closed)).collect();
        if moving.is_empty() && answered >= mails {
            return released;
        }
        let status = || asked.get::<StatusView>("/v1/status");
        assert!(Instant::now() < deadline, "{answered} of {mails}; {moving:#?} {:#?}", status());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Each mail is one case with one answer; each run came to its own end. Gives the runs by engine and outcome.
fn check_records(records: &[CaseRecord], mails: usize) -> BTreeMap<String, u64> {
    let mut runs = BTreeMap::new();
    let (ticks, mailed): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record.case.connector == "tick");
    assert_eq!(mailed.len(), mails);
    for record in &ticks {
        assert_eq!(record.case.state, CaseState::Closed, "{record:#?}");
    }
    for record in &mailed {
        let [draft] = &record.drafts[..] else { panic!("{record:#?}") };
        let [action] = &record.actions[..] else { panic!("{record:#?}") };
        let states = (record.case.state, draft.state, action.state, record.items.len());
        let all_well = (CaseState::Sent, DraftState::Approved, ActionState::Sent, 1);
        assert!(states == all_well && action.attempts == 1, "{record:#?}");
        assert!(record.runs.iter().all(|run| run.outcome != "nothing-to-do"), "{record:#?}");
        assert_eq!(record.case.attempts as usize, record.runs.len(), "{record:#?}");
    }
    for run in records.iter().flat_map(|record| &record.runs) {
        let ended =
            run.ended_at.is_some() && ["reply", "refused", "nothing-to-do"].contains(&run.outcome.as_str());
        assert!(ended, "{run:#?}");
        *runs.entry(format!("{} {}", run.engine, run.outcome)).or_default() += 1;
    }
    runs
}

fn check_answers(house: &House, mails: usize) {
    let (mut ids, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(house.path("out/new")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let mail = MessageParser::default().parse(&bytes).unwrap();
        assert!(ids.insert(mail.message_id().unwrap().to_owned()), "sent twice: {mail:?}");
        let to = mail.in_reply_to().as_text().unwrap().to_owned();
        assert!(answered.insert(to), "answered twice: {mail:?}");
    }
    let asked: BTreeSet<String> = (0..mails).map(|number| format!("m{number}@example.org")).collect();
    assert_eq!(answered, asked);
}

/// Every engine that began came to its end by itself.
fn check_engines(house: &House) {
    let log = fs::read_to_string(house.path("engine.log")).unwrap();
    let mut open = BTreeMap::new();
    for line in log.lines() {
        let (word, pid) = line.split_once(' ').unwrap();
        *open.entry(pid).or_insert(0) += if word == "begin" { 1 } else { -1 };
    }
    open.retain(|_, count| *count != 0);
    assert_eq!(open, BTreeMap::new());
    let pids = log.lines().filter_map(|line| line.strip_prefix("begin ")).map(|pid| pid.parse().unwrap());
    wait_until("engines to be reaped", || !pids.clone().any(is_alive));
}

/// After the first quarter of the reloads, they and the cases leave nothing behind in memory.
fn check_memory(sizes: &[u64]) {
    if sizes.contains(&0) {
        return;
    }
    let (quarter, end) = (sizes[sizes.len() / 4 - 1], sizes[sizes.len() - 1]);
    println!("resident after a quarter of the reloads {quarter} KiB, at the end {end} KiB");
    if sizes.len() >= 200 {
        assert!(end * 100 < quarter * 125, "{quarter} KiB grew to {end} KiB");
    }
}

/// 0 where the system does not tell.
fn resident_kb(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// Whatever tells of a generation tells of one that there was.
fn check_generations(house: &House, last: i64) {
    let record = rusqlite::Connection::open(house.path("state/workagent.db")).unwrap();
    let count = |query: &str| record.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT max(id) FROM generations"), last);
    for table in ["runs", "drafts"] {
        let query =
            format!("SELECT count(*) FROM {table} WHERE generation NOT IN (SELECT id FROM generations)");
        assert_eq!(count(&query), 0, "{table}");
        let used = count(&format!("SELECT count(DISTINCT generation) FROM {table}"));
        println!("{table} of {used} generations");
        assert!(used > 3, "{table}");
    }
}
