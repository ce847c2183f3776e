//! From the rule of a unit to the rights of one run.

use std::path::Path;

use crate::process::sandbox::{Files, Sandbox};
use crate::unit::plan::{FilesRule, SandboxRule};

/// The rights of a run. `own`: directories of the run and of the program itself, always writable.
pub(super) fn rights(rule: &SandboxRule, own: &[&Path]) -> Sandbox {
    Sandbox {
        files: match rule.files {
            FilesRule::All => Files::All,
            FilesRule::ReadOnly => Files::ReadOnly,
            FilesRule::Named => Files::Named(rule.read.clone()),
        },
        write: own.iter().map(|path| (*path).to_owned()).chain(rule.write.iter().cloned()).collect(),
        network: rule.network,
        required: rule.required,
    }
}
