//! What needs the user, and what waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};

use super::{ApiState, Reply, Shared};
use crate::control::repairs::{Needs, repairs};
use crate::control::wire::{ListQuery, StatusView};
use crate::model::class::chain;
use crate::model::limits;
use crate::model::parked::Parked;
use crate::model::repair::Repair;
use crate::model::secret_ref::SecretRef;
use crate::store::StoreError;
use crate::unit::plan::Standing;

pub(super) async fn list(State(state): Shared) -> Reply<Vec<Repair>> {
    let status = super::status::view(&state).await?;
    Ok(Json(of(&state, &status).await?))
}

/// Channels tell of these too; they ask here for as long as the handlers are there.
pub(super) fn tell(state: &Arc<ApiState>) {
    if !state.daemon {
        return;
    }
    let weak = Arc::downgrade(state);
    state.troubles.ask(move || {
        let weak = weak.clone();
        Box::pin(async move {
            let Some(state) = weak.upgrade() else { return Vec::new() };
            let status = match super::status::view(&state).await {
                Ok(status) => status,
                Err(error) => {
                    tracing::debug!("what needs the user cannot be read: {}", chain(&error));
                    return Vec::new();
                }
            };
            of(&state, &status).await.unwrap_or_default()
        })
    });
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
