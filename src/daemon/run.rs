//! The daemon: start everything, serve the control socket, wait for a signal, stop in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::assembly::Assembly;
use super::clock_watch;
use super::service_manager::ServiceManager;
use super::signals::{Orders, Signals};
use crate::bundle::RunningBundle;
use crate::bundle::running::StopOutcome;
use crate::control::api::{self, ApiState};
use crate::control::listener::ControlListener;
use crate::control::server;
use crate::supervise::Group;

/// The tasks of the process itself end at once when told to; this is the bound.
const PROCESS_STOP: Duration = Duration::from_secs(5);

/// Runs until a stop signal. The bundle's drivers, the control socket and the signals all end before this returns.
///
/// # Errors
/// The control socket cannot be bound.
pub async fn run(assembly: Assembly, signals: Signals, service: ServiceManager) -> io::Result<StopOutcome> {
    let api = assembly.api_state();
    let Assembly { bundle, store, paths, scrubber, lock, clock, .. } = assembly;
    let listener = ControlListener::bind(&paths.socket)?;
    let drain = bundle.plan.daemon.stop_timeout;
    let units = bundle.plan.sources.len();
    let running = RunningBundle::start(bundle);
    let kicks: BTreeMap<_, _> =
        running.kicks().iter().map(|(unit, kick)| (unit.clone(), Arc::clone(kick))).collect();
    let router = api::router(ApiState { kicks, daemon: true, ..api });

    let orders = Orders::default();
    let end = CancellationToken::new();
    let process = Group::new("process");
    let (served, watched) = (end.clone(), end.clone());
    process.spawn("control", async move {
        if let Err(error) = server::serve(listener, router, scrubber, served).await {
            tracing::error!("the control socket failed: {error}");
        }
    });
    let caught = orders.clone();
    let caught_end = end.clone();
    process.spawn("signals", async move {
        caught_end.run_until_cancelled(signals.run(&caught)).await;
    });
    let (jumps, clock_end) = (running.board().jumps().clone(), end.clone());
    process.spawn("clock", async move {
        clock_end.run_until_cancelled(clock_watch::watch(clock, jumps, || ())).await;
    });
    let alive = running.pulse();
    process.spawn("watchdog", async move { service.watchdog(alive, &watched).await });

    let status = format!("{units} unit files, generation {}", running.bundle().generation);
    if without_connectors(&running) {
        tracing::warn!(
            "no connector is enabled: nothing will arrive; `workagent validate` and README.md help on"
        );
    }
    tracing::info!(socket = %paths.socket.display(), "running: {status}");
    service.ready(&status);
    orders.stop.cancelled().await;

    service.stopping("finishing what runs");
    let outcome = running.stop(drain, &orders.hurry).await;
    end.cancel();
    process.stop(PROCESS_STOP, &orders.hurry).await;
    store.close().await;
    drop(lock);
    if outcome.graceful {
        tracing::info!("stopped");
    } else {
        tracing::warn!(cut = ?outcome.cut, "stopped; what was cut goes on at the next start");
    }
    Ok(outcome)
}

/// No connector takes part.
fn without_connectors(running: &RunningBundle) -> bool {
    running.bundle().app.sync.iter().all(|slot| slot.on().is_none())
}
