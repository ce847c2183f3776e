//! The checks over facts that were made up, and the faults of real service files.

use std::path::{Path, PathBuf};

use super::facts::{Daemon, Facts, ServiceFile, Trouble};
use super::verdict::{Level, Verdict};
use super::*;
use crate::bundle::probe::Seen;
use crate::daemon::paths::Paths;
use crate::daemon::service::show::Shown;
use crate::daemon::service::{Site, State, Supervisor, unit_file};
use crate::diag::Counts;
use crate::model::environment::Environment;
use crate::model::time::Timestamp;
use crate::secret::Scrubber;

const BAD_UNIT: &str = include_str!("../../../tests/fixtures/service/bad.service");
const BAD_PLIST: &str = include_str!("../../../tests/fixtures/service/bad.plist");

fn site(supervisor: Supervisor) -> Site {
    Site {
        supervisor,
        program: PathBuf::from("/bin/sh"),
        home: PathBuf::from("/home/me"),
        config_home: PathBuf::from("/home/me/.config"),
        user: "me".to_owned(),
        uid: 1000,
        kept: Vec::new(),
    }
}

fn running() -> State {
    State {
        file: Some(PathBuf::from("/home/me/.config/systemd/user/workagent.service")),
        at_login: true,
        word: "active".to_owned(),
        pid: Some(7),
        program: Some(PathBuf::from("/bin/sh")),
        environment: vec![("PATH".to_owned(), "/home/me/bin:/usr/bin".to_owned())],
        shown: Some(Shown::parse(
            "Type=notify\nWatchdogUSec=1min\nKillMode=mixed\nRestart=on-failure\n\
             RestartPreventExitStatus=2 65 77 78\nTimeoutStopUSec=3min 30s\n",
        )),
        ..State::default()
    }
}

/// A setup in which all is well.
fn well(root: &Path) -> Facts {
    let site = site(Supervisor::Systemd);
    let text = unit_file::render(&site, "/home/me/bin:/usr/bin").unwrap();
    let daemon =
        Daemon { pid: 7, version: env!("CARGO_PKG_VERSION").to_owned(), program: None, status: None };
    Facts {
        now: Timestamp(1_800_000_000_000),
        version: env!("CARGO_PKG_VERSION"),
        home: Some(PathBuf::from("/home/me")),
        files: vec![ServiceFile { path: site.file(), text, is_drop_in: false }],
        site: Some(site),
        state: Some(Ok(running())),
        lingers: Some(true),
        stop_s: 200,
        daemon: Ok(Some(daemon)),
        environment: Environment::of([("PATH", "/home/me/bin:/usr/bin")]),
        environment_of: "the running daemon",
        engines: vec![Seen { unit: "a.engine".into(), what: "engine", result: Ok("can be started".into()) }],
        engines_here: Vec::new(),
        findings: Counts::default(),
        units: 3,
        secrets: Ok("1 value: the file secrets.age".to_owned()),
        database: Paths::below(root).unwrap().database(),
        record: Ok(true),
        paths: Paths::below(root).unwrap(),
        scrubber: Scrubber::default(),
    }
}

/// What a check says after the facts were changed: level, what is wrong, what mends it.
fn check(name: &str, change: impl FnOnce(&mut Facts)) -> (Level, String, Option<String>) {
    let root = tempfile::tempdir().unwrap();
    let mut facts = well(root.path());
    change(&mut facts);
    let row = examine(&facts).checks.into_iter().find(|row| row.check == name).unwrap();
    let Verdict { level, wrong, mend, .. } = row.verdict;
    assert_eq!(wrong.is_empty(), mend.is_none(), "what is wrong has one command that mends it: {wrong:?}");
    (level, wrong.join("\n"), mend)
}

fn state(facts: &mut Facts) -> &mut State {
    facts.state.as_mut().unwrap().as_mut().unwrap()
}

#[test]
fn all_is_well() {
    let root = tempfile::tempdir().unwrap();
    let facts = well(root.path());
    std::fs::create_dir(&facts.paths.state).unwrap();
    let report = examine(&facts);
    for row in &report.checks {
        assert_eq!(row.verdict.level, Level::Ok, "{}: {:?}", row.check, row.verdict);
    }
    assert!(report.well);
}

#[test]
fn each_fault_of_a_bad_unit_is_found() {
    let (level, wrong, mend) = check("service-file", |facts| {
        facts.files[0].text = BAD_UNIT.to_owned();
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("workagent service install")));
    for fault in [
        "EnvironmentFile= is quoted",
        "neither ~ nor $HOME is expanded",
        "an orderly stop may take 200s",
        "no start limit",
        "KillMode=process leaves engines behind",
        "restarted on a configuration error too",
        "network-online.target means nothing here",
        "WantedBy=multi-user.target is of the system's manager",
    ] {
        assert!(wrong.contains(fault), "{fault}: {wrong}");
    }
}

