//! The control API's handlers: what people and channels may ask of a daemon. The same router answers on the socket and,
//! when no daemon runs, inside a command that holds the instance lock itself.

mod cases;
mod channels;
mod cost;
mod digest;
mod journal;
mod log;
mod metrics;
mod outbox;
mod pause;
mod purge;
mod repairs;
mod review;
mod secrets;
mod status;
mod trust;
mod units;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde::de::DeserializeOwned;

use super::manager::Manager;
use super::server::Fault;
use super::wire::{Hello, Mode};
use crate::model::class::chain;
use crate::model::cycle::Activation;
use crate::model::live::Live;
use crate::model::time::{Clock, Timestamp};
use crate::runtime::RuntimeRecord;
use crate::runtime::notices::{ChannelLoop, Troubles};
use crate::runtime::review::ReviewDesk;
use crate::runtime::rotation::Rotator;
use crate::secret::scrub::Scrubber;
use crate::secret::secrets::Secrets;
use crate::store::{Store, StoreError};
use crate::supervise::{Board, Kicks};
use crate::unit::plan::Plan;

/// What the handlers work with.
pub struct ApiState {
    /// The record.
    pub store: Store,
    /// Where decisions are made.
    pub desk: ReviewDesk,
    /// The loops of the channels that are on, by unit name.
    pub channels: Live<BTreeMap<String, Arc<ChannelLoop>>>,
    /// Where channels ask what is wrong beside drafts and cases.
    pub troubles: Troubles,
    /// Where secrets are kept.
    pub secrets: Secrets,
    /// Replaces them.
    pub rotator: Arc<Rotator>,
    /// What each unit is doing.
    pub board: Board<RuntimeRecord>,
    /// Runs one cycle of a unit now; empty when no daemon runs.
    pub kicks: Live<Kicks>,
    /// What runs now.
    pub present: Live<Present>,
    /// Takes orders to units; `None` when no daemon runs.
    pub manager: Option<Arc<dyn Manager>>,
    /// A daemon runs (this is not a command on its own).
    pub daemon: bool,
    /// When it started.
    pub started_at: Timestamp,
    /// Now.
    pub clock: Clock,
    /// Masks secrets.
    pub scrubber: Scrubber,
    /// What is to be said of the place where the record lies.
    pub warnings: Vec<String>,
}

/// What runs now; replaced by each reload.
#[derive(Clone, Debug)]
pub struct Present {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Its number.
    pub generation: i64,
    /// Live or rehearsal.
    pub mode: Mode,
    /// Errors in unit files.
    pub findings: u64,
    /// Since when there are any.
    pub findings_since: Option<Timestamp>,
    /// The generation that plans are pinned to.
    pub pinned: Option<i64>,
    /// The target that was isolated.
    pub target: Option<String>,
    /// Keys that differ from what the daemon started with and cannot change while it runs.
    pub needs_restart: Vec<String>,
}

impl Present {
    /// A plan under its number, with so many errors in unit files.
    #[must_use]
    pub fn new(plan: Arc<Plan>, generation: i64, findings: u64) -> Self {
        let mode = if plan.daemon.rehearsal { Mode::Rehearsal } else { Mode::Live };
        Self {
            plan,
            generation,
            mode,
            findings,
            findings_since: None,
            pinned: None,
            target: None,
            needs_restart: Vec::new(),
        }
    }
}

type Shared = State<Arc<ApiState>>;
type Reply<T> = Result<Json<T>, Fault>;

