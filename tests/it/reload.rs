//! Reload in one process: real unit files, real drivers, the outcome as it is told. What the watcher adds is elsewhere.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use workagent::bundle::RunningBundle;
use workagent::control::api::Present;
use workagent::control::manager::{Manager as _, Why};
use workagent::control::wire::units::{ReloadView, UnitOrder};
use workagent::daemon::assembly::{Assembly, Options};
use workagent::daemon::logging::Log;
use workagent::daemon::paths::Paths;
use workagent::daemon::reload::{Reloader, Rooms, Start};
use workagent::daemon::service_manager::ServiceManager;
use workagent::daemon::unit_source::UnitSource;
use workagent::daemon::watch::WatchModes;
use workagent::model::case::CaseState;
use workagent::model::cycle::Activation;
use workagent::model::environment::Environment;
use workagent::model::live::Live;
use workagent::model::time::Clock;
use workagent::runtime::RuntimeRecord;
use workagent::secret::Scrubber;
use workagent::supervise::{Board, UnitStatus};
use workagent::unit::search::SearchPath;

/// A running daemon without its socket and signals.
struct Daemon {
    reloader: Reloader,
    board: Board<RuntimeRecord>,
    present: Live<Present>,
    store: workagent::store::Store,
    _lock: workagent::daemon::lock::InstanceLock,
}

impl Daemon {
    async fn start(root: &Path) -> Self {
        let environment = Environment::of([("PATH", "/usr/bin:/bin")]);
        let paths = Paths::below(root).unwrap();
        let search = SearchPath { builtin: true, dirs: vec![root.join("units")], files: Vec::new() };
        let mut files = UnitSource::new(search, &environment, &paths);
        let compiled = files.look(Clock::system().now());
        let pinned = files.pinned();
        let (clock, scrubber) = (Clock::system(), Scrubber::default());
        let options = Options { environment, paths, compiled, pinned, clock, scrubber };
        let assembly = Assembly::open(options).await.unwrap();
        let present = assembly.api_state().present;
        let Assembly { bundle, store, compiled, secrets, environment, clock, lock, .. } = assembly;
        let board = bundle.board.clone();
        let running = RunningBundle::start(bundle);
        let service = ServiceManager::of(&Environment::default());
        let rooms = Rooms {
            store: store.clone(),
            secrets,
            environment,
            log: Log::unheard(clock.clone()),
            clock,
            service,
            watched: WatchModes::default(),
            told: Arc::default(),
        };
        let reloader = Reloader::new(rooms, Start { files, compiled, running }, present.clone());
        Self { reloader, board, present, store, _lock: lock }
    }

    /// Ends in order; the same folder can be started again.
    async fn stop(self) {
        assert!(self.reloader.stop(&CancellationToken::new()).await.graceful);
        self.store.close().await;
    }

    async fn reload(&self) -> String {
        shown(&self.reloader.reload(Why::Hand, false).await.unwrap())
    }

    async fn order(&self, unit: &str, order: UnitOrder) -> String {
        match self.reloader.order(unit.to_owned(), order).await {
            Ok(view) => shown(&view),
            Err(fault) => format!("refused: {fault}\n"),
        }
    }

    fn unit(&self, unit: &str) -> UnitStatus<RuntimeRecord> {
        self.board.get(unit).unwrap()
    }

