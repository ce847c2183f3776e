//! The log of a daemon: its levels change while it runs, it carries what it is about, and it stays small whatever fails
//! (S43).

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use workagent::daemon::logging::{LogOptions, LogTarget, subscriber};
use workagent::model::limits::{LOG_FILE_BYTES_MAX, LOG_FILES_OLD_MAX, LOG_UNIT_BYTES_PER_HOUR_MAX};
use workagent::model::time::{Clock, Timestamp};
use workagent::secret::Scrubber;

use crate::support::binary::{House, unit, wait_until};

/// What a story writes at the default level, with a clock that it moves.
fn written(story: impl FnOnce(&Clock)) -> String {
    let clock = Clock::manual(Timestamp(1_796_025_600_000));
    let target = LogTarget::Text { colour: false };
    let options =
        LogOptions { filter: "info".to_owned(), target, clock: clock.clone(), scrubber: Scrubber::new() };
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&bytes);
    let (log, subscriber) =
        subscriber(&options, move |line: &[u8]| to.lock().unwrap().extend_from_slice(line)).unwrap();
    tracing::subscriber::with_default(subscriber, || {
        story(&clock);
        log.look(clock.now());
    });
    let bytes = bytes.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// So many hours of a loop that fails each second, saying what `line` makes of the number of the try.
fn failing(hours: u64, line: impl Fn(u64) -> String) -> String {
    written(|clock| {
        let _in =
            tracing::info_span!(target: "workagent::supervise", "pass", unit = "inbox.connector").entered();
        for nth in 0..hours * 3600 {
            clock.advance(Duration::from_secs(1));
            tracing::warn!(target: "workagent::supervise::driver", failures = nth, "{}", line(nth));
        }
    })
}

#[test]
fn a_loop_that_says_the_same_for_a_day_writes_a_line_an_hour() {
    let text = failing(24, |_| "connect to 127.0.0.1:9: connection refused".to_owned());
    assert_eq!(text.lines().count(), 24, "{text}");
    assert!(text.contains("repeated=3599 times since the last line"), "{text}");
    assert!(text.len() < 8 * 1024, "{}", text.len());
}

#[test]
fn numbers_in_the_error_do_not_help_it() {
    let text =
        failing(24, |nth| format!("no answer from 127.0.0.1:{} after {} ms", 1024 + nth % 60_000, nth * 7));
    assert!(text.lines().count() <= 24 * 6, "{}", text.lines().count());
}

#[test]
fn a_loop_that_says_something_else_each_time_is_bounded_in_bytes() {
    let letters = |nth: u64| -> String {
        (0..8).map(|at| char::from(b'a' + u8::try_from(nth / 26_u64.pow(at) % 26).unwrap())).collect()
    };
    let hours = 3;
    let text = failing(hours, |nth| format!("{}: {}", letters(nth), "x".repeat(2000)));
    let bound = (LOG_UNIT_BYTES_PER_HOUR_MAX + 8 * 1024) * (hours + 1);
    assert!((text.len() as u64) < bound, "{} of {bound}", text.len());
    // It is said, and another unit is heard all the same.
    assert!(
        text.contains("this unit wrote too much")
            && text.contains("lines were left out of the log within an hour")
    );
}

fn bytes_below(dir: &Path) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        match entry.metadata() {
            Ok(found) if found.is_dir() => sum += bytes_below(&entry.path()),
            Ok(found) => sum += found.len(),
            // Gone meanwhile.
            Err(_) => {}
        }
    }
    sum
}

/// A connector that fails at once on every try, and an engine that floods standard error.
fn bad_day() -> House {
    let house = House::new();
    let fails = house.script("bin/fails", "echo \"cannot: try $$\" >&2; exit 1\n");
    house.unit(
        "bad.connector.toml",
        &format!(
            "[connector]\nplatform = \"command\"\n[command]\nprogram = \"{}\"\n[schedule]\nevery = \"1s\"\n\
             [install]\nenabled = true\n",
            fails.display()
        ),
    );
    let floods = house.script(
        "bin/floods",
        "cat > /dev/null\nhead -c 200000000 /dev/zero | tr '\\0' 'x' >&2\ntouch {root}/flooded\nexit 1\n",
    );
    house.unit(
        "flood.engine.toml",
        &format!(
            "[engine]\nengine = \"command\"\n[command]\nprogram = \"{}\"\n[install]\nenabled = true\n",
            floods.display()
        ),
    );
    house.unit("all.route.toml", "[route]\nengines = [\"flood\"]\n[install]\nenabled = true\n");
    house.write("notes/a.md", "What is still missing?\n");
    house.unit(
        "notes.connector.toml",
        "[connector]\nplatform = \"directory\"\nbacklog = \"all\"\n[directory]\npath = \"{root}/notes\"\n\
         settle = \"100ms\"\n[install]\nenabled = true\n",
    );
    house
}

