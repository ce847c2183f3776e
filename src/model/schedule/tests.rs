use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::from_rfc3339(text).unwrap()
}

fn calendar(text: &str) -> Schedule {
    Schedule { calendar: vec![text.parse().unwrap()], ..Schedule::default() }
}

fn windows(texts: &[&str]) -> Vec<Window> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

const HOUR: Duration = Duration::from_secs(3600);
const MONDAY: &str = "2026-11-30T08:00:00Z";

fn seed() -> Seed {
    Seed::of("a.connector")
}

/// The due times that follow one another.
fn chain(schedule: &Schedule, phase: Phase, count: usize) -> Vec<String> {
    let mut phase = phase;
    let mut found = Vec::new();
    while found.len() < count {
        let Some(due) = schedule.next(phase, seed()) else { break };
        found.push(due.to_string());
        phase = phase.done(due);
    }
    found
}

#[test]
fn a_pace_keeps_its_phase() {
    let hourly = Schedule::every(HOUR);
    let phase = Phase::begin(at(MONDAY));
    assert_eq!(chain(&hourly, phase, 2), ["2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z"]);
    let late = phase.done(at("2026-11-30T12:17:00Z"));
    assert_eq!(chain(&hourly, late, 1), ["2026-11-30T13:00:00Z"]);
    // The clock was set back behind the beginning.
    let back = phase.done(at("2026-11-30T05:17:00Z"));
    assert_eq!(chain(&hourly, back, 1), ["2026-11-30T06:00:00Z"]);
}

#[test]
fn the_first_time_is_at_once_or_the_first_regular_one() {
    let at_start = Schedule::every(HOUR);
    assert_eq!(at_start.first(at(MONDAY), seed()), Some(at(MONDAY)));
    let later = Schedule { at_start: false, ..at_start.clone() };
    assert_eq!(later.first(at(MONDAY), seed()), Some(at("2026-11-30T09:00:00Z")));
    let shut = Schedule { active: windows(&["09:30-10:00 UTC"]), ..at_start };
    assert_eq!(shut.first(at(MONDAY), seed()), Some(at("2026-11-30T09:30:00Z")));
    assert_eq!(Schedule::default().first(at(MONDAY), seed()), None);
}

#[test]
fn pace_and_calendar_both_count() {
    let both = Schedule { every: Some(HOUR), ..calendar("10:30 UTC") };
    let phase = Phase::begin(at(MONDAY));
    let times =
        ["2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z", "2026-11-30T10:30:00Z", "2026-11-30T11:00:00Z"];
    assert_eq!(chain(&both, phase, 4), times);
}

#[test]
fn a_calendar_is_not_faster_than_the_platform_allows() {
    let eager = Schedule { gap_min: Duration::from_secs(60), ..calendar("*:*:0/10 UTC") };
    let phase = Phase::begin(at(MONDAY));
    assert_eq!(chain(&eager, phase, 2), ["2026-11-30T08:01:00Z", "2026-11-30T08:02:00Z"]);
}

#[test]
fn times_outside_the_windows_move_to_the_opening() {
    let working =
        Schedule { active: windows(&["Mon..Fri 08:00-19:00 Europe/Berlin"]), ..calendar("06:30 UTC") };
    let phase = Phase::begin(at("2026-12-04T07:30:00Z"));
    assert_eq!(chain(&working, phase, 2), ["2026-12-07T07:00:00Z", "2026-12-08T07:00:00Z"]);
    let jitter = Schedule { jitter: HOUR, ..working };
    let late = jitter.late(seed());
    assert!(late < HOUR && late > Duration::ZERO);
    assert_eq!(jitter.next(phase, seed()), Some(at("2026-12-07T07:00:00Z").plus(late)));
}

#[test]
fn quiet_hours_are_the_other_side_of_windows() {
    let quiet = Schedule { quiet: windows(&["22:00-07:00 UTC", "Sat,Sun UTC"]), ..calendar("hourly UTC") };
    let phase = Phase::begin(at("2026-12-04T20:30:00Z"));
    assert_eq!(chain(&quiet, phase, 2), ["2026-12-04T21:00:00Z", "2026-12-07T07:00:00Z"]);
}

#[test]
fn windows_that_never_open_are_seen() {
    let shut = |active: &[&str], quiet: &[&str]| {
        let schedule = Schedule { active: windows(active), quiet: windows(quiet), ..Schedule::every(HOUR) };
        !schedule.ever_runs(at(MONDAY))
    };
    assert!(shut(&[], &["00:00-12:00 UTC", "12:00-24:00 UTC"]));
    assert!(shut(&["Mon 09:00-10:00 UTC"], &["Mon 08:00-11:00 UTC"]));
    assert!(shut(&["Mon 09:00-10:00 UTC"], &["Mon..Tue UTC"]));
    assert!(!shut(&["Mon 09:00-10:00 UTC"], &["Mon 08:00-09:59 UTC"]));
    assert!(!shut(&["Sun 23:00-01:00 UTC"], &["Sun UTC"]));
}

