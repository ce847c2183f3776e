//! Cases: the list, and the record of one as a line of events.

use axum::Extension;
use axum::extract::{Path, Query, State};
use serde_json::json;

use super::{listed, segment};
use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::control::wire::ListQuery;
use crate::model::case::{Case, CaseState};
use crate::model::draft::DraftState;
use crate::model::limits::WEB_ROWS_MAX;
use crate::store::CaseRecord;

/// `GET /case`
pub(in crate::control::web) async fn list(
    State(page): Shared,
    Extension(session): Extension<Session>,
    Query(query): Query<ListQuery>,
) -> Reply {
    let only = query.state.filter(|state| !state.is_empty());
    let cases: Vec<Case> = page.client.get(&listed("/v1/cases", only.as_deref())).await?;
    let states: Vec<&str> = CaseState::ALL.iter().map(|state| state.word()).collect();
    let values = json!({ "cases": cases, "states": states, "only": only, "rows_max": WEB_ROWS_MAX });
    page.view(&session, "cases.html", "Cases", values).await
}

/// `GET /case/{id}`
pub(in crate::control::web) async fn show(
    State(page): Shared,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
) -> Reply {
    let record: CaseRecord = page.client.get(&format!("/v1/cases/{}", segment(&id))).await?;
    let open = record.drafts.iter().find(|draft| draft.state == DraftState::Open).map(|draft| draft.id);
    let title = record.case.title.clone();
    page.view(&session, "case.html", &title, json!({ "record": record, "open": open })).await
}
