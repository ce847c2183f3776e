//! Status: the board, the plan and the record, put together for a glance. Everything shown as running carries an age.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;

use super::{ApiState, Present, Reply, Shared};
use crate::control::health::Health;
use crate::control::wire::cost::BudgetView;
use crate::control::wire::{
    API_VERSION, ActiveState, CountsView, ErrorView, LoadState, RestView, StatusView, UnitView,
};
use crate::model::cycle::RuntimeSummary;
use crate::model::money::shown_usd;
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Timestamp, short_span};
use crate::runtime::RuntimeRecord;
use crate::runtime::onboarding::{self, OnboardingRuntime, SetUp};
use crate::store::{Counts, Rests, StoreError};
use crate::supervise::{UnitState, UnitStatus};
use crate::unit::plan::{ConnectorUnit, EngineUnit, Off, OffState, Plan, Standing};

pub(super) async fn status(State(state): Shared) -> Reply<StatusView> {
    Ok(Json(view(&state).await?))
}

pub(super) async fn view(state: &Arc<ApiState>) -> Result<StatusView, StoreError> {
    let now = state.clock.now();
    let present = state.present.get();
    let rests = state.store.rests().await?;
    let refused = state.store.refused_sends().await?;
    let mut units = Vec::new();
    for (unit, status) in state.board.all() {
        let mut shown = unit_view(&unit, &status, &present.plan);
        if let Some(name) = unit.strip_suffix(".connector")
            && let Some(known) = state.store.sync_state(name).await?
        {
            shown.last_new_item = known.last_new_item_at;
            shown.details.extend(known_items(known.items_known, known.items_baseline));
        }
        if let Some(name) = unit.strip_suffix(".connector")
            && let Some(Standing::Active(connector)) = present.plan.connectors.get(name)
            && connector.shadow
        {
            shown.details.insert(0, "shadow: reads and drafts, and nothing is really sent".to_owned());
        }
        if let Some(name) = unit.strip_suffix(".connector")
            && let Some(why) = refused.get(name)
            && let Some(Standing::Active(connector)) = present.plan.connectors.get(name)
        {
            refused_send(&mut shown, connector, why);
        }
        if let Some(name) = unit.strip_suffix(".engine")
            && let Some(Standing::Active(engine)) = present.plan.engines.get(name)
        {
            resting(&mut shown, engine, &rests);
        }
        shown.health = Some(shown.judged(now));
        if !state.daemon {
            without_daemon(&mut shown);
        }
        units.push(shown);
    }
    units.sort_by_key(|unit| (rank(&unit.unit), unit.unit.clone()));
    let budgets = super::cost::budgets(state, &present.plan, now).await?;
    let near: Vec<String> = budgets.iter().filter(|budget| budget.near).map(near).collect();
    let record = record(state, now).await?;
    let counts = state.store.counts().await?;
    let pauses = state.store.pauses().await?;
    let next = next_steps(state, &present.plan, &counts);
    let counts: CountsView = counts.into();
    Ok(StatusView {
        api: API_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        running: state.daemon,
        pid: state.daemon.then(std::process::id),
        generation: present.generation,
        mode: present.mode,
        paused: pauses.all.is_some(),
        pauses,
        started_at: state.daemon.then_some(state.started_at),
        now,
        units,
        notes: [notes(&counts), next, near, super::secrets::unwell(state), situation(&present), record]
            .concat(),
        secret_stores: state.secrets.standings().into_iter().map(Into::into).collect(),
        budgets,
        counts,
        findings: present.findings,
        findings_since: present.findings_since,
        pinned: present.pinned,
        target: present.target.clone(),
    })
}

/// What is next in setting up, unless the unit that would say so is off.
fn next_steps(state: &ApiState, plan: &Plan, counts: &Counts) -> Vec<String> {
    let word = OnboardingRuntime::UNIT.trim_end_matches(".runtime");
    if matches!(plan.runtimes.get(word), Some(Standing::Off(_))) {
        return Vec::new();
    }
    let setup = SetUp::of(plan);
    let steps = onboarding::steps(&setup, counts, &setup.logged_out(&state.board));
    steps.iter().map(ToString::to_string).collect()
}

/// "412 items known, 400 of them from before it was switched on".
fn known_items(known: u64, before: u64) -> Option<String> {
    let items = counted(known, "item", "items");
    match (known, before) {
        (0, _) => None,
        (_, 0) => Some(format!("{items} known")),
        _ => Some(format!("{items} known, {before} of them from before it was switched on")),
    }
}

