//! Starting a child so that nothing of ours goes with it: no inherited environment, descriptor, group or terminal.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::tree::MARK;
use super::{ChildSpec, EnvValue};
use crate::model::class::PortError;

/// Another thread that forks while we write a program file holds that file open for an instant ("text file busy").
const BUSY_TRIES_MAX: u32 = 5;

/// Between two of those tries.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Starts `program` with the arguments, environment and directory of `spec`, marked, in a session of its own.
pub(super) async fn spawn(program: &Path, spec: &ChildSpec, mark: &str) -> Result<Child, PortError> {
    let mut tries = 0;
    loop {
        match command(program, spec, mark).spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES_MAX => {
                tries += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err(super::lookup::explain(program, &spec.cwd, error)),
        }
    }
}

fn command(program: &Path, spec: &ChildSpec, mark: &str) -> Command {
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
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[expect(unsafe_code, reason = "setsid and close_range have no safe form between fork and exec")]
    // SAFETY: the closure calls only async-signal-safe system calls and does not allocate.
    unsafe {
        command.pre_exec(before_exec);
    }
    command
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
fn before_exec() -> io::Result<()> {
    // A session of its own is a group of its own too, and has no terminal: a child that asks for a password there
    // fails at once instead of being stopped for ever.
    rustix::process::setsid()?;
    // Ours are close-on-exec already; this is for those that whoever started the daemon left open.
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "close_range has no safe form")]
    // SAFETY: only marks descriptors, touches no memory. Kernels before 5.11 answer with an error, which is fine.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    Ok(())
}
