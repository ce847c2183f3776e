//! By fork and exec, as the standard library does it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Pid;

use crate::process::tree::MARK;
use crate::process::{ChildSpec, EnvValue};

/// Starts it with these as its standard descriptors.
pub(super) fn launch(program: &Path, spec: &ChildSpec, mark: &str, theirs: [OwnedFd; 3]) -> io::Result<Pid> {
    #[expect(clippy::disallowed_methods, reason = "the home of child processes")]
    let mut command = Command::new(program);
    command.args(&spec.args).env_clear().current_dir(&spec.cwd);
    for (name, value) in &spec.env.0 {
        match value {
            EnvValue::Plain(value) => command.env(name, value),
            EnvValue::Secret(value) => command.env(name, value.expose_to_the_wire()),
        };
    }
    command.env(MARK, mark);
    let [stdin, stdout, stderr] = theirs.map(Stdio::from);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    #[expect(unsafe_code, reason = "setsid has no safe form between fork and exec")]
    // SAFETY: the closure calls one async-signal-safe system call and does not allocate.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(|_| ()).map_err(io::Error::from));
    }
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no such number"))
}