    /// Waits until a unit has done so many passes.
    async fn passes(&self, unit: &str, least: u64) {
        until(&format!("{least} passes of {unit}"), || {
            self.board.get(unit).is_some_and(|status| status.passes >= least)
        })
        .await;
    }
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Outcome and changes, without times and folders.
fn shown(view: &ReloadView) -> String {
    let word = if view.dry_run { "would be " } else { "" };
    let mut out = format!("{word}{}, generation {}\n", view.outcome.word(), view.generation);
    for change in &view.changes {
        let reason = change.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        writeln!(out, "{} {}{reason}", change.unit, change.change.word()).unwrap();
    }
    out
}

struct Folder(tempfile::TempDir);

impl Folder {
    /// Two folders to look at, an engine and a route.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for name in ["units", "a", "b"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        folder.connector("a", "1h");
        folder.connector("b", "1h");
        folder.write(
            "polite.engine.toml",
            "[engine]\nengine = \"template\"\n[template]\ntext = \"Thanks.\"\n[install]\nenabled = true\n",
        );
        folder.write("all.route.toml", "[route]\nengines = [\"polite\"]\n");
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let text = text.replace("{root}", &self.path().display().to_string());
        std::fs::write(self.path().join("units").join(name), text).unwrap();
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join("units").join(name)).unwrap();
    }

    /// A connector whose folder is not there, with more in its file.
    fn broken(&self, name: &str, more: &str) {
        self.write(
            &format!("{name}.connector.toml"),
            &format!(
                "[connector]\nplatform = \"directory\"\noutbound = \"never\"\n[directory]\npath = \"{{root}}/none\"\n\
                 [install]\nenabled = true\n{more}"
            ),
        );
    }

    fn connector(&self, name: &str, every: &str) {
        self.write(
            &format!("{name}.connector.toml"),
            &format!(
                "[connector]\nplatform = \"directory\"\noutbound = \"never\"\n[directory]\npath = \"{{root}}/{name}\"\n\
                 [schedule]\nevery = \"{every}\"\n[install]\nenabled = true\n"
            ),
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_changed_begins_anew() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    daemon.passes("a.connector", 1).await;
    daemon.passes("b.connector", 1).await;
    let before = daemon.unit("b.connector");
    folder.connector("a", "2h");
    insta::assert_snapshot!(daemon.reload().await, @r"
    applied, generation 2
    a.connector changed: schedule.every
    ");
    daemon.passes("a.connector", 1).await;
    let after = daemon.unit("b.connector");
    assert_eq!((after.since, after.passes, after.next_due), (before.since, before.passes, before.next_due));
    assert!(daemon.unit("a.connector").next_due > before.next_due);
    insta::assert_snapshot!(daemon.reload().await, @"nothing to do, generation 2");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_and_order_make_no_generation() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    folder.write(
        "all.route.toml",
        "# which goes where\n[install]\nenabled = true\n\n[route]\nengines = [ \"polite\" ]\n",
    );
    insta::assert_snapshot!(daemon.reload().await, @"nothing to do, generation 1");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_come_go_and_rest() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    std::fs::create_dir(folder.path().join("c")).unwrap();
    folder.connector("c", "1h");
    folder.remove("b.connector.toml");
    folder.write("a.connector.d.toml", "");
    folder.remove("a.connector.d.toml");
    std::fs::create_dir(folder.path().join("units/a.connector.d")).unwrap();
    folder.write("a.connector.d/enabled.toml", "[install]\nenabled = false\n");
    insta::assert_snapshot!(daemon.reload().await, @r"
    applied, generation 2
    a.connector stopped: [install] enabled = false
    b.connector removed
    c.connector added
    ");
    daemon.passes("c.connector", 1).await;
    assert!(daemon.board.get("b.connector").is_none());
    folder.remove("a.connector.d/enabled.toml");
    insta::assert_snapshot!(daemon.reload().await, @r"
    applied, generation 3
    a.connector started
    ");
    daemon.passes("a.connector", 1).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disabling_needs_no_good_version_and_a_new_bad_unit_is_off() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    folder.write("a.connector.toml", "[connector]\nplatform = \"directory\"\n[install]\nenabled = false\n");
    folder.write("new.connector.toml", "[connector]\nplatform = 3\n[install]\nenabled = true\n");
    insta::assert_snapshot!(daemon.reload().await, @r"
    applied with failures, generation 2
    a.connector stopped: [install] enabled = false
    new.connector failed: `connector.platform` takes a text, not a whole number
    ");
    daemon.passes("b.connector", 1).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_tells_and_does_nothing() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    folder.connector("a", "2h");
    let view = daemon.reloader.reload(Why::Hand, true).await.unwrap();
    insta::assert_snapshot!(shown(&view), @r"
    would be applied, generation 1
    a.connector changed: schedule.every
    ");
    assert_eq!(daemon.present.get().generation, 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_by_hand_last_until_taken_back() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    daemon.passes("a.connector", 1).await;
    let told = daemon.order("a", UnitOrder::Stop).await;
    assert!(told.contains("a.connector stopped: stopped by hand "), "{told}");
    folder.connector("a", "2h");
    insta::assert_snapshot!(daemon.reload().await, @"applied, generation 2");
    assert!(daemon.present.get().plan.why_off(&"a.connector".parse_unit()).is_some());
    insta::assert_snapshot!(daemon.order("a", UnitOrder::Start).await, @r"
    applied, generation 2
    a.connector started
    ");
    daemon.passes("a.connector", 1).await;
    insta::assert_snapshot!(daemon.order("a.connector", UnitOrder::Restart).await, @r"
    applied, generation 2
    a.connector restarted
    ");
    insta::assert_snapshot!(daemon.order("nobody", UnitOrder::Start).await, @"refused: there is no unit nobody");
    let refused = daemon.order("imap.connector", UnitOrder::Start).await;
    assert!(refused.starts_with("refused: imap.connector is off: "), "{refused}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_restart_applies_is_named_and_the_rest_applies() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    folder.write("workagent.daemon.toml", "[daemon]\nworkers = 3\n[log]\nformat = \"json\"\n");
    let told = daemon.reload().await;
    insta::assert_snapshot!(told, @r"
    applied, generation 2
    workagent.daemon changed: daemon.workers, unit.description; only after a restart of the daemon: log.format
    ");
    assert_eq!(daemon.present.get().needs_restart, ["log.format"]);
    daemon.stop().await;
}

trait ParseUnit {
    fn parse_unit(&self) -> workagent::unit::plan::UnitName;
}

impl ParseUnit for str {
    fn parse_unit(&self) -> workagent::unit::plan::UnitName {
        workagent::daemon::plans::unit_name(self).unwrap()
    }
}
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_edit_keeps_the_last_good_version_over_a_restart_until_mended() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    daemon.passes("a.connector", 1).await;
    let good = std::fs::read_to_string(folder.path().join("units/a.connector.toml")).unwrap();
    folder.write("a.connector.toml", &good.replace("every", "evry"));
    insta::assert_snapshot!(daemon.reload().await, @r"
    invalid, generation 1
    a.connector kept: unknown key `schedule.evry`
    ");
    assert!(daemon.present.get().findings_since.is_some());
    daemon.stop().await;

    let again = Daemon::start(folder.path()).await;
    again.passes("a.connector", 1).await;
    assert_eq!((again.present.get().findings, again.present.get().plan.kept.len()), (1, 1));
    // The rest can be changed meanwhile.
    folder.connector("b", "3h");
    insta::assert_snapshot!(again.reload().await, @r"
    applied with failures, generation 2
    a.connector kept: unknown key `schedule.evry`
    b.connector changed: schedule.every
    ");
    folder.write("a.connector.toml", &good.replace("1h", "2h"));
    insta::assert_snapshot!(again.reload().await, @r"
    applied, generation 3
    a.connector changed: schedule.every
    ");
    assert_eq!((again.present.get().findings, again.present.get().findings_since), (0, None));
    again.stop().await;
}

/// A folder with one note in it, and these engines, in this order, for everything.
fn with_a_note(engines: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write(
        "a.connector.toml",
        "[connector]\nplatform = \"directory\"\noutbound = \"never\"\nbacklog = \"all\"\n\
         [directory]\npath = \"{root}/a\"\nsettle = \"0s\"\n[install]\nenabled = true\n",
    );
    std::fs::write(folder.path().join("a/note.md"), "What about this?\n").unwrap();
    let names: Vec<&str> = engines.iter().map(|(name, _)| *name).collect();
    folder.write("all.route.toml", &format!("[route]\nengines = {names:?}\non = [\"refused\"]\n"));
    for (name, text) in engines {
        folder.write(&format!("{name}.engine.toml"), text);
    }
    folder
}

impl Daemon {
    /// Waits until the one case is in this state.
    async fn case_is(&self, state: CaseState) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let cases = self.store.cases(None, 10).await.unwrap();
            if cases.iter().any(|case| case.state == state) {
                return;
            }
            assert!(Instant::now() < deadline, "not {}: {cases:?}", state.word());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_case_that_no_engine_took_is_routed_anew_when_one_can() {
    let off = "[engine]\nengine = \"template\"\n[template]\ntext = \"Thanks.\"\n[install]\nenabled = false\n";
    let folder = with_a_note(&[("polite", off)]);
    let daemon = Daemon::start(folder.path()).await;
    daemon.case_is(CaseState::Parked).await;
    // A change that does not help leaves it alone.
    folder.connector("b", "2h");
    assert!(daemon.reload().await.starts_with("applied"));
    daemon.passes("ingest.runtime", 1).await;
    folder.write("polite.engine.toml", &off.replace("false", "true"));
    assert!(daemon.reload().await.starts_with("applied"));
    daemon.case_is(CaseState::Review).await;
    let case = daemon.store.cases(None, 10).await.unwrap().remove(0);
    let record = daemon.store.case_record(case.id).await.unwrap();
    let told: Vec<&str> = record.journal.iter().map(|row| row.event.as_str()).collect();
    assert_eq!(told, ["item", "parked", "woken", "routed", "claimed", "draft"]);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_case_that_falls_back_on_an_engine_that_is_gone_by_then_is_not_stuck() {
    let script = "cat >/dev/null; : >{root}/begun; while [ ! -e {root}/go ]; do sleep 0.01; done; \
                  echo '{\\\"error\\\": {\\\"class\\\": \\\"refused\\\"}}'";
    let first = format!(
        "[engine]\nengine = \"command\"\n[command]\nprogram = \"/bin/sh\"\nargs = [\"-c\", \"{script}\"]\noutput = \"json\"\n"
    );
    let second = "[engine]\nengine = \"template\"\n[template]\ntext = \"Thanks.\"\n";
    let folder = with_a_note(&[("first", &first), ("second", second)]);
    let daemon = Daemon::start(folder.path()).await;
    until("the first engine to begin", || folder.path().join("begun").exists()).await;
    folder.write("second.engine.toml", &format!("{second}[install]\nenabled = false\n"));
    assert!(daemon.reload().await.contains("second.engine stopped"));
    std::fs::write(folder.path().join("go"), "").unwrap();
    // Asked once more, the first engine refuses once more, and there is nobody else.
    daemon.case_is(CaseState::Parked).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rests_with_an_engine_that_was_stopped_is_no_failure() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path()).await;
    let told = daemon.order("polite", UnitOrder::Stop).await;
    assert!(told.starts_with("applied, generation 1\nall.route stopped: needs `polite.engine`"), "{told}");
    insta::assert_snapshot!(daemon.reload().await, @"nothing to do, generation 1");
    insta::assert_snapshot!(daemon.order("polite", UnitOrder::Start).await, @r"
    applied, generation 1
    all.route started
    polite.engine started
    ");
    daemon.stop().await;
}

/// From the last try to the next one.
fn wait_s(status: &UnitStatus<RuntimeRecord>) -> u64 {
    status.next_due.unwrap().since(status.last_try.unwrap()).as_secs()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_a_connector_is_tried_again_is_its_own_and_can_be_changed() {
    let folder = Folder::new();
    folder.broken("a", "[restart]\nconfig_first = \"10m\"\nnetwork_first = \"10m\"\n");
    let daemon = Daemon::start(folder.path()).await;
    daemon.passes("a.connector", 1).await;
    let wait = wait_s(&daemon.unit("a.connector"));
    assert!((540..=660).contains(&wait), "{wait}");
    let more =
        "config_first = \"20m\"\nnetwork_first = \"20m\"\nconfig_max = \"20m\"\nnetwork_max = \"20m\"\n";
    folder.broken("a", &format!("[restart]\n{more}"));
    insta::assert_snapshot!(daemon.reload().await, @r"
    applied, generation 2
    a.connector changed: restart.config_first, restart.config_max, restart.network_first, restart.network_max
    ");
    until("a longer wait", || {
        let status = daemon.unit("a.connector");
        status.passes == 1 && (1080..=1320).contains(&wait_s(&status))
    })
    .await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_kicks_a_connector_and_makes_the_case_of_a_timer() {
    let folder = Folder::new();
    folder.broken("a", "[unit]\non_failure = [\"b.connector\", \"tell.timer\"]\n");
    folder.write("tell.timer.toml", "[timer]\ntitle = \"a is down\"\n");
    let daemon = Daemon::start(folder.path()).await;
    daemon.passes("b.connector", 2).await;
    assert_eq!(daemon.unit("b.connector").last_activation, Some(Activation::OnFailure));
    daemon.passes("tell.timer", 1).await;
    assert_eq!(daemon.unit("tell.timer").last_activation, Some(Activation::OnFailure));
    let cases = daemon.store.cases(None, 10).await.unwrap();
    assert_eq!(cases.iter().map(|case| case.title.as_str()).collect::<Vec<_>>(), ["a is down"]);
    // It goes on failing, which is nothing new.
    let before = daemon.unit("a.connector");
    assert_eq!(before.state, workagent::supervise::UnitState::Failed);
    daemon.order("a", UnitOrder::ResetFailed).await;
    daemon.passes("a.connector", before.passes + 1).await;
    // What on_failure says is live: no driver begins anew for it.
    folder.broken("a", "[unit]\non_failure = [\"pending.runtime\"]\n");
    daemon.reload().await;
    assert_eq!(daemon.unit("b.connector").passes, 2);
    assert_eq!(daemon.store.cases(None, 10).await.unwrap().len(), 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pass_that_takes_too_long_is_cut_by_the_units_own_word() {
    let folder = Folder::new();
    let hangs = |every: &str| {
        folder.write(
            "c.connector.toml",
            &format!(
                "[connector]\nplatform = \"command\"\noutbound = \"never\"\nstop_timeout = \"1s\"\n[command]\n\
                 program = \"/bin/sh\"\nargs = [\"-c\", \"echo begun >> {{root}}/begun; exec sleep 600\"]\n\
                 timeout = \"1h\"\n[schedule]\nevery = \"{every}\"\n[install]\nenabled = true\n"
            ),
        );
    };
    let begun = || std::fs::read_to_string(folder.path().join("begun")).unwrap_or_default().lines().count();
    hangs("1h");
    let daemon = Daemon::start(folder.path()).await;
    until("the first pass", || begun() == 1).await;
    hangs("2h");
    daemon.reload().await;
    // Only when the first is over.
    until("the pass of the version after", || begun() == 2).await;
    let told = daemon.order("c", UnitOrder::Stop).await;
    assert!(told.contains("c.connector stopped"), "{told}");
    until("the end", || daemon.unit("c.connector").state == workagent::supervise::UnitState::Stopped).await;
    daemon.order("c", UnitOrder::Start).await;
    until("the third pass", || begun() == 3).await;
    let outcome = daemon.reloader.stop(&CancellationToken::new()).await;
    assert_eq!(outcome.cut, ["c.connector"]);
    daemon.store.close().await;
}
