//! Does the daemon answer, and is it the one that is installed?

use super::facts::{Daemon, Facts, Trouble};
use super::verdict::{Level, Verdict};

pub fn check(facts: &Facts) -> Verdict {
    let socket = facts.short(&facts.paths.socket);
    let anew = if facts.installed().is_some() { "workagent service restart" } else { "workagent run" };
    let daemon = match &facts.daemon {
        Err(Trouble { text, hint }) => {
            let mut wrong = vec![text.clone()];
            wrong.extend(hint.clone());
            return Verdict::of(Level::Problem, socket, wrong, anew);
        }
        Ok(None) => {
            let wrong = vec!["the daemon is not running: nothing is read and nothing is sent".to_owned()];
            return Verdict::of(Level::Problem, socket, wrong, anew);
        }
        Ok(Some(daemon)) => daemon,
    };
    let Daemon { pid, version, program, status } = daemon;
    let mut wrong = Vec::new();
    if version != facts.version {
        wrong.push(format!("it is version {version}, and this is {}", facts.version));
    }
    if let Some((path, true)) = program {
        wrong.push(format!("its file {} was replaced or removed since it started", facts.short(path)));
    }
    if let Some(Ok(state)) = &facts.state
        && state.is_installed()
        && state.pid.is_some_and(|service| service != *pid)
    {
        wrong.push("the one that answers is not the service".to_owned());
    }
    if let Some(status) = status.as_ref().filter(|status| status.paused) {
        wrong.push(format!(
            "it is paused in generation {}: nothing is sent until `workagent resume`",
            status.generation
        ));
    }
    Verdict::of(Level::Warning, format!("process {pid}, version {version}"), wrong, anew)
}
