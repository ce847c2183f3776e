//! What needs the user, and what waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};

use super::{ApiState, Reply, Shared};
use crate::control::repairs::{Needs, repairs};
use crate::control::wire::record::AnnounceBody;
use crate::control::wire::{ListQuery, StatusView};
use crate::model::limits;
use crate::model::parked::Parked;
use crate::model::repair::Repair;
use crate::model::secret_ref::SecretRef;
use crate::model::text;
use crate::store::StoreError;
use crate::unit::plan::Standing;

pub(super) async fn list(State(state): Shared) -> Reply<Vec<Repair>> {
    let status = super::status::view(&state).await?;
    Ok(Json(of(&state, &status).await?))
}

/// What one channel has not announced yet; asked once, it counts as announced.
pub(super) async fn announce(State(state): Shared, Json(body): Json<AnnounceBody>) -> Reply<Vec<Repair>> {
    let channel = text::one_line(&text::clean(&body.channel), limits::JOURNAL_BY_BYTES_MAX);
    let mut all = of(&state, &super::status::view(&state).await?).await?;
    let keys = all.iter().map(|repair| repair.key.clone()).collect();
    let fresh = state.store.announce(&channel, keys).await?;
    all.retain(|repair| fresh.contains(&repair.key));
    Ok(Json(all))
}

pub(super) async fn of(state: &Arc<ApiState>, status: &StatusView) -> Result<Vec<Repair>, StoreError> {
    let present = state.present.get();
    let mut engine_secrets = BTreeMap::new();
    for (name, standing) in &present.plan.engines {
        if let Standing::Active(unit) = standing
            && let Some(SecretRef::Stored(secret)) = unit.settings.secrets().first()
        {
            engine_secrets.insert(format!("{name}.engine"), secret.clone());
        }
    }
    let needs = Needs {
        parked: state.store.parked(limits::PARKED_SHOWN_MAX).await?,
        engine_secrets,
        secret: present.plan.secret_users().into_keys().next(),
        needs_restart: present.needs_restart.clone(),
        backup_failed: state.store.flag("backup-failed").await?,
    };
    Ok(repairs(status, &needs))
}

pub(super) async fn parked(State(state): Shared, Query(query): Query<ListQuery>) -> Reply<Vec<Parked>> {
    let mut all = state.store.parked(ListQuery::LIMIT_MAX).await?;
    all.retain(|one| query.label.as_ref().is_none_or(|label| one.case.labels.contains(label)));
    all.truncate(query.limit());
    Ok(Json(all))
}
