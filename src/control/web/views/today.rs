//! What needs a person now.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::json;

use super::{listed, segment};
use crate::control::health::Health;
use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::control::wire::{ActiveState, ReviewView, StatusView};
use crate::model::case::{Case, CaseState};
use crate::model::limits::WEB_ROWS_MAX;
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::repair::{Repair, RepairKind};

/// What needs the user, its command, and what the page itself can do about it.
#[derive(Debug, Serialize)]
struct Mending {
    #[serde(flatten)]
    repair: Repair,
    /// Where more of it is told.
    link: Option<String>,
    button: Option<Button>,
}

/// A form that is one button.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Button {
    to: String,
    text: &'static str,
}

impl Mending {
    fn of(repair: Repair) -> Self {
        let link = match (&repair.case, repair.kind) {
            (Some(case), _) => Some(format!("/case/{}", segment(&case.to_string()))),
            (None, RepairKind::DeadCase) => Some("/case?state=dead".to_owned()),
            (None, RepairKind::Waiting) => Some("/case?state=parked".to_owned()),
            (None, RepairKind::DeadSend) => Some("/outbox".to_owned()),
            (None, _) => None,
        };
        Self { button: button(&repair), link, repair }
    }
}

/// The button, where one order of the API mends it or has it tried again.
fn button(repair: &Repair) -> Option<Button> {
    let unit = |order: &str, text| {
        let unit = repair.unit.as_deref()?;
        Some(Button { to: format!("/units/{}/{order}", segment(unit)), text })
    };
    match repair.kind {
        RepairKind::FailedUnit => unit("reset", "Start again"),
        // Whoever logged in elsewhere need not wait for the next try.
        RepairKind::Auth | RepairKind::Quota => unit("kick", "Try now"),
        RepairKind::Waiting if repair.command.starts_with("workagent case retry ") => {
            let case = repair.case?;
            Some(Button { to: format!("/case/{case}/retry"), text: "Try again" })
        }
        _ => None,
    }
}

/// `GET /`
pub(in crate::control::web) async fn today(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let status: StatusView = page.client.get("/v1/status").await?;
    let reviews: Vec<ReviewView> = page.client.get(&format!("/v1/reviews?limit={WEB_ROWS_MAX}")).await?;
    let sends = |state: ActionState| listed("/v1/outbox", Some(state.word()));
    let held: Vec<OutboundAction> = page.client.get(&sends(ActionState::Held)).await?;
    let approved: Vec<OutboundAction> = page.client.get(&sends(ActionState::Approved)).await?;
    let parked: Vec<Case> = page.client.get(&listed("/v1/cases", Some(CaseState::Parked.word()))).await?;
    let repairs: Vec<Repair> = page.client.get("/v1/repairs").await?;
    // What passes by itself, and is no repair: the network, a source that comes late.
    let ill: Vec<_> = status
        .units
        .iter()
        .filter(|unit| {
            unit.active == ActiveState::Failed || matches!(unit.health, Some(Health::Failing | Health::Late))
        })
        .filter(|unit| !repairs.iter().any(|repair| repair.unit.as_ref() == Some(&unit.unit)))
        .collect();
    // Held sends are shown in full, with what can be said of them.
    let mendings: Vec<Mending> = repairs
        .iter()
        .filter(|repair| repair.kind != RepairKind::HeldSend)
        .take(WEB_ROWS_MAX)
        .cloned()
        .map(Mending::of)
        .collect();
    let more = status.counts.drafts_open.saturating_sub(reviews.len() as u64);
    let values = json!({ "reviews": reviews, "held": held, "approved": approved, "parked": parked, "ill": ill, "mendings": mendings, "more": more, "status": status });
    Ok(page.framed(StatusCode::OK, &session, "today.html", "Today", &status, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::CaseId;

    #[test]
    fn a_button_is_there_only_where_the_page_can_do_it() {
        let told = |kind, unit: Option<&str>, case, command: &str| {
            let repair = Repair::new(kind, "x", "what", command);
            let mending = Mending::of(Repair { unit: unit.map(str::to_owned), case, ..repair });
            (mending.link, mending.button.map(|button| button.to))
        };
        let some = |text: &str| Some(text.to_owned());
        let case = Some(CaseId(7));
        assert_eq!(
            told(RepairKind::FailedUnit, Some("in/box.connector"), None, "workagent reset-failed in"),
            (None, some("/units/in%2Fbox.connector/reset"))
        );
        assert_eq!(
            told(RepairKind::Auth, Some("a.engine"), None, "workagent secret set a"),
            (None, some("/units/a.engine/kick"))
        );
        assert_eq!(
            told(RepairKind::Waiting, None, case, "workagent case retry c7"),
            (some("/case/c7"), some("/case/c7/retry"))
        );
        assert_eq!(
            told(RepairKind::Waiting, None, None, "workagent case list --parked"),
            (some("/case?state=parked"), None)
        );
        assert_eq!(
            told(RepairKind::Question, None, case, "workagent case answer c7"),
            (some("/case/c7"), None)
        );
        assert_eq!(
            told(RepairKind::BadUnit, Some("a.engine"), None, "workagent edit a.engine"),
            (None, None)
        );
    }
}
