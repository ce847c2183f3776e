//! Paths: `~`, `%h`, `%S`, `%n`, `%%`; relative ones begin at the unit file's directory.

use std::path::{Path, PathBuf};

use super::At;

/// The absolute path.
pub(super) fn decode(at: At<'_>, text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("an empty path".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("a path with a control character".to_owned());
    }
    let home = || at.env.home.as_deref().ok_or("there is no home directory here");
    let text = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("%h{rest}"),
        Some(_) => return Err("`~user` is not known here; write the path out".to_owned()),
        None => text.to_owned(),
    };
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some('h') => out.push_str(utf8(home()?)?),
            Some('S') => out.push_str(utf8(&at.env.state_dir)?),
            Some('n') => out.push_str(&at.unit.to_string()),
            _ => return Err("knows only `%h`, `%S`, `%n`; write `%%` for a `%`".to_owned()),
        }
    }
    let path = PathBuf::from(out);
    if path.is_absolute() {
        return Ok(path);
    }
    let relative = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    Ok(at.dir.join(relative))
}

fn utf8(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| "leads into a directory whose name is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::compile::CompileEnv;
    use crate::unit::plan::{Kind, UnitName};

    fn check(text: &str, expected: &str) {
        let unit = UnitName { name: "inbox".into(), kind: Kind::Connector };
        let env = CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into() };
        let at = At { unit: &unit, table: "maildir", key: "path", dir: Path::new("/units"), env: &env };
        let shown = decode(at, text).map_or_else(|why| why, |path| path.display().to_string());
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
        check("%q", "knows only `%h`, `%S`, `%n`; write `%%` for a `%`");
        check("~bob/x", "`~user` is not known here; write the path out");
        check("a\0b", "a path with a control character");
    }
}
