//! Timers and schedules in a whole bundle, with a clock that moves only when told; and loops that stood still.

use std::path::Path;
use std::time::Duration;

use workagent::daemon::assembly::{Assembly, Options, compile_units};
use workagent::daemon::paths::Paths;
use workagent::model::case::{Case, CaseState};
use workagent::model::cycle::{Activation, RuntimeSummary, SchedulerSummary};
use workagent::model::environment::Environment;
use workagent::model::schedule::Calendar;
use workagent::model::time::{Clock, Timestamp};
use workagent::secret::Scrubber;
use workagent::unit::search::SearchPath;

use crate::support::binary::{House, unit, wait_until};
use crate::support::lab_script::lab_is_on;

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3600);

const WEEKLY: &str = r#"
[timer]
title = "Report of week {{ week }}, {{ due }}"
text = "Write what happened until {{ date }}."
labels = ["report"]
[schedule]
calendar = "Mon 09:00 Europe/Berlin"
"#;

const WRITER: &str = "[engine]\nengine = \"template\"\n[template]\ntext = \"Done: {{ title }}\"\n";

const ROUTE: &str =
    "[route]\nengines = [\"writer\"]\n[match]\nconnector = [\"weekly\"]\nlabels = [\"report\"]\n";

fn at(text: &str) -> Timestamp {
    Timestamp::from_rfc3339(text).unwrap()
}

/// A house with units, a clock, and the bundle built from them.
struct Rig {
    root: tempfile::TempDir,
    clock: Clock,
    assembly: Option<Assembly>,
}

impl Rig {
    async fn new(now: &str, units: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("units")).unwrap();
        let mut rig = Self { root, clock: Clock::manual(at(now)), assembly: None };
        for (name, text) in units {
            rig.unit(name, text);
        }
        rig.start().await;
        rig
    }

    /// The weekly report, its engine and its route; `schedule` is added to the timer's.
    async fn weekly(now: &str, schedule: &str) -> Self {
        let timer = format!("{WEEKLY}{schedule}");
        let units =
            [("weekly.timer.toml", &*timer), ("writer.engine.toml", WRITER), ("reports.route.toml", ROUTE)];
        Self::new(now, &units).await
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn unit(&self, name: &str, text: &str) {
        let text = text.replace("{root}", &self.path().display().to_string());
        std::fs::write(self.path().join("units").join(name), text).unwrap();
    }

    async fn start(&mut self) {
        if let Some(assembly) = self.assembly.take() {
            assembly.store.close().await;
        }
        let paths = Paths::below(self.path()).unwrap();
        let search = SearchPath { builtin: false, dirs: vec![self.path().join("units")], files: Vec::new() };
        let environment = Environment::of([("PATH", "/usr/bin:/bin")]);
        let compiled = compile_units(&search, &environment, paths.state.clone());
        assert!(compiled.findings.is_empty(), "{:?}", compiled.findings);
        let (clock, scrubber) = (self.clock.clone(), Scrubber::default());
        let options = Options { environment, paths, compiled, pinned: None, clock, scrubber };
        self.assembly = Some(Assembly::open(options).await.unwrap());
    }

    fn assembly(&self) -> &Assembly {
        self.assembly.as_ref().unwrap()
    }

    /// One cycle; what the scheduler did in it.
    async fn cycle(&self) -> SchedulerSummary {
        let summary = self.assembly().bundle.app.cycle().await;
        let scheduler =
            summary.runtimes.into_iter().find(|record| &*record.unit == "scheduler.runtime").unwrap();
        assert_eq!(scheduler.errors, []);
        match scheduler.summary {
            RuntimeSummary::Scheduler(summary) => summary,
            other => panic!("{other:?}"),
        }
    }

    async fn cases(&self) -> Vec<Case> {
        let mut cases = self.assembly().store.cases(None, 1000).await.unwrap();
        cases.sort_by_key(|case| case.id);
        cases
    }

    async fn titles(&self) -> Vec<String> {
        self.cases().await.into_iter().map(|case| case.title).collect()
    }

    fn next_due(&self, unit: &str) -> Option<String> {
        self.assembly().bundle.board.get(unit).unwrap().next_due.map(|due| due.to_string())
    }
}

