//! Which unit a word on the command line names, and which units a pattern.

use clap::Args;
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::{UnitSet, all_names};
use crate::cli::error::CliError;
use crate::unit::closest;
use crate::unit::plan::{Kind, UnitName};

/// The full name that `word` means: a full name (`inbox.connector`, `inbox.connector.toml`), or a name that only one
/// unit has (`inbox`).
///
/// # Errors
/// No unit or several have it; the hint says which was probably meant.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Result<String, CliError> {
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = word.strip_suffix(".toml").unwrap_or(word);
    if known.contains(&wanted) {
        return Ok(wanted.to_owned());
    }
    let bare = |full: &str| full.rsplit_once('.').is_some_and(|(name, _)| name == wanted);
    let mut same: Vec<&str> = known.iter().copied().filter(|full| bare(full)).collect();
    same.sort_unstable();
    match same.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(unknown(wanted, &known)),
        several => {
            let error = CliError::usage(format!("several units are called `{}`", shown(wanted)));
            Err(error.hint(format!("give the full name: {}", several.join(", "))))
        }
    }
}

/// The unit of the files that `word` means. An instance of a template that has no files yet is taken too.
///
/// # Errors
/// As [`meant`].
pub fn find(set: &UnitSet, word: &str) -> Result<UnitName, CliError> {
    let names = all_names(set);
    let known: Vec<String> = names.iter().map(ToString::to_string).collect();
    let error = match meant(word, known.iter().map(String::as_str)) {
        Ok(full) => match UnitName::parse(&full) {
            Some(name) => return Ok(name),
            None => return Err(unknown(word, &[])),
        },
        Err(error) => error,
    };
    let wanted = word.strip_suffix(".toml").unwrap_or(word);
    let of_template = |template: &UnitName, name: &UnitName| name.template().as_ref() == Some(template);
    if let Some(name) = UnitName::parse(wanted).filter(is_name) {
        return if names.iter().any(|template| of_template(template, &name)) { Ok(name) } else { Err(error) };
    }
    let instances = names.iter().filter_map(|template| {
        let name = UnitName { name: wanted.to_owned(), kind: template.kind };
        (of_template(template, &name) && is_name(&name)).then_some(name)
    });
    let instances: Vec<UnitName> = instances.collect();
    match instances.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(error),
    }
}

/// It becomes a file name: letters, digits, `-`, `_`, `.`, and `@`.
fn is_name(name: &UnitName) -> bool {
    name.name.len() <= 128
        && name.name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@'))
}

fn unknown(word: &str, known: &[&str]) -> CliError {
    let error = CliError::usage(format!("there is no unit `{}`", shown(word)));
    let bare = |full: &&str| full.rsplit_once('.').map(|(name, _)| name.to_owned());
    let like = closest(word, known.iter().copied()).map(str::to_owned).or_else(|| {
        let names: Vec<String> = known.iter().filter_map(bare).collect();
        let near = closest(word, names.iter().map(String::as_str))?.to_owned();
        known.iter().find(|full| bare(full).is_some_and(|name| name == near)).map(|full| (*full).to_owned())
    });
    match like {
        Some(name) => error.hint(format!("did you mean {name}?")),
        None => error.hint("workagent list-unit-files names them all"),
    }
}

fn shown(word: &str) -> String {
    crate::cli::look::line(word, 80)
}

/// Which units a list shows.
#[derive(Clone, Debug, Default, Args)]
pub struct Selection {
    /// Only units of this kind: connector, engine, env, route, runtime, … (may be given more than once)
    #[arg(long = "type", short = 't', value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    kinds: Vec<Kind>,
    /// Only units whose name is like one of these: `inbox`, `git*`, `*.engine`
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
}

fn kind(word: &str) -> Result<Kind, String> {
    Kind::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        format!("a kind is one of {}", words.join(", "))
    })
}

/// A selection made ready.
pub struct Selected {
    kinds: Vec<Kind>,
    patterns: Option<GlobSet>,
}

impl Selection {
    /// Nothing was selected: everything is meant.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.kinds.is_empty() && self.patterns.is_empty()
    }

    /// The only word, if it is a name rather than a pattern.
    #[must_use]
    pub fn one_name(&self) -> Option<&str> {
        match self.patterns.as_slice() {
            [word] if !word.contains(['*', '?', '[', '{']) => Some(word),
            _ => None,
        }
    }

    /// Reads the patterns.
    ///
    /// # Errors
    /// One is none.
    pub fn ready(&self) -> Result<Selected, CliError> {
        let mut globs = GlobSetBuilder::new();
        for pattern in &self.patterns {
            let glob = Glob::new(pattern).map_err(|error| CliError::usage(error.to_string()))?;
            globs.add(glob);
        }
        let globs = globs.build().map_err(|error| CliError::usage(error.to_string()))?;
        Ok(Selected { kinds: self.kinds.clone(), patterns: (!self.patterns.is_empty()).then_some(globs) })
    }
}

impl Selected {
    /// By its full name; a pattern may be about the name without the kind.
    #[must_use]
    pub fn has(&self, full: &str) -> bool {
        let (name, word) = full.rsplit_once('.').unwrap_or((full, ""));
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.word() == word);
        kind && self.patterns.as_ref().is_none_or(|globs| globs.is_match(full) || globs.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] =
        ["inbox.connector", "command.connector", "command.engine", "worker.runtime", "github@.connector"];

    fn check(word: &str, expected: &str) {
        let shown = match meant(word, KNOWN) {
            Ok(name) => name,
            Err(error) => format!("{}; {}", error.message, error.hint.unwrap_or_default()),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_word_names_a_unit() {
        check("inbox.connector", "inbox.connector");
        check("inbox.connector.toml", "inbox.connector");
        check("inbox", "inbox.connector");
        check(
            "command",
            "several units are called `command`; give the full name: command.connector, command.engine",
        );
        check("inbxo", "there is no unit `inbxo`; did you mean inbox.connector?");
        check("inbox.conector", "there is no unit `inbox.conector`; did you mean inbox.connector?");
        check("zzz\x1b[31m", "there is no unit `zzz[31m`; workagent list-unit-files names them all");
    }

    #[test]
    fn patterns_are_about_the_name_with_or_without_its_kind() {
        let select = |kinds: &[Kind], patterns: &[&str]| {
            let patterns = patterns.iter().map(|text| (*text).to_owned()).collect();
            let selected = Selection { kinds: kinds.to_vec(), patterns }.ready().unwrap();
            KNOWN.into_iter().filter(|name| selected.has(name)).collect::<Vec<_>>()
        };
        assert_eq!(select(&[], &["command"]), ["command.connector", "command.engine"]);
        assert_eq!(select(&[Kind::Engine], &["command"]), ["command.engine"]);
        assert_eq!(select(&[], &["*.runtime", "in*"]), ["inbox.connector", "worker.runtime"]);
        assert_eq!(select(&[Kind::Env], &[]), [""; 0]);
        assert_eq!(select(&[], &[]), KNOWN);
    }
}