/// It may read well and yet not send: that is no health.
fn refused_send(shown: &mut UnitView, connector: &ConnectorUnit, why: &str) {
    let next = match connector.settings.secrets().first() {
        Some(SecretRef::Stored(name)) => {
            format!("a send waits for another login: workagent secret set {name}")
        }
        Some(SecretRef::Env(name)) => {
            format!("a send waits for another login: set {name} in the daemon's environment and restart it")
        }
        None => format!("a send waits for another login; once mended: workagent kick {}", shown.unit),
    };
    shown.failures_in_a_row = shown.failures_in_a_row.max(1);
    let message = format!("a send was refused: {why}");
    shown.last_error = Some(ErrorView { at: None, class: "auth".to_owned(), message });
    shown.details.insert(0, next);
}

/// No case is given to the engine for a while. The record says so also after a restart, when the board has forgotten
/// the failure.
fn resting(shown: &mut UnitView, engine: &EngineUnit, rests: &Rests) {
    if rests.is_probed(&engine.name) {
        shown.details.push("failed several times; the next case shows whether it is well again".to_owned());
    }
    let Some(rest) = rests.of(&engine.name, &engine.account) else { return };
    shown.next_due = Some(rest.until);
    shown.rest = Some(RestView {
        until: rest.until,
        reason: rest.reason.clone(),
        account: rest.shared.then(|| engine.account.clone()),
    });
    if rest.shared && engine.account != shown.unit {
        let account = &engine.account;
        shown.details.push(format!("the account rests: {account}; `workagent kick {}` ends it", shown.unit));
    }
    if shown.last_error.is_none() {
        let (class, message) = rest.reason.split_once(": ").unwrap_or(("", &rest.reason));
        shown.failures_in_a_row = shown.failures_in_a_row.max(1);
        let (class, message) = (class.to_owned(), message.to_owned());
        shown.last_error = Some(ErrorView { at: None, class, message });
    }
}

/// What was built to be looked at runs nothing and has no times of its own.
fn without_daemon(shown: &mut UnitView) {
    (shown.since, shown.next_due) = (None, None);
    if !matches!(shown.health, Some(Health::Off | Health::Broken)) {
        (shown.active, shown.health) = (ActiveState::Inactive, Some(Health::Stopped));
    }
}

/// Connectors first, then engines, routes, environments, runtimes.
fn rank(unit: &str) -> usize {
    ["connector", "timer", "engine", "route", "env", "channel", "secret", "target", "runtime"]
        .iter()
        .position(|kind| unit.ends_with(kind))
        .unwrap_or(usize::MAX)
}

/// What waits for the user, with the command that shows it.
pub(super) fn notes(counts: &CountsView) -> Vec<String> {
    let actions = |word: &str| counts.actions.get(word).copied().unwrap_or(0);
    let cases = |word: &str| counts.cases.get(word).copied().unwrap_or(0);
    [
        (counts.drafts_open, "draft waits for you", "drafts wait for you", "review"),
        (actions("held"), "send is held for you", "sends are held for you", "outbox list --state held"),
        (actions("dead"), "send was given up", "sends were given up", "outbox list --state dead"),
        (cases("parked"), "case is parked", "cases are parked", "case list --state parked"),
        (cases("dead"), "case was given up", "cases were given up", "case list --state dead"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, more, command)| format!("{}: workagent {command}", counted(count, one, more)))
    .collect()
}

/// A cap that is reached, or nearly.
fn near(budget: &BudgetView) -> String {
    let BudgetView { unit, span, spent_micro_usd, micro_usd_max, .. } = budget;
    let whose = if unit == "workagent.daemon" { "all engines have" } else { &format!("{unit} has") };
    let (spent, most) = (shown_usd(*spent_micro_usd), shown_usd(*micro_usd_max));
    format!("{whose} spent {spent} of {most} USD {span}: workagent cost")
}

/// What keeps the daemon from running as the unit files say.
fn situation(present: &Present) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(pinned) = present.pinned {
        notes.push(format!("pinned to generation {pinned}, edits wait: workagent plan unpin"));
    }
    if let Some(target) = &present.target {
        notes.push(format!("only {target}.target runs: workagent isolate default"));
    }
    if !present.needs_restart.is_empty() {
        let keys = present.needs_restart.join(", ");
        notes.push(format!("changed, but only a restart of the daemon applies it: {keys}"));
    }
    notes
}

/// So long it is told that an earlier state was put back.
const RESTORED_TOLD: Duration = Duration::from_secs(7 * 86_400);

/// What a person should know of the record itself.
async fn record(state: &Arc<ApiState>, now: Timestamp) -> Result<Vec<String>, StoreError> {
    let mut notes = state.warnings.clone();
    if let Some(restored) =
        state.store.last_restore().await?.filter(|restored| now.since(restored.at) < RESTORED_TOLD)
    {
        let span = short_span(now.since(restored.at));
        notes.push(format!("put back {span} ago ({}): what came in before waits for you", restored.why));
    }
    notes.extend(state.store.flag("backup-failed").await?);
    Ok(notes)
}