#[track_caller]
fn answers(on_resume: OnResume, last: &str, now: &str, run: &[&str], passed_over: usize) {
    let weekly = Schedule { on_resume, ..calendar("Mon 09:00 Europe/Berlin") };
    let come = weekly.answer(Phase::begin(at(last)), at(now), seed());
    let shown: Vec<String> = come.run.iter().map(ToString::to_string).collect();
    assert_eq!((shown, come.passed_over), (run.iter().map(ToString::to_string).collect(), passed_over));
}

#[test]
fn missed_times_are_answered_as_the_unit_says() {
    let (last, now) = ("2026-11-09T08:00:00Z", "2026-12-02T10:00:00Z");
    let missed = ["2026-11-16T08:00:00Z", "2026-11-23T08:00:00Z", "2026-11-30T08:00:00Z"];
    answers(OnResume::Once, last, now, &missed[2..], 2);
    answers(OnResume::Skip, last, now, &[], 3);
    answers(OnResume::Each, last, now, &missed, 0);
    // One of them is just due.
    answers(OnResume::Skip, last, "2026-11-30T08:00:03Z", &missed[2..], 2);
    answers(OnResume::Once, "2026-11-30T08:00:00Z", now, &[], 0);
}

#[test]
fn years_of_minutes_are_answered_at_once_and_bounded() {
    let every = Schedule { on_resume: OnResume::Each, ..Schedule::every(Duration::from_secs(60)) };
    let come = every.answer(Phase::begin(at("2016-11-30T08:00:00Z")), at("2026-11-30T08:00:30Z"), seed());
    assert_eq!(come.run.len(), MADE_UP_LEN_MAX);
    assert_eq!(come.run.last(), Some(&at("2026-11-30T08:00:00Z")));
}

#[test]
fn twelve_loops_have_twelve_places() {
    let mut places: Vec<Duration> =
        (0..12).map(|loop_| Schedule::spread(Seed::of(&format!("feed{loop_}.connector")))).collect();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), 12);
    assert!(places.iter().all(|place| *place < SPREAD));
    assert!(places[11] - places[0] > Duration::from_secs(15), "{places:?}");
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    fn schedules() -> impl Strategy<Value = Schedule> {
        let every = prop::option::of(1_u64..200_000);
        let calendars = prop::sample::subsequence(
            vec!["*:0/15 UTC", "Mon..Fri 08:00 Europe/Berlin", "*-*~1 UTC", "02:30 America/New_York"],
            0..3,
        );
        let active = prop::sample::subsequence(
            vec!["Mon..Fri 08:00-19:00 Europe/Berlin", "22:00-06:00 UTC", "Sat,Sun UTC"],
            0..3,
        );
        let quiet = prop::sample::subsequence(vec!["12:00-13:00 UTC", "Sun 20:00-04:00 Asia/Kolkata"], 0..3);
        (every, calendars, active, quiet, 0_u64..7200, any::<bool>()).prop_map(
            |(every, calendars, active, quiet, jitter, at_start)| Schedule {
                every: every.map(Duration::from_secs),
                calendar: calendars.iter().map(|text| text.parse().unwrap()).collect(),
                active: windows(&active),
                quiet: windows(&quiet),
                jitter: Duration::from_secs(jitter),
                at_start,
                ..Schedule::default()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn due_times_rise_and_lie_inside_the_windows(
            schedule in schedules(), start in 1_700_000_000_i64..1_900_000_000, name in "[a-z]{1,8}",
        ) {
            let (start, seed) = (Timestamp::from_seconds(start), Seed::of(&name));
            if let Some(first) = schedule.first(start, seed) {
                prop_assert!(first >= start && schedule.allows(first));
                prop_assert_eq!(schedule.first(start, seed), Some(first));
            }
            let mut phase = Phase::begin(start);
            for _ in 0..6 {
                let Some(due) = schedule.next(phase, seed) else { break };
                prop_assert!(due > phase.last, "{due} after {}", phase.last);
                prop_assert!(schedule.allows(due));
                // Asked a little later, it does not come earlier; asked right before it, it is the same or, moved by a
                // window, a later one.
                let between = phase.done(Timestamp(phase.last.0 + (due.0 - phase.last.0) / 2));
                prop_assert!(schedule.next(between, seed).unwrap() >= due);
                phase = phase.done(due);
            }
        }

        #[test]
        fn jitter_is_stable_and_bounded(every in 60_u64..100_000, jitter in 0_u64..86_400, name in "[a-z]{1,8}") {
            let plain = Schedule { every: Some(Duration::from_secs(every)), ..Schedule::default() };
            let jittery = Schedule { jitter: Duration::from_secs(jitter), ..plain.clone() };
            let (phase, seed) = (Phase::begin(at(MONDAY)), Seed::of(&name));
            let late = jittery.next(phase, seed).unwrap().since(plain.next(phase, seed).unwrap());
            prop_assert!(late < Duration::from_secs(jitter.max(1)));
            let second = jittery.next(phase.done(jittery.next(phase, seed).unwrap()), seed).unwrap();
            prop_assert_eq!(second.since(jittery.next(phase, seed).unwrap()), Duration::from_secs(every));
        }
    }
}
