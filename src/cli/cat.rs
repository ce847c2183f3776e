//! `workagent cat`: the files of units as they are, one layer after another; what looks secret is masked.

use clap::Args;
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::Paint;
use super::units::{UnitSet, names};
use crate::daemon::exit;
use crate::model::text;
use crate::unit::load::Role;
use crate::unit::plan::UnitName;

/// `workagent cat UNIT…`
#[derive(Debug, Args)]
pub struct CatArgs {
    /// The units
    #[arg(required = true, value_name = "UNIT")]
    units: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One file, as an object of `--json`.
#[derive(Debug, Serialize)]
struct Layer {
    unit: String,
    path: String,
    text: String,
}

/// Runs the command.
pub fn command(args: CatArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let mut layers = Vec::new();
    for word in &args.units {
        let name = names::find(&set, word)?;
        layers.extend(layers_of(&set, &name)?);
    }
    if args.json {
        context.out.write_all(pretty(&layers).as_bytes())?;
        return Ok(exit::OK);
    }
    let shown = shown(&layers, context.paint());
    context.page(&shown);
    Ok(exit::OK)
}

fn layers_of(set: &UnitSet, name: &UnitName) -> Result<Vec<Layer>, CliError> {
    let files = set.files(name);
    let layers: Vec<Layer> = files
        .all()
        .map(|file| Layer {
            unit: name.to_string(),
            path: file.path.display().to_string(),
            text: match file.role {
                Role::Mask(_) => "# a link to /dev/null: the unit is masked\n".to_owned(),
                Role::Main(_) | Role::DropIn { .. } => text::clean(&set.masked(file)),
            },
        })
        .collect();
    if files.main.is_none() {
        let error = CliError::new(exit::FAILURE, format!("the file of {name} cannot be read"));
        return Err(error.hint("workagent validate says why"));
    }
    Ok(layers)
}

fn shown(layers: &[Layer], paint: Paint) -> String {
    let mut out = String::new();
    for (index, layer) in layers.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        // Above its text, as systemctl does it; also a comment, so that the whole can be piped into a file.
        out.push_str(&format!("{}\n", paint.cyan(format!("# {}", layer.path))));
        for line in layer.text.lines() {
            let is_comment = line.trim_start().starts_with('#');
            if is_comment && paint.colour {
                out.push_str(&format!("{}\n", paint.dim(line)));
            } else {
                out.push_str(&format!("{line}\n"));
            }
        }
    }
    out
}
