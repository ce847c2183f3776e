//! Cases: list, the whole record of one, another try, dismissal.

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{Fault, Reply, Shared, id, state_word};
use crate::control::wire::{ListQuery, Reason};
use crate::model::case::Case;
use crate::model::ids::CaseId;
use crate::store::CaseRecord;

pub(super) async fn list(State(state): Shared, Query(query): Query<ListQuery>) -> Reply<Vec<Case>> {
    let only = state_word(query.state.as_deref())?;
    Ok(Json(state.store.cases(only, query.limit()).await?))
}

pub(super) async fn show(State(state): Shared, Path(case): Path<String>) -> Reply<CaseRecord> {
    Ok(Json(state.store.case_record(id::<CaseId>(&case)?).await?))
}

pub(super) async fn retry(State(state): Shared, Path(case): Path<String>) -> Reply<()> {
    let case = id(&case)?;
    state.store.retry_case(case).await?;
    // Somebody who asks for another try has mended something: its engine is not spared any longer.
    if let Some(engine) = state.store.case_record(case).await?.case.engine
        && let Some((engines, account)) = state.present.get().plan.sharing(&engine)
    {
        state.store.end_rests(engines, &account).await?;
    }
    Ok(Json(()))
}

pub(super) async fn dismiss(
    State(state): Shared,
    Path(case): Path<String>,
    Json(reason): Json<Reason>,
) -> Result<Json<()>, Fault> {
    state.store.dismiss_case(id(&case)?, &reason.reason).await?;
    Ok(Json(()))
}
