//! What became of the service: as its supervisor tells it, not as its file reads.

use std::path::{Path, PathBuf};

use super::calls::{Caller, QUICK};
use super::launchctl::{Job, is_disabled};
use super::show::Shown;
use super::site::LABEL;
use super::starts::{GivenUp, Tally};
use super::{ServiceError, Site, Supervisor, exit_meaning, plist, systemd};
use crate::model::environment::Environment;

/// The service at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The file that counts, if there is one.
    pub file: Option<PathBuf>,
    /// Drop-ins over it.
    pub drop_ins: Vec<PathBuf>,
    /// It is started at each login.
    pub at_login: bool,
    /// The supervisor's word: `active`, `running`, `failed`, `not loaded`.
    pub word: String,
    /// The daemon.
    pub pid: Option<u32>,
    /// Why it does not run.
    pub why_not: Option<String>,
    /// The program that is started, by the supervisor's word.
    pub program: Option<PathBuf>,
    /// Starts by the supervisor after failures.
    pub restarts: Option<i64>,
    /// The line that the daemon tells of itself.
    pub told: Option<String>,
    /// Switched off whatever its file says: masked, or in launchd's override database.
    pub off: Option<String>,
    /// The supervisor works by an older version of the files.
    pub is_stale: bool,
    /// Variables that the service gets, the first of a name counts.
    pub environment: Vec<(String, String)>,
    /// Files that more of them are read from.
    pub environment_files: Vec<PathBuf>,
    /// All that systemd said.
    pub shown: Option<Shown>,
    /// Under launchd: the daemon does not try again by itself.
    pub given_up: Option<GivenUp>,
}

impl State {
    /// It is installed, however it is.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.file.is_some() || self.pid.is_some()
    }

    /// A variable that the service gets.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The environment that the supervisor would start it with; over that of the session's basics in `session`.
    #[must_use]
    pub fn service_environment(&self, session: &Environment) -> Environment {
        let basics = ["HOME", "USER", "LOGNAME", "SHELL", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
        let of_session =
            basics.iter().filter_map(|name| Some(((*name).to_owned(), session.get(name)?.to_owned())));
        let ours = self.environment.iter().rev().cloned();
        Environment::of(of_session.chain(ours))
    }
}

/// Asks the supervisor. `state_dir`: where the daemon keeps its count of starts.
///
/// # Errors
/// It does not answer.
pub async fn ask(site: &Site, state_dir: &Path, caller: &dyn Caller) -> Result<State, ServiceError> {
    match site.supervisor {
        Supervisor::Systemd => of_systemd(caller).await,
        Supervisor::Launchd => of_launchd(site, state_dir, caller).await,
    }
}

async fn of_systemd(caller: &dyn Caller) -> Result<State, ServiceError> {
    let shown = systemd::show(caller).await?;
    let manager = systemd::systemctl(caller, &["show-environment"], QUICK).await?;
    let mut environment = shown.environment();
    environment.reverse();
    environment.extend(super::show::lines(&manager.stdout));
    let file_state = shown.get("UnitFileState").unwrap_or_default().to_owned();
    let is_masked = shown.get("LoadState") == Some("masked") || file_state.starts_with("masked");
    let runs = shown.get("ActiveState") == Some("active");
    let word = match shown.get("LoadState") {
        Some("not-found") => "not installed",
        _ => shown.get("ActiveState").unwrap_or("unknown"),
    };
    Ok(State {
        file: shown.file().filter(|_| !is_masked),
        drop_ins: shown.drop_ins(),
        at_login: matches!(file_state.as_str(), "enabled" | "enabled-runtime" | "linked" | "alias"),
        word: word.to_owned(),
        pid: shown.pid(),
        why_not: (!runs).then(|| systemd::why_not(&shown)),
        program: shown.program(),
        restarts: shown.number("NRestarts"),
        told: shown.get("StatusText").filter(|_| runs).map(str::to_owned),
        off: is_masked.then(|| "masked: it leads to /dev/null".to_owned()),
        is_stale: shown.get("NeedDaemonReload") == Some("yes"),
        environment,
        environment_files: shown.environment_files(),
        given_up: None,
        shown: Some(shown),
    })
}