/// "1 item", "2 items".
fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn unit_view(unit: &str, status: &UnitStatus<RuntimeRecord>, plan: &Plan) -> UnitView {
    let about = About::of(unit, plan);
    let off = about.off;
    let load = match off.map(|off| off.state) {
        Some(OffState::BadSetting) => LoadState::BadSetting,
        Some(OffState::Masked) => LoadState::Masked,
        // In the plan, and inactive all the same: it could not be built.
        None if status.state == UnitState::Inactive => LoadState::BadSetting,
        Some(OffState::Disabled | OffState::Dependency | OffState::Condition | OffState::Stopped) | None => {
            LoadState::Loaded
        }
    };
    let active = match status.state {
        UnitState::Inactive | UnitState::Stopped => ActiveState::Inactive,
        UnitState::Activating => ActiveState::Activating,
        UnitState::Active => ActiveState::Active,
        // It goes on by itself: the failures in a row say how it is. Engines are asked by the next case.
        UnitState::Failed if status.next_due.is_some() || unit.ends_with(".engine") => ActiveState::Active,
        UnitState::Failed => ActiveState::Failed,
    };
    let meant_to_run = off.is_none_or(|off| matches!(off.state, OffState::BadSetting | OffState::Dependency));
    let reason = match off {
        Some(off) => Some(off.reason.clone()),
        None => status.reason.as_ref().map(|reason| {
            let words = [OffState::BadSetting, OffState::Disabled].map(|state| format!("{}: ", state.word()));
            let bare = words.iter().find_map(|word| reason.strip_prefix(word.as_str()));
            bare.unwrap_or(reason).to_owned()
        }),
    };
    UnitView {
        description: about.description,
        load,
        active,
        enabled: meant_to_run,
        reason,
        place: off.and_then(|off| off.place.as_ref()).map(ToString::to_string),
        since: Some(status.since),
        running_since: status.running_since,
        last_try: status.last_try,
        last_success: status.last_success,
        last_new_item: status.last_fresh,
        next_due: status.next_due,
        every: about.every,
        kept: about.kept,
        replies: about.replies,
        failures_in_a_row: status.failures,
        restarts: status.panics,
        last_error: status.fault.as_ref().map(|fault| ErrorView {
            at: status.last_try,
            class: fault.word.to_owned(),
            message: fault.message.clone(),
        }),
        details: status.record.as_ref().map(details).unwrap_or_default(),
        ..UnitView::active(unit)
    }
}

/// What the plan says of a unit.
#[derive(Default)]
struct About<'a> {
    description: String,
    off: Option<&'a Off>,
    every: Option<Duration>,
    kept: Option<String>,
    replies: Option<String>,
}

impl<'a> About<'a> {
    fn of(unit: &str, plan: &'a Plan) -> Self {
        let about = Self::standing(unit, plan);
        let kept = plan.kept.iter().find(|(name, _)| name.to_string() == unit).map(|(_, off)| off);
        let kept = kept.map(|off| match &off.place {
            Some(place) => format!("{} ({place})", off.reason),
            None => off.reason.clone(),
        });
        Self { kept, ..about }
    }

    fn standing(unit: &str, plan: &'a Plan) -> Self {
        let Some((name, kind)) = unit.rsplit_once('.') else { return Self::default() };
        match kind {
            "connector" => match plan.connectors.get(name) {
                Some(Standing::Active(unit)) => Self {
                    description: unit.description.clone(),
                    off: None,
                    every: unit.schedule.every,
                    kept: None,
                    replies: Some(unit.guarantee.line()),
                },
                other => Self::off(other),
            },
            "timer" => match plan.timers.get(name) {
                Some(Standing::Active(unit)) => {
                    Self { description: unit.description.clone(), ..Self::default() }
                }
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
            "channel" => match plan.channels.get(name) {
                Some(Standing::Active(unit)) => {
                    Self { description: unit.description.clone(), ..Self::default() }
                }
                other => Self::off(other),
            },
            "secret" => Self::off(plan.secrets.get(name)),
            "target" => Self::off(plan.targets.get(name)),
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
    match &record.summary {
        RuntimeSummary::Sync(sync) => lines.extend(sync.notes.iter().cloned()),
        RuntimeSummary::Channel(channel) => lines.extend(channel.notes.iter().cloned()),
        RuntimeSummary::Rotation(rotation) => lines.extend(rotation.notes.iter().cloned()),
        RuntimeSummary::Scheduler(timer) if timer.passed_over > 0 => {
            lines.push(format!("passed over {}", counted(timer.passed_over, "missed time", "missed times")));
        }
        _ => {}
    }
    // What happened to an engine's cases is told with the engine.
    let own = record.errors.iter().filter(|error| !error.unit.ends_with(".engine"));
    lines.extend(own.map(|error| format!("{}: {}", error.class, error.message)));
    lines
}