#[test]
fn a_failing_connector_and_a_flooding_engine_leave_little() {
    let house = bad_day();
    let daemon = house.daemon(&[]);
    wait_until("the flood to be over", || house.path("flooded").exists());
    for _ in 0..60 {
        house.ok(&["kick", "bad.connector"]);
    }
    house.status_when("the run to be recorded", |view| unit(view, "flood.engine").failures_in_a_row > 0);
    house.status_when("many tries", |view| unit(view, "bad.connector").failures_in_a_row >= 20);
    let kept = bytes_below(&house.path("state"));
    let log = daemon.stop();
    // 200 MB of standard error: some kilobytes are kept of it. The rest is the empty database with its log.
    assert!(kept < 8 * 1024 * 1024, "{kept} bytes in the state directory");
    assert!(log.len() < 32 * 1024, "{} bytes: {log}", log.len());
    let about = log.lines().filter(|line| line.contains("bad.connector")).count();
    assert!(about > 0 && about < 12, "{log}");
}

#[test]
fn levels_change_while_it_runs_by_reload_and_by_hand() {
    let house = bad_day();
    house.unit("workagent.daemon.toml", "[log]\nlevel = \"warn\"\n");
    let daemon = house.daemon(&[]);
    let shown = |args: &[&str]| house.ok(args);
    assert_eq!(shown(&["log-level"]), "usual  warn  by the unit files\n");
    house.unit("workagent.daemon.toml", "[log]\nlevel = \"info,notes.connector=trace\"\n");
    let of_unit = |unit: &str, level: &str| {
        let mark = format!("{level} {unit}: ");
        daemon.log().lines().filter(|line| line.contains(&mark)).count()
    };
    house.ok(&["log-level", "bad", "debug", "--for", "2s"]);
    wait_until("the unit to say more", || {
        house.ok(&["kick", "bad"]);
        of_unit("bad.connector", "DEBUG") > 0
    });
    wait_until("the levels to go back", || daemon.log().contains("log levels set by hand have run out"));
    wait_until("the reload to be live", || shown(&["log-level"]).contains("info,notes.connector=trace"));
    house.ok(&["kick", "notes"]);
    wait_until("the other unit to say more", || {
        house.ok(&["kick", "notes"]);
        of_unit("notes.connector", "DEBUG") > 0
    });
    let ran = house.run(&["log-level", "nobody", "debug"]);
    assert_eq!((ran.code, ran.err.contains("there is no unit nobody")), (Some(1), true), "{}", ran.err);
    let ran = house.run(&["log-level", "loud"]);
    assert_eq!((ran.code, ran.err.contains("`loud` is no level")), (Some(2), true), "{}", ran.err);
    let json = shown(&["log-level", "--json", "notes", "usual"]);
    assert!(json.contains("\"by_hand\": []"), "{json}");
    daemon.stop();
}

#[test]
fn a_bad_level_is_a_finding_and_changes_nothing() {
    let house = House::new();
    house.unit("workagent.daemon.toml", "[log]\nlevel = \"loud\"\n");
    let ran = house.run(&["validate"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("`log.level`: not a level (off, error,"), "{}", ran.out);
}

#[test]
fn the_log_goes_to_a_file_as_json_with_what_it_is_about() {
    let house = bad_day();
    house.unit(
        "workagent.daemon.toml",
        "[log]\nlevel = \"debug\"\nformat = \"json\"\nfile = \"%S/daemon.log\"\n",
    );
    let daemon = house.daemon(&[]);
    house.status_when("the run to be recorded", |view| unit(view, "flood.engine").failures_in_a_row > 0);
    assert_eq!(daemon.stop(), "");
    let text = std::fs::read_to_string(house.path("state/daemon.log")).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let about = |name: &str, value: &str| lines.iter().filter(|line| line[name] == value).count();
    assert!(about("unit", "bad.connector") > 0 && about("generation", "1") > 0, "{text}");
    // What is said of a run carries its case and number.
    let of_run = lines.iter().find(|line| line["unit"] == "flood.engine" && line["run"] == "r1");
    assert_eq!(of_run.map(|line| line["case"].as_str()), Some(Some("c1")), "{text}");
    let bound = LOG_FILE_BYTES_MAX * (LOG_FILES_OLD_MAX as u64 + 1);
    assert!((text.len() as u64) < bound);
}
