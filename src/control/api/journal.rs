//! What happens, line by line, over all cases.

use axum::Json;
use axum::extract::{Query, State};

use super::{Reply, Shared};
use crate::control::wire::JournalQuery;
use crate::store::JournalLine;

pub(super) async fn newest(
    State(state): Shared,
    Query(query): Query<JournalQuery>,
) -> Reply<Vec<JournalLine>> {
    Ok(Json(state.store.journal_after(query.after.unwrap_or(0), query.limit()).await?))
}
