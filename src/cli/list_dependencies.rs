//! `workagent list-dependencies`: what a unit needs, or who needs it, as a tree. No daemon is asked.

mod tree;

use clap::Args;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::units::{UnitSet, names};
use crate::daemon::exit;
use crate::unit::plan::{Kind, UnitName};
use tree::Forest;

/// `workagent list-dependencies`
#[derive(Debug, Args)]
pub struct ListDependenciesArgs {
    /// The unit; without one, the target `default`, or whatever no other unit needs
    unit: Option<String>,
    /// Who needs it
    #[arg(long, short)]
    reverse: bool,
    /// Units that are off, mere order and conflicts too, and everything below a unit each time it comes up
    #[arg(long, short)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn command(args: ListDependenciesArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let forest = Forest::new(&set.compiled, args.reverse, args.all);
    let roots = match &args.unit {
        Some(word) => vec![names::find(&set, word)?],
        None => {
            let default = UnitName { name: "default".to_owned(), kind: Kind::Target };
            if set.compiled.plan.sources.contains_key(&default) && !args.reverse {
                vec![default]
            } else {
                forest.roots()
            }
        }
    };
    if args.json {
        let trees: Vec<_> = roots.iter().map(|root| forest.tree(root)).collect();
        context.out.write_all(pretty(&trees).as_bytes())?;
        return Ok(exit::OK);
    }
    let paint = context.paint();
    let mut text = String::new();
    for root in &roots {
        forest.show(root, paint, &mut text);
    }
    if roots.is_empty() {
        text.push_str("no unit needs another\n");
    }
    context.page(&text);
    Ok(exit::OK)
}
