//! `workagent analyze unit-paths`: where unit files are looked for, highest rank first.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::table;
use crate::daemon::exit;
use crate::unit::BUILT_IN;
use crate::unit::search::SearchEnv;
use crate::unit::search::SearchPath;

/// `workagent analyze unit-paths`
#[derive(Debug, Args)]
pub struct PathsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The output.
pub fn command(args: &PathsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let search = context.search();
    let own = SearchPath::user_dir(&SearchEnv::read(&context.environment));
    let mut rows: Vec<(String, &'static str)> = Vec::new();
    for dir in search.dirs.iter().rev() {
        let what = match std::fs::read_dir(dir) {
            Ok(_) if own.as_deref() == Some(dir) => "your own",
            Ok(_) => "",
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "not there",
            Err(_) if Path::new(dir).is_dir() => "cannot be read",
            Err(_) => "not a directory",
        };
        rows.push((dir.display().to_string(), what));
    }
    if search.builtin {
        rows.push((BUILT_IN.to_owned(), "in the program"));
    }
    let text = if args.json {
        let paths: Vec<_> = rows.iter().map(|(path, what)| json!({"path": path, "note": what})).collect();
        pretty(&json!({"version": 1, "paths": paths}))
    } else {
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(path, what)| vec![path, what.to_owned()]).collect();
        table(&rows)
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}
