//! `cargo bench --bench bench -- peers`: `workagent validate` as a whole process against `systemd-analyze --user verify` on as
//! many service units, in turn. No other supervisor that Debian 12 has checks a folder of its services; what reading and
//! parsing alone would cost is in the ratios.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::daemon::workagent;
use super::folder::Folder;
use super::{median, ratio, timed};

const ROUNDS: usize = 9;

/// Prints medians and ratios.
pub fn peers() {
    for (count, goal) in [(1_000, "80 ms"), (10_000, "600 ms")] {
        let units = Folder::mixed(count);
        let services = services(count);
        let root = tempfile::tempdir().expect("a temporary directory");
        std::os::unix::fs::symlink(units.path(), root.path().join("units")).expect("a link");
        let (mut ours, mut theirs, mut floor) = (Vec::new(), Vec::new(), Vec::new());
        let mut peer = true;
        for _ in 0..ROUNDS {
            floor.push(run(&mut workagent(root.path(), &["--version"])));
            ours.push(run(&mut workagent(root.path(), &["validate"])));
            // It reads each unit that a unit names, all of them again: 10,000 take minutes.
            peer &= count <= 1_000 && has("systemd-analyze");
            if peer {
                theirs.push(run(&mut verify(services.path())));
            }
        }
        let (ours, floor) = (median(&mut ours), median(&mut floor));
        println!(
            "peers/validate_{count}: workagent validate {ours:.1?}, goal {goal}; `--version` {floor:.1?}"
        );
        if peer {
            let theirs = median(&mut theirs);
            println!(
                "peers/validate_{count}: systemd-analyze --user verify {theirs:.1?}: ours / theirs {:.3} ({:.1}x faster, \
                 goal 3x)",
                ratio(ours, theirs),
                ratio(theirs, ours)
            );
        }
    }
    if !has("systemd-analyze") {
        println!("peers: no systemd-analyze here");
    }
}

fn run(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    timed(|| assert!(command.status().expect("the command").success(), "{command:?}"))
}

#[expect(clippy::disallowed_methods, reason = "a bench plays the person at the terminal")]
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// Services as systemd has them, each after the one before.
fn services(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for number in 0..count {
        let after = match number {
            0 => String::new(),
            _ => format!("After=bench-{}.service\n", number - 1),
        };
        let text = format!(
            "[Unit]\nDescription=News {number}\n{after}\n[Service]\nExecStart=/bin/true\n\
             Environment=TEAM=team-{number}\nRestart=on-failure\n\n[Install]\nWantedBy=default.target\n"
        );
        std::fs::write(dir.path().join(format!("bench-{number}.service")), text).expect("a service");
    }
    dir
}

fn verify(dir: &Path) -> Command {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    // It makes a directory of its own among them.
    names.retain(|name| name.extension().is_some_and(|extension| extension == "service"));
    names.sort();
    #[expect(clippy::disallowed_methods, reason = "a bench plays the person at the terminal")]
    let mut command = Command::new("systemd-analyze");
    command.args(["--user", "verify"]).args(names).env("XDG_RUNTIME_DIR", dir);
    command
}
