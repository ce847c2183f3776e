//! What every command gets: the captured environment, the places, the output.

use std::io::{IsTerminal as _, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::error::CliError;
use super::look::Paint;
use crate::daemon::exit;
use crate::daemon::paths::{Paths, PathsError};
use crate::model::environment::Environment;
use crate::model::time::Clock;
use crate::secret::Scrubber;
use crate::unit::search::{SearchEnv, SearchPath};

/// Options of all commands.
#[derive(Clone, Debug, Args)]
pub struct GlobalArgs {
    /// Read unit files from this directory instead of the usual ones (may be given more than once; the first wins)
    #[arg(long, global = true, value_name = "DIR")]
    pub unit_dir: Vec<PathBuf>,
    /// Keep database, secrets and socket in this directory
    #[arg(long, global = true, value_name = "DIR", env = "WORKAGENT_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Use colours
    #[arg(long, global = true, value_enum, default_value_t = ColourChoice::Auto)]
    pub color: ColourChoice,
    /// Do not show long lists in a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What every command gets.
pub struct Context<'a> {
    /// The environment, captured once.
    pub environment: Environment,
    /// Options of all commands.
    pub global: GlobalArgs,
    /// Now.
    pub clock: Clock,
    /// Where data goes; everything else goes to standard error.
    pub out: &'a mut dyn Write,
    /// What goes to standard output at the end, through a pager where it is longer than the screen.
    pub pages: String,
    /// Masks what goes out; whatever reads secrets is given it.
    pub scrubber: Scrubber,
}

/// Columns assumed where the terminal does not say.
const WIDTH_DEFAULT: usize = 100;

impl Context<'_> {
    /// Where things lie.
    ///
    /// # Errors
    /// No place for the state, or a socket path that is too long.
    pub fn paths(&self) -> Result<Paths, CliError> {
        Paths::resolve(&self.environment, self.global.state_dir.as_deref()).map_err(|error| {
            let code =
                if matches!(error, PathsError::Unsafe { .. }) { exit::NOT_ALLOWED } else { exit::CONFIG };
            CliError { code, ..CliError::doing("find the directories", &error) }
        })
    }

    /// Where unit files come from.
    #[must_use]
    pub fn search(&self) -> SearchPath {
        let env = SearchEnv::read(&self.environment);
        SearchPath::new(&env, &self.global.unit_dir)
    }

    /// Whether to use colours on standard output.
    #[must_use]
    pub fn colour(&self) -> bool {
        self.colour_where(std::io::stdout().is_terminal())
    }

    /// Whether to use colours on standard error.
    #[must_use]
    pub fn colour_err(&self) -> bool {
        self.colour_where(std::io::stderr().is_terminal())
    }

    fn colour_where(&self, terminal: bool) -> bool {
        match self.global.color {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => terminal && self.environment.get("NO_COLOR").is_none(),
        }
    }

    /// Paints for standard output, or does not.
    #[must_use]
    pub fn paint(&self) -> Paint {
        Paint { colour: self.colour() }
    }

    /// A text that may be long: shown at the end of the command, in a pager if it does not fit on the screen.
    pub fn page(&mut self, text: &str) {
        self.pages.push_str(text);
    }

    /// What a person should know and a script should not read: to standard error.
    pub fn note(&self, text: &str) {
        let _ = super::masked::stderr(&self.scrubber).write_all(text.as_bytes());
    }

    /// Columns of the terminal.
    #[must_use]
    pub fn width(&self) -> usize {
        rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns >= 40)
            .or_else(|| self.environment.get("COLUMNS").and_then(|text| text.parse().ok()))
            .unwrap_or(WIDTH_DEFAULT)
    }
}
