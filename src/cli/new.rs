//! `workagent new`: a new unit file with everything that can stand in it, in comments.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use clap::Args;

use super::context::Context;
use super::error::CliError;
use super::schema;
use crate::catalog::CATALOG;
use crate::daemon::exit;
use crate::unit::plan::Kind;
use crate::unit::search::{SearchEnv, SearchPath};
use crate::unit::{is_unit_name, stub};

/// `workagent new`
#[derive(Debug, Args)]
pub struct NewArgs {
    /// What it is to be
    #[arg(value_parser = schema::kind_parser())]
    kind: Kind,
    /// Its name, `inbox`; `-` prints the text instead of writing a file
    name: String,
    /// The shipped unit to begin with: `imap`, `feed`, `openai-chat`
    #[arg(long, value_name = "SHIPPED")]
    from: Option<String>,
}

/// Runs the command. An existing file is never touched.
///
/// # Errors
/// The name is none, the file is there already, or it cannot be written.
pub fn command(args: &NewArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let NewArgs { kind, name, from } = args;
    let text = stub::text(*kind, from.as_deref(), &CATALOG.registry()).map_err(CliError::usage)?;
    if name == "-" {
        context.out.write_all(text.as_bytes())?;
        return Ok(exit::OK);
    }
    if !is_unit_name(name) {
        return Err(CliError::usage(
            "a unit's name has letters, digits, `-`, `_`, `.` and begins with a letter or digit",
        ));
    }
    if *kind == Kind::Daemon && name != "workagent" {
        return Err(
            CliError::usage("there is one daemon unit, `workagent`").hint("workagent new daemon workagent")
        );
    }
    let units = match context.global.unit_dir.first() {
        Some(dir) => dir.clone(),
        None => SearchPath::user_dir(&SearchEnv::read(&context.environment))
            .ok_or_else(|| CliError::usage("neither XDG_CONFIG_HOME nor HOME is an absolute path"))?,
    };
    let path = units.join(format!("{name}.{}.toml", kind.word()));
    let failed = |error: io::Error| CliError::doing(&format!("write {}", path.display()), &error);
    std::fs::create_dir_all(&units).map_err(failed)?;
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let error = CliError::new(exit::FAILURE, format!("{} is there already", path.display()));
            return Err(error.hint(format!("workagent edit {name}.{}", kind.word())));
        }
        Err(error) => return Err(failed(error)),
    };
    file.write_all(text.as_bytes()).map_err(failed)?;
    // Where the first line of the new file looks for it.
    if let Some(parent) = units.parent() {
        schema::write(&parent.join("schema"), *kind)?;
    }
    writeln!(context.out, "{}", path.display())?;
    Ok(exit::OK)
}
