//! Is the service installed, on, and running?

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::daemon::service::Supervisor;

pub fn check(facts: &Facts) -> Verdict {
    let (Some(site), Some(Ok(state))) = (&facts.site, &facts.state) else {
        return Verdict::none("no service manager to ask");
    };
    if let Some(off) = &state.off {
        let mend = match site.supervisor {
            Supervisor::Systemd => "systemctl --user unmask workagent",
            Supervisor::Launchd => "workagent service install",
        };
        return Verdict::of(Level::Problem, "not started", vec![off.clone()], mend);
    }
    if !state.is_installed() {
        let wrong = vec!["the daemon runs only while somebody runs it by hand".to_owned()];
        return Verdict::of(Level::Warning, "not installed", wrong, "workagent service install");
    }
    if let Some(why) = &state.why_not {
        let mend = match site.supervisor {
            Supervisor::Systemd if state.word == "inactive" => "systemctl --user start workagent",
            Supervisor::Systemd => "journalctl --user -u workagent -n 30",
            Supervisor::Launchd => "workagent service restart",
        };
        return Verdict::of(Level::Problem, "it does not run", vec![why.clone()], mend);
    }
    let pid = state.pid.map(|pid| format!("running (process {pid})")).unwrap_or_else(|| state.word.clone());
    if !state.at_login {
        let wrong = vec!["it is not started at login".to_owned()];
        return Verdict::of(Level::Warning, pid, wrong, "workagent service install");
    }
    match state.restarts.filter(|restarts| *restarts > 0) {
        Some(restarts) => {
            let wrong = vec![format!("it was started again after a failure {restarts} times")];
            let mend = match site.supervisor {
                Supervisor::Systemd => "journalctl --user -u workagent -p warning -n 50",
                Supervisor::Launchd => "workagent logs",
            };
            Verdict::of(Level::Warning, pid, wrong, mend)
        }
        None => Verdict::ok(format!("{pid}, started at login")),
    }
}
