//! `workagent manual`: the reference of all keys; and everything that is generated for packages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::completions::{Shell, script};
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, block};
use crate::catalog::CATALOG;
use crate::daemon::exit;
use crate::unit::manual::{Block, blocks, roff};

/// `workagent manual`
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// For `man`, as roff
    #[arg(long)]
    man: bool,
    /// Write man pages and completions into `man` and `completions` of this directory
    #[arg(long, value_name = "DIR", conflicts_with = "man")]
    write: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// A file cannot be written.
pub fn command(args: &ManualArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if let Some(dir) = &args.write {
        for (name, text) in files()? {
            let path = dir.join(&name);
            let failed =
                |error: std::io::Error| CliError::doing(&format!("write {}", path.display()), &error);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            std::fs::write(&path, text).map_err(failed)?;
            writeln!(context.out, "{}", path.display())?;
        }
        return Ok(exit::OK);
    }
    let blocks = blocks(&CATALOG.registry());
    let text = if args.man {
        roff(&blocks)
    } else {
        plain(&blocks, Paint { colour: context.colour() }, context.width().min(100))
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn plain(blocks: &[Block], paint: Paint, width: usize) -> String {
    let mut out = String::new();
    for part in blocks {
        match part {
            Block::Chapter(text) => {
                let gap = if out.is_empty() { "" } else { "\n" };
                let _ = writeln!(out, "{gap}{}", paint.bold(text.to_uppercase()));
            }
            Block::Section(text) => {
                let _ = writeln!(out, "\n   {}", paint.bold(text));
            }
            Block::Paragraph(text) => {
                out.push_str(&block(text, "   ", width, 40));
                out.push('\n');
            }
            Block::Key(name, takes, doc) => {
                let _ = writeln!(out, "   {}", paint.cyan(name));
                out.push_str(&block(doc, "       ", width, 40));
                out.push_str(&block(&format!("Takes {takes}."), "       ", width, 40));
            }
            Block::Literal(text) => {
                out.push_str(&block(text, "       ", width, 40));
                out.push('\n');
            }
        }
    }
    out
}

/// Everything that is generated for packages, by its place below `packaging`.
///
/// # Errors
/// A page cannot be rendered.
pub fn files() -> Result<BTreeMap<String, String>, CliError> {
    let mut files = BTreeMap::new();
    files.insert("man/workagent.units.5".to_owned(), roff(&blocks(&CATALOG.registry())));
    for shell in Shell::ALL {
        files.insert(format!("completions/{}", shell.file()), script(shell));
    }
    let mut definition = super::definition();
    definition.build();
    pages("workagent", &definition, &mut files)?;
    Ok(files)
}

/// A page for a command and each below it: `workagent-case-list.1`.
fn pages(name: &str, command: &clap::Command, files: &mut BTreeMap<String, String>) -> Result<(), CliError> {
    let mut bytes = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).source("workagent");
    page.render(&mut bytes)?;
    files.insert(format!("man/{name}.1"), String::from_utf8_lossy(&bytes).into_owned());
    for below in command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
    {
        pages(&format!("{name}-{}", below.get_name()), below, files)?;
    }
    Ok(())
}
