//! Specifiers: `%i` and the like in values of keys that take them. There is no other interpolation.

use std::path::Path;

use super::At;

/// All of them, with what they stand for.
pub const SPECIFIERS: [(char, &str); 11] = [
    ('i', "the name of the instance, `work` in `github@work`"),
    ('p', "the name before the `@`, or all of it"),
    ('n', "the full name, `github@work.connector`"),
    ('h', "your home directory"),
    ('u', "your user name"),
    ('H', "the name of this machine"),
    ('E', "the daemon's configuration directory"),
    ('S', "the daemon's state directory"),
    ('C', "the daemon's cache directory"),
    ('t', "the daemon's runtime directory"),
    ('%', "a `%`"),
];

/// What stands for `%i` while a template is looked at that has no instance.
const ANY_INSTANCE: &str = "instance";

/// The text with its specifiers filled in; why not, otherwise. In a URL (`url`), `%` with two hexadecimal digits is one
/// of the URL's own.
pub(super) fn expand(at: At<'_>, text: &str, url: bool) -> Result<String, String> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('%') {
        out.push_str(rest.get(..place).unwrap_or_default());
        rest = rest.get(place + 1..).unwrap_or_default();
        if url && is_escape(rest) {
            out.push('%');
            continue;
        }
        let Some(letter) = rest.chars().next() else {
            return Err("ends with a `%`; write `%%` for a `%`".to_owned());
        };
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            'i' => out.push_str(instance(at)?),
            'p' => out.push_str(at.unit.prefix()),
            'n' => out.push_str(&at.unit.to_string()),
            'h' => out.push_str(dir(at.env.home.as_deref(), "home directory")?),
            'u' => out.push_str(at.env.user.as_deref().ok_or("`%u`: the user's name is not known")?),
            'H' => out.push_str(at.env.host.as_deref().ok_or("`%H`: this machine has no name")?),
            'E' => out.push_str(dir(at.env.config_dir.as_deref(), "configuration directory")?),
            'S' => out.push_str(dir(Some(&at.env.state_dir), "state directory")?),
            'C' => out.push_str(dir(at.env.cache_dir.as_deref(), "cache directory")?),
            't' => out.push_str(dir(at.env.runtime_dir.as_deref(), "runtime directory")?),
            '%' => out.push('%'),
            other => return Err(unknown(other)),
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// A text as it must be written under a key with specifiers to be read as it is.
pub(crate) fn escaped(text: &str, url: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, letter) in text.char_indices() {
        out.push(letter);
        if letter == '%' && !(url && is_escape(text.get(place + 1..).unwrap_or_default())) {
            out.push('%');
        }
    }
    out
}

fn is_escape(rest: &str) -> bool {
    rest.get(..2).is_some_and(|two| two.chars().all(|c| c.is_ascii_hexdigit()))
}

fn instance<'a>(at: At<'a>) -> Result<&'a str, String> {
    match at.unit.instance() {
        Some(instance) => Ok(instance),
        None if at.unit.is_template() => Ok(ANY_INSTANCE),
        None => Err("has `%i`, the name of an instance, but this unit is no instance".to_owned()),
    }
}

fn dir<'a>(path: Option<&'a Path>, what: &str) -> Result<&'a str, String> {
    let path = path.ok_or_else(|| format!("there is no {what} here"))?;
    path.to_str().ok_or_else(|| "leads into a directory whose name is not UTF-8".to_owned())
}

fn unknown(letter: char) -> String {
    let known: Vec<String> = SPECIFIERS.iter().map(|(known, _)| format!("%{known}")).collect();
    let letter: String = Some(letter).filter(|letter| !letter.is_control()).into_iter().collect();
    format!("there is no specifier `%{letter}`, only {}; `%%` is a `%`", known.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::compile::CompileEnv;
    use crate::unit::plan::{Kind, UnitName};

    fn expanded(unit: &str, text: &str, url: bool) -> String {
        let unit = UnitName { name: unit.into(), kind: Kind::Connector };
        let env = CompileEnv {
            home: Some("/home/me".into()),
            state_dir: "/state".into(),
            config_dir: Some("/config".into()),
            cache_dir: Some("/cache".into()),
            runtime_dir: None,
            user: Some("me".into()),
            host: Some("desk".into()),
        };
        let at = At { unit: &unit, table: "feed", key: "url", dir: Path::new(""), env: &env };
        expand(at, text, url).unwrap_or_else(|why| why)
    }

    #[test]
    fn each_stands_for_something() {
        let all = "%i %p %n %h %u %H %E %S %C %%";
        let expected = "work github github@work.connector /home/me me desk /config /state /cache %";
        assert_eq!(expanded("github@work", all, false), expected);
        assert_eq!(expanded("inbox", "%p %n", false), "inbox inbox.connector");
        assert_eq!(expanded("inbox", "%t", false), "there is no runtime directory here");
    }

    #[test]
    fn what_is_none_is_told() {
        assert_eq!(
            expanded("inbox", "50 %q", false),
            "there is no specifier `%q`, only %i %p %n %h %u %H %E %S %C %t %%; `%%` is a `%`"
        );
        assert_eq!(expanded("inbox", "50 %", false), "ends with a `%`; write `%%` for a `%`");
        assert_eq!(
            expanded("inbox", "%i", false),
            "has `%i`, the name of an instance, but this unit is no instance"
        );
        assert_eq!(expanded("github@", "%i", false), "instance");
    }

    #[test]
    fn a_url_keeps_its_own_escapes() {
        assert_eq!(expanded("a@b", "https://x/%i/%20%C3%BC%%", true), "https://x/b/%20%C3%BC%");
        assert_eq!(escaped("https://x/%20 100%", true), "https://x/%20 100%%");
        assert_eq!(escaped("%20", false), "%%20");
    }
}
