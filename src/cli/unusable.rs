//! A database that cannot be used: what is wrong with it, what can be put back, and with which command. One message, the
//! same for the daemon and for every command that looks into the record.

use std::path::Path;

use super::backend::assembly_error;
use super::error::CliError;
use crate::daemon::assembly::AssemblyError;
use crate::daemon::backup::{Kept, kept};
use crate::daemon::exit;
use crate::daemon::mark;
use crate::daemon::paths::Paths;
use crate::store::StoreError;

/// Copies named in the message; the folder has the others.
const COPIES_SHOWN: usize = 5;

/// The message where only the database was opened.
pub fn unusable_store(source: StoreError, paths: &Paths, database: &Path) -> CliError {
    let (kept, mark) = (kept(&paths.state, database), mark::path(&paths.state));
    assembly_error(AssemblyError::Unusable { source, kept, mark })
}

/// The message.
pub fn unusable(error: &AssemblyError, source: &StoreError, (kept, mark): (&[Kept], &Path)) -> CliError {
    let kept: Vec<&Kept> = kept.iter().filter(|copy| is_known_here(copy, source)).collect();
    let mut told = CliError { code: exit::DATABASE, ..CliError::doing("start", error) };
    let left = if matches!(source, StoreError::Missing { .. }) {
        "None was made in its place."
    } else {
        "It was left as it is."
    };
    told.message.push_str(&format!("\n  {left}"));
    if !kept.is_empty() {
        told.message.push_str(" Copies of the record that can be put back:");
    }
    for copy in kept.iter().take(COPIES_SHOWN) {
        told.message.push_str(&format!("\n    {}  {}", copy.at, copy.path.display()));
    }
    told.hint(hint(source, kept.first().copied(), mark))
}

/// An older program cannot use what a newer one has migrated.
fn is_known_here(copy: &Kept, source: &StoreError) -> bool {
    match (source, copy.schema) {
        (StoreError::Newer { known, .. }, Some(schema)) => schema <= *known,
        _ => true,
    }
}

fn hint(source: &StoreError, newest: Option<&Kept>, mark: &Path) -> String {
    let restore = newest.map(|copy| format!("`workagent restore {}`", quoted(&copy.path)));
    let anew = format!("to begin anew without it, remove {}", mark.display());
    match (source, restore) {
        (StoreError::Newer { by, .. }, restore) => {
            let to = by.as_deref().map(|by| format!(" to {by}")).unwrap_or_default();
            let back = restore
                .map(|restore| {
                    format!("; or go back with {restore}, which forgets what came after that copy")
                })
                .unwrap_or_default();
            format!("upgrade workagent{to}{back}")
        }
        (StoreError::Missing { .. }, Some(restore)) => {
            format!("put the file back, or put a copy back: {restore}; {anew}")
        }
        (StoreError::Missing { .. }, None) => {
            format!("put the file back, or give the new place in [store] path; {anew}")
        }
        (_, Some(restore)) => format!("{restore} puts the newest back and keeps what is there aside"),
        (_, None) => {
            format!("put a copy of yours back with `workagent restore FILE`; {anew} and move the file away")
        }
    }
}

/// As a shell takes it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
