//! Secrets: what is kept where, that one changed, replacing one.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;

use super::{ApiState, Reply, Shared};
use crate::control::server::Fault;
use crate::control::wire::secrets::{RotatedView, SecretName, SecretView};
use crate::runtime::rotation::RotateError;
use crate::secret::SecretError;
use crate::secret::due::Due;
use crate::secret::standing::StoreState;
use crate::unit::plan::{Plan, SecretBackend, Standing};

/// Everything that is stored or read, by name.
pub(super) async fn list(State(state): Shared) -> Reply<Vec<SecretView>> {
    let plan = state.present.get().plan.clone();
    let users = plan.secret_users();
    let mut names: BTreeSet<String> = users.keys().cloned().collect();
    let entries = plan.secrets.values().filter_map(|standing| match standing {
        Standing::Active(unit) => Some((unit.name.clone(), unit.entry.clone())),
        Standing::Off(_) => None,
    });
    let mut behind = BTreeSet::new();
    for (name, entry) in entries {
        // Known by its entry alone: one line, under the name that is read.
        if !users.contains_key(&name) && users.contains_key(&entry) {
            continue;
        }
        if name != entry {
            behind.insert(entry);
        }
        names.insert(name);
    }
    // A store that cannot say what it holds says so with each name that is read.
    let stored = state.secrets.names().await.unwrap_or_default();
    names.extend(stored.into_iter().filter(|name| !behind.contains(name)));
    let mut views = Vec::new();
    for name in names {
        let units = users.get(&name).into_iter().flatten().cloned().collect();
        views.push(view(&state, &plan, name, units).await);
    }
    Ok(Json(views))
}

async fn view(state: &ApiState, plan: &Plan, name: String, units: Vec<String>) -> SecretView {
    let mut view = SecretView {
        backend: String::new(),
        entry: None,
        state: "ok".to_owned(),
        why: None,
        version: None,
        set_at: None,
        ends: None,
        rotate_at: None,
        units,
        name: name.clone(),
    };
    let unit = match plan.secret_unit(&name) {
        Some(Standing::Active(unit)) => Some(unit),
        _ => None,
    };
    let place = match state.secrets.place(&name) {
        Ok(place) => place,
        Err(error) => {
            (view.state, view.why) = ("unreachable".to_owned(), Some(error.to_string()));
            return view;
        }
    };
    view.backend = place.backend.word().to_owned();
    view.entry = Some(place.entry).filter(|entry| *entry != name);
    let (mut set_at, mut login_ends) = (None, None);
    if place.backend == SecretBackend::Command {
        view.state = "unasked".to_owned();
    } else {
        match state.secrets.kept(&name).await {
            Ok(kept) => {
                view.version = Some(kept.token.version).filter(|version| *version > 0);
                set_at = kept.set_at;
                login_ends = kept
                    .token
                    .grant
                    .filter(|grant| grant.refresh.is_none())
                    .and_then(|grant| grant.expires_at);
            }
            Err(error) => {
                let word = match &error {
                    SecretError::Missing { .. } => "missing",
                    SecretError::NeedsUnlock { .. } => "needs-unlock",
                    SecretError::Unavailable { .. } => "unreachable",
                };
                view.state = word.to_owned();
                view.why = Some(error.to_string());
            }
        }
    }
    view.set_at = set_at;
    view.ends = login_ends;
    if let Some(unit) = unit {
        let due = Due::of(unit, set_at, login_ends);
        (view.ends, view.rotate_at) = (due.ends, due.rotate_at);
    }
    view
}

/// A secret was stored or a store unlocked, by another process: who waits for it looks again.
pub(super) async fn changed(State(state): Shared) -> Reply<()> {
    state.secrets.refresh();
    Ok(Json(()))
}

/// Replaces a secret as its unit says.
pub(super) async fn rotate(State(state): Shared, Json(asked): Json<SecretName>) -> Reply<RotatedView> {
    let rotated = state.rotator.rotate(&asked.name).await.map_err(|error| match error {
        RotateError::NotSaid { why, hint } => Fault::refused(why).hint(hint),
        RotateError::Failed { why } => {
            Fault::refused(format!("{} was not replaced, the old value stays: {why}", asked.name))
        }
    })?;
    let users = state.present.get().plan.secret_users().remove(&asked.name).unwrap_or_default();
    Ok(Json(RotatedView { version: rotated.version, units: users.into_iter().collect() }))
}

/// Stores that cannot be used, each with the way out.
pub(super) fn unwell(state: &ApiState) -> Vec<String> {
    let bad = |state: &StoreState| matches!(state, StoreState::NeedsUnlock | StoreState::Unreachable);
    let stores = state.secrets.standings().into_iter().filter(|store| bad(&store.state));
    stores
        .map(|store| {
            let why = store.why.unwrap_or_default();
            let hint = store.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("secrets ({}): {why}{hint}", store.backend.word())
        })
        .collect()
}
