//! The files of the service against what this version would write.

use std::path::Path;

use super::facts::{Facts, ServiceFile};
use super::verdict::{Level, Verdict};
use crate::daemon::service::{
    Supervisor, Wishes, install, plist, plist_lint, site::Site, unit_file, unit_lint,
};

pub fn check(facts: &Facts) -> Verdict {
    let (Some(site), Some(_)) = (&facts.site, facts.installed()) else {
        return Verdict::none("not installed");
    };
    let names: Vec<String> = facts.files.iter().map(|file| facts.short(&file.path)).collect();
    let looked_at = names.join(", ");
    let (mut wrong, mut own_is_wrong) = (Vec::new(), false);
    for file in &facts.files {
        let mut faults = match site.supervisor {
            Supervisor::Systemd => unit_lint::lint(&file.text, !file.is_drop_in, facts.stop_s),
            Supervisor::Launchd => plist_lint::lint(&file.text, &site.home, facts.stop_s),
        };
        if !file.is_drop_in {
            own_is_wrong |= !faults.is_empty();
            let older = against_ours(file, site);
            own_is_wrong |= !older.is_empty();
            faults.extend(older);
        }
        // Where there are several, whose it is has to be said.
        let of = if facts.files.len() > 1 { file.path.file_name() } else { None };
        let of = of.map(|name| format!("{}: ", name.to_string_lossy())).unwrap_or_default();
        wrong.extend(faults.into_iter().map(|fault| format!("{of}{fault}")));
    }
    let mend = if own_is_wrong { "workagent service install" } else { "systemctl --user edit workagent" };
    Verdict::of(Level::Problem, looked_at, wrong, mend)
}

/// What is another than this version would write, and a program that is gone or not this one.
fn against_ours(file: &ServiceFile, site: &Site) -> Vec<String> {
    let mut wrong = Vec::new();
    let program = match site.supervisor {
        Supervisor::Systemd => unit_file::program(&file.text),
        Supervisor::Launchd => {
            plist::read(&file.text).ok().and_then(|agent| plist::program(&agent).map(str::to_owned))
        }
    };
    // What is no path at all is the business of the lint.
    if let Some(program) = program.filter(|program| program.starts_with('/')) {
        wrong.extend(other_program(Path::new(&program), &site.program));
    }
    let is_packaged = file.path != site.file();
    let ours = match site.supervisor {
        Supervisor::Systemd if is_packaged => Some(unit_file::PACKAGED.to_owned()),
        _ => {
            install::files(site, &Wishes::default()).ok().and_then(|files| Some(files.into_iter().next()?.1))
        }
    };
    let Some(ours) = ours else { return wrong };
    let differing = match site.supervisor {
        Supervisor::Systemd => {
            let mut keys = unit_file::differing(&file.text, &ours);
            // The program has been looked at already.
            keys.retain(|key| key != "ExecStart" && key != "ExecReload");
            keys
        }
        Supervisor::Launchd => plist_keys(&file.text, &ours),
    };
    if !differing.is_empty() {
        wrong.push(format!("this version would write it with another {}", differing.join(", ")));
    }
    wrong
}

fn other_program(theirs: &Path, ours: &Path) -> Option<String> {
    if !theirs.exists() {
        return Some(format!("it starts {}, which is not there", theirs.display()));
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    (real(theirs) != real(ours))
        .then(|| format!("it starts {}, and this is {}", theirs.display(), ours.display()))
}

fn plist_keys(theirs: &str, ours: &str) -> Vec<String> {
    let (Ok(theirs), Ok(ours)) = (plist::read(theirs), plist::read(ours)) else { return Vec::new() };
    let is_own = |key: &str| ["EnvironmentVariables", "ProgramArguments", "Program"].contains(&key);
    let names = theirs.members().iter().chain(ours.members()).map(|(key, _)| key.clone());
    let mut keys: Vec<String> =
        names.filter(|key| !is_own(key) && theirs.get(key) != ours.get(key)).collect();
    keys.sort();
    keys.dedup();
    keys
}
