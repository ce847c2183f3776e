//! File names: what is a unit, what holds drop-ins, what an editor left behind.

use super::Target;
use crate::unit::plan::{Kind, UnitName};

/// What a name on the search path stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// `inbox.connector.toml`.
    Unit(UnitName),
    /// `inbox.connector.d`, `connector.d`.
    DropIns(Target),
    /// Not ours, and why.
    Ignored(&'static str),
    /// `inbox.conector.toml`; empty for `inbox.toml`.
    UnknownKind(String),
    /// `a b.connector.toml`.
    BadName,
}

/// Sorts a name.
pub(super) fn sort(name: &str) -> Sort {
    if let Some(base) = name.strip_suffix(".d").filter(|_| !name.starts_with(['.', '#'])) {
        return match target(base) {
            Some(target) => Sort::DropIns(target),
            None => Sort::Ignored("does not end in .toml"),
        };
    }
    if let Some(why) = leftover(name) {
        return Sort::Ignored(why);
    }
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let (unit, word) = stem.rsplit_once('.').unwrap_or((stem, ""));
    match Kind::from_word(word) {
        None => Sort::UnknownKind(word.to_owned()),
        Some(_) if !is_name(unit) => Sort::BadName,
        Some(kind) => Sort::Unit(UnitName { name: unit.to_owned(), kind }),
    }
}

/// Why a name is no unit file or drop-in, if it is none.
pub(super) fn leftover(name: &str) -> Option<&'static str> {
    if name.starts_with('.') {
        Some("hidden")
    } else if name.starts_with('#') {
        Some("an editor's autosave")
    } else if name.ends_with(".toml") {
        None
    } else if name.ends_with('~') || [".bak", ".orig", ".old", ".rej"].iter().any(|end| name.ends_with(end)) {
        Some("a backup copy")
    } else {
        Some("does not end in .toml")
    }
}

fn target(base: &str) -> Option<Target> {
    if let Some(kind) = Kind::from_word(base) {
        return Some(Target::Kind(kind));
    }
    let (name, word) = base.rsplit_once('.')?;
    let kind = Kind::from_word(word)?;
    is_name(name).then(|| Target::Unit(UnitName { name: name.to_owned(), kind }))
}

/// Letters, digits, `-`, `_`, `.`; begins with a letter or digit. One `@` makes it a template (`github@`) or an instance
/// of one, which is named in the same way (`github@work`).
pub(in crate::unit) fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let (prefix, instance) = name.split_once('@').unwrap_or((name, ""));
    name.len() <= 128 && part(prefix) && (instance.is_empty() || part(instance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        let shown = match sort(name) {
            Sort::Unit(unit) => format!("unit {unit}"),
            Sort::DropIns(Target::Kind(kind)) => format!("drop-ins of all {}", kind.word()),
            Sort::DropIns(Target::Unit(unit)) => format!("drop-ins of {unit}"),
            Sort::Ignored(why) => format!("ignored: {why}"),
            Sort::UnknownKind(word) => format!("unknown kind `{word}`"),
            Sort::BadName => "bad name".to_owned(),
        };
        assert_eq!(shown, expected, "{name}");
    }

    #[test]
    fn units_and_their_drop_ins() {
        check("inbox.connector.toml", "unit inbox.connector");
        check("my.inbox.connector.toml", "unit my.inbox.connector");
        check("inbox.connector.d", "drop-ins of inbox.connector");
        check("connector.d", "drop-ins of all connector");
    }

    #[test]
    fn templates_and_instances() {
        check("github@.connector.toml", "unit github@.connector");
        check("github@work.connector.toml", "unit github@work.connector");
        check("github@.connector.d", "drop-ins of github@.connector");
        check("github@work.connector.d", "drop-ins of github@work.connector");
    }

    #[test]
    fn what_editors_leave() {
        check(".mail.connector.toml.swp", "ignored: hidden");
        check(".#mail.connector.toml", "ignored: hidden");
        check("#mail.connector.toml#", "ignored: an editor's autosave");
        check("mail.connector.toml~", "ignored: a backup copy");
        check("mail.connector.toml.bak", "ignored: a backup copy");
        check("4913", "ignored: does not end in .toml");
        check(".git.d", "ignored: hidden");
    }

    #[test]
    fn misspelt_kinds_and_names() {
        check("mail.conector.toml", "unknown kind `conector`");
        check("mail.toml", "unknown kind ``");
        check("a b.connector.toml", "bad name");
        check("@.connector.toml", "bad name");
        check("a@b@c.connector.toml", "bad name");
        check("a@..connector.toml", "bad name");
    }
}
