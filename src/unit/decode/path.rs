//! Paths: `~` and specifiers; relative ones begin at the unit file's directory.

use std::path::{Path, PathBuf};

use super::{At, specifier};

/// Why a text is no path.
pub(super) enum Wrong {
    /// The path itself.
    Path(String),
    /// One of its specifiers.
    Specifier(String),
}

/// The absolute path.
pub(super) fn decode(at: At<'_>, text: &str) -> Result<PathBuf, Wrong> {
    let bad = |why: &str| Err(Wrong::Path(why.to_owned()));
    if text.is_empty() {
        return bad("an empty path");
    }
    if text.chars().any(char::is_control) {
        return bad("a path with a control character");
    }
    let text = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("%h{rest}"),
        Some(_) => return bad("`~user` is not known here; write the path out"),
        None => text.to_owned(),
    };
    let path = PathBuf::from(specifier::expand(at, &text, false).map_err(Wrong::Specifier)?);
    if path.is_absolute() {
        return Ok(path);
    }
    let relative = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    Ok(at.dir.join(relative))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::compile::CompileEnv;
    use crate::unit::plan::{Kind, UnitName};

    fn check(text: &str, expected: &str) {
        let unit = UnitName { name: "inbox".into(), kind: Kind::Connector };
        let env =
            CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into(), ..CompileEnv::default() };
        let at = At { unit: &unit, table: "maildir", key: "path", dir: Path::new("/units"), env: &env };
        let shown = match decode(at, text) {
            Ok(path) => path.display().to_string(),
            Err(Wrong::Path(why) | Wrong::Specifier(why)) => why,
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn paths_become_absolute() {
        check("~/mail", "/home/me/mail");
        check("~", "/home/me");
        check("%S/out/%n", "/state/out/inbox.connector");
        check("feeds/a.xml", "/units/feeds/a.xml");
        check("./a.xml", "/units/a.xml");
        check("/a/100%%", "/a/100%");
        check("%q", "there is no specifier `%q`, only %i %p %n %h %u %H %E %S %C %t %%; `%%` is a `%`");
        check("~bob/x", "`~user` is not known here; write the path out");
        check("a\0b", "a path with a control character");
    }
}
