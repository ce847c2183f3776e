//! Where things lie, computed once from the captured environment.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::model::environment::Environment;
use crate::model::text::digest;

/// A socket's name must fit into `sun_path` with its closing zero: 108 bytes on Linux, 104 on macOS. The name under
/// which it is first bound has four bytes more.
const SOCKET_PATH_BYTES_MAX: usize = if cfg!(target_os = "macos") { 99 } else { 103 };

/// The daemon's directories. Nothing is made before [`Paths::make`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Database, secrets file, run directories, notes about children.
    pub state: PathBuf,
    /// Unit files and the key of the secrets file.
    pub config: PathBuf,
    /// The control socket.
    pub runtime: PathBuf,
    /// The control socket itself.
    pub socket: PathBuf,
}

/// Why there is no place for something.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither the variable nor `HOME` is set to an absolute path.
    #[error("no {what} directory: neither ${variable} nor $HOME is an absolute path")]
    Homeless {
        /// "state".
        what: &'static str,
        /// The variable that would have said it.
        variable: &'static str,
    },
    /// Somebody else could write there or owns it.
    #[error("{} {why}", path.display())]
    Unsafe {
        /// The directory.
        path: PathBuf,
        /// "belongs to user 0", "can be written by others; run `chmod go-w` on it".
        why: String,
    },
    /// The socket's name does not fit into a socket address.
    #[error(
        "the control socket's path is too long ({} bytes, at most {SOCKET_PATH_BYTES_MAX}): {}; \
         set XDG_RUNTIME_DIR or choose a shorter --state-dir",
        path.as_os_str().len(),
        path.display()
    )]
    SocketTooLong {
        /// The path.
        path: PathBuf,
    },
    /// It could not be made or looked at.
    #[error("make the directory {}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl Paths {
    /// From the environment: `$XDG_STATE_HOME/workagent` (systemd's `$STATE_DIRECTORY` first), `$XDG_CONFIG_HOME/workagent`,
    /// `$XDG_RUNTIME_DIR/workagent`; the runtime directory falls back to `run` in the state directory.
    ///
    /// `state_dir` (`--state-dir`, `WORKAGENT_STATE_DIR`) replaces the state directory; its socket gets a name of its
    /// own, so that two daemons with two states never fight for one socket.
    ///
    /// # Errors
    /// [`PathsError::Homeless`], [`PathsError::SocketTooLong`].
    pub fn resolve(environment: &Environment, state_dir: Option<&Path>) -> Result<Self, PathsError> {
        let service_state = directory(environment, "STATE_DIRECTORY");
        let default_state = match service_state {
            Some(state) => Some(state),
            None => based(environment, "state", "XDG_STATE_HOME", ".local/state").ok(),
        };
        let state = match (state_dir, &default_state) {
            (Some(given), _) => std::path::absolute(given)
                .map_err(|source| PathsError::Io { path: given.to_path_buf(), source })?,
            (None, Some(state)) => state.clone(),
            (None, None) => based(environment, "state", "XDG_STATE_HOME", ".local/state")?,
        };
        let config = based(environment, "configuration", "XDG_CONFIG_HOME", ".config")?;
        let own_state = default_state.as_ref().is_none_or(|default| !same_directory(default, &state));
        let runtime = directory(environment, "RUNTIME_DIRECTORY")
            .or_else(|| directory(environment, "XDG_RUNTIME_DIR").map(|base| base.join("workagent")));
        let (runtime, name) = match runtime {
            Some(runtime) if own_state => (runtime, socket_name_of(&state)),
            Some(runtime) => (runtime, "control.sock".to_owned()),
            None => (state.join("run"), "control.sock".to_owned()),
        };
        Self { socket: runtime.join(name), state, config, runtime }.checked()
    }

    /// Everything below one directory: demo and tests.
    ///
    /// # Errors
    /// [`PathsError::SocketTooLong`].
    pub fn below(root: &Path) -> Result<Self, PathsError> {
        let runtime = root.join("run");
        let socket = runtime.join("control.sock");
        Self { state: root.join("state"), config: root.join("config"), runtime, socket }.checked()
    }

    fn checked(self) -> Result<Self, PathsError> {
        if self.socket.as_os_str().as_bytes().len() > SOCKET_PATH_BYTES_MAX {
            return Err(PathsError::SocketTooLong { path: self.socket });
        }
        Ok(self)
    }

    /// The database, unless the daemon unit names another.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state.join("workagent.db")
    }

    /// The user's unit files.
    #[must_use]
    pub fn units(&self) -> PathBuf {
        self.config.join("units")
    }

    /// The encrypted secrets.
    #[must_use]
    pub fn secrets_file(&self) -> PathBuf {
        self.state.join("secrets.age")
    }

    /// The key of the encrypted secrets; apart from them, so that a copy of the state directory does not open itself.
    #[must_use]
    pub fn secrets_key(&self) -> PathBuf {
        self.config.join("secrets.key")
    }

    /// Notes about running children, for the next daemon to reap.
    #[must_use]
    pub fn process_notes(&self) -> PathBuf {
        self.state.join("children")
    }

    /// Working directories of engine runs.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.state.join("runs")
    }

    /// Kept plans, one file a generation.
    #[must_use]
    pub fn plans(&self) -> PathBuf {
        self.state.join("plans")
    }

    /// A connector's own directory.
    #[must_use]
    pub fn connector(&self, unit: &str) -> PathBuf {
        self.state.join("connectors").join(unit)
    }

    /// Makes state and runtime directories with mode 0700. An existing directory is never changed (it may be `/tmp`):
    /// it is refused if somebody else owns it or may write in it.
    ///
    /// # Errors
    /// [`PathsError::Unsafe`], [`PathsError::Io`].
    pub fn make(&self) -> Result<(), PathsError> {
        make_private(&self.state)?;
        make_private(&self.runtime)
    }
}