#[test]
fn each_fault_of_a_bad_agent_is_found() {
    let (level, wrong, mend) = check("service-file", |facts| {
        let site = site(Supervisor::Launchd);
        facts.files = vec![ServiceFile { path: site.file(), text: BAD_PLIST.to_owned(), is_drop_in: false }];
        facts.site = Some(site);
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("workagent service install")));
    for fault in [
        "PATH holds ~ or $HOME, which launchd does not expand",
        "PATH has the system's folders only",
        "KeepAlive is true",
        "StandardErrorPath holds ~",
        "StandardErrorPath is a file that nobody bounds",
        "the program's path is of one version",
        "an ampersand must be written &amp;",
    ] {
        assert!(wrong.contains(fault), "{fault}: {wrong}");
    }
}

#[test]
fn a_drop_in_is_seen_by_its_text_and_by_what_came_of_it() {
    let path = PathBuf::from("/home/me/.config/systemd/user/workagent.service.d/mine.conf");
    let (level, wrong, mend) = check("service-file", |facts| {
        let text = "[Service]\nKillMode=process\n".to_owned();
        facts.files.push(ServiceFile { path: path.clone(), text, is_drop_in: true });
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("systemctl --user edit workagent")));
    assert_eq!(wrong, "mine.conf: KillMode=process leaves engines behind when the daemon is gone");
    let (level, wrong, mend) = check("service-settings", |facts| {
        let state = state(facts);
        state.drop_ins = vec![path];
        state.shown = Some(Shown::parse("Type=notify\nKillMode=process\nTimeoutStopUSec=5s"));
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("systemctl --user edit workagent")));
    assert!(wrong.contains("KillMode=process") && wrong.contains("a stop is cut after 5s"), "{wrong}");
}

#[test]
fn a_stale_path_of_the_program() {
    let (level, wrong, mend) = check("service-file", |facts| {
        facts.files[0].text = facts.files[0].text.replace("/bin/sh", "/opt/gone/workagent");
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("workagent service install")));
    assert_eq!(wrong, "it starts /opt/gone/workagent, which is not there");
    let (_, wrong, _) = check("service-file", |facts| {
        facts.files[0].text = facts.files[0].text.replace("WatchdogSec=60s", "WatchdogSec=600s");
    });
    assert_eq!(wrong, "this version would write it with another WatchdogSec");
    let (_, wrong, mend) = check("service-settings", |facts| state(facts).is_stale = true);
    assert!(wrong.contains("still goes by the old ones"), "{wrong}");
    assert_eq!(mend.as_deref(), Some("systemctl --user daemon-reload"));
}

#[test]
fn no_bus_and_no_manager() {
    let (level, wrong, _) = check("manager", |facts| {
        let text = "the user's service manager does not answer".to_owned();
        facts.state = Some(Err(Trouble { text, hint: Some("log in".to_owned()) }));
    });
    assert_eq!((level, wrong.lines().count()), (Level::Problem, 2));
    let nobody = |facts: &mut Facts| (facts.site, facts.state, facts.lingers) = (None, None, None);
    for name in ["manager", "service", "service-file", "service-settings", "linger", "path", "environment"] {
        assert_eq!(check(name, nobody).0, Level::NotApplicable, "{name}");
    }
}

#[test]
fn a_service_that_is_off_absent_or_failed() {
    let told = |change: &dyn Fn(&mut State)| check("service", |facts| change(state(facts)));
    let (level, _, mend) = told(&|state| state.off = Some("masked".to_owned()));
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("systemctl --user unmask workagent")));
    let (level, _, mend) = told(&|state| (state.file, state.pid) = (None, None));
    assert_eq!((level, mend.as_deref()), (Level::Warning, Some("workagent service install")));
    let (level, wrong, mend) = told(&|state| state.why_not = Some("failed, exit code 78".to_owned()));
    assert_eq!((level, wrong.as_str()), (Level::Problem, "failed, exit code 78"));
    assert!(mend.unwrap().starts_with("journalctl --user -u workagent"));
    assert_eq!(told(&|state| state.at_login = false).0, Level::Warning);
    assert_eq!(told(&|state| state.restarts = Some(3)).0, Level::Warning);
}

#[test]
fn lingering_and_what_follows() {
    let (level, wrong, mend) = check("linger", |facts| facts.lingers = Some(false));
    assert_eq!((level, mend.as_deref()), (Level::Warning, Some("loginctl enable-linger")));
    assert!(wrong.contains("when you log out the service ends"), "{wrong}");
}

#[test]
fn an_engine_that_the_service_does_not_find() {
    let missing = "start `fake`: not found on the PATH of the child, which is `/usr/bin:/bin`";
    let seen = |result: Result<&str, &str>| {
        let result = result.map(str::to_owned).map_err(str::to_owned);
        vec![Seen { unit: "fake.engine".into(), what: "engine", result }]
    };
    let (level, wrong, mend) = check("engines", |facts| {
        facts.engines = seen(Err(missing));
        facts.engines_here = seen(Ok("fine"));
    });
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("workagent service install")));
    assert!(wrong.contains("fake.engine: start `fake`") && wrong.contains("`/usr/bin:/bin`"), "{wrong}");
    let (_, _, mend) = check("engines", |facts| facts.engines = seen(Err(missing)));
    assert_eq!(mend.as_deref(), Some("workagent edit fake.engine"));
}

