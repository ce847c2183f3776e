//! `workagent completions`: for bash, zsh, fish.

use clap::{Args, ValueEnum};

use super::context::Context;
use super::error::CliError;
use crate::daemon::exit;

/// `workagent completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

impl Shell {
    /// All.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];

    /// The file's name, as each shell looks for it.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Bash => "workagent.bash",
            Self::Zsh => "_workagent",
            Self::Fish => "workagent.fish",
        }
    }
}

/// The script for a shell.
#[must_use]
pub fn script(shell: Shell) -> String {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut super::definition(), "workagent", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs the command.
///
/// # Errors
/// The output.
pub fn command(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    context.out.write_all(script(args.shell).as_bytes())?;
    Ok(exit::OK)
}