#[tokio::test]
async fn a_weekly_report_is_made_once_and_is_something_to_read() {
    let mut rig = Rig::weekly("2026-11-29T12:00:00Z", "").await;
    assert_eq!(rig.cycle().await, SchedulerSummary { timers: 1, cases_made: 0, passed_over: 0 });
    assert_eq!(rig.next_due("weekly.timer").as_deref(), Some("2026-11-30T08:00:00Z"));
    rig.clock.advance(20 * HOUR);
    assert_eq!(rig.cycle().await.cases_made, 1);
    assert_eq!(rig.next_due("weekly.timer").as_deref(), Some("2026-12-07T08:00:00Z"));
    // Again, over a restart too.
    rig.cycle().await;
    rig.start().await;
    assert_eq!(rig.cycle().await.cases_made, 0);
    let cases = rig.cases().await;
    assert_eq!(rig.titles().await, ["Report of week 49, Mon 2026-11-30 09:00 CET"]);
    // Nobody to send it to: what the engine wrote is kept with the case.
    assert_eq!((cases[0].state, cases[0].connector.as_str()), (CaseState::Closed, "weekly"));
    let record = rig.assembly().store.case_record(cases[0].id).await.unwrap();
    assert_eq!(record.items[0].body, "Write what happened until 2026-11-30.");
    assert_eq!(record.runs.len(), 1);
    assert_eq!(record.runs[0].detail, "note: Done: Report of week 49, Mon 2026-11-30 09:00 CET");
}

#[tokio::test]
async fn a_report_that_no_route_takes_waits_for_the_user() {
    let units = [("weekly.timer.toml", WEEKLY), ("writer.engine.toml", WRITER)];
    let rig = Rig::new("2026-11-29T12:00:00Z", &units).await;
    rig.cycle().await;
    rig.clock.advance(20 * HOUR);
    rig.cycle().await;
    assert_eq!(rig.cases().await[0].state, CaseState::Parked);
}

#[tokio::test]
async fn nine_o_clock_is_nine_o_clock_over_both_changes_of_the_clock() {
    for (start, expected) in [
        ("2026-03-20T00:00:00Z", ["Mon 2026-03-23 09:00 CET", "Mon 2026-03-30 09:00 CEST"]),
        ("2026-10-17T00:00:00Z", ["Mon 2026-10-19 09:00 CEST", "Mon 2026-10-26 09:00 CET"]),
    ] {
        let rig = Rig::weekly(start, "").await;
        for _ in 0..12 {
            rig.cycle().await;
            rig.clock.advance(DAY);
        }
        let titles = rig.titles().await;
        let ends: Vec<&str> = titles.iter().filter_map(|title| Some(title.split_once(", ")?.1)).collect();
        assert_eq!(ends, expected);
    }
}

#[track_caller]
fn assert_weeks(titles: &[String], weeks: &[u32]) {
    let expected: Vec<String> = weeks.iter().map(|week| format!("Report of week {week},")).collect();
    let begins: Vec<String> =
        titles.iter().map(|title| title.split_inclusive(',').next().unwrap().to_owned()).collect();
    assert_eq!(begins, expected);
}

#[tokio::test]
async fn three_missed_weeks_are_made_up_for_as_the_unit_says() {
    for (schedule, weeks, passed_over) in [
        ("", &[49][..], 2),
        ("on_resume = \"skip\"\n", &[], 3),
        ("on_resume = \"each\"\n", &[47, 48, 49], 0),
        ("persistent = false\n", &[], 0),
        ("persistent = false\non_resume = \"each\"\n", &[], 0),
    ] {
        let mut rig = Rig::weekly("2026-11-10T12:00:00Z", schedule).await;
        rig.cycle().await;
        // The machine was off.
        rig.clock.advance(21 * DAY);
        rig.start().await;
        let done = rig.cycle().await;
        assert_weeks(&rig.titles().await, weeks);
        assert_eq!(done.passed_over, passed_over, "{schedule}");
        assert_eq!(rig.next_due("weekly.timer").as_deref(), Some("2026-12-07T08:00:00Z"), "{schedule}");
        // The next one comes as ever.
        rig.clock.advance(5 * DAY + 20 * HOUR);
        rig.cycle().await;
        assert_eq!(rig.cases().await.len(), weeks.len() + 1, "{schedule}");
    }
}

