//! Cases: list, the whole record of one, another try, dismissal.

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{Fault, Reply, Shared, id, state_word};
use crate::control::wire::{ListQuery, ProposeBody, Proposed, Reason};
use crate::model::case::Case;
use crate::model::ids::CaseId;
use crate::model::limits;
use crate::model::text;
use crate::runtime::worker::envelope;
use crate::store::{CaseRecord, Proposal};

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
    if let Some(engine) = state.store.case_record(case).await?.case.engine {
        state.store.set_cooldown(&engine, state.clock.now(), "ended by hand").await?;
        state.store.wakeups().worker.notify_one();
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

/// A draft that somebody else than an engine of ours wrote. It goes where the case says, and waits like every draft.
pub(super) async fn propose(
    State(state): Shared,
    Path(case): Path<String>,
    Json(body): Json<ProposeBody>,
) -> Reply<Proposed> {
    let case = id::<CaseId>(&case)?;
    let clean = |text: &str| text::visible(&state.scrubber.scrub(text));
    let text = clean(&body.body);
    if text.trim().is_empty() {
        return Err(Fault::usage("the text of the reply is empty"));
    }
    if text.len() > limits::DRAFT_BYTES_MAX {
        return Err(Fault::usage(format!("a reply may have {} bytes", limits::DRAFT_BYTES_MAX)));
    }
    let record = state.store.case_record(case).await?;
    let Some(envelope) = envelope(&record.items) else {
        return Err(Fault::refused(format!("nobody in case {case} can be answered")));
    };
    let rule = state.desk.rule(&record.case.connector);
    let proposal = Proposal {
        case,
        items: record.case.items,
        destination: rule.map(|rule| rule.destination.to_string()).unwrap_or_default(),
        connector: record.case.connector,
        envelope,
        body: text.trim().to_owned(),
        by: text::one_line(&clean(&body.by), limits::JOURNAL_BY_BYTES_MAX),
        remarks: body.remarks.iter().take(10).map(|remark| clean(remark)).collect(),
        generation: state.present.get().generation,
    };
    Ok(Json(Proposed { draft: state.store.propose(proposal).await? }))
}
