//! What needs the user, put together from the status and from what waits: one line each, with the one command that mends
//! it. Pure; the handler brings the facts.

use std::collections::BTreeMap;

use super::health::Health;
use super::wire::{LoadState, StatusView, UnitView};
use crate::model::money::shown_usd;
use crate::model::parked::{Parked, Waits};
use crate::model::repair::{Repair, RepairKind};
use crate::model::text::one_line;

/// Of what the far side said, so much is shown.
const WHY_BYTES_MAX: usize = 400;

/// What the status does not say.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Everything that waits.
    pub parked: Vec<Parked>,
    /// Engines that are not logged in by a stored secret: its name, by unit.
    pub engine_secrets: BTreeMap<String, String>,
    /// A stored secret that is in use.
    pub secret: Option<String>,
    /// Keys that only a restart applies.
    pub needs_restart: Vec<String>,
    /// What a backup that went wrong said.
    pub backup_failed: Option<String>,
}

/// The list, the most pressing first.
#[must_use]
pub fn repairs(status: &StatusView, needs: &Needs) -> Vec<Repair> {
    let mut all: Vec<Repair> = status.secret_stores.iter().filter_map(|one| store(one, needs)).collect();
    all.extend(status.units.iter().filter_map(|unit| about_unit(unit, status, needs)));
    if status.findings > 0 {
        let errors = if status.findings == 1 { "error" } else { "errors" };
        let what = format!("{} {errors} in unit files; what is not well is left as it was", status.findings);
        let repair = Repair::new(RepairKind::Reload, "unit-files", what, "workagent validate");
        all.push(Repair { since: status.findings_since, ..repair });
    }
    all.extend(waiting(&needs.parked));
    let given_up = |counts: &BTreeMap<String, u64>| counts.get("dead").copied().unwrap_or(0);
    let dead = [
        (RepairKind::DeadSend, given_up(&status.counts.actions), "send", "outbox list --state dead"),
        (RepairKind::DeadCase, given_up(&status.counts.cases), "case", "case list --state dead"),
    ];
    for (kind, count, word, command) in dead {
        if count > 0 {
            let what = if count == 1 {
                format!("1 {word} was given up")
            } else {
                format!("{count} {word}s were given up")
            };
            all.push(Repair::new(kind, "all", what, format!("workagent {command}")));
        }
    }
    for budget in status.budgets.iter().filter(|budget| budget.near) {
        let unit = &budget.unit;
        let (spent, most) = (shown_usd(budget.spent_micro_usd), shown_usd(budget.micro_usd_max));
        let what = format!("{unit} has spent {spent} of {most} USD {}", budget.span);
        let subject = format!("{unit}:{}", budget.span);
        let repair = Repair::new(RepairKind::Budget, &subject, what, format!("workagent edit {unit}"));
        all.push(Repair { unit: Some(unit.clone()), ..repair });
    }
    if !needs.needs_restart.is_empty() {
        let what = format!("changed, but only a restart applies it: {}", needs.needs_restart.join(", "));
        all.push(Repair::new(RepairKind::Restart, "daemon", what, "workagent service restart"));
    }
    if let Some(why) = &needs.backup_failed {
        all.push(Repair::new(RepairKind::Backup, "backup", why, "workagent backup"));
    }
    // One line for one trouble: a file that is wrong also fails its unit.
    all.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
    all.dedup_by(|a, b| a.key == b.key);
    all
}

fn store(store: &super::wire::secrets::StoreView, needs: &Needs) -> Option<Repair> {
    if !matches!(store.state.as_str(), "needs-unlock" | "unreachable") {
        return None;
    }
    let what = format!("secrets in the {} cannot be read", store.backend);
    // A test of any secret has the store ask for its password.
    let command = match &needs.secret {
        Some(name) if store.state == "needs-unlock" => format!("workagent secret test {name}"),
        _ => "workagent doctor".to_owned(),
    };
    let repair = Repair::new(RepairKind::NeedsUnlock, &store.backend, what, command);
    Some(Repair { why: store.why.clone(), since: store.since, ..repair })
}

