//! The systemd unit as text: what this version would write, and what a text says.

use std::path::Path;

use super::{ServiceError, Site};

/// The unit as packages bring it.
pub const PACKAGED: &str = include_str!("../../../packaging/systemd/workagent.service");

/// The drop-in of `--hardened`.
pub const HARDENING: &str = include_str!("../../../packaging/systemd/hardening.conf");

const PROGRAM: &str = "/usr/bin/workagent";
const PATH_LINE: &str = "Environment=\"PATH=%h/.local/bin:/usr/local/bin:/usr/bin:/bin\"\n";

/// The unit for a site, with this PATH.
///
/// # Errors
/// The program's path or a variable holds a character that a unit file cannot.
pub fn render(site: &Site, path: &str) -> Result<String, ServiceError> {
    let program = site.program.to_str().ok_or_else(|| {
        ServiceError::new(format!("the path {} is not UTF-8, which a unit file is", site.program.display()))
    })?;
    let mut environment = format!("Environment={}\n", quoted(&format!("PATH={path}"), false)?);
    for (name, value) in &site.kept {
        environment.push_str(&format!("Environment={}\n", quoted(&format!("{name}={value}"), false)?));
    }
    let program = quoted(program, true)?;
    Ok(PACKAGED
        .replace("# The user service of workagent. A package brings it, or `workagent service install` writes it.\n",
            "# The user service of workagent, written by `workagent service install`.\n")
        .replace("# Engines are found here too. `workagent service install` puts the PATH of your login shell in its place.\n",
            "# The PATH of your login shell, as it was then; engines are found here too.\n")
        .replace(PATH_LINE, &environment)
        .replace(&format!("={PROGRAM} "), &format!("={program} ")))
}

/// One word of a unit file. `%` begins a specifier everywhere, `$` a variable in commands only.
fn quoted(text: &str, is_command: bool) -> Result<String, ServiceError> {
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        let text = crate::model::text::visible(text);
        return Err(ServiceError::new(format!("{text}: a unit file cannot hold {control:?}")));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '%' => out.push_str("%%"),
            '$' if is_command => out.push_str("$$"),
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(out)
}

/// One assignment of a unit file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `Service`.
    pub section: String,
    /// `ExecStart`.
    pub key: String,
    /// As it stands there.
    pub value: String,
}

/// The assignments of a unit file, in order. Lines that a backslash continues are one.
#[must_use]
pub fn settings(text: &str) -> Vec<Setting> {
    let (mut found, mut section, mut begun) = (Vec::new(), String::new(), String::new());
    for line in text.lines() {
        let line = line.trim();
        // Comments between continued lines are skipped, as systemd does.
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(more) = line.strip_suffix('\\') {
            begun.push_str(more);
            begun.push(' ');
            continue;
        }
        let line = std::mem::take(&mut begun) + line;
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            found.push(Setting { section: section.clone(), key, value });
        }
    }
    found
}

/// Keys in which two unit files differ; the environment apart, which is the user's.
#[must_use]
pub fn differing(installed: &str, ours: &str) -> Vec<String> {
    let of = |text: &str| -> Vec<Setting> {
        settings(text).into_iter().filter(|setting| setting.key != "Environment").collect()
    };
    let (theirs, ours) = (of(installed), of(ours));
    let mut keys: Vec<String> = theirs
        .iter()
        .filter(|setting| !ours.contains(setting))
        .chain(ours.iter().filter(|setting| !theirs.contains(setting)))
        .map(|setting| setting.key.clone())
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The program that a unit file starts, if it names one.
#[must_use]
pub fn program(text: &str) -> Option<String> {
    let found = settings(text).into_iter().rfind(|setting| setting.key == "ExecStart")?;
    first_word(&found.value)
}

/// The first word of a command, without quotes, prefixes and escapes.
pub(super) fn first_word(command: &str) -> Option<String> {
    let command = command.trim_start_matches(['-', '@', ':', '+', '!', ' ']);
    let mut word = String::new();
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => word.extend(chars.next()),
            ('%' | '$', _) if chars.peek() == Some(&c) => word.extend(chars.next()),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => break,
            (c, _) => word.push(c),
        }
    }
    Some(word).filter(|word| !word.is_empty())
}

/// The program is of a package's own version folder, which is gone after an upgrade.
#[must_use]
pub fn is_versioned(program: &Path) -> bool {
    let text = program.to_string_lossy();
    let is_number = |part: &str| {
        let part = part.strip_prefix('v').unwrap_or(part);
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.contains('.')
            && part.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_')
    };
    text.contains("/Cellar/") || text.starts_with("/nix/store/") || text.split('/').any(is_number)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::daemon::service::Supervisor;

    pub(crate) fn site(program: &str) -> Site {
        Site {
            supervisor: Supervisor::Systemd,
            program: program.into(),
            home: PathBuf::from("/home/me"),
            config_home: PathBuf::from("/home/me/.config"),
            user: "me".to_owned(),
            uid: 1000,
            kept: Vec::new(),
        }
    }

    #[test]
    fn what_is_packaged_is_what_an_install_starts_from() {
        for place in [PATH_LINE, &format!("ExecStart={PROGRAM} "), &format!("ExecReload={PROGRAM} ")] {
            assert!(PACKAGED.contains(place), "{place}");
        }
        let text = render(&site(PROGRAM), "/bin").unwrap();
        assert_eq!(differing(&text, PACKAGED), ["ExecReload", "ExecStart"], "quoted, and nothing else");
    }

    #[test]
    fn a_home_with_a_space_and_worse() {
        let mut site = site("/home/an na/100%/$x/\"q\"/workagent");
        site.kept = vec![("XDG_STATE_HOME".into(), "/home/an na/100%".into())];
        let text = render(&site, "/home/an na/bin:/bin").unwrap();
        let wanted = [
            "ExecStart=\"/home/an na/100%%/$$x/\\\"q\\\"/workagent\" run\n",
            "ExecReload=\"/home/an na/100%%/$$x/\\\"q\\\"/workagent\" reload --service\n",
            "Environment=\"PATH=/home/an na/bin:/bin\"\nEnvironment=\"XDG_STATE_HOME=/home/an na/100%%\"\n",
        ];
        for line in wanted {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(program(&text).as_deref(), Some("/home/an na/100%/$x/\"q\"/workagent"));
        let error = render(&self::site("/a\nb"), "/bin").unwrap_err().to_string();
        assert!(error.contains("cannot hold '\\n'"), "{error}");
    }

    #[test]
    fn continued_lines_are_one() {
        let text =
            "# c\n[Service]\nExecStart=/a \\\n# between\n  b\nEnvironment=A=b\n[Install]\nWantedBy=x\n";
        let found: Vec<String> =
            settings(text).into_iter().map(|s| format!("{}.{}={}", s.section, s.key, s.value)).collect();
        assert_eq!(found, ["Service.ExecStart=/a  b", "Service.Environment=A=b", "Install.WantedBy=x"]);
    }

    #[test]
    fn folders_of_one_version() {
        for gone in [
            "/opt/homebrew/Cellar/workagent/0.3.0/bin/workagent",
            "/nix/store/abc-workagent/bin/workagent",
            "/home/me/.nvm/versions/node/v22.1.0/bin/workagent",
        ] {
            assert!(is_versioned(Path::new(gone)), "{gone}");
        }
        for stays in ["/usr/bin/workagent", "/opt/homebrew/bin/workagent", "/home/me/.cargo/bin/workagent"] {
            assert!(!is_versioned(Path::new(stays)), "{stays}");
        }
    }
}
