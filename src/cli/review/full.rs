//! `workagent review` as a full screen: the queue, the draft with what it answers, a key for each decision.

mod deeds;
mod help;
mod keys;
mod layout;
mod model;
mod options;
mod queue;
mod sends;
mod sheet;
#[cfg(test)]
mod tests;
mod update;
mod view;

use super::edit::editor_of;
use crate::cli::backend::Backend;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::screen::{Look, Setting, run};
use model::Model;

/// Shows the screen until it is left; gives what is to be said afterwards.
pub(super) async fn full(backend: &Backend, context: &Context<'_>) -> Result<String, CliError> {
    let setting = Setting {
        clock: context.clock.clone(),
        look: Look { colour: context.colour() },
        editor: editor_of(context),
    };
    let mut model = Model::new(context.clock.now());
    let ask = async |request| deeds::carry_out(backend, request).await;
    run(&mut model, ask, &setting).await.map_err(|error| CliError::doing("show the screen", &error))?;
    Ok(model.farewell())
}
