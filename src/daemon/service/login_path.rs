//! The PATH of the user's login shell: a supervisor's own is bare, and what the user installed is not on it.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use crate::model::environment::Environment;
use crate::process::call::call;

/// A login shell that reads the network on the way is not waited for longer.
const SHELL_TIME: Duration = Duration::from_secs(10);

/// Stands before and behind what is ours in the output: start-up files print greetings.
const MARK: &str = "<workagent-path>";

/// Behind everything else: a PATH without them finds no `env`.
const ALWAYS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// A PATH is some dozen folders.
const DIRS_LEN_MAX: usize = 100;

/// Asks the login shell; where that says nothing, the environment's own PATH counts. What is of this session only, or
/// means nothing to a supervisor (`~`, `$HOME`, relative folders), is left out.
pub async fn capture(environment: &Environment) -> String {
    let own = environment.get("PATH").unwrap_or_default().to_owned();
    let told = match environment.get("SHELL") {
        Some(shell) if shell.starts_with('/') => ask(environment, shell).await,
        _ => None,
    };
    clean(told.as_deref().unwrap_or(&own), Path::is_dir)
}

/// `env` and not `$PATH`: fish has a list there.
async fn ask(environment: &Environment, shell: &str) -> Option<String> {
    let script = format!("echo '{MARK}'; /usr/bin/env; echo '{MARK}'");
    let args = ["-l", "-i", "-c", &script].map(OsStr::new);
    // What a terminal would start with, not what it has become.
    let path = if cfg!(target_os = "macos") {
        "/usr/bin:/bin:/usr/sbin:/sbin"
    } else {
        "/usr/local/bin:/usr/bin:/bin"
    };
    let more: [(&str, &OsStr); 2] = [("PATH", path.as_ref()), ("TERM", "dumb".as_ref())];
    match call(environment, &more, shell.as_ref(), &args, SHELL_TIME).await {
        Ok(called) => told(&called.stdout),
        Err(error) => {
            tracing::debug!("ask the login shell for its PATH: {}", error.doing);
            None
        }
    }
}

fn told(output: &str) -> Option<String> {
    let ours = output.split(MARK).nth(1)?;
    let line = ours.lines().find_map(|line| line.trim_end_matches('\r').strip_prefix("PATH="))?;
    Some(line.to_owned()).filter(|path| !path.is_empty())
}

/// Folders that are there and stay there, each once, in the order given.
fn clean(path: &str, is_there: impl Fn(&Path) -> bool) -> String {
    let mut dirs: Vec<&str> = Vec::new();
    for dir in path.split(':').map(|dir| dir.trim_end_matches('/')).chain(ALWAYS) {
        let means_something = dir.starts_with('/') && !dir.contains(['$', '~', '"', '\'', '\\']);
        let is_ours = means_something && !dir.chars().any(char::is_control) && !is_of_a_session(dir);
        let is_new = !dirs.contains(&dir) && dirs.len() < DIRS_LEN_MAX;
        if is_ours && is_new && (ALWAYS.contains(&dir) || is_there(Path::new(dir))) {
            dirs.push(dir);
        }
    }
    dirs.join(":")
}

/// Gone with the session that made it.
fn is_of_a_session(dir: &str) -> bool {
    ["/tmp/", "/run/user/", "/var/folders/", "/private/tmp/", "/private/var/folders/"]
        .iter()
        .any(|prefix| dir.starts_with(prefix))
        || dir.contains("_multishells/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_supervisor_understands_and_finds_again() {
        let path = "$HOME/.local/bin:~/bin:bin::/home/me/go bin/:/gone:/home/me/go bin:/tmp/x/bin:\
                    /run/user/1000/fnm_multishells/7/bin:/usr/bin";
        let cleaned = clean(path, |dir| dir != Path::new("/gone"));
        assert_eq!(cleaned, "/home/me/go bin:/usr/bin:/usr/local/bin:/bin");
        assert_eq!(clean("", |_| true), "/usr/local/bin:/usr/bin:/bin");
    }

    #[test]
    fn greetings_are_no_path() {
        let output =
            "PATH=/evil\nWelcome!\n<workagent-path>\nPATH=/home/me/bin:/bin\n<workagent-path>\nbye\n";
        assert_eq!(told(output).as_deref(), Some("/home/me/bin:/bin"));
        assert_eq!(told("no mark, PATH=/x"), None);
    }

    #[tokio::test]
    async fn a_login_shell_is_asked() {
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let bin = home.path().join("my tools");
        std::fs::create_dir(&bin).unwrap();
        let profile = format!("echo hello; export PATH=\"{}:$PATH\"\n", bin.display());
        std::fs::write(home.path().join(".profile"), profile).unwrap();
        let environment = Environment::of([
            ("HOME", home.path().display().to_string()),
            ("SHELL", "/bin/sh".to_owned()),
            ("PATH", "/nowhere".to_owned()),
        ]);
        let path = capture(&environment).await;
        assert!(path.starts_with(&bin.display().to_string()), "{path}");
        assert!(!path.contains("/nowhere"), "{path}");
    }
}
