//! `workagent metrics`: the state of the daemon for Prometheus, also for its textfile collector.

use super::backend::Backend;
use super::context::Context;
use super::error::CliError;
use crate::daemon::exit;

/// Runs the command.
pub async fn command(context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let text: String = backend.get("/v1/metrics").await?;
    backend.close().await;
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}
