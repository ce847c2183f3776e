//! What is wrong in a unit file, by its text: faults that systemd swallows or tells only in its own log.

use super::Fault;
use super::unit_file::{Setting, first_word, settings};

/// Units and targets of the system's manager, which the user's does not have.
const NOT_HERE: [&str; 6] = [
    "network.target",
    "network-online.target",
    "multi-user.target",
    "graphical.target",
    "sysinit.target",
    "local-fs.target",
];

/// Everything that is wrong in a unit file (or a drop-in, where `whole` is not set: what is missing there is no fault).
/// `stop_s`: the longest that a stop takes.
#[must_use]
pub fn lint(text: &str, whole: bool, stop_s: u64) -> Vec<Fault> {
    let all = settings(text);
    let mut faults = Vec::new();
    for setting in &all {
        if let Some(fault) = of_one(setting, stop_s) {
            faults.push(fault);
        }
    }
    if whole {
        faults.extend(of_the_whole(&all));
    }
    faults
}

fn of_one(setting: &Setting, stop_s: u64) -> Option<Fault> {
    let Setting { section, key, value } = setting;
    let value = value.as_str();
    match key.as_str() {
        "EnvironmentFile" if value.starts_with(['"', '\'']) => {
            Some(format!("{key}= is quoted, so the file is not read: {value}"))
        }
        key if key.starts_with("Exec") => {
            let program = first_word(value)?;
            let is_found = program.starts_with('/') || !program.contains('/') && !program.starts_with('~');
            if program.starts_with("~/") || program.contains("$HOME") {
                Some(format!("{key}= begins with {program}: neither ~ nor $HOME is expanded there (%h is)"))
            } else if !is_found && !program.starts_with('%') {
                Some(format!("{key}= names no absolute path: {program}"))
            } else {
                None
            }
        }
        "Environment" if value.contains("$HOME") || value.contains("=~") || value.contains(":~/") => {
            let name = value.trim_start_matches('"').split('=').next().unwrap_or_default();
            Some(format!("Environment= of {name} holds $HOME or ~, which are not expanded there (%h is)"))
        }
        "TimeoutStopSec" => seconds(value).filter(|limit| *limit < stop_s).map(|limit| {
            format!("TimeoutStopSec= is {limit}s, and an orderly stop may take {stop_s}s: what runs is cut")
        }),
        "KillMode" if value == "process" || value == "none" => {
            Some(format!("KillMode={value} leaves engines behind when the daemon is gone"))
        }
        "Type" if value != "notify" => Some(format!(
            "Type={value}: without notify there is no watchdog, and a start counts before it is done"
        )),
        "WatchdogSec" if value == "0" || value == "infinity" => {
            Some("WatchdogSec= is off: a daemon that hangs is not restarted".to_owned())
        }
        "WantedBy" if section == "Install" && NOT_HERE.contains(&value) => Some(format!(
            "WantedBy={value} is of the system's manager: it is never started; default.target is right"
        )),
        "After" | "Wants" | "Requires" | "BindsTo" => {
            let word = value.split_whitespace().find(|word| NOT_HERE.contains(word))?;
            Some(format!("{key}={word} means nothing here: the user's manager has no such unit"))
        }
        _ => None,
    }
}

fn of_the_whole(all: &[Setting]) -> Vec<Fault> {
    let last =
        |key: &str| all.iter().rfind(|setting| setting.key == key).map(|setting| setting.value.as_str());
    let mut faults = Vec::new();
    if last("ExecStart").is_none() {
        faults.push("there is no ExecStart=".to_owned());
    }
    if last("StartLimitIntervalSec").is_none() && last("StartLimitBurst").is_none() {
        faults.push("no start limit of its own: one that cannot start is started for ever".to_owned());
    }
    let restarts = !matches!(last("Restart"), None | Some("no" | "on-success" | "on-watchdog"));
    let spared = last("RestartPreventExitStatus").unwrap_or_default();
    if restarts && !spared.split_whitespace().any(|code| code == "78") {
        faults.push(
            "it is restarted on a configuration error too: RestartPreventExitStatus= lacks 78".to_owned(),
        );
    }
    if last("ExecReload").is_none() {
        faults.push("no ExecReload=: `systemctl --user reload` is refused".to_owned());
    }
    if last("Type").is_none() {
        faults.push("no Type=notify: a start counts before it is done, and there is no watchdog".to_owned());
    }
    faults
}

/// systemd's spans: `90`, `90s`, `5min`, `1min 30s`, `infinity`.
#[must_use]
pub fn seconds(text: &str) -> Option<u64> {
    if text == "infinity" {
        return Some(u64::MAX);
    }
    let mut total = 0u64;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        let unit_end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        let factor = match unit.trim() {
            "" | "s" | "sec" | "second" | "seconds" => 1,
            "m" | "min" | "minute" | "minutes" => 60,
            "h" | "hr" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 24 * 3600,
            "ms" | "us" => 0,
            _ => return None,
        };
        total = total.saturating_add(number.parse::<u64>().ok()?.saturating_mul(factor));
        rest = behind.trim_start();
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::super::unit_file::{HARDENING, PACKAGED};
    use super::*;

    #[test]
    fn each_fault_of_the_bad_one_is_found() {
        let text = include_str!("../../../tests/fixtures/service/bad.service");
        insta::assert_snapshot!(lint(text, true, 200).join("\n"), @r#"
        After=network-online.target means nothing here: the user's manager has no such unit
        Type=simple: without notify there is no watchdog, and a start counts before it is done
        EnvironmentFile= is quoted, so the file is not read: "-%h/.config/example/env"
        ExecStart= begins with ~/.local/bin/example-agent: neither ~ nor $HOME is expanded there (%h is)
        TimeoutStopSec= is 5s, and an orderly stop may take 200s: what runs is cut
        KillMode=process leaves engines behind when the daemon is gone
        WantedBy=multi-user.target is of the system's manager: it is never started; default.target is right
        no start limit of its own: one that cannot start is started for ever
        it is restarted on a configuration error too: RestartPreventExitStatus= lacks 78
        no ExecReload=: `systemctl --user reload` is refused
        "#);
    }

    #[test]
    fn what_we_ship_is_well() {
        assert_eq!(lint(PACKAGED, true, 200), Vec::<Fault>::new());
        assert_eq!(lint(HARDENING, false, 200), Vec::<Fault>::new());
    }

    #[test]
    fn the_stop_limit_fits_the_drain() {
        let drain = std::time::Duration::from_secs(20);
        let longest = crate::bundle::running::stop_time_max(drain).as_secs() + 5;
        assert!(lint(PACKAGED, true, longest).is_empty(), "TimeoutStopSec is below {longest}s");
    }

    #[test]
    fn a_drop_in_is_judged_by_what_it_says() {
        let text = "[Service]\nTimeoutStopSec=1min\nKillMode=process\nEnvironment=\"PATH=$HOME/bin:/bin\"\n";
        insta::assert_snapshot!(lint(text, false, 200).join("\n"), @r#"
        TimeoutStopSec= is 60s, and an orderly stop may take 200s: what runs is cut
        KillMode=process leaves engines behind when the daemon is gone
        Environment= of PATH holds $HOME or ~, which are not expanded there (%h is)
        "#);
    }

    #[test]
    fn spans() {
        let all = ["90", "1min 30s", "5min", "2h", "infinity", "10ms", "soon"].map(seconds);
        assert_eq!(all, [Some(90), Some(90), Some(300), Some(7200), Some(u64::MAX), Some(0), None]);
    }
}
