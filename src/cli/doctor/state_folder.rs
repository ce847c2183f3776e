//! The folder of the record: is it there, and is it ours alone?

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::facts::Facts;
use super::verdict::{Level, Verdict};

pub fn check(facts: &Facts) -> Verdict {
    let state = &facts.paths.state;
    let looked_at = facts.short(state);
    let found = match fs::metadata(state) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Verdict::none(format!("{looked_at} is made at the first start"));
        }
        Err(error) => {
            let mend = format!("ls -ld '{}'", state.display());
            return Verdict::of(
                Level::Problem,
                looked_at,
                vec![format!("it cannot be looked at: {error}")],
                mend,
            );
        }
    };
    let mut wrong = Vec::new();
    if found.uid() != rustix::process::geteuid().as_raw() {
        wrong.push(format!("it belongs to user {}", found.uid()));
    }
    if found.permissions().mode() & 0o022 != 0 {
        wrong.push("others can write in it: the daemon does not start".to_owned());
    }
    let mend = format!("chmod go-w '{}'", state.display());
    Verdict::of(Level::Problem, looked_at, wrong, mend)
}