/// Makes a directory and its missing parents with mode 0700, or checks that an existing one is ours alone to write.
///
/// # Errors
/// [`PathsError::Unsafe`], [`PathsError::Io`].
pub fn make_private(path: &Path) -> Result<(), PathsError> {
    let failed = |source| PathsError::Io { path: path.to_path_buf(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let found = fs::metadata(path).map_err(failed)?;
    let us = rustix::process::geteuid().as_raw();
    let refuse = |why| Err(PathsError::Unsafe { path: path.to_path_buf(), why });
    if found.uid() != us {
        return refuse(format!("belongs to user {}, and this is user {us}", found.uid()));
    }
    if found.permissions().mode() & 0o022 != 0 {
        return refuse("can be written by others; run `chmod go-w` on it or choose another".to_owned());
    }
    Ok(())
}

/// An absolute directory from a variable. systemd may list several, separated by colons; the first is ours.
fn directory(environment: &Environment, variable: &str) -> Option<PathBuf> {
    let text = environment.get(variable)?;
    let first = text.split(':').next().unwrap_or(text);
    Some(PathBuf::from(first)).filter(|path| path.is_absolute())
}

fn based(
    environment: &Environment,
    what: &'static str,
    variable: &'static str,
    below_home: &str,
) -> Result<PathBuf, PathsError> {
    let base = directory(environment, variable)
        .or_else(|| directory(environment, "HOME").map(|home| home.join(below_home)))
        .ok_or(PathsError::Homeless { what, variable })?;
    Ok(base.join("workagent"))
}

/// Through links, where both are there.
fn same_directory(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn socket_name_of(state: &Path) -> String {
    let real = fs::canonicalize(state).unwrap_or_else(|_| state.to_path_buf());
    let mut name = digest(&[real.as_os_str().as_bytes()]);
    name.truncate(12);
    format!("control-{name}.sock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(pairs: &[(&str, &str)], state: Option<&str>) -> Result<Paths, PathsError> {
        Paths::resolve(&Environment::of(pairs.iter().copied()), state.map(Path::new))
    }

    fn shown(paths: &Paths) -> [String; 3] {
        [&paths.state, &paths.config, &paths.socket].map(|path| path.display().to_string())
    }

    #[test]
    fn a_login_session_has_it_all() {
        let paths = resolve(&[("HOME", "/home/me"), ("XDG_RUNTIME_DIR", "/run/user/7")], None).unwrap();
        let expected = [
            "/home/me/.local/state/workagent",
            "/home/me/.config/workagent",
            "/run/user/7/workagent/control.sock",
        ];
        assert_eq!(shown(&paths), expected);
    }

    #[test]
    fn without_a_runtime_directory_the_socket_lies_in_the_state() {
        let paths = resolve(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/data")], None).unwrap();
        assert_eq!(paths.socket, Path::new("/data/workagent/run/control.sock"));
    }

    #[test]
    fn another_state_has_another_socket() {
        let env = [("HOME", "/home/me"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        let [a, b] = ["/srv/a", "/srv/b"].map(|state| resolve(&env, Some(state)).unwrap().socket);
        assert_ne!(a, b);
        let spelled_out = resolve(&env, Some("/home/me/.local/state/workagent")).unwrap();
        assert_eq!(spelled_out, resolve(&env, None).unwrap());
    }

    #[test]
    fn a_link_to_the_state_leads_to_the_same_socket() {
        let root = tempfile::tempdir().unwrap();
        let (state, link) = (root.path().join("state"), root.path().join("link"));
        fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&state, &link).unwrap();
        let env = [("HOME", "/home/me"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        let [a, b] = [state, link].map(|path| resolve(&env, path.to_str()).unwrap().socket);
        assert_eq!(a, b);
    }

    #[test]
    fn relative_and_missing_variables_are_no_places() {
        let error = resolve(&[("HOME", "home")], None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no state directory: neither $XDG_STATE_HOME nor $HOME is an absolute path"
        );
    }

    #[test]
    fn a_long_path_is_refused_with_a_way_out() {
        let error = resolve(&[("HOME", &format!("/{}", "x".repeat(100)))], None).unwrap_err().to_string();
        assert!(error.contains("set XDG_RUNTIME_DIR"), "{error}");
    }

    #[test]
    fn directories_are_made_for_us_alone() {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::below(root.path()).unwrap();
        paths.make().unwrap();
        paths.make().unwrap();
        for path in [&paths.state, &paths.runtime] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_directory_others_can_write_in_is_refused_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = make_private(root.path()).unwrap_err().to_string();
        assert!(error.contains("can be written by others"), "{error}");
        assert_eq!(fs::metadata(root.path()).unwrap().permissions().mode() & 0o777, 0o777);
    }
}
