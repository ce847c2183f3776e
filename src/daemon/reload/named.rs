//! Which unit an order means, and why one cannot be carried out.

use crate::control::server::Fault;
use crate::unit::plan::{Off, OffState, Plan, UnitName};

/// The unit that is meant by a name with or without its kind.
pub(super) fn named(given: &str, plan: &Plan) -> Result<UnitName, Fault> {
    if let Some(name) = plan.sources.keys().find(|name| name.to_string() == given) {
        return Ok(name.clone());
    }
    let like: Vec<&UnitName> = plan.sources.keys().filter(|name| name.name == given).collect();
    match like.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let fault = Fault::not_found(format!("there is no unit {given}"));
            Err(fault.hint("workagent list-units --all lists them"))
        }
        many => {
            let names: Vec<String> = many.iter().map(ToString::to_string).collect();
            Err(Fault::usage(format!("{given} could be {}", names.join(" or "))))
        }
    }
}

/// An order could not make it run.
pub(super) fn still_off(name: &UnitName, off: &Off) -> Fault {
    let place = off.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    let fault = Fault::refused(format!("{name} is off: {}{place}", off.reason));
    match off.state {
        OffState::Disabled => fault.hint(format!("workagent enable {name}")),
        OffState::Masked => fault.hint(format!("workagent unmask {name}")),
        OffState::Stopped => fault.hint("workagent isolate default"),
        OffState::Condition => fault.hint(format!("workagent analyze condition {name}")),
        OffState::BadSetting | OffState::Dependency => fault.hint("workagent validate shows the place"),
    }
}