#[tokio::test]
async fn three_weeks_of_sleep_are_like_three_weeks_off_but_for_persistence() {
    for (schedule, weeks) in [
        ("", &[49][..]),
        ("on_resume = \"skip\"\n", &[]),
        ("on_resume = \"each\"\n", &[47, 48, 49]),
        ("persistent = false\n", &[49]),
    ] {
        let rig = Rig::weekly("2026-11-10T12:00:00Z", schedule).await;
        rig.cycle().await;
        rig.clock.advance(21 * DAY);
        rig.cycle().await;
        assert_weeks(&rig.titles().await, weeks);
    }
}

#[tokio::test]
async fn a_pace_keeps_its_phase_over_a_restart_and_another_schedule_begins_anew() {
    let timer = |schedule: &str| format!("[timer]\ntitle = \"{{{{ due }}}}\"\n[schedule]\n{schedule}\n");
    let mut rig = Rig::new("2026-11-30T08:00:00Z", &[("pulse.timer.toml", &timer("every = \"6h\""))]).await;
    rig.cycle().await;
    rig.clock.advance(7 * HOUR);
    assert_eq!(rig.cycle().await.cases_made, 1);
    rig.start().await;
    rig.cycle().await;
    assert_eq!(rig.next_due("pulse.timer").as_deref(), Some("2026-11-30T20:00:00Z"));
    rig.unit("pulse.timer.toml", &timer("every = \"1h\""));
    rig.clock.advance(DAY);
    rig.start().await;
    assert_eq!(rig.cycle().await.cases_made, 0, "what the new pace never promised was not missed");
    assert_eq!(rig.next_due("pulse.timer").as_deref(), Some("2026-12-01T16:00:00Z"));
}

#[tokio::test]
async fn a_clock_that_was_wrong_stops_no_timer() {
    let mut rig = Rig::weekly("2031-01-01T00:00:00Z", "").await;
    rig.cycle().await;
    rig.clock = Clock::manual(at("2026-11-29T12:00:00Z"));
    rig.start().await;
    rig.cycle().await;
    rig.clock.advance(DAY);
    assert_eq!(rig.cycle().await.cases_made, 1);
}

#[tokio::test]
async fn another_plan_is_taken_over_without_losing_the_place() {
    let rig = Rig::weekly("2026-11-29T12:00:00Z", "").await;
    rig.cycle().await;
    let scheduler = rig.assembly().bundle.app.scheduler.on().unwrap();
    rig.unit("weekly.timer.toml", &WEEKLY.replace("Report of", "Letter for"));
    rig.unit("daily.timer.toml", "[timer]\ntitle = \"Day\"\n[schedule]\ncalendar = \"20:00 UTC\"\n");
    let search = SearchPath { builtin: false, dirs: vec![rig.path().join("units")], files: Vec::new() };
    let compiled = compile_units(&search, &Environment::of([("PATH", "")]), rig.path().to_owned());
    scheduler.adopt(std::sync::Arc::new(compiled.plan), 2);
    rig.clock.advance(20 * HOUR);
    // The first look at the new timer is its beginning.
    assert_eq!(rig.cycle().await, SchedulerSummary { timers: 2, cases_made: 1, passed_over: 0 });
    assert!(rig.titles().await[0].starts_with("Letter for week 49"));
    rig.clock.advance(DAY);
    assert_eq!(rig.cycle().await.cases_made, 1);
}

const NOTES: &str = r#"
[connector]
platform = "directory"
backlog = "all"
[directory]
path = "{root}/notes"
out = "{root}/answers"
done = "{root}/done"
settle = "0s"
[schedule]
{schedule}
[install]
enabled = true
"#;

