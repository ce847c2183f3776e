//! `workagent pause`, `resume`, `kick`: the global stop, and one cycle now.

use clap::Args;

use super::backend::Backend;
use super::context::Context;
use super::error::CliError;
use super::orders::unit_of;
use crate::control::wire::StatusView;
use crate::daemon::exit;

/// `workagent kick UNIT`
#[derive(Debug, Args)]
pub struct KickArgs {
    /// The unit: `inbox.connector`, or `inbox` if only one unit has the name
    pub unit: String,
}

/// Stops claims and sends; polling goes on, running engines finish.
pub async fn pause(context: &mut Context<'_>) -> Result<u8, CliError> {
    tell(context, "/v1/pause", "paused: nothing is claimed or sent until `workagent resume`").await
}

/// Goes on.
pub async fn resume(context: &mut Context<'_>) -> Result<u8, CliError> {
    tell(context, "/v1/resume", "resumed").await
}

/// Runs one cycle of a unit now.
pub async fn kick(args: KickArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let status: StatusView = backend.get("/v1/status").await?;
    let unit = unit_of(&status, &args.unit)?;
    backend.post::<(), ()>(&format!("/v1/kick/{unit}"), &()).await?;
    backend.close().await;
    writeln!(context.out, "{unit} runs now")?;
    Ok(exit::OK)
}

async fn tell(context: &mut Context<'_>, path: &str, done: &str) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    backend.post::<(), ()>(path, &()).await?;
    backend.close().await;
    writeln!(context.out, "{done}")?;
    Ok(exit::OK)
}
