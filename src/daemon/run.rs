//! The daemon: start everything, serve the control socket, wait for a signal, stop in order.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::assembly::Assembly;
use super::backup::units_of;
use super::clock_watch;
use super::housekeeping::Housekeeping;
use super::logging::Log;
use super::otlp::Exporter;
use super::reload::{Reloader, Rooms, Start, status_line};
use super::service_manager::ServiceManager;
use super::signals::{Orders, Signals};
use super::unit_source::UnitSource;
use super::watch::{WatchOptions, Watcher};
use crate::bundle::RunningBundle;
use crate::bundle::running::StopOutcome;
use crate::control::api::{self, ApiState};
use crate::control::listener::ControlListener;
use crate::control::manager::{Manager, Why};
use crate::control::server::{self, Fault};
use crate::control::web::site::Site;
use crate::control::wire::units::ReloadView;
use crate::diag::Counts;
use crate::supervise::Group;
use crate::unit::search::SearchEnv;

/// The tasks of the process itself end at once when told to; this is the bound.
pub(super) const PROCESS_STOP: Duration = Duration::from_secs(5);

/// Runs until a stop signal. The bundle's drivers, the control socket and the signals all end before this returns.
///
/// # Errors
/// The control socket cannot be bound.
pub async fn run(
    assembly: Assembly,
    files: UnitSource,
    signals: Signals,
    service: ServiceManager,
    log: Log,
) -> io::Result<StopOutcome> {
    let api = assembly.api_state();
    let Assembly { bundle, store, compiled, secrets, environment, paths, scrubber, clock, lock, .. } =
        assembly;
    let listener = ControlListener::bind(&paths.socket)?.refusing(crate::process::is_ours);
    let mut watcher = Watcher::new(files.search().clone(), WatchOptions::default());
    let running = RunningBundle::start(bundle);
    let (kicks, alive) = (running.kicks(), running.pulse());
    let (jumps, watched_clock) = (running.board().jumps().clone(), clock.clone());
    let status = status_line(&running, Counts::of(&compiled.findings).errors as u64);
    warn(&running, &api.warnings);
    let search_env = SearchEnv::read(&environment);
    let house = Housekeeping {
        store: store.clone(),
        paths: paths.clone(),
        units: units_of(files.search(), &search_env),
        home: search_env.home,
        present: api.present.clone(),
        clock: clock.clone(),
    };
    let process = Group::new("process");
    let site = Site::new(clock.clone(), &scrubber, process.clone());
    let exporter = Exporter::new(&log, api.present.clone(), secrets.clone(), clock.clone(), &paths.state);
    let rooms = Rooms {
        store: store.clone(),
        secrets,
        environment,
        clock: clock.clone(),
        service,
        watched: watcher.modes(),
        log: log.clone(),
        told: site.woken(),
    };
    let start = Start { files, compiled, running };
    let reloader = Reloader::new(rooms, start, api.present.clone());
    let manager: Option<Arc<dyn Manager>> = Some(Arc::new(reloader.clone()));
    let present = api.present.clone();
    let router = site.beside(api::router(ApiState { kicks, manager, daemon: true, ..api }), &scrubber);

    let orders = Orders::default();
    let end = CancellationToken::new();
    let (served, watched) = (end.clone(), end.clone());
    process.spawn("control", async move {
        if let Err(error) = server::serve(listener, router, scrubber, served).await {
            tracing::error!("the control socket failed: {error}");
        }
    });
    let paged = end.clone();
    process.spawn("site", async move {
        paged.run_until_cancelled(site.keep(present)).await;
        site.close().await;
    });
    let caught = orders.clone();
    let caught_end = end.clone();
    process.spawn("signals", async move {
        caught_end.run_until_cancelled(signals.run(&caught)).await;
    });
    let (woken, woken_end) = (Arc::new(Notify::new()), end.clone());
    let resumed = Arc::clone(&woken);
    process.spawn("clock", async move {
        let watch = clock_watch::watch(watched_clock, jumps, move || resumed.notify_one());
        woken_end.run_until_cancelled(watch).await;
    });
    let (late, late_end) = (reloader.clone(), end.clone());
    process.spawn("resume", async move {
        let look = async {
            loop {
                woken.notified().await;
                said(late.reload(Why::Resume, false).await);
            }
        };
        late_end.run_until_cancelled(look).await;
    });
    let (seen, seen_end) = (reloader.clone(), end.clone());
    process.spawn("watch", async move {
        let watch = async {
            loop {
                watcher.changed().await;
                said(seen.reload(Why::Watch, false).await);
            }
        };
        seen_end.run_until_cancelled(watch).await;
    });
    let (kept, kept_end) = (log.clone(), end.clone());
    process.spawn("log", async move {
        kept_end.run_until_cancelled(kept.keep()).await;
    });
    let exported = end.clone();
    process.spawn("otlp", async move { exporter.work(exported).await });
    let (asked, asked_end, reloads) = (reloader.clone(), end.clone(), Arc::clone(&orders.reload));
    process.spawn("reload", async move {
        let reload = async {
            loop {
                reloads.notified().await;
                said(asked.reload(Why::Signal, false).await);
            }
        };
        asked_end.run_until_cancelled(reload).await;
    });
    // In a stop, drivers end one after another, and every step of it has its deadline.
    let stopping = orders.stop.clone();
    let alive = move || stopping.is_cancelled() || alive();
    let house_end = end.clone();
    process.spawn("housekeeping", async move {
        house_end.run_until_cancelled(house.work()).await;
    });
    process.spawn("watchdog", async move { service.watchdog(alive, &watched).await });

    tracing::info!(socket = %paths.socket.display(), "running: {status}");
    service.ready(&status);
    orders.stop.cancelled().await;

    service.stopping("finishing what runs", reloader.stop_time_max().await);
    let outcome = reloader.stop(&orders.hurry).await;
    end.cancel();
    process.stop(PROCESS_STOP, &orders.hurry).await;
    super::assembly::stamp(&paths, &store).await;
    store.close().await;
    drop(lock);
    log.flush();
    tell(&outcome);
    Ok(outcome)
}

/// What is amiss from the start.
fn warn(running: &RunningBundle, warnings: &[String]) {
    if without_connectors(running) {
        tracing::warn!(
            "no connector is enabled: nothing will arrive; `workagent validate` and README.md help on"
        );
    }
    for warning in warnings {
        tracing::warn!("{warning}");
    }
}

fn tell(outcome: &StopOutcome) {
    if outcome.graceful {
        tracing::info!("stopped");
    } else {
        tracing::warn!(cut = ?outcome.cut, "stopped; what was cut goes on at the next start");
    }
}

/// A reload that could not be carried through at all; what came of one that was is in status.
fn said(result: Result<ReloadView, Fault>) {
    if let Err(fault) = result {
        tracing::error!("reload: {fault}");
    }
}

/// No connector takes part.
fn without_connectors(running: &RunningBundle) -> bool {
    running.bundle().app.sync.iter().all(|slot| slot.on().is_none())
}