/// When a loop that begins on Monday at 8 in Berlin is due for the first time, and whether it looked at once.
async fn first_look(schedule: &str, looked: bool, due: &str) {
    let notes = NOTES.replace("{schedule}", schedule);
    let rig = Rig::new("2026-11-30T07:00:00Z", &[]).await;
    std::fs::create_dir_all(rig.path().join("notes")).unwrap();
    std::fs::write(rig.path().join("notes/a.md"), "What about this?\n").unwrap();
    rig.unit("notes.connector.toml", &notes);
    let mut rig = rig;
    rig.start().await;
    let bundle = &rig.assembly().bundle;
    let cycle = bundle.app.sync.first().unwrap().on().unwrap();
    use workagent::supervise::{Cycle, Next};
    let pass = cycle.activate().await;
    assert!(pass.fault.is_none());
    let Next::At(at) = pass.next else { panic!("{:?}", pass.next) };
    assert_eq!((pass.fresh, at.to_string().as_str()), (looked, due), "{schedule}");
}

#[tokio::test]
async fn a_connector_keeps_to_its_schedule() {
    first_look("every = \"1h\"", true, "2026-11-30T08:00:00Z").await;
    first_look("every = \"1h\"\nat_start = false", false, "2026-11-30T08:00:00Z").await;
    first_look("calendar = \"08:15,45 Europe/Berlin\"", true, "2026-11-30T07:15:00Z").await;
    let hours = "every = \"1h\"\nactive = \"Mon..Fri 10:00-19:00 Europe/Berlin\"";
    first_look(hours, false, "2026-11-30T09:00:00Z").await;
    first_look("every = \"1h\"\nquiet = \"Mon Europe/Berlin\"", false, "2026-11-30T23:00:00Z").await;
    first_look("every = \"1h\"\nquiet = \"08:30-11:00 Europe/Berlin\"", true, "2026-11-30T10:00:00Z").await;
}

#[test]
fn s41_twelve_loops_that_stood_still_run_once_each() {
    let house = House::new();
    let script = house.script("poll.sh", "read -r ask\necho x >>\"$1\"\necho '{\"type\":\"done\"}'\n");
    let script = script.display();
    let log = |at: usize| house.path(&format!("polls-{at}"));
    let names: Vec<String> = (0..12).map(|at| format!("loop{at}.connector")).collect();
    for (at, name) in names.iter().enumerate() {
        let log = log(at).display().to_string();
        let text = format!(
            "[connector]\nplatform = \"command\"\n[command]\nprogram = \"{script}\"\nargs = [\"{log}\"]\n\
             [schedule]\nevery = \"2s\"\n[install]\nenabled = true\n"
        );
        house.unit(&format!("{name}.toml"), &text);
    }
    let polls = |at: usize| std::fs::read_to_string(log(at)).unwrap_or_default().lines().count();
    let daemon = house.daemon(&[]);
    wait_until("each loop to run twice", || (0..12).all(|at| polls(at) >= 2));
    daemon.signal(rustix::process::Signal::STOP);
    let before: Vec<usize> = (0..12).map(polls).collect();
    // Stands still over several due times.
    std::thread::sleep(Duration::from_secs(7));
    let woken = std::time::Instant::now();
    daemon.signal(rustix::process::Signal::CONT);
    wait_until("each loop to run again", || (0..12).all(|at| polls(at) > before[at]));
    let after: Vec<usize> = (0..12).map(polls).collect();
    // One for the pass that was cut in two, one soon, and the regular ones since.
    let most = 2 + usize::try_from(woken.elapsed().as_secs()).unwrap() / 2;
    for at in 0..12 {
        assert!(after[at] - before[at] <= most, "{at}: {before:?} {after:?}");
    }
    let (view, _) = house.status_when("all to be well", |view| {
        names.iter().all(|name| unit(view, name).health.is_some_and(|health| health.is_well()))
    });
    for name in &names {
        assert_eq!(unit(&view, name).failures_in_a_row, 0, "{name}");
    }
    daemon.stop();
}