fn about_unit(unit: &UnitView, status: &StatusView, needs: &Needs) -> Option<Repair> {
    let name = &unit.unit;
    let about = |kind, what: String, command: String, why: Option<&str>| {
        let why = why.map(|why| one_line(why, WHY_BYTES_MAX)).filter(|why| !why.is_empty());
        let repair = Repair::new(kind, name, what, command);
        Some(Repair { why, since: unit.since, unit: Some(name.clone()), ..repair })
    };
    let edit = format!("workagent edit {name}");
    if let Some(kept) = &unit.kept {
        let what = format!("{name} runs its last good version");
        return about(RepairKind::BadUnit, what, edit, Some(kept));
    }
    if unit.load == LoadState::BadSetting && unit.enabled {
        let why = match (&unit.reason, &unit.place) {
            (Some(reason), Some(place)) => Some(format!("{reason} ({place})")),
            (reason, _) => reason.clone(),
        };
        return about(RepairKind::BadUnit, format!("{name} is left out"), edit, why.as_deref());
    }
    if let Some(rest) = &unit.rest {
        let (word, said) = rest.reason.split_once(": ").unwrap_or(("", &rest.reason));
        let kick = format!("workagent kick {name}");
        let found = match word {
            "usage-limit" | "rate-limited" => {
                about(RepairKind::Quota, format!("{name} is used up for now"), kick, Some(said))
            }
            "billing" => {
                about(RepairKind::Quota, format!("{name}'s account is out of money"), kick, Some(said))
            }
            "auth" => about(RepairKind::Auth, not_logged_in(name), log_in(name, needs), Some(said)),
            _ => None,
        };
        return found.map(|repair| Repair { until: Some(rest.until), ..repair });
    }
    let class = unit.last_error.as_ref().map(|error| error.class.as_str());
    let said = unit.last_error.as_ref().map(|error| error.message.as_str());
    if unit.failures_in_a_row > 0 && class == Some("auth") {
        return about(RepairKind::Auth, not_logged_in(name), log_in(name, needs), said);
    }
    let again = format!("workagent reset-failed {name}");
    match unit.health(status.now) {
        Health::Broken => {
            about(RepairKind::FailedUnit, format!("{name} gave up"), again, said.or(unit.reason.as_deref()))
        }
        // The network comes back by itself.
        Health::Failing if matches!(class, Some("config" | "permanent" | "billing" | "bug")) => {
            about(RepairKind::FailedUnit, format!("{name} fails"), again, said)
        }
        _ => None,
    }
}

fn not_logged_in(unit: &str) -> String {
    format!("{unit} is not let in with its login")
}

fn log_in(unit: &str, needs: &Needs) -> String {
    match (unit.strip_suffix(".connector"), needs.engine_secrets.get(unit)) {
        (Some(name), _) => format!("workagent init {name}"),
        (None, Some(secret)) => format!("workagent secret set {secret}"),
        // An agent with a login of its own: its login ends the wait, or this does.
        (None, None) => format!("workagent kick {unit}"),
    }
}

/// Questions and held sends one by one; the rest of what waits for a person in one line.
fn waiting(parked: &[Parked]) -> Vec<Repair> {
    let mut all = Vec::new();
    let mut others: Vec<&Parked> = Vec::new();
    for waits in parked.iter().filter(|parked| parked.until.is_none() && !parked.is_rehearsed()) {
        let case = waits.case.id;
        let title = one_line(&waits.case.title, 80);
        let (kind, subject, what) = match waits.waits {
            Waits::Question => {
                (RepairKind::Question, case.to_string(), format!("{case} has a question to you: {title}"))
            }
            Waits::HeldSend => {
                let action = waits.action.map(|action| action.to_string()).unwrap_or_default();
                let what = format!("{action} is held, it may have arrived: {title}");
                (RepairKind::HeldSend, action, what)
            }
            _ => {
                others.push(waits);
                continue;
            }
        };
        all.push(Repair {
            why: Some(one_line(&waits.reason, WHY_BYTES_MAX)).filter(|why| !why.is_empty()),
            since: Some(waits.since),
            case: Some(case),
            action: waits.action,
            ..Repair::new(kind, &subject, what, waits.command())
        });
    }
    match others.as_slice() {
        [] => {}
        [one] => {
            let case = one.case.id;
            let what = format!("{case} waits for you: {}", one_line(&one.case.title, 80));
            all.push(Repair {
                why: Some(one_line(&one.reason, WHY_BYTES_MAX)).filter(|why| !why.is_empty()),
                since: Some(one.since),
                case: Some(case),
                ..Repair::new(RepairKind::Waiting, "cases", what, one.command())
            });
        }
        many => {
            let since = many.iter().map(|parked| parked.since).min();
            let what = format!("{} cases wait for you", many.len());
            let repair = Repair::new(RepairKind::Waiting, "cases", what, "workagent case list --parked");
            all.push(Repair { since, ..repair });
        }
    }
    all
}

#[cfg(test)]
mod tests;
