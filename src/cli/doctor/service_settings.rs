//! The settings that count, as the supervisor tells them: drop-ins and overrides included.

use std::path::Path;

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::daemon::service::Supervisor;
use crate::daemon::service::show::Shown;
use crate::daemon::service::unit_lint::seconds;

pub fn check(facts: &Facts) -> Verdict {
    let (Some(site), Some(state)) = (&facts.site, facts.installed()) else {
        return Verdict::none("not installed");
    };
    let mut wrong = Vec::new();
    if state.is_stale {
        wrong.push("the files were changed, and the manager still goes by the old ones".to_owned());
    }
    if let Some(program) = state.program.as_deref().filter(|program| !program.exists()) {
        wrong.push(format!("it starts {}, which is not there", program.display()));
    }
    if let Some(program) = &state.program
        && is_another(program, &site.program)
    {
        let (theirs, ours) = (program.display(), site.program.display());
        wrong.push(format!("it starts {theirs}, and this is {ours}"));
    }
    if let Some(shown) = &state.shown {
        wrong.extend(of_systemd(shown, facts.stop_s));
    }
    let looked_at = match (site.supervisor, state.drop_ins.len()) {
        (Supervisor::Systemd, 0) => "systemctl --user show".to_owned(),
        (Supervisor::Systemd, count) => {
            format!("systemctl --user show, with {}", crate::cli::look::count(count, "drop-in"))
        }
        (Supervisor::Launchd, _) => "launchctl print".to_owned(),
    };
    let mend = if state.is_stale {
        "systemctl --user daemon-reload"
    } else if state.drop_ins.is_empty() {
        "workagent service install"
    } else {
        "systemctl --user edit workagent"
    };
    Verdict::of(Level::Problem, looked_at, wrong, mend)
}

fn is_another(theirs: &Path, ours: &Path) -> bool {
    matches!((theirs.canonicalize(), ours.canonicalize()), (Ok(theirs), Ok(ours)) if theirs != ours)
}

fn of_systemd(shown: &Shown, stop_s: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    if shown.get("Type").is_some_and(|kind| !kind.starts_with("notify")) {
        wrong
            .push("Type= is not notify: a start counts before it is done, and nothing watches it".to_owned());
    }
    if shown.get("WatchdogUSec").is_some_and(|limit| limit == "0" || limit == "infinity") {
        wrong.push("the watchdog is off: a daemon that hangs is not restarted".to_owned());
    }
    if let Some(mode) = shown.get("KillMode").filter(|mode| ["process", "none"].contains(mode)) {
        wrong.push(format!("KillMode={mode} leaves engines behind when the daemon is gone"));
    }
    let restarts = shown.get("Restart").is_some_and(|restart| restart != "no");
    let spared = shown.get("RestartPreventExitStatus").unwrap_or_default();
    if restarts && !spared.split_whitespace().any(|code| code == "78") {
        wrong.push("it is restarted on a configuration error too (78)".to_owned());
    }
    if let Some(limit) = shown.get("TimeoutStopUSec").and_then(seconds).filter(|limit| *limit < stop_s) {
        wrong.push(format!("a stop is cut after {limit}s, and an orderly one may take {stop_s}s"));
    }
    if shown.get("StartLimitIntervalUSec") == Some("0") || shown.get("StartLimitBurst") == Some("0") {
        wrong.push("there is no start limit: one that cannot start is started for ever".to_owned());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_judged() {
        let good = "Type=notify\nWatchdogUSec=1min\nKillMode=mixed\nRestart=on-failure\n\
                    RestartPreventExitStatus=2 65 77 78\nTimeoutStopUSec=3min 30s\nStartLimitIntervalUSec=10min\n";
        assert_eq!(of_systemd(&Shown::parse(good), 200), Vec::<String>::new());
        let bad = "Type=simple\nWatchdogUSec=0\nKillMode=process\nRestart=always\nTimeoutStopUSec=5s\nStartLimitBurst=0\n";
        assert_eq!(of_systemd(&Shown::parse(bad), 200).len(), 6);
    }
}
