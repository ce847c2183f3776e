//! `workagent top`: what the daemon does, on a full screen that ages.

mod ask;
mod model;
mod sections;
#[cfg(test)]
mod tests;
mod view;

use clap::Args;

use super::backend::Backend;
use super::context::Context;
use super::error::CliError;
use super::screen::{Look, Setting, can_draw, run};
use crate::daemon::exit;
use model::Model;

/// `workagent top`
#[derive(Debug, Args)]
pub struct TopArgs {}

/// Runs the command. Wants a daemon when it begins; later one may come and go.
pub async fn command(_args: TopArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if !can_draw(context) {
        let error = CliError::usage("top draws on a terminal, and this is none");
        return Err(error.hint("workagent status prints the same once"));
    }
    let backend = Backend::daemon(context).await?;
    let setting =
        Setting { clock: context.clock.clone(), look: Look { colour: context.colour() }, editor: None };
    let mut model = Model::new(context.clock.now());
    let asked = async |request| ask::look(&backend, request).await;
    run(&mut model, asked, &setting).await.map_err(|error| CliError::doing("show the screen", &error))?;
    Ok(exit::OK)
}
