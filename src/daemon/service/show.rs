//! What systemd says of the service: effective settings, drop-ins included.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Properties that are asked for.
pub const PROPERTIES: &str = "--property=LoadState,ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths,\
     NeedDaemonReload,MainPID,NRestarts,Result,ExecMainCode,ExecMainStatus,StatusText,ActiveEnterTimestamp,ExecStart,\
     Environment,EnvironmentFiles,Type,Restart,RestartPreventExitStatus,TimeoutStopUSec,WatchdogUSec,KillMode,\
     StartLimitIntervalUSec,StartLimitBurst,NoNewPrivileges";

/// The answer of `systemctl --user show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown(BTreeMap<String, String>);

impl Shown {
    /// Reads it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut all = BTreeMap::new();
        for line in text.lines() {
            let Some((name, value)) = line.split_once('=') else { continue };
            let known: &mut String = all.entry(name.to_owned()).or_default();
            // EnvironmentFiles stands once for each file.
            if !known.is_empty() {
                known.push('\n');
            }
            known.push_str(value);
        }
        Self(all)
    }

    /// A property; unset and empty are the same.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    /// A unit file was found.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.get("LoadState") == Some("loaded")
    }

    /// The main process, if there is one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.get("MainPID")?.parse().ok().filter(|pid| *pid > 0)
    }

    /// The unit file that counts.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        self.get("FragmentPath").map(PathBuf::from)
    }

    /// Drop-ins, in the order in which they are read.
    #[must_use]
    pub fn drop_ins(&self) -> Vec<PathBuf> {
        self.get("DropInPaths").map(words).unwrap_or_default().into_iter().map(PathBuf::from).collect()
    }

    /// The program that is started.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        let path = self.get("ExecStart")?.split("path=").nth(1)?.split(" ; ").next()?;
        Some(PathBuf::from(path.trim()))
    }

    /// Variables that the unit sets.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let pair =
            |word: String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.get("Environment").map(words).unwrap_or_default().into_iter().filter_map(pair).collect()
    }

    /// Files that variables are read from; optional ones too.
    #[must_use]
    pub fn environment_files(&self) -> Vec<PathBuf> {
        let file = |line: &str| PathBuf::from(line.split(" (ignore_errors").next().unwrap_or(line));
        self.get("EnvironmentFiles").unwrap_or_default().lines().map(file).collect()
    }
}

/// Variables, one a line, as `show-environment` writes them.
#[must_use]
pub fn lines(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (name, value) = line.split_once('=')?;
        // Quoted as a whole where it holds anything that a shell would take.
        let value = words(value).into_iter().next().unwrap_or_default();
        Some((name.to_owned(), value))
    };
    text.lines().filter_map(pair).collect()
}

/// The words of a line that systemd wrote: blanks part them, quotes and escapes as in a shell.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut begun) = (Vec::new(), String::new(), false);
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('$', None) if chars.peek() == Some(&'\'') => {}
            ('\\', None | Some('"')) => {
                begun = true;
                word.extend(chars.next().map(unescaped));
            }
            // Only a word in $'…' has escapes within single quotes, and systemd writes no other.
            ('\\', Some(_)) => word.extend(chars.next().map(unescaped)),
            ('"' | '\'', None) => (quote, begun) = (Some(c), true),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => {
                if begun {
                    all.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                begun = true;
                word.push(c);
            }
        }
    }
    if begun {
        all.push(word);
    }
    all
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "\
Type=notify
ExecStart={ path=/home/an na/bin/workagent ; argv[]=/home/an na/bin/workagent run ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
Environment=\"PATH=/home/an na/bin:/bin\" A=b $'KEY=x\\r'
EnvironmentFiles=/home/me/.config/x/env (ignore_errors=yes)
EnvironmentFiles=/etc/x (ignore_errors=no)
FragmentPath=/home/me/.config/systemd/user/workagent.service
DropInPaths=/home/me/.config/systemd/user/workagent.service.d/a.conf /etc/systemd/user/workagent.service.d/b.conf
LoadState=loaded
MainPID=0
";

    #[test]
    fn what_systemd_says() {
        let shown = Shown::parse(SHOWN);
        assert_eq!(shown.program(), Some(PathBuf::from("/home/an na/bin/workagent")));
        let environment: Vec<String> =
            shown.environment().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(environment, ["PATH=/home/an na/bin:/bin", "A=b", "KEY=x\r"]);
        let files = [PathBuf::from("/home/me/.config/x/env"), PathBuf::from("/etc/x")];
        assert_eq!(shown.environment_files(), files);
        assert_eq!(shown.drop_ins().len(), 2);
        assert_eq!((shown.pid(), shown.is_loaded()), (None, true));
        assert_eq!(Shown::parse("MainPID=12\nLoadState=not-found").pid(), Some(12));
    }
}
