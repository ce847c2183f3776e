//! `workagent paths`: where unit files come from, from the highest to the lowest, and where yours go.

use std::fs;
use std::io;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, count};
use super::units::UnitSet;
use crate::control::wire::units::WatchedDir;
use crate::daemon::exit;
use crate::unit::BUILT_IN;

/// `workagent paths`
#[derive(Debug, Args)]
pub struct PathsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One place, as an object of `--json`.
#[derive(Debug, Serialize)]
pub struct PlaceView {
    path: String,
    /// `exists`, `missing`, `unreadable`.
    state: &'static str,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Unit files and drop-ins that were read there.
    files: usize,
    /// What it leads to, if it is a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// `enable`, `edit` and the like write here.
    own: bool,
    /// How a running daemon watches it: `watched`, `polled`, `missing`, `unreadable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    watch: Option<String>,
}

/// Runs the command.
pub async fn command(args: PathsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let mut places = places(&set);
    if let Some(daemon) = Backend::running(&context.paths()?).await? {
        let watched: Vec<WatchedDir> = daemon.get("/v1/watched").await?;
        for place in &mut places {
            place.watch = watched.iter().find(|dir| dir.dir == place.path).map(|dir| dir.mode.clone());
        }
    }
    let text =
        if args.json { pretty(&places) } else { shown(&places, &set, context.paint(), context.width()) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// All places, the highest first.
#[must_use]
pub fn places(set: &UnitSet) -> Vec<PlaceView> {
    let own = set.own(false).ok().map(|own| own.dir);
    let files = |level: usize| set.loaded.files.iter().filter(|file| file.level == level).count();
    let mut places = Vec::new();
    for (index, dir) in set.search.dirs.iter().enumerate().rev() {
        let (state, reason) = state(dir);
        places.push(PlaceView {
            path: dir.display().to_string(),
            state,
            reason,
            files: files(index + 1),
            link: fs::read_link(dir).ok().map(|target| target.display().to_string()),
            own: own.as_ref() == Some(dir),
            watch: None,
        });
    }
    if set.search.builtin {
        places.push(PlaceView {
            path: BUILT_IN.to_owned(),
            state: "exists",
            reason: None,
            files: files(0),
            link: None,
            own: false,
            watch: None,
        });
    }
    places
}

fn state(dir: &Path) -> (&'static str, Option<String>) {
    match fs::read_dir(dir) {
        Ok(_) => ("exists", None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => ("missing", None),
        Err(error) => ("unreadable", Some(error.to_string())),
    }
}

fn shown(places: &[PlaceView], set: &UnitSet, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["DIRECTORY", "STATE", "FILES", ""]);
    for place in places {
        let code = match place.state {
            "exists" => "32",
            "missing" => "2",
            _ => "31",
        };
        let mut remarks = Vec::new();
        remarks.extend(place.watch.clone().filter(|mode| mode != place.state));
        if place.own {
            remarks.push("yours: changes go here".to_owned());
        }
        remarks.extend(place.link.as_ref().map(|target| format!("link to {target}")));
        remarks.extend(place.reason.clone());
        let files = if place.files == 0 { "-".to_owned() } else { place.files.to_string() };
        table.row([
            set.short(Path::new(&place.path)).into(),
            Cell::painted(code, place.state),
            files.into(),
            remarks.join(", ").into(),
        ]);
    }
    let mut out = table.render(paint, width);
    out.push_str(&format!(
        "\n{}, the highest first: a file in a higher one replaces its namesake below.\n",
        count(places.len(), "place")
    ));
    out
}
