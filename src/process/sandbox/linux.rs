//! Landlock, and a network namespace with nothing in it.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::thread::UnshareFlags;

use super::{Files, Reach, Sandbox};

/// The newest rights that this program was tried with; an older kernel gives what it has.
const RIGHTS: ABI = ABI::V5;

/// From this version of the kernel's interface on: no signals to processes outside, the daemon among them, and no abstract
/// sockets of theirs.
const SCOPES: ABI = ABI::V6;

/// Programs, libraries and their settings: without them nothing starts.
const SYSTEM: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/proc", "/sys", "/dev"];

/// Written to by programs that do no harm by it: output to nowhere, their own entries under `/proc`, a terminal.
const HARMLESS: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pts",
    "/proc/self",
];

pub(super) fn enter(sandbox: &Sandbox) -> io::Result<Reach> {
    // First the network: making a user namespace writes to /proc.
    let network = !sandbox.network && cut_off().is_ok();
    let files = sandbox.files != Files::All && confine(sandbox).map_err(io::Error::other)?;
    Ok(Reach { files, network })
}

/// A namespace whose only device is a loopback that is down. The user stays who he is.
fn cut_off() -> io::Result<()> {
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    #[expect(unsafe_code, reason = "unshare has no safe form: of some flags other threads would notice")]
    // SAFETY: neither flag touches memory or descriptors that are shared with others.
    unsafe {
        rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)?;
    }
    let (user, group) = (user.as_raw(), group.as_raw());
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Whether the kernel enforces it, at least in part.
fn confine(sandbox: &Sandbox) -> Result<bool, RulesetError> {
    let (all, read) = (AccessFs::from_all(RIGHTS), AccessFs::from_read(RIGHTS));
    let readable: Vec<&Path> = match &sandbox.files {
        Files::All => return Ok(false),
        Files::ReadOnly => vec![Path::new("/")],
        Files::Named(paths) => {
            SYSTEM.iter().map(Path::new).chain(paths.iter().map(|path| path.as_path())).collect()
        }
    };
    let writable = HARMLESS.iter().map(Path::new).chain(sandbox.write.iter().map(|path| path.as_path()));
    let status = Ruleset::default()
        .handle_access(all)?
        .scope(Scope::from_all(SCOPES))?
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(writable, all))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