async fn of_launchd(site: &Site, state_dir: &Path, caller: &dyn Caller) -> Result<State, ServiceError> {
    let domain = format!("gui/{}", site.uid);
    let printed = caller.call("launchctl", &["print", &format!("{domain}/{LABEL}")], QUICK).await?;
    let disabled = caller.call("launchctl", &["print-disabled", &domain], QUICK).await?;
    let job = printed.is_ok().then(|| Job::parse(&printed.stdout));
    let file = Some(site.file()).filter(|file| file.exists());
    let is_off = is_disabled(&disabled.stdout, LABEL);
    let given_up = Tally::read(state_dir).given_up;
    let runs = job.as_ref().is_some_and(Job::is_running);
    let why_not = match (&job, &given_up) {
        _ if runs => None,
        (_, Some(given_up)) => Some(format!("given up: {}", given_up.why)),
        (None, None) if file.is_none() => Some("not installed".to_owned()),
        (None, None) => Some("not loaded".to_owned()),
        (Some(job), None) => Some(match job.last_exit {
            Some(code) => {
                let meaning = exit_meaning(code).map(|text| format!(" ({text})")).unwrap_or_default();
                format!("{}, exit code {code}{meaning}", job.state)
            }
            None => job.state.clone(),
        }),
    };
    // What the job would get from the file, where it is not loaded.
    let in_file = || {
        let agent = plist::read(&std::fs::read_to_string(file.as_ref()?).ok()?).ok()?;
        let members = agent.get("EnvironmentVariables")?.members().to_vec();
        Some(members.into_iter().filter_map(|(name, value)| Some((name, value.text()?.to_owned()))).collect())
    };
    Ok(State {
        at_login: file.is_some() && !is_off,
        word: job.as_ref().map_or_else(|| "not loaded".to_owned(), |job| job.state.clone()),
        pid: job.as_ref().and_then(|job| job.pid),
        why_not,
        program: job.as_ref().and_then(|job| job.program.as_ref()).map(PathBuf::from),
        restarts: job
            .as_ref()
            .and_then(|job| job.runs)
            .and_then(|runs| i64::try_from(runs).ok())
            .map(|runs| runs - 1),
        off: is_off.then(|| "disabled in launchd's override database, which outlives its file".to_owned()),
        environment: job.as_ref().map(|job| job.environment.clone()).or_else(in_file).unwrap_or_default(),
        file,
        given_up: given_up.filter(|_| !runs),
        ..State::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::calls::scripted::Scripted;
    use super::*;

    #[tokio::test]
    async fn systemd_tells_what_counts() {
        let shown = "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nMainPID=7\nNRestarts=2\n\
                     Environment=PATH=/a:/b KEY=old KEY=new\nStatusText=3 unit files\nNeedDaemonReload=yes\n\
                     FragmentPath=/home/me/.config/systemd/user/workagent.service\n";
        let caller =
            Scripted::new([("show", 0, shown), ("show-environment", 0, "PATH=/bare\nHOME=/home/me\n")]);
        let state = of_systemd(&caller).await.unwrap();
        assert_eq!(
            (state.pid, state.restarts, state.at_login, state.is_stale),
            (Some(7), Some(2), true, true)
        );
        assert_eq!((state.variable("PATH"), state.variable("KEY")), (Some("/a:/b"), Some("new")));
        let environment = state.service_environment(&Environment::of([("USER", "me"), ("PATH", "/shell")]));
        assert_eq!((environment.get("PATH"), environment.get("USER")), (Some("/a:/b"), Some("me")));
        assert_eq!(environment.get("HOME"), Some("/home/me"));
    }

    #[tokio::test]
    async fn the_override_database_is_looked_at() {
        let root = tempfile::tempdir().unwrap();
        let site = Site {
            supervisor: Supervisor::Launchd,
            program: PathBuf::from("/usr/local/bin/workagent"),
            home: root.path().to_path_buf(),
            config_home: root.path().to_path_buf(),
            user: "me".to_owned(),
            uid: 501,
            kept: Vec::new(),
        };
        let disabled = "disabled services = {\n\t\"local.workagent\" => disabled\n}";
        let caller = Scripted::new([
            ("print gui/501/", 113, "Could not find"),
            ("print-disabled gui/501", 0, disabled),
        ]);
        let state = ask(&site, root.path(), &caller).await.unwrap();
        assert!(state.off.unwrap().contains("override database"));
        assert_eq!(state.why_not.as_deref(), Some("not installed"));
    }
}
