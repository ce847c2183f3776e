//! Is there somebody who looks after the daemon, and does it answer?

use super::facts::{Facts, Trouble};
use super::verdict::{Level, Verdict};
use crate::daemon::service::Supervisor;

pub fn check(facts: &Facts) -> Verdict {
    let (Some(site), Some(state)) = (&facts.site, &facts.state) else {
        return Verdict::none("neither systemd nor launchd runs here; `workagent run` is the way");
    };
    let what = match site.supervisor {
        Supervisor::Systemd => "the user's systemd, over the session bus",
        Supervisor::Launchd => "launchd",
    };
    match state {
        Ok(_) => Verdict::ok(what),
        Err(Trouble { text, hint }) => {
            let mut wrong = vec![text.clone()];
            wrong.extend(hint.clone());
            let mend = match site.supervisor {
                Supervisor::Systemd => format!("machinectl shell {}@", site.user),
                Supervisor::Launchd => format!("launchctl print gui/{}", site.uid),
            };
            Verdict::of(Level::Problem, what, wrong, mend)
        }
    }
}
