//! Where a service is installed: whose, under which supervisor, which program.

use std::path::{Path, PathBuf};

use super::ServiceError;
use crate::model::environment::Environment;

/// Who starts the daemon and looks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supervisor {
    /// The user's own systemd.
    Systemd,
    /// macOS.
    Launchd,
}

impl Supervisor {
    /// "systemd".
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }

    /// The one of this machine, if it has one.
    #[must_use]
    pub fn here(environment: &Environment) -> Option<Self> {
        if cfg!(target_os = "macos") {
            return Some(Self::Launchd);
        }
        // What `sd_booted` looks at; in a container the user's manager may be there without it.
        let runtime = environment.get("XDG_RUNTIME_DIR").map(|dir| Path::new(dir).join("systemd"));
        let is_here = Path::new("/run/systemd/system").is_dir() || runtime.is_some_and(|dir| dir.is_dir());
        is_here.then_some(Self::Systemd)
    }
}

/// The unit's name.
pub const UNIT: &str = "workagent.service";

/// The job's name.
pub const LABEL: &str = "local.workagent";

/// Variables that decide where things lie: the service gets those that the installing user has set.
const KEPT: [&str; 6] = [
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "WORKAGENT_STATE_DIR",
    "WORKAGENT_UNIT_PATH",
    "SSL_CERT_FILE",
];

/// Whose service it is and what it starts.
#[derive(Clone, Debug)]
pub struct Site {
    /// Who looks after it.
    pub supervisor: Supervisor,
    /// The program that the service starts: absolute, and of a name that outlives an upgrade where there is one.
    pub program: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, or what stands for it.
    pub config_home: PathBuf,
    /// The user's name.
    pub user: String,
    /// The user's number.
    pub uid: u32,
    /// The service's own variables beside PATH, by name.
    pub kept: Vec<(String, String)>,
}

impl Site {
    /// Of the user who asks. `state_dir`: `--state-dir`, where it was given.
    ///
    /// # Errors
    /// No supervisor, or no home.
    pub fn find(
        environment: &Environment,
        supervisor: Option<Supervisor>,
        state_dir: Option<&Path>,
    ) -> Result<Self, ServiceError> {
        let Some(supervisor) = supervisor.or_else(|| Supervisor::here(environment)) else {
            let error = ServiceError::new("neither systemd nor launchd runs here");
            return Err(error.hint("`workagent run` runs the daemon in the foreground"));
        };
        let dir = |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = dir("HOME").ok_or_else(|| ServiceError::new("HOME is not set to an absolute path"))?;
        let program = std::env::current_exe()
            .map_err(|error| ServiceError::new(format!("find the file of this program: {error}")))?;
        let mut kept: Vec<(String, String)> = KEPT
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), environment.get(name)?.to_owned())))
            .collect();
        if let Some(state) = state_dir {
            let state = std::path::absolute(state).unwrap_or_else(|_| state.to_path_buf());
            kept.retain(|(name, _)| name != "WORKAGENT_STATE_DIR");
            kept.push(("WORKAGENT_STATE_DIR".to_owned(), state.display().to_string()));
        }
        kept.sort();
        let user = ["USER", "LOGNAME"].into_iter().find_map(|name| environment.get(name));
        Ok(Self {
            supervisor,
            program: lasting(&program, environment.get("PATH").unwrap_or_default()),
            config_home: dir("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            user: user.map_or_else(owner_of_this_process, str::to_owned),
            uid: rustix::process::getuid().as_raw(),
            home,
            kept,
        })
    }

    /// Where `service install` puts its file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        match self.supervisor {
            Supervisor::Systemd => self.config_home.join("systemd/user").join(UNIT),
            Supervisor::Launchd => self.home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")),
        }
    }

    /// Where the hardening drop-in goes.
    #[must_use]
    pub fn hardening(&self) -> PathBuf {
        self.config_home.join("systemd/user").join(format!("{UNIT}.d")).join("hardening.conf")
    }
}

fn owner_of_this_process() -> String {
    rustix::process::getuid().as_raw().to_string()
}

/// The name by which the program is found on PATH, where that leads to the same file: a package manager's own folder
/// (`Cellar/workagent/0.3.0`, `/nix/store/…`) is gone after the next upgrade, the link to it is not.
fn lasting(program: &Path, path: &str) -> PathBuf {
    let Some(name) = program.file_name() else { return program.to_path_buf() };
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let mut found = std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
    found
        .find(|candidate| candidate.canonicalize().is_ok_and(|other| other == real))
        .unwrap_or_else(|| program.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_on_the_path_outlives_an_upgrade() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (cellar, bin) = (root.join("Cellar/workagent/0.3.0/bin"), root.join("bin"));
        std::fs::create_dir_all(&cellar).unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        let program = cellar.join("workagent");
        std::fs::write(&program, "").unwrap();
        assert_eq!(lasting(&program, &bin.display().to_string()), program, "nothing leads there");
        std::os::unix::fs::symlink(&program, bin.join("workagent")).unwrap();
        let path = format!("relative:/nowhere:{}", bin.display());
        assert_eq!(lasting(&program, &path), bin.join("workagent"));
    }

    #[test]
    fn what_decides_where_things_lie_goes_with_the_service() {
        let environment = Environment::of([
            ("HOME", "/home/me"),
            ("USER", "me"),
            ("XDG_STATE_HOME", "/data"),
            ("GITHUB_TOKEN", "canary"),
        ]);
        let site =
            Site::find(&environment, Some(Supervisor::Systemd), Some(Path::new("/srv/state"))).unwrap();
        let kept: Vec<String> = site.kept.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(kept, ["WORKAGENT_STATE_DIR=/srv/state", "XDG_STATE_HOME=/data"]);
        assert_eq!(site.file(), Path::new("/home/me/.config/systemd/user/workagent.service"));
        let site = Site { supervisor: Supervisor::Launchd, ..site };
        assert_eq!(site.file(), Path::new("/home/me/Library/LaunchAgents/local.workagent.plist"));
    }
}
