//! `workagent pair`: binds a channel to its one user.

use std::time::Duration;

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use crate::control::wire::channels::{ChannelView, PairBody};
use crate::daemon::exit;

/// How often it is asked whether the code was said.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// `workagent pair [CHANNEL]`
#[derive(Debug, Args)]
pub struct PairArgs {
    /// The channel: `phone`; without one, all of them are listed
    channel: Option<String>,
    /// The code that was told on the channel, where nothing can be said on it
    #[arg(conflicts_with = "remove")]
    code: Option<String>,
    /// Undo it: the channel tells nothing and takes no decisions until it is paired again
    #[arg(long, requires = "channel")]
    remove: bool,
    /// Show the code and come back, without waiting for it to be said
    #[arg(long)]
    no_wait: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows a code, waits until it was said; or takes one that was told.
pub async fn command(args: PairArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let code = pair(&backend, args, context).await;
    backend.close().await;
    code
}

async fn pair(backend: &Backend, args: PairArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let PairArgs { channel, code, remove, no_wait, json } = args;
    let Some(channel) = channel else { return list(backend, json, context).await };
    let name = channel.strip_suffix(".channel").unwrap_or(&channel).to_owned();
    let order = if remove { "unpair" } else { "pair" };
    let typed = code.is_some();
    let body = PairBody { code };
    let mut view: ChannelView = backend.post(&format!("/v1/channels/{name}/{order}"), &body).await?;
    if json {
        write!(context.out, "{}", pretty(&view))?;
        return Ok(exit::OK);
    }
    if remove {
        writeln!(context.out, "{} is not paired any more", view.unit)?;
        return Ok(exit::OK);
    }
    if typed {
        writeln!(context.out, "{} is paired", view.unit)?;
        return Ok(exit::OK);
    }
    let (Some(until), before) = (view.code_until, view.paired.as_ref().map(|paired| paired.since)) else {
        writeln!(context.out, "{}", line(&view))?;
        return Ok(exit::OK);
    };
    let left = crate::model::time::short_span(until.since(context.clock.now()));
    let Some(code) = &view.code else {
        writeln!(context.out, "a code was told on {} ({}); within {left} type", view.unit, view.place)?;
        writeln!(context.out, "\n    workagent pair {name} CODE")?;
        return Ok(exit::OK);
    };
    writeln!(
        context.out,
        "say this on {} ({}), from your own account, within {left}:",
        view.unit, view.place
    )?;
    writeln!(context.out, "\n    {code}\n")?;
    context.out.flush()?;
    if no_wait {
        return Ok(exit::OK);
    }
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        view = backend.get(&format!("/v1/channels/{name}")).await?;
        if let Some(paired) = view.paired.as_ref().filter(|paired| Some(paired.since) != before) {
            writeln!(context.out, "{} is paired with {}", view.unit, paired.user)?;
            return Ok(exit::OK);
        }
        if view.code_until.is_none() {
            let error = CliError::new(exit::FAILURE, "the code has ended, and nobody said it");
            return Err(error.hint(format!("workagent pair {name} shows another one")));
        }
    }
}

async fn list(backend: &Backend, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let all: Vec<ChannelView> = backend.get("/v1/channels").await?;
    if json {
        write!(context.out, "{}", pretty(&all))?;
        return Ok(exit::OK);
    }
    if all.is_empty() {
        writeln!(context.out, "no channel is on: workagent new channel NAME --from ntfy")?;
    }
    for view in &all {
        writeln!(context.out, "{}", line(view))?;
    }
    Ok(exit::OK)
}

fn line(view: &ChannelView) -> String {
    let stands = match (&view.paired, view.code_until) {
        (Some(paired), _) => format!("paired with {} since {}", paired.user, paired.since),
        (None, Some(until)) => format!("waits for its code until {until}"),
        (None, None) => format!("not paired: workagent pair {}", view.unit.trim_end_matches(".channel")),
    };
    format!("{} ({}): {stands}", view.unit, view.place)
}
