//! Asking a program of the system (`systemctl`, `launchctl`, a login shell): short, with a bound, and heard to its end.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{ChildEnd, ChildEnv, ChildLimits, ChildSpec, EnvValue, ProcessRoom};
use crate::model::class::{ErrorClass, PortError};
use crate::model::environment::Environment;

/// What such a program says is a screen or two; `launchctl print` of a whole domain is the longest.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// Searched behind the caller's own PATH: that of a service or of `su` may lack the folders of the system.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// What of the caller's environment a program of the system needs to find the user's session.
const SESSION: [&str; 7] =
    ["HOME", "USER", "LOGNAME", "SHELL", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME"];

/// What a program came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Exit code; -1 when it was ended by a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// The end of standard error.
    pub stderr: String,
}

impl Called {
    /// It ended with 0.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// What it complained about: standard error, else standard output.
    #[must_use]
    pub fn complaint(&self) -> &str {
        let err = self.stderr.trim();
        if err.is_empty() { self.stdout.trim() } else { err }
    }
}

/// Runs `program` with `args` in the user's session, at most for `time`. `more` is added to its environment, which holds
/// nothing else than what such programs need.
///
/// # Errors
/// `Config`: it is not there. `Network`: it did not end in time.
pub async fn call(
    environment: &Environment,
    more: &[(&str, &OsStr)],
    program: &OsStr,
    args: &[&OsStr],
    time: Duration,
) -> Result<Called, PortError> {
    // Not among the daemon's notes: one that starts meanwhile would end this child as an orphan.
    let notes = tempfile::tempdir().map_err(|cause| {
        PortError::caused(ErrorClass::Config, "make a folder for the notes of a child".to_owned(), cause)
    })?;
    let room = ProcessRoom::new(notes.path().to_path_buf());
    let mut env = ChildEnv::default();
    let mut put =
        |name: &str, value: &OsStr| env.0.insert(name.to_owned(), EnvValue::Plain(value.to_owned()));
    for name in SESSION {
        if let Some(value) = environment.get_os(name) {
            put(name, value);
        }
    }
    let path = environment.get("PATH").map_or(SYSTEM_PATH.to_owned(), |path| format!("{path}:{SYSTEM_PATH}"));
    put("PATH", path.as_ref());
    // Its words are read by us, and shown to people as they are.
    put("LC_ALL", "C.UTF-8".as_ref());
    put("SYSTEMD_PAGER", "".as_ref());
    put("SYSTEMD_COLORS", "0".as_ref());
    for (name, value) in more {
        put(name, value);
    }
    let limits = ChildLimits {
        first_output: time,
        idle: time,
        total: time,
        line_bytes_max: OUTPUT_BYTES_MAX,
        stdout_bytes_max: OUTPUT_BYTES_MAX,
    };
    let spec = ChildSpec {
        program: program.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env,
        cwd: PathBuf::from("/"),
        stdin: Vec::new(),
        limits,
    };
    let mut out = Vec::new();
    let mut line = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        out.push(b'\n');
    };
    let report = room.run(spec, &CancellationToken::new(), &mut line).await?;
    let code = match report.end {
        ChildEnd::Exited(code) => code,
        ChildEnd::Signalled(_) => -1,
        _ => {
            let text = format!("`{}` did not end within {}s", program.display(), time.as_secs());
            return Err(PortError::new(ErrorClass::NETWORK, text));
        }
    };
    Ok(Called { code, stdout: String::from_utf8_lossy(&out).into_owned(), stderr: report.stderr_tail })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sh(text: &str, time: Duration) -> Result<Called, PortError> {
        let environment = Environment::of([("HOME", "/home/me"), ("SECRET", "canary")]);
        let args = ["-c", text].map(OsStr::new);
        call(&environment, &[("MORE", "x".as_ref())], "sh".as_ref(), &args, time).await
    }

    #[tokio::test]
    async fn it_is_heard_to_its_end() {
        let text = "echo $HOME $MORE $SECRET $LC_ALL; echo no >&2; exit 5";
        let called = sh(text, Duration::from_secs(30)).await.unwrap();
        let expected = Called { code: 5, stdout: "/home/me x C.UTF-8\n".into(), stderr: "no\n".into() };
        assert_eq!(called, expected);
        assert_eq!(called.complaint(), "no");
    }

    #[tokio::test]
    async fn one_that_hangs_is_told() {
        let error = sh("exec sleep 60", Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(error.doing, "`sh` did not end within 0s");
    }
}
