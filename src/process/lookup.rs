//! Which file is started, and what to say when it cannot be: the usual trouble is a short PATH under a supervisor.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::{ChildEnv, EnvValue};
use crate::model::class::{ErrorClass, PortError};

/// The PATH a child sees.
fn child_path(env: &ChildEnv) -> OsString {
    match env.0.get("PATH") {
        Some(EnvValue::Plain(path)) => path.clone(),
        Some(EnvValue::Secret(path)) => path.expose_to_the_wire().into(),
        None => OsString::new(),
    }
}

/// What can be done about a program that a service does not find and a terminal does.
const ELSEWHERE: &str = "give it by its absolute path, or an engine its directory in `path`";

/// The file to start for a program given as an absolute path, or as a name to look up on the child's own PATH.
///
/// # Errors
/// `Config`, naming what was searched.
pub fn find(program: &OsStr, env: &ChildEnv) -> Result<PathBuf, PortError> {
    let shown = program.to_string_lossy();
    let config = |text: String| Err(PortError::new(ErrorClass::Config, text));
    let as_path = Path::new(program);
    if as_path.is_absolute() {
        return Ok(as_path.to_owned());
    }
    if program.is_empty() || as_path.components().count() != 1 {
        return config(format!("start `{shown}`: a program is an absolute path or a name without `/`"));
    }
    let path = child_path(env);
    let mut not_executable = None;
    // A relative entry would mean something else in each run directory.
    for directory in std::env::split_paths(&path).filter(|directory| directory.is_absolute()) {
        let candidate = directory.join(program);
        if candidate.is_file() {
            if access(&candidate, Access::EXEC_OK).is_ok() {
                return Ok(candidate);
            }
            not_executable.get_or_insert(candidate);
        }
    }
    match not_executable {
        Some(file) => config(format!("start `{shown}`: {} is not executable", file.display())),
        None => config(format!(
            "start `{shown}`: not found on the PATH of the child, which is `{}`; {ELSEWHERE}",
            path.to_string_lossy()
        )),
    }
}

/// What a failed start means, as a `Config` error in the words of whoever has to mend it.
pub(super) fn explain(program: &Path, cwd: &Path, error: io::Error) -> PortError {
    let shown = program.display();
    let text = match error.kind() {
        _ if !cwd.is_dir() => format!("start `{shown}`: the directory {} is not there", cwd.display()),
        io::ErrorKind::NotFound if !program.exists() => format!("start `{shown}`: there is no such file"),
        io::ErrorKind::NotFound => match interpreter(program) {
            Some(interpreter) => format!(
                "start `{shown}`: its interpreter `{interpreter}` was not found (first line of the file)"
            ),
            None => format!("start `{shown}`: its loader was not found (built for another system?)"),
        },
        io::ErrorKind::PermissionDenied => format!("start `{shown}`: it is not executable for this user"),
        _ => format!("start `{shown}`"),
    };
    // Out of processes or memory is no fault of the unit.
    let class = match error.raw_os_error() {
        Some(code)
            if [rustix::io::Errno::AGAIN, rustix::io::Errno::NOMEM, rustix::io::Errno::MFILE]
                .iter()
                .any(|errno| errno.raw_os_error() == code) =>
        {
            ErrorClass::NETWORK
        }
        _ => ErrorClass::Config,
    };
    PortError::caused(class, text, error)
}

/// Whether it can be started at all, as far as that can be told beforehand. `#!/usr/bin/env NAME` starts `env`, which
/// then fails with nothing but exit code 127.
///
/// # Errors
/// `Config`: not there, not executable, or naming the interpreter and the PATH.
pub fn check(program: &Path, env: &ChildEnv) -> Result<(), PortError> {
    access(program, Access::EXEC_OK).map_err(|error| explain(program, Path::new("/"), error.into()))?;
    let Some(line) = interpreter(program) else { return Ok(()) };
    let mut words = line.split_ascii_whitespace();
    if !words.next().is_some_and(|first| first.ends_with("/env")) {
        return Ok(());
    }
    let Some(name) = words.find(|word| *word != "-S") else { return Ok(()) };
    // Other options, assignments and paths are left for `env` to judge.
    if name.starts_with('-') || name.contains(['/', '=']) {
        return Ok(());
    }
    find(OsStr::new(name), env).map(|_| ()).map_err(|_| {
        let path = child_path(env);
        PortError::new(
            ErrorClass::Config,
            format!(
                "start `{}`: its interpreter `{name}` was not found on the PATH of the child, which is `{}`; {ELSEWHERE}",
                program.display(),
                path.to_string_lossy()
            ),
        )
    })
}

/// The first line behind `#!`.
fn interpreter(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}
