//! `workagent pause`, `resume`, `kick`: the stop by hand, and one cycle now.

use std::time::Duration;

use clap::Args;

use super::backend::Backend;
use super::context::Context;
use super::error::CliError;
use super::orders::unit_of;
use super::span::span;
use crate::control::wire::{PauseBody, ResumeBody, StatusView};
use crate::daemon::exit;
use crate::model::pause::Pause;

/// `workagent kick UNIT`
#[derive(Debug, Args)]
pub struct KickArgs {
    /// The unit: `inbox.connector`, or `inbox` if only one unit has the name
    pub unit: String,
}

/// `workagent pause [UNIT]`
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// Only this engine, which gets no case then, or this connector, which sends nothing; else everything
    unit: Option<String>,
    /// End the pause by itself after this: `30m`, `2h`, `1d`
    #[arg(long = "for", value_name = "SPAN", value_parser = |text: &str| span(text, "30m, 2h, 1d"))]
    span: Option<Duration>,
}

/// `workagent resume [UNIT]`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Only the pause of this unit; else all pauses
    unit: Option<String>,
}

/// Stops claims and sends; polling goes on, running engines finish.
pub async fn pause(args: PauseArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let unit = full_name(&backend, args.unit.as_deref()).await?;
    let body = PauseBody { unit: unit.clone(), span: args.span };
    let pause: Pause = backend.post("/v1/pause", &body).await?;
    backend.close().await;
    let what = match unit.as_deref() {
        None => "nothing is claimed or sent".to_owned(),
        Some(unit) if unit.ends_with(".engine") => format!("{unit} gets no case"),
        Some(unit) => format!("{unit} sends nothing"),
    };
    let resume =
        unit.map_or_else(|| "workagent resume".to_owned(), |unit| format!("workagent resume {unit}"));
    match pause.until {
        Some(until) => writeln!(context.out, "paused: {what} until {until}, or `{resume}`")?,
        None => writeln!(context.out, "paused: {what} until `{resume}`")?,
    }
    Ok(exit::OK)
}

/// Goes on.
pub async fn resume(args: ResumeArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let unit = full_name(&backend, args.unit.as_deref()).await?;
    backend.post::<_, ()>("/v1/resume", &ResumeBody { unit: unit.clone() }).await?;
    backend.close().await;
    match unit {
        Some(unit) => writeln!(context.out, "{unit} is resumed")?,
        None => writeln!(context.out, "resumed")?,
    }
    Ok(exit::OK)
}

async fn full_name(backend: &Backend, word: Option<&str>) -> Result<Option<String>, CliError> {
    let Some(word) = word else { return Ok(None) };
    let status: StatusView = backend.get("/v1/status").await?;
    unit_of(&status, word).map(Some)
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