#[test]
fn real_calendars_agree_with_systemd() {
    if !lab_is_on() {
        return;
    }
    // In the middle of a month: this systemd passes over some midnights at the end of one.
    const BASE: &str = "2026-11-23 08:00:00";
    let mut faults = Vec::new();
    for expression in [
        "minutely",
        "hourly",
        "daily",
        "weekly",
        "monthly",
        "quarterly",
        "semiannually",
        "yearly",
        "Mon..Fri 08:00",
        "Mon..Fri *-*-* 08:00:00",
        "*-*-01 00:00",
        "*:0/15",
        "*:0/15:30",
        "Mon,Wed 9:30",
        "2026-12-24 18:00",
        "*-02~01",
        "Mon *-05~07/1",
        "*-*~01",
        "*-*~1..3",
        "*-02-29",
        "Tue *-02-29",
        "8..18/3:00",
        "*-*-* 0/7:00",
        "5,1,3:00",
        "*-*-31 0/2:30,10",
        "Sat,Sun,Mon,Tue 12:00",
        "2026-02-30",
        "*-*-29/2",
        "*-1/3-1 12:00",
        "*-*-10..20/3",
        "Fri *-*-13 12:00",
        "*-*-1..7 18:00",
        "2020..2030/2-1-1",
        "26-12-1",
        "*:*:0/20",
        "Thu *-11-22..28 10:00",
        "*-12-24..26",
        "Mon, 12:00",
        "12..12:00",
        "Sun *-*~7/1 03:30",
        "mon-fri 17:45",
        "*-1,7-15 6:05:10",
    ] {
        for zone in ["UTC", "Europe/Berlin", "Asia/Kolkata"] {
            let text = format!("{expression} {zone}");
            let calendar: Calendar = text.parse().unwrap();
            #[expect(clippy::disallowed_methods, reason = "the peer is no child of the program under test")]
            let asked = std::process::Command::new("systemd-analyze")
                .args(["calendar", "--iterations=10", &format!("--base-time={BASE} UTC"), &text])
                .env("TZ", "UTC")
                .output()
                .unwrap();
            let said = String::from_utf8(asked.stdout).unwrap();
            assert!(asked.status.success(), "{text}: {}", String::from_utf8_lossy(&asked.stderr));
            let normal = said.lines().find_map(|line| line.trim().strip_prefix("Normalized form: ")).unwrap();
            assert_eq!(calendar.to_string(), normal, "{text}");
            // `Next elapse: Tue 2026-12-01 00:00:00 UTC`, then `Iter. #2: …`.
            let stamps =
                said.lines().filter(|line| line.contains("Next elapse:") || line.contains("Iter. #"));
            let theirs: Vec<String> = stamps
                .filter_map(|line| line.trim().strip_suffix(" UTC"))
                .filter_map(|line| Some(line.get(line.len() - 19..)?.replace(' ', "T") + "Z"))
                .collect();
            let mut moment = at("2026-11-23T08:00:00Z");
            let mut ours = Vec::new();
            while let Some(next) = calendar.next(moment).filter(|_| ours.len() < 10) {
                ours.push(next.to_string());
                moment = next;
            }
            if ours != theirs {
                faults.push(format!("{text}: {ours:?}, but systemd: {theirs:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn a_kick_makes_a_case_besides_the_schedule() {
    let rig = Rig::weekly("2026-10-14T10:00:00Z", "").await;
    rig.cycle().await;
    let due = rig.next_due("weekly.timer");
    let kick = |why| rig.assembly().bundle.app.scheduler.on().unwrap().kick("weekly", why);
    kick(Activation::OnFailure);
    kick(Activation::OnFailure);
    assert_eq!(rig.cycle().await.cases_made, 1);
    assert_eq!(rig.next_due("weekly.timer"), due);
    // In the same second it is the same fire; later it is another.
    kick(Activation::OnFailure);
    assert_eq!(rig.cycle().await.cases_made, 0);
    rig.clock.advance(HOUR);
    kick(Activation::Manual);
    assert_eq!(rig.cycle().await.cases_made, 1);
    assert_eq!(rig.cycle().await.cases_made, 0);
    let status = rig.assembly().bundle.board.get("weekly.timer").unwrap();
    assert_eq!(status.last_activation, Some(Activation::Manual));
    assert_eq!(rig.titles().await.len(), 2);
    rig.assembly().bundle.app.scheduler.on().unwrap().kick("nobody", Activation::Manual);
    assert_eq!(rig.cycle().await.cases_made, 0);
}
