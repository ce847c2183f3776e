//! Writes what was accepted: secrets first, then unit files; all of it or nothing.

use std::path::PathBuf;

use super::here::Here;
use super::plan::{Change, Planned};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::units::write;
use crate::cli::{schema, secret};
use crate::daemon::exit;
use crate::diag::Severity;
use crate::model::secret_ref::SecretRef;
use crate::secret::{Grant, SecretStore as _, SecretValue, Token};
use crate::unit::plan::Kind;

/// What was done, and how it is taken back.
enum Done {
    /// A secret was stored; what was there before.
    Secret(String, Option<Token>),
    /// A file was written; its text before.
    File(PathBuf, Option<String>),
}

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Files.
    pub files: Vec<PathBuf>,
    /// The key of the secret file, where it was made.
    pub key_made: Option<PathBuf>,
}

/// Writes.
///
/// # Errors
/// Says what could not be written. What was written before it is taken back.
pub async fn apply(
    planned: &[Planned],
    secrets: Vec<(String, SecretValue, Option<Grant>)>,
    here: &Here,
    context: &Context<'_>,
) -> Result<Written, CliError> {
    for one in planned {
        // Between the summary and now somebody may have edited it.
        let now = std::fs::read_to_string(&one.file.path).ok();
        if now.as_deref() != one.before.as_deref() {
            let path = here.short(&one.file.path);
            let error =
                CliError::new(exit::FAILURE, format!("{path} was changed meanwhile; nothing was written"));
            return Err(error.hint("workagent init once more"));
        }
    }
    here.paths.make().map_err(|error| CliError::doing("prepare the directories", &error))?;
    let mut done = Vec::new();
    let written = steps(planned, secrets, here, context, &mut done).await;
    match written {
        Ok(written) => {
            if !written.secrets.is_empty() {
                secret::changed(&here.paths).await;
            }
            Ok(written)
        }
        Err(error) => {
            let left = take_back(done, here).await;
            let message = match left.as_slice() {
                [] => format!("{}; all is as it was", error.message),
                left => format!("{}; could not be taken back: {}", error.message, left.join(", ")),
            };
            Err(CliError { message, ..error })
        }
    }
}

async fn steps(
    planned: &[Planned],
    secrets: Vec<(String, SecretValue, Option<Grant>)>,
    here: &Here,
    context: &Context<'_>,
    done: &mut Vec<Done>,
) -> Result<Written, CliError> {
    let mut written = Written::default();
    for (name, value, grant) in secrets {
        let before = here.secrets.token(&SecretRef::Stored(name.clone())).await.ok();
        let stored = here.secrets.put(&name, value, grant, None).await;
        let outcome = stored.map_err(|error| CliError::doing(&format!("store {name}"), &error))?;
        written.key_made = written.key_made.or(outcome.and_then(|outcome| outcome.key_made));
        done.push(Done::Secret(name.clone(), before));
        written.secrets.push(name);
    }
    let wanted = planned.iter().filter(|one| one.change() != Change::Same);
    for one in wanted {
        write::write(&one.file.path, &one.file.text)?;
        done.push(Done::File(one.file.path.clone(), one.before.as_deref().map(str::to_owned)));
        written.files.push(one.file.path.clone());
    }
    if let Some(parent) = here.own.dir.parent() {
        let mut kinds: Vec<Kind> = planned.iter().map(|one| one.name.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            schema::write(&parent.join("schema"), kind)?;
        }
    }
    check(planned, context)?;
    Ok(written)
}

/// Takes back, the last first; what could not be.
async fn take_back(done: Vec<Done>, here: &Here) -> Vec<String> {
    let mut left = Vec::new();
    for step in done.into_iter().rev() {
        match step {
            Done::File(path, before) => {
                let undone = match before {
                    Some(text) => write::write(&path, &text),
                    None => write::remove(&path),
                };
                if undone.is_err() {
                    left.push(here.short(&path));
                }
            }
            Done::Secret(name, before) => {
                let undone = match before {
                    Some(Token { value, grant, .. }) => {
                        here.secrets.put(&name, value, grant, None).await.is_ok()
                    }
                    None => here.secrets.remove(&name).await.is_ok(),
                };
                if !undone {
                    left.push(format!("the secret {name}"));
                }
            }
        }
    }
    left
}

/// Reads everything from the disk again and compiles it, as the daemon does.
fn check(planned: &[Planned], context: &Context<'_>) -> Result<(), CliError> {
    let set = crate::cli::units::UnitSet::read(context);
    let compiled = &set.compiled;
    let about = |path: &std::path::Path| planned.iter().any(|one| one.file.path == path);
    let error = compiled.findings.iter().find(|finding| {
        finding.severity == Severity::Error && about(compiled.sources.path(finding.span.source))
    });
    match error {
        None => Ok(()),
        Some(error) => {
            let message = format!("what was written does not compile: {}", error.title);
            Err(CliError::new(exit::FAILURE, message).hint("workagent validate"))
        }
    }
}
