//! `workagent open`: the page in a browser.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use crate::control::wire::OpenView;
use crate::daemon::exit;

/// `workagent open`
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints a link that opens the page once. It starts no browser: a link in another program's arguments could be read by
/// whoever lists processes.
pub async fn command(args: OpenArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let view: OpenView = backend.post("/v1/open", &()).await?;
    let text = if args.json { pretty(&view) } else { format!("{}\n", view.url) };
    context.out.write_all(text.as_bytes())?;
    if !args.json {
        context.note("this link opens the page once, within a minute, in a browser on this machine\n");
    }
    Ok(exit::OK)
}
