//! Variables of the service whose values are not what their author meant. Values are never shown.

use std::fs;
use std::path::Path;

use super::facts::Facts;
use super::verdict::{Level, Verdict};

/// A file of variables has some dozen lines.
const FILE_BYTES_MAX: u64 = 64 * 1024;

pub fn check(facts: &Facts) -> Verdict {
    let Some(state) = facts.installed() else { return Verdict::none("not installed") };
    let mut wrong = Vec::new();
    for (name, value) in state.environment.iter().filter(|(name, _)| name != "PATH") {
        wrong.extend(quirk(name, value));
    }
    let mut mend = "systemctl --user edit workagent".to_owned();
    for file in &state.environment_files {
        let faults = of_file(file);
        if !faults.is_empty() && wrong.is_empty() {
            mend = format!("${{EDITOR:-vi}} '{}'", file.display());
        }
        wrong.extend(faults);
    }
    let count = crate::cli::look::count(state.environment.len(), "variable");
    let files = match state.environment_files.len() {
        0 => String::new(),
        count => format!(", {}", crate::cli::look::count(count, "file")),
    };
    Verdict::of(Level::Warning, format!("{count}{files}"), wrong, mend)
}

fn quirk(name: &str, value: &str) -> Option<String> {
    if value.ends_with('\r') {
        return Some(format!(
            "{name} ends with a carriage return: it comes from a file with Windows line ends"
        ));
    }
    value
        .contains(" #")
        .then(|| format!("{name} holds ` #`: what was meant as a comment is part of the value"))
}

/// A file of `EnvironmentFile=`.
fn of_file(path: &Path) -> Vec<String> {
    let shown = path.display();
    match fs::metadata(path) {
        Err(error) => return vec![format!("{shown} cannot be read: {error}")],
        Ok(found) if found.len() > FILE_BYTES_MAX => {
            return vec![format!("{shown} is too long for such a file")];
        }
        Ok(_) => {}
    }
    let Ok(text) = fs::read_to_string(path) else { return vec![format!("{shown} is not text")] };
    let mut wrong = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let at = || format!("{shown}, line {}", number + 1);
        let Some((name, value)) = line.split_once('=') else { continue };
        if name.trim_start().starts_with(['#', ';']) {
            continue;
        }
        if name.trim_start().starts_with("export ") {
            wrong.push(format!("{}: `export` makes it no variable at all", at()));
        }
        wrong.extend(quirk(name.trim(), value).map(|fault| format!("{}: {fault}", at())));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quirks_are_told_without_values() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(
            file.path(),
            "# A=b # c\nKEY=canary-1 # mine\nOTHER=canary-2\r\nexport X=canary-3\nFINE=a#b\n",
        )
        .unwrap();
        let told = of_file(file.path()).join("\n");
        assert_eq!(told.lines().count(), 3, "{told}");
        assert!(!told.contains("canary"), "{told}");
        for expected in ["line 2: KEY holds ` #`", "line 3: OTHER ends with a carriage", "line 4: `export`"] {
            assert!(told.contains(expected), "{told}");
        }
        assert!(of_file(Path::new("/no/such/file"))[0].contains("cannot be read"));
    }
}
