//! The search path: where unit files come from, low to high.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::model::environment::Environment;

/// The variables of the environment that matter to unit files, read by whoever may read the environment.
#[derive(Clone, Debug, Default)]
pub struct SearchEnv {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, on macOS too.
    pub config_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// `WORKAGENT_UNIT_PATH`.
    pub unit_path: Option<OsString>,
    /// Where the program is installed: the directory above the `bin` that it lies in.
    pub prefix: Option<PathBuf>,
}

impl SearchEnv {
    /// From the daemon's environment. Empty variables and relative directories count as unset, as the XDG base
    /// directory specification demands.
    #[must_use]
    pub fn read(environment: &Environment) -> Self {
        let dir = |name| environment.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            home: dir("HOME"),
            config_home: dir("XDG_CONFIG_HOME"),
            runtime_dir: dir("XDG_RUNTIME_DIR"),
            unit_path: environment
                .get_os("WORKAGENT_UNIT_PATH")
                .filter(|text| !text.is_empty())
                .map(OsStr::to_owned),
            prefix: std::env::current_exe().ok().as_deref().and_then(prefix),
        }
    }
}

/// The list of places, low to high: a same-named file in a later one replaces an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath {
    /// The unit files in the binary come below all directories.
    pub builtin: bool,
    /// Directories, lowest first. They need not exist.
    pub dirs: Vec<PathBuf>,
    /// Single files, above all directories.
    pub files: Vec<PathBuf>,
}

impl SearchPath {
    /// The path for an environment. `unit_dirs` (from `--unit-dir`), else `WORKAGENT_UNIT_PATH`, replace the whole
    /// list, the binary's own files too; as with `PATH`, the first has the highest rank. A trailing `:` in
    /// `WORKAGENT_UNIT_PATH` (or an empty last `unit_dirs`) puts the usual list below.
    #[must_use]
    pub fn new(env: &SearchEnv, unit_dirs: &[PathBuf]) -> Self {
        let mut given: Vec<PathBuf> = unit_dirs.to_vec();
        if given.is_empty()
            && let Some(text) = &env.unit_path
        {
            given = split(text);
        }
        if given.is_empty() {
            return Self::usual(env);
        }
        let appended = given.last().is_some_and(|dir| dir.as_os_str().is_empty());
        given.retain(|dir| !dir.as_os_str().is_empty());
        let mut path = if appended {
            Self::usual(env)
        } else {
            Self { builtin: false, dirs: Vec::new(), files: Vec::new() }
        };
        path.dirs.extend(given.into_iter().rev());
        path
    }

    /// The same path in a system whose root is `root` (an image, a package being built): every directory below it.
    #[must_use]
    pub fn below(mut self, root: &Path) -> Self {
        for dir in &mut self.dirs {
            *dir = root.join(dir.strip_prefix("/").unwrap_or(dir));
        }
        self
    }

    fn usual(env: &SearchEnv) -> Self {
        let mut dirs: Vec<PathBuf> =
            env.prefix.iter().map(|prefix| prefix.join("share/workagent/units")).collect();
        dirs.extend(["/usr/lib/workagent/units", "/etc/workagent/units"].map(PathBuf::from));
        dirs.extend(Self::user_dir(env));
        dirs.extend(env.runtime_dir.as_ref().map(|dir| dir.join("workagent/units")));
        Self { builtin: true, dirs, files: Vec::new() }
    }

    /// The user's own directory: where `enable` writes and `init` puts new units. `None` without a home.
    #[must_use]
    pub fn user_dir(env: &SearchEnv) -> Option<PathBuf> {
        let config = env.config_home.clone().or_else(|| env.home.as_ref().map(|home| home.join(".config")));
        config.map(|dir| dir.join("workagent/units"))
    }
}

/// `/usr/local` of `/usr/local/bin/workagent`.
fn prefix(executable: &Path) -> Option<PathBuf> {
    let bin = executable.parent().filter(|dir| dir.file_name() == Some(OsStr::new("bin")))?;
    bin.parent().map(Path::to_owned)
}

fn split(text: &OsStr) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    text.as_bytes().split(|byte| *byte == b':').map(|part| PathBuf::from(OsStr::from_bytes(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(unit_path: &str, unit_dirs: &[&str], expected: &str) {
        let env = SearchEnv {
            home: Some("/home/me".into()),
            config_home: None,
            runtime_dir: Some("/run/user/1".into()),
            unit_path: Some(unit_path.into()).filter(|text: &OsString| !text.is_empty()),
            prefix: prefix(Path::new("/opt/bin/workagent")),
        };
        let dirs: Vec<PathBuf> = unit_dirs.iter().map(PathBuf::from).collect();
        let path = SearchPath::new(&env, &dirs);
        let mut shown: Vec<String> = path.dirs.iter().map(|dir| dir.display().to_string()).collect();
        if path.builtin {
            shown.insert(0, "builtin".into());
        }
        assert_eq!(shown.join(" "), expected);
    }

    const USUAL: &str = "builtin /opt/share/workagent/units /usr/lib/workagent/units /etc/workagent/units \
                         /home/me/.config/workagent/units /run/user/1/workagent/units";

    #[test]
    fn the_usual_list_goes_from_low_to_high() {
        check("", &[], USUAL);
    }

    #[test]
    fn the_variable_replaces_the_list_and_its_first_has_the_highest_rank() {
        check("/a:/b", &[], "/b /a");
    }

    #[test]
    fn a_trailing_colon_puts_the_usual_list_below() {
        check("/a:", &[], &format!("{USUAL} /a"));
    }

    #[test]
    fn the_prefix_is_known_only_where_the_program_is_installed() {
        assert_eq!(prefix(Path::new("/usr/local/bin/workagent")), Some("/usr/local".into()));
        assert_eq!(prefix(Path::new("/src/target/debug/workagent")), None);
    }

    #[test]
    fn below_another_root_lie_all_directories() {
        let path = SearchPath { builtin: true, dirs: vec!["/etc/u".into(), "rel".into()], files: Vec::new() };
        assert_eq!(path.below(Path::new("/img")).dirs, [PathBuf::from("/img/etc/u"), "/img/rel".into()]);
    }

    #[test]
    fn the_option_wins_over_the_variable() {
        check("/a:/b", &["/c", "/d"], "/d /c");
    }
}