/// All routes.
pub fn router(state: ApiState) -> Router {
    let state = Arc::new(state);
    repairs::tell(&state);
    Router::new()
        .route("/v1/hello", get(hello))
        .route("/v1/status", get(status::status))
        .route("/v1/metrics", get(metrics::json))
        .route("/metrics", get(metrics::plain))
        .route("/v1/channels", get(channels::list))
        .route("/v1/channels/{channel}", get(channels::show))
        .route("/v1/channels/{channel}/pair", post(channels::pair))
        .route("/v1/channels/{channel}/unpair", post(channels::unpair))
        .route("/v1/cases", get(cases::list))
        .route("/v1/cases/{id}", get(cases::show))
        .route("/v1/cases/{id}/prompt", get(cases::prompt))
        .route("/v1/cases/{id}/route", get(cases::route))
        .route("/v1/cases/{id}/replay", post(cases::replay))
        .route("/v1/replays/{id}", get(cases::replayed))
        .route("/v1/cases/{id}/retry", post(cases::retry))
        .route("/v1/cases/{id}/dismiss", post(cases::dismiss))
        .route("/v1/cases/{id}/take-over", post(cases::take_over))
        .route("/v1/parked", get(repairs::parked))
        .route("/v1/repairs", get(repairs::list))
        .route("/v1/cases/{id}/answer", post(cases::answer))
        .route("/v1/cost", get(cost::cost))
        .route("/v1/digest", get(digest::digest))
        .route("/v1/journal", get(journal::newest))
        .route("/v1/cases/{id}/propose", post(cases::propose))
        .route("/v1/reviews", get(review::list))
        .route("/v1/reviews/{id}", get(review::show))
        .route("/v1/reviews/{id}/edit", post(review::edit))
        .route("/v1/reviews/{id}/approve", post(review::approve))
        .route("/v1/reviews/{id}/reject", post(review::reject))
        .route("/v1/reviews/{id}/defer", post(review::defer))
        .route("/v1/outbox", get(outbox::list))
        .route("/v1/outbox/{id}/cancel", post(outbox::cancel))
        .route("/v1/outbox/{id}/release", post(outbox::release))
        .route("/v1/secrets", get(secrets::list))
        .route("/v1/secrets/changed", post(secrets::changed))
        .route("/v1/secrets/rotate", post(secrets::rotate))
        .route("/v1/outbox/{id}/dismiss", post(outbox::dismiss))
        .route("/v1/connectors/{connector}/purge", get(purge::look).post(purge::purge))
        .route("/v1/trust", get(trust::list))
        .route("/v1/pause", post(pause::pause))
        .route("/v1/resume", post(pause::resume))
        .route("/v1/kick/{unit}", post(kick))
        .route("/v1/reload", post(units::reload))
        .route("/v1/log-levels", get(log::levels).post(log::set))
        .route("/v1/watched", get(units::watched))
        .route("/v1/units/{unit}/{order}", post(units::order))
        .route("/v1/isolate/{target}", post(units::isolate))
        .with_state(state)
}

async fn hello() -> Json<Hello> {
    Json(Hello::ours())
}

async fn kick(State(state): Shared, Path(unit): Path<String>) -> Reply<()> {
    if let Some(engine) = unit.strip_suffix(".engine")
        && state.daemon
        && let plan = state.present.get().plan.clone()
        && let Some((engines, account)) = plan.sharing(engine)
    {
        // An engine runs when a case is there for it; what it can be spared is waiting.
        state.store.end_rests(engines, &account).await?;
        return Ok(Json(()));
    }
    let kicks = state.kicks.get();
    match kicks.get(&unit) {
        Some(kick) => {
            kick.now(Activation::Manual);
            hasten(&state, &unit).await?;
            Ok(Json(()))
        }
        None if !state.daemon => {
            let fault = Fault::not_found(format!("the daemon is not running, so {unit} cannot run now"));
            Err(fault.hint("start it with `workagent run`, or do one cycle with `workagent run --once`"))
        }
        None => {
            let like = kicks.keys().find(|name| name.split('.').next() == Some(unit.as_str()));
            let fault = Fault::not_found(format!("there is no running unit {unit}"));
            Err(match like {
                Some(name) => fault.hint(format!("did you mean {name}?")),
                None => fault.hint("workagent status lists the units"),
            })
        }
    }
}

/// A person wants it now: what the connector tried to send and put off goes out again too.
async fn hasten(state: &ApiState, unit: &str) -> Result<(), StoreError> {
    if let Some(connector) = unit.strip_suffix(".connector") {
        state.store.hasten_sends(connector).await?;
    }
    Ok(())
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotFound { .. } => Self::not_found(error.to_string()),
            StoreError::Refused { .. } | StoreError::LeaseLost(_) => Self::refused(error.to_string()),
            _ => Self::new(StatusCode::SERVICE_UNAVAILABLE, "network", chain(&error)),
        }
    }
}

/// An id from a path.
fn id<T: std::str::FromStr<Err = crate::model::ids::BadId>>(text: &str) -> Result<T, Fault> {
    text.parse().map_err(|error: crate::model::ids::BadId| Fault::usage(error.to_string()))
}

/// A state word from a query.
fn state_word<T: DeserializeOwned>(word: Option<&str>) -> Result<Option<T>, Fault> {
    let Some(word) = word else { return Ok(None) };
    match serde_json::from_value(serde_json::Value::String(word.to_owned())) {
        Ok(state) => Ok(Some(state)),
        Err(_) => Err(Fault::usage(format!("`{word}` is not a state"))),
    }
}
