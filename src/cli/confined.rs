//! `workagent confined`: takes rights away from itself, then becomes another program. Hidden: the daemon starts it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::error::CliError;
use crate::daemon::exit;
use crate::process::sandbox::{self, Files, Sandbox};

/// `workagent confined`
#[derive(Debug, Args)]
pub struct ConfinedArgs {
    /// Print what this machine can take away, and end
    #[arg(long)]
    what: bool,
    /// All files may be read
    #[arg(long, conflicts_with = "read_named")]
    read_all: bool,
    /// Only the system's files may be read, and those of --read and --write
    #[arg(long)]
    read_named: bool,
    /// May be read
    #[arg(long, value_name = "PATH", requires = "read_named")]
    read: Vec<PathBuf>,
    /// May be changed
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Without a network
    #[arg(long)]
    no_network: bool,
    /// Not at all rather than with more rights
    #[arg(long)]
    required: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", required_unless_present = "what")]
    program: Vec<OsString>,
}

/// Runs the command. In a process of one thread: the network is taken away from the calling thread.
///
/// # Errors
/// The rights must be taken away and cannot be, or the program cannot be started.
pub fn command(args: ConfinedArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if args.what {
        return what(context);
    }
    let files = match (args.read_all, args.read_named) {
        (true, _) => Files::ReadOnly,
        (_, true) => Files::Named(args.read),
        _ => Files::All,
    };
    let sandbox = Sandbox { files, write: args.write, network: !args.no_network, required: args.required };
    sandbox::enter(&sandbox).map_err(|error| CliError::doing("take rights away", &error))?;
    let Some((program, rest)) = args.program.split_first() else {
        return Err(CliError::usage("name a program"));
    };
    let error = sandbox::become_program(program, rest);
    Err(CliError::doing(&format!("start {}", program.to_string_lossy()), &error))
}

fn what(context: &mut Context<'_>) -> Result<u8, CliError> {
    let all = Sandbox { files: Files::ReadOnly, write: Vec::new(), network: false, required: false };
    let reach = sandbox::enter(&all).map_err(|error| CliError::doing("take rights away", &error))?;
    for (word, holds) in [("files", reach.files), ("network", reach.network)] {
        if holds {
            writeln!(context.out, "{word}")?;
        }
    }
    Ok(exit::OK)
}