#[test]
fn paths_and_variables_that_mean_something_else() {
    let with_path =
        |path: &'static str| check("path", |facts| facts.environment = Environment::of([("PATH", path)]));
    let (level, wrong, _) = with_path("$HOME/bin:/usr/bin");
    assert!(level == Level::Problem && wrong.contains("`$HOME/bin` is taken to the letter"), "{wrong}");
    assert_eq!(with_path("/usr/bin:/bin").0, Level::Warning);
    let (level, wrong, mend) = check("environment", |facts| {
        state(facts).environment =
            vec![("KEY".to_owned(), "canary # mine".to_owned()), ("OTHER".to_owned(), "canary\r".to_owned())];
    });
    assert_eq!((level, wrong.lines().count()), (Level::Warning, 2));
    assert!(!wrong.contains("canary"), "{wrong}");
    assert_eq!(mend.as_deref(), Some("systemctl --user edit workagent"));
}

#[test]
fn the_daemon_that_answers() {
    let (level, wrong, mend) = check("daemon", |facts| facts.daemon = Ok(None));
    assert_eq!((level, mend.as_deref()), (Level::Problem, Some("workagent service restart")));
    assert!(wrong.contains("not running"), "{wrong}");
    let (level, wrong, _) = check("daemon", |facts| {
        let daemon = facts.daemon.as_mut().unwrap().as_mut().unwrap();
        daemon.version = "0.0.1".to_owned();
        daemon.program = Some((PathBuf::from("/opt/workagent"), true));
        daemon.pid = 8;
    });
    assert_eq!((level, wrong.lines().count()), (Level::Warning, 3), "{wrong}");
}

#[test]
fn units_secrets_and_the_state_folder() {
    let counts = Counts { errors: 2, warnings: 1, ..Counts::default() };
    let (level, wrong, mend) = check("units", |facts| facts.findings = counts);
    assert_eq!((level, wrong.lines().count()), (Level::Problem, 2));
    assert_eq!(mend.as_deref(), Some("workagent validate"));
    let (level, ..) = check("secrets", |facts| facts.secrets = Err("damaged".to_owned()));
    assert_eq!(level, Level::Problem);
    let (level, wrong, mend) = check("state-folder", |facts| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::create_dir(&facts.paths.state).unwrap();
        std::fs::set_permissions(&facts.paths.state, std::fs::Permissions::from_mode(0o777)).unwrap();
    });
    assert_eq!(
        (level, wrong.as_str()),
        (Level::Problem, "others can write in it: the daemon does not start")
    );
    assert!(mend.unwrap().starts_with("chmod go-w "));
}

#[test]
fn a_screen_of_80_columns() {
    let root = tempfile::tempdir().unwrap();
    let mut facts = well(root.path());
    facts.lingers = Some(false);
    facts.secrets = Ok("1 value".to_owned());
    let text = shown(&examine(&facts), Paint { colour: false }, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let linger: Vec<&str> = text.lines().skip_while(|line| !line.contains("after logout")).take(4).collect();
    insta::assert_snapshot!(linger.join("\n"), @r#"
    warning  after logout         lingering of me (/var/lib/systemd/linger/me)
             lingering is off: when you log out the service ends, and nothing is
             read or sent until you log in again
             mend: loginctl enable-linger
    "#);
    assert!(text.ends_with("\n0 problems, 1 warning\n"), "{text}");
}

#[test]
fn json_is_stable() {
    let root = tempfile::tempdir().unwrap();
    let mut facts = well(root.path());
    facts.lingers = Some(false);
    let report = serde_json::to_value(examine(&facts)).unwrap();
    assert_eq!((&report["version"], &report["well"]), (&1.into(), &true.into()));
    let linger = report["checks"].as_array().unwrap().iter().find(|row| row["check"] == "linger").unwrap();
    assert_eq!(linger["level"], "warning");
    assert_eq!(linger["mend"], "loginctl enable-linger");
    assert!(linger["wrong"].as_array().unwrap().len() == 1 && linger["looked_at"].is_string());
}

#[test]
fn a_record_that_cannot_be_used_and_one_in_a_bad_place_are_told() {
    let (level, wrong, mend) =
        check("record", |facts| facts.record = Err("the database x is damaged".into()));
    assert_eq!((level, wrong.as_str()), (Level::Problem, "the database x is damaged"));
    assert_eq!(mend.as_deref(), Some("workagent status"));
    let (level, wrong, _) = check("record-place", |facts| {
        let folder = facts.database.parent().unwrap().join("Dropbox");
        std::fs::create_dir_all(&folder).unwrap();
        facts.database = folder.join("w.db");
    });
    assert!(level == Level::Warning && wrong.contains("by Dropbox"), "{wrong}");
}
