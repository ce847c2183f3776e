//! `workagent schema`: JSON schemas of unit files, for editors.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::table;
use crate::catalog::CATALOG;
use crate::daemon::exit;
use crate::unit::json_schema::schema;
use crate::unit::kinds;
use crate::unit::plan::Kind;
use crate::unit::search::{SearchEnv, SearchPath};

/// `workagent schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Print the schema of this kind
    #[arg(value_parser = kind_parser())]
    kind: Option<Kind>,
    /// Write all of them as KIND.json into a directory; by default into `schema` beside your `units`, where the first
    /// line of unit files finds them
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "", conflicts_with = "kind")]
    write: Option<PathBuf>,
}

/// Takes the word of a kind.
#[must_use]
pub fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::word))
        .try_map(|word| Kind::from_word(&word).ok_or("not a kind of unit"))
}

/// Runs the command.
///
/// # Errors
/// A file cannot be written.
pub fn command(args: &SchemaArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if let Some(kind) = args.kind {
        let text = pretty(&schema(kind, &CATALOG.registry()));
        context.out.write_all(text.as_bytes())?;
        return Ok(exit::OK);
    }
    let Some(dir) = &args.write else {
        let rows: Vec<Vec<String>> = Kind::ALL
            .into_iter()
            .map(|kind| vec![kind.word().to_owned(), kinds::spec(kind).doc.to_owned()])
            .collect();
        write!(context.out, "{}", table(&rows))?;
        return Ok(exit::OK);
    };
    let dir = if dir.as_os_str().is_empty() { beside_units(context)? } else { dir.clone() };
    for kind in Kind::ALL {
        let path = write(&dir, kind)?;
        writeln!(context.out, "{}", path.display())?;
    }
    Ok(exit::OK)
}

/// `schema` beside the user's own directory of units.
///
/// # Errors
/// There is no home.
pub fn beside_units(context: &Context<'_>) -> Result<PathBuf, CliError> {
    let units = SearchPath::user_dir(&SearchEnv::read(&context.environment));
    let beside = units.and_then(|units| Some(units.parent()?.join("schema")));
    beside.ok_or_else(|| CliError::usage("neither XDG_CONFIG_HOME nor HOME is an absolute path"))
}

/// Writes one schema, if it is not there as it is; the file.
///
/// # Errors
/// It cannot be written.
pub fn write(dir: &Path, kind: Kind) -> Result<PathBuf, CliError> {
    let path = dir.join(format!("{}.json", kind.word()));
    let text = pretty(&schema(kind, &CATALOG.registry()));
    let failed = |error: std::io::Error| CliError::doing(&format!("write {}", path.display()), &error);
    if std::fs::read_to_string(&path).is_ok_and(|held| held == text) {
        return Ok(path);
    }
    std::fs::create_dir_all(dir).map_err(failed)?;
    super::validate::replace(&path, &text).map_err(failed)?;
    Ok(path)
}
