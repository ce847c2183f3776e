//! What a child may touch. The daemon does not confine itself: it starts its own binary in between, which takes rights
//! away from itself and then becomes the program. What is taken away stays so for the whole tree.
//!
//! Files by Landlock (Linux 5.13, and switched on in the kernel), the network by a namespace without one (user namespaces
//! allowed). Both may be missing, so the daemon asks once what can be reached, and says where it is less than was wanted.

#[cfg(target_os = "linux")]
mod linux;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::{ChildSpec, lookup};
use crate::model::class::{ErrorClass, PortError};

/// The hidden command of our binary that confines itself.
pub const COMMAND: &str = "confined";

/// Rights of a child and of all that it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// What may be read.
    pub files: Files,
    /// Directories and files that may be changed; those that are not there are left out.
    pub write: Vec<PathBuf>,
    /// The network may be used, this machine's own addresses included.
    pub network: bool,
    /// Without this machine's help the child is not started.
    pub required: bool,
}

/// Files that may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// All, and changed too: nothing is taken away.
    #[default]
    All,
    /// All, and nothing changed outside of `write`.
    ReadOnly,
    /// Programs and libraries of the system, `write`, and these.
    Named(Vec<PathBuf>),
}

/// What can be taken away, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Files.
    pub files: bool,
    /// The network.
    pub network: bool,
}

impl Sandbox {
    /// Takes nothing away.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.files == Files::All && self.network
    }

    /// What this asks for and `reach` cannot give, for people; `None` where nothing is missing.
    #[must_use]
    pub fn missing(&self, reach: Reach) -> Option<&'static str> {
        let files = self.files != Files::All && !reach.files;
        let network = !self.network && !reach.network;
        match (files, network) {
            (false, false) => None,
            (true, false) => Some("its files are not confined: this system has no Landlock"),
            (false, true) => Some("its network is not cut off: this system allows no user namespaces"),
            (true, true) => Some("neither its files nor its network are confined on this system"),
        }
    }

    /// The arguments of our own binary by which it becomes `program` with these rights.
    fn arguments(&self, program: &Path, args: &[OsString]) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec![COMMAND.into()];
        let mut flag = |name: &str, value: Option<&OsStr>| {
            out.push(name.into());
            out.extend(value.map(OsStr::to_owned));
        };
        match &self.files {
            Files::All => {}
            Files::ReadOnly => flag("--read-all", None),
            Files::Named(paths) => {
                flag("--read-named", None);
                paths.iter().for_each(|path| flag("--read", Some(path.as_os_str())));
            }
        }
        self.write.iter().for_each(|path| flag("--write", Some(path.as_os_str())));
        if !self.network {
            flag("--no-network", None);
        }
        if self.required {
            flag("--required", None);
        }
        flag("--", Some(program.as_os_str()));
        out.extend(args.iter().cloned());
        out
    }
}

/// The child, started by way of `helper`, our own binary.
///
/// # Errors
/// `Config` if the program is not found.
pub(super) fn confine(helper: &Path, mut spec: ChildSpec, sandbox: &Sandbox) -> Result<ChildSpec, PortError> {
    if sandbox.is_open() {
        return Ok(spec);
    }
    let program = lookup::find(&spec.program, &spec.env)?;
    lookup::check(&program, &spec.env)?;
    spec.args = sandbox.arguments(&program, &spec.args);
    spec.program = helper.as_os_str().to_owned();
    Ok(spec)
}

/// Asks our own binary what this machine can take away.
///
/// # Errors
/// It cannot be started.
pub(super) async fn ask(helper: &Path) -> Result<Reach, PortError> {
    #[expect(clippy::disallowed_methods, reason = "the home of child processes")]
    let output = tokio::process::Command::new(helper)
        .args([COMMAND, "--what"])
        .env_clear()
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| {
            PortError::caused(
                ErrorClass::Config,
                format!("ask {} what it can confine", helper.display()),
                error,
            )
        })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let has = |word| said.split_ascii_whitespace().any(|said| said == word);
    Ok(Reach { files: has("files"), network: has("network") })
}

/// Takes the rights away from this process, for good. Only for a process of one thread that is about to become another
/// program.
///
/// # Errors
/// `required`, and this machine cannot.
pub fn enter(sandbox: &Sandbox) -> io::Result<Reach> {
    #[cfg(target_os = "linux")]
    let reach = linux::enter(sandbox)?;
    #[cfg(not(target_os = "linux"))]
    let reach = Reach::default();
    match sandbox.missing(reach).filter(|_| sandbox.required) {
        Some(missing) => Err(io::Error::new(io::ErrorKind::Unsupported, missing)),
        None => Ok(reach),
    }
}

/// Becomes the program. Returns only if that fails.
#[must_use]
pub fn become_program(program: &OsStr, args: &[OsString]) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    #[expect(clippy::disallowed_methods, reason = "the home of child processes")]
    std::process::Command::new(program).args(args).exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sandbox: &Sandbox, expected: &str) {
        let words = sandbox.arguments(Path::new("/bin/cat"), &["-n".into()]);
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn the_rights_stand_before_the_program() {
        let write = vec!["/run/1".into()];
        let sandbox = Sandbox { files: Files::ReadOnly, write, network: true, required: false };
        check(&sandbox, "confined --read-all --write /run/1 -- /bin/cat -n");
        let named = Files::Named(vec!["/home/me/notes".into()]);
        let sandbox = Sandbox { files: named, network: false, required: true, ..sandbox };
        check(
            &sandbox,
            "confined --read-named --read /home/me/notes --write /run/1 --no-network --required -- /bin/cat -n",
        );
    }

    #[test]
    fn what_is_missing_is_told() {
        let all = Reach { files: true, network: true };
        let open = Sandbox { network: true, ..Sandbox::default() };
        assert!(open.is_open() && open.missing(Reach::default()).is_none());
        let closed = Sandbox { files: Files::ReadOnly, network: false, ..open };
        assert_eq!(closed.missing(all), None);
        assert!(closed.missing(Reach { files: true, network: false }).unwrap().contains("network"));
        assert!(closed.missing(Reach { files: false, network: true }).unwrap().contains("Landlock"));
    }
}
