//! Does the service outlive the login?

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::daemon::service::systemd::linger_file;

pub fn check(facts: &Facts) -> Verdict {
    let (Some(site), Some(lingers)) = (&facts.site, facts.lingers) else {
        return Verdict::none("only systemd knows lingering; an agent of launchd ends with the login");
    };
    let looked_at = format!("lingering of {} ({})", site.user, linger_file(&site.user).display());
    let wrong = if lingers {
        Vec::new()
    } else {
        vec![
            "lingering is off: when you log out the service ends, and nothing is read or sent until you log in again"
                .to_owned(),
        ]
    };
    Verdict::of(Level::Warning, looked_at, wrong, "loginctl enable-linger")
}
