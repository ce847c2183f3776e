//! Status: the board, the plan and the record, put together for a glance. Everything shown as running carries an age.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::{ApiState, Reply, Shared};
use crate::control::wire::{
    API_VERSION, ActiveState, CountsView, ErrorView, LoadState, StatusView, UnitView,
};
use crate::model::cycle::RuntimeSummary;
use crate::runtime::RuntimeRecord;
use crate::store::StoreError;
use crate::supervise::{UnitState, UnitStatus};
use crate::unit::plan::{Off, OffState, Plan, Standing};

pub(super) async fn status(State(state): Shared) -> Reply<StatusView> {
    Ok(Json(view(&state).await?))
}

async fn view(state: &Arc<ApiState>) -> Result<StatusView, StoreError> {
    let mut units = Vec::new();
    let cooling = state.store.cooldowns().await?;
    for (unit, status) in state.board.all() {
        let mut shown = unit_view(&unit, &status, &state.plan);
        if let Some(name) = unit.strip_suffix(".connector")
            && let Some(known) = state.store.sync_state(name).await?
        {
            shown.last_new_item = known.last_new_item_at;
            let (known, before) = (known.items_known, known.items_baseline);
            shown
                .details
                .push(format!("{known} items known, {before} of them from before it was switched on"));
        }
        if let Some(name) = unit.strip_suffix(".engine")
            && let Some((_, until, why)) = cooling.iter().find(|(engine, ..)| engine == name)
        {
            shown.reason = Some(format!("cooling down until {until}: {why}"));
        }
        if !state.daemon && shown.enabled {
            shown.active = ActiveState::Inactive;
            shown.reason.get_or_insert_with(|| "the daemon is not running".into());
        }
        units.push(shown);
    }
    units.sort_by_key(|unit| (rank(&unit.unit), unit.unit.clone()));
    let counts = state.store.counts().await?;
    let notes = notes(&CountsView::from(counts.clone()));
    Ok(StatusView {
        api: API_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        generation: state.generation,
        mode: state.mode,
        paused: state.store.flag("paused").await?.is_some(),
        started_at: state.started_at,
        now: state.clock.now(),
        units,
        counts: counts.into(),
        findings: state.findings,
        findings_since: (state.findings > 0).then_some(state.started_at),
        notes,
    })
}

/// Connectors first, then engines, routes, environments, runtimes.
fn rank(unit: &str) -> usize {
    ["connector", "engine", "route", "env", "runtime"]
        .iter()
        .position(|kind| unit.ends_with(kind))
        .unwrap_or(usize::MAX)
}

/// What waits for the user, with the command that shows it.
fn notes(counts: &CountsView) -> Vec<String> {
    let mut notes = Vec::new();
    let actions = |word: &str| counts.actions.get(word).copied().unwrap_or(0);
    let cases = |word: &str| counts.cases.get(word).copied().unwrap_or(0);
    if counts.drafts_open > 0 {
        notes.push(format!("{} drafts wait for you: workagent review", counts.drafts_open));
    }
    if actions("held") > 0 {
        notes.push(format!("{} sends are held for you: workagent outbox list --state held", actions("held")));
    }
    if cases("parked") > 0 {
        notes.push(format!("{} cases are parked: workagent case list --state parked", cases("parked")));
    }
    if cases("dead") > 0 {
        notes.push(format!("{} cases were given up: workagent case list --state dead", cases("dead")));
    }
    notes
}

fn unit_view(unit: &str, status: &UnitStatus<RuntimeRecord>, plan: &Plan) -> UnitView {
    let about = About::of(unit, plan);
    let off = about.off;
    let load = match off.map(|off| off.state) {
        Some(OffState::BadSetting) => LoadState::BadSetting,
        Some(OffState::Masked) => LoadState::Masked,
        Some(OffState::Disabled | OffState::Dependency) | None => LoadState::Loaded,
    };
    let active = match status.state {
        UnitState::Inactive | UnitState::Stopped => ActiveState::Inactive,
        UnitState::Activating => ActiveState::Activating,
        UnitState::Active => ActiveState::Active,
        // It goes on by itself: the failures in a row say how it is.
        UnitState::Failed if status.next_due.is_some() => ActiveState::Active,
        UnitState::Failed => ActiveState::Failed,
    };
    // A unit without an `Off` that is inactive all the same could not be built.
    let meant_to_run = off.is_none_or(|off| matches!(off.state, OffState::BadSetting | OffState::Dependency));
    let is_seam = matches!(unit, "scheduler.runtime" | "onboarding.runtime");
    UnitView {
        unit: unit.to_owned(),
        description: about.description,
        load,
        active,
        enabled: meant_to_run && !is_seam,
        reason: off.map(|off| off.reason.clone()).or_else(|| status.reason.clone()),
        place: off.and_then(|off| off.place.as_ref()).map(ToString::to_string),
        since: Some(status.since),
        last_try: status.last_try,
        last_success: status.last_success,
        last_new_item: status.last_fresh,
        last_probe: None,
        next_due: status.next_due,
        every: about.every,
        failures_in_a_row: status.failures,
        restarts: 0,
        last_error: status.fault.as_ref().map(|fault| ErrorView {
            at: status.last_try.unwrap_or(status.since),
            class: fault.class.word().to_owned(),
            message: fault.message.clone(),
        }),
        details: status.record.as_ref().map(details).unwrap_or_default(),
    }
}

/// What the plan says of a unit.
#[derive(Default)]
struct About<'a> {
    description: String,
    off: Option<&'a Off>,
    every: Option<std::time::Duration>,
}

impl<'a> About<'a> {
    fn of(unit: &str, plan: &'a Plan) -> Self {
        let Some((name, kind)) = unit.rsplit_once('.') else { return Self::default() };
        match kind {
            "connector" => match plan.connectors.get(name) {
                Some(Standing::Active(unit)) => Self {
                    description: unit.description.clone(),
                    off: None,
                    every: Some(unit.schedule.every),
                },
                other => Self::off(other),
            },
            "engine" => match plan.engines.get(name) {
                Some(Standing::Active(unit)) => {
                    Self { description: unit.description.clone(), ..Self::default() }
                }
                other => Self::off(other),
            },
            "route" => match plan.routes.get(name) {
                Some(Standing::Active(unit)) => {
                    Self { description: unit.description.clone(), ..Self::default() }
                }
                other => Self::off(other),
            },
            "env" => Self::off(plan.envs.get(name)),
            "runtime" => Self::off(plan.runtimes.get(name)),
            _ => Self::default(),
        }
    }

    fn off<T>(standing: Option<&'a Standing<T>>) -> Self {
        match standing {
            Some(Standing::Off(off)) => Self { off: Some(off), ..Self::default() },
            _ => Self::default(),
        }
    }
}

/// What the last pass did, where it did something, and the errors it met on single cases.
fn details(record: &RuntimeRecord) -> Vec<String> {
    let mut lines = Vec::new();
    if let RuntimeSummary::Sync(sync) = &record.summary {
        lines.extend(sync.notes.iter().cloned());
    }
    lines.extend(record.errors.iter().map(|error| format!("{}: {}", error.class, error.message)));
    lines
}
