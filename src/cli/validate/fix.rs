//! `validate --fix`: makes the edits that leave no choice, shows them, keeps comments, and writes a file only if that
//! leaves fewer errors in it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use similar::TextDiff;

use super::ValidateError;
use crate::diag::mask::Masked;
use crate::diag::{Finding, Severity, SourceId, SourceMap, fix};
use crate::model::text::clean;
use crate::unit::registry::Registry;
use crate::unit::{CompileEnv, Compiled, Loaded, compile};

/// What was mended.
#[derive(Debug, Default)]
pub struct Fixed {
    /// What changed, as a unified diff, secrets masked.
    pub diff: String,
    /// Edits made.
    pub edits: usize,
    /// Files written.
    pub files: usize,
}

/// Mends files of the search path, as far as they are `wanted`. `loaded` then holds what was written.
///
/// # Errors
/// A file cannot be written; those before it are.
pub fn fix(
    loaded: &mut Loaded,
    compiled: &Compiled,
    registry: &Registry,
    env: &CompileEnv,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Fixed, ValidateError> {
    let mut fixed = Fixed::default();
    for source in compiled.sources.all() {
        let path = source.path.as_path();
        let Some(id) = compiled.sources.find(path) else { continue };
        // What lies in the binary, or changed since it was read, is not ours to write.
        let on_disk = fs::read_to_string(path).is_ok_and(|text| *text == *source.text);
        if source.text.is_empty() || !wanted(path) || !on_disk {
            continue;
        }
        let Some((text, edits)) = fix::apply(&compiled.findings, id, &compiled.sources) else { continue };
        let mut trial = loaded.clone();
        trial.put(path, text.as_str().into());
        let after = compile(&trial, registry, env);
        if errors(&after.findings, &after.sources, path)
            >= errors(&compiled.findings, &compiled.sources, path)
        {
            continue;
        }
        fixed.diff.push_str(&diff(path, &compiled.sources, id, &after.sources, &text));
        replace(path, &text).map_err(|source| ValidateError::Write { path: path.to_owned(), source })?;
        fixed.edits += edits;
        fixed.files += 1;
        *loaded = trial;
    }
    Ok(fixed)
}

fn errors(findings: &[Finding], sources: &SourceMap, path: &Path) -> usize {
    let here =
        |finding: &&Finding| finding.severity == Severity::Error && sources.path(finding.span.source) == path;
    findings.iter().filter(here).count()
}

/// Lines around an edit may hold a secret, so both sides are masked before they are compared.
fn diff(path: &Path, sources: &SourceMap, id: SourceId, after: &SourceMap, text: &str) -> String {
    let hidden_after = after.find(path).into_iter().flat_map(|id| after.hidden(id));
    let old = Masked::new(sources.text(id), sources.hidden(id)).text;
    let new = Masked::new(text, hidden_after).text;
    let name = path.display().to_string();
    clean(&TextDiff::from_lines(&old, &new).unified_diff().context_radius(1).header(&name, &name).to_string())
}

/// Replaces a file's content in one step: after a crash it is the old one or the new one. Its mode is kept; where the name
/// is a link, the file behind it is replaced.
///
/// # Errors
/// The directory or the file cannot be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".workagent-").tempfile_in(dir)?;
    let mode = match fs::metadata(&target) {
        Ok(held) => held.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file().set_permissions(mode)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
