//! `workagent purge`: everything that came through one connector goes.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use crate::control::wire::PurgeBody;
use crate::daemon::exit;
use crate::store::Belongings;

/// `workagent purge`
#[derive(Debug, Args)]
pub struct PurgeArgs {
    /// The connector, which is off; its unit may be gone
    connector: String,
    /// Let go of the record of sends too: hashes, receipts, our own marks
    #[arg(long)]
    receipts: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command: shows what goes, asks, lets it go.
pub async fn command(args: PurgeArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let name = args.connector.trim_end_matches(".connector");
    let backend = Backend::connect(context).await?;
    let path = format!("/v1/connectors/{name}/purge");
    let found: Belongings = backend.get(&path).await?;
    context.note(&plan(name, &found, args.receipts));
    if !args.yes && !asked(name)? {
        backend.close().await;
        return Err(CliError::new(exit::FAILURE, "nothing was let go of").hint("--yes does not ask"));
    }
    let gone: Belongings = backend.post(&path, &PurgeBody { receipts: args.receipts }).await?;
    backend.close().await;
    // What it noted beside the record: file names it has seen, and the like.
    let own = context.paths()?.connector(name);
    if let Err(error) = std::fs::remove_dir_all(&own)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(CliError::doing(&format!("remove {}", own.display()), &error));
    }
    let text = if args.json {
        pretty(&gone)
    } else {
        format!("let go of {} cases and {} items of {name}\n", gone.cases, gone.items)
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn plan(name: &str, found: &Belongings, receipts: bool) -> String {
    let Belongings { cases, items, drafts, sends, .. } = found;
    let sends = match (sends, receipts) {
        (0, _) => String::new(),
        (_, true) => format!("  the record of {sends} sends, with hashes and receipts\n"),
        (_, false) => {
            format!("of {sends} sends only hashes, receipts and our marks stay (--receipts: these go too)\n")
        }
    };
    format!(
        "This goes, in the record of {name}:\n  {cases} cases with their {items} items, {drafts} drafts, runs, costs and \
         journal\n  the cursor: switched on again, it begins anew\n{sends}Backups keep what they hold.\n"
    )
}

/// Whether the person types the name.
fn asked(name: &str) -> Result<bool, CliError> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut err = anstream::stderr().lock();
    write!(err, "Type {name} to let go of it: ")?;
    err.flush()?;
    let mut text = String::new();
    std::io::stdin().read_line(&mut text)?;
    Ok(text.trim() == name)
}
