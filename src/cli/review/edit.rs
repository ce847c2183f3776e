//! Editing a draft: in the user's editor, from a file, or from standard input.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use super::card::difference;
use crate::cli::backend::Backend;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::Paint;
use crate::control::wire::{EditBody, ReviewView};
use crate::daemon::exit;
use crate::model::draft::Draft;
use crate::model::limits;
use crate::process::editor;

/// Gets a new text, stores it, and gives the difference for people.
pub(super) async fn edit(
    backend: &Backend,
    context: &Context<'_>,
    view: &ReviewView,
    file: Option<&Path>,
) -> Result<String, CliError> {
    let draft = &view.draft;
    let body = match file {
        Some(path) => from_file(path)?,
        None => from_editor(context, &draft.body)?,
    };
    if body.trim_end() == draft.body.trim_end() {
        return Ok(format!("{} is as it was\n", draft.id));
    }
    let edit = EditBody { hash: draft.hash.clone(), body };
    let edited: Draft = backend.post(&format!("/v1/reviews/{}/edit", draft.id), &edit).await?;
    let paint = Paint { colour: context.colour() };
    Ok(format!(
        "{}{} has a new text; against the engine's:\n",
        difference(&edited.engine_body, &edited.body, paint),
        draft.id
    ))
}

fn from_file(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(limits::DRAFT_BYTES_MAX as u64 + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path)
            .and_then(|file| file.take(limits::DRAFT_BYTES_MAX as u64 + 1).read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(CliError::new(exit::FAILURE, format!("read the new text from {}: {error}", path.display())))
        }
    }
}

fn from_editor(context: &Context<'_>, text: &str) -> Result<String, CliError> {
    let editor: Option<OsString> =
        ["VISUAL", "EDITOR"].iter().find_map(|name| context.environment.get_os(name)).map(ToOwned::to_owned);
    let Some(editor) = editor else {
        return Err(CliError::new(exit::USAGE, "neither VISUAL nor EDITOR is set")
            .hint("set one, or give the new text with --file FILE"));
    };
    editor::edit(&editor, text).map_err(|error| CliError::doing("edit the draft", &error))
}
