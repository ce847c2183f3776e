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
use crate::model::effect::Effect;
use crate::model::limits;
use crate::process::editor;

/// Which effects come and go.
#[derive(Debug, Default, clap::Args)]
pub(super) struct EffectChange {
    /// Do this too, out of what `review show` lists: `close`, `label: bug`; the text stays as it is
    #[arg(long, value_name = "EFFECT")]
    with: Vec<String>,
    /// Do not do this; a verb alone (`label`) takes all of its kind
    #[arg(long, value_name = "EFFECT")]
    without: Vec<String>,
}

/// The effects after the change, as they are written; `None` where nothing is asked.
fn changed(effects: &[Effect], change: &EffectChange) -> Result<Option<Vec<String>>, CliError> {
    if change.with.is_empty() && change.without.is_empty() {
        return Ok(None);
    }
    let without: Vec<Effect> = change.without.iter().map(|text| Effect::parse(text)).collect();
    let means = |gone: &Effect, effect: &Effect| {
        gone == effect || (gone.value.is_empty() && gone.verb == effect.verb)
    };
    if let Some(gone) = without.iter().find(|gone| !effects.iter().any(|effect| means(gone, effect))) {
        return Err(CliError::usage(format!("the draft does not do `{gone}` anyway")));
    }
    let stays = |effect: &&Effect| !without.iter().any(|gone| means(gone, effect));
    let kept = effects.iter().filter(stays).map(ToString::to_string);
    Ok(Some(kept.chain(change.with.iter().cloned()).collect()))
}

/// Gets a new text, stores it, and gives the difference for people.
pub(super) async fn edit(
    backend: &Backend,
    context: &Context<'_>,
    view: &ReviewView,
    file: Option<&Path>,
    change: &EffectChange,
) -> Result<String, CliError> {
    let draft = &view.draft;
    let effects = changed(&draft.envelope.effects, change)?;
    let body = match file {
        Some(path) => from_file(path)?,
        None if effects.is_some() => draft.body.clone(),
        None => from_editor(context, &draft.body)?,
    };
    if body.trim_end() == draft.body.trim_end() && effects.is_none() {
        return Ok(format!("{} is as it was\n", draft.id));
    }
    let edit = EditBody { hash: draft.hash.clone(), body, effects };
    let edited: Draft = backend.post(&format!("/v1/reviews/{}/edit", draft.id), &edit).await?;
    let paint = Paint { colour: context.colour() };
    if edited.body == draft.body {
        let effects: Vec<String> = edited.envelope.effects.iter().map(ToString::to_string).collect();
        let effects = if effects.is_empty() { "nothing".to_owned() } else { effects.join(", ") };
        return Ok(format!("{} will also do: {effects}\n", draft.id));
    }
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

/// The user's editor, if they named one.
pub(super) fn editor_of(context: &Context<'_>) -> Option<OsString> {
    ["VISUAL", "EDITOR"].iter().find_map(|name| context.environment.get_os(name)).map(ToOwned::to_owned)
}

fn from_editor(context: &Context<'_>, text: &str) -> Result<String, CliError> {
    let Some(editor) = editor_of(context) else {
        return Err(CliError::new(exit::USAGE, "neither VISUAL nor EDITOR is set")
            .hint("set one, or give the new text with --file FILE"));
    };
    editor::edit(&editor, text).map_err(|error| CliError::doing("edit the draft", &error))
}
