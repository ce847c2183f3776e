//! What was said, as unit files: each new, changed in place, or as it is already.

use std::fmt::Write as _;
use std::sync::Arc;

use similar::TextDiff;

use super::draft::Draft;
use super::here::Here;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, block};
use crate::cli::units::masked;
use crate::daemon::exit;
use crate::diag::SourceMap;
use crate::model::text::clean;
use crate::unit::compose::{self, Chosen};
use crate::unit::load::UnitFile;
use crate::unit::plan::{Kind, Standing, UnitName};

/// The route that init writes.
pub const ROUTE: &str = "all";

/// Below every route of the person's own.
const ROUTE_PRIORITY_LAST: i64 = -1000;

/// A unit file as it is to be.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The unit.
    pub name: UnitName,
    /// The file.
    pub file: UnitFile,
    /// What is there now; `None`: nothing.
    pub before: Option<Arc<str>>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is made.
    New,
    /// It is there and gets other keys.
    Changed,
    /// It is there just so.
    Same,
}

impl Planned {
    /// What becomes of it.
    #[must_use]
    pub fn change(&self) -> Change {
        match &self.before {
            None => Change::New,
            Some(before) if *before == self.file.text => Change::Same,
            Some(_) => Change::Changed,
        }
    }
}

/// The files, in the order in which they are written: a connector comes after who answers, so that a daemon that watches
/// takes no case before there is a route for it.
///
/// # Errors
/// A file that is there cannot be read as a unit file, so no key can be put into it.
pub fn plan(draft: &Draft, here: &Here) -> Result<Vec<Planned>, CliError> {
    let mut planned = Vec::new();
    let unit = |name: &str, kind| UnitName { name: name.to_owned(), kind };
    if let Some(engine) = &draft.engine {
        let name = unit(&engine.name, Kind::Engine);
        let exists = here.held(&name).is_some();
        planned.push(one(here, name, &engine.chosen(exists, &here.registry))?);
        planned.push(one(here, unit(ROUTE, Kind::Route), &route(draft, &engine.name, here))?);
    }
    let rehearses = here.set.compiled.plan.daemon.rehearsal;
    if let Some(rehearsal) = draft.rehearsal.filter(|wanted| *wanted != rehearses) {
        let mode = if rehearsal { "rehearsal" } else { "live" };
        let name = unit("workagent", Kind::Daemon);
        planned.push(one(here, name, &[Chosen::new("daemon", "mode", mode)])?);
    }
    for connect in &draft.connect {
        let name = unit(&connect.name, Kind::Connector);
        planned.push(one(here, name, &connect.chosen(&here.registry))?);
    }
    Ok(planned)
}

fn route(draft: &Draft, engine: &str, here: &Here) -> Vec<Chosen> {
    let name = UnitName { name: ROUTE.to_owned(), kind: Kind::Route };
    let is_other = |(other, standing): (&String, &Standing<_>)| {
        *other != ROUTE && matches!(standing, Standing::Active(_))
    };
    let mut chosen = Vec::new();
    if here.held(&name).is_none() {
        chosen.push(Chosen::new("unit", "description", "Everything that no other route takes"));
    }
    chosen.push(Chosen::new("route", "engines", compose::list([engine])));
    if here.held(&name).is_none() && here.set.compiled.plan.routes.iter().any(is_other) {
        chosen.push(Chosen::new("route", "priority", ROUTE_PRIORITY_LAST));
    }
    let is_private = matches!(here.set.compiled.plan.routes.get(ROUTE),
        Some(Standing::Active(route)) if route.private);
    if draft.private || is_private {
        chosen.push(Chosen::new("route", "private", draft.private));
    }
    chosen
}

fn one(here: &Here, name: UnitName, chosen: &[Chosen]) -> Result<Planned, CliError> {
    let held = here.held(&name);
    let text = match held {
        Some(held) => compose::put(&held.text, chosen).map_err(|error| {
            let path = here.short(&held.path);
            CliError::new(exit::FAILURE, format!("change {path}: {error}"))
                .hint(format!("workagent edit {name}"))
        })?,
        None => compose::text(name.kind, &remarks(&name, chosen), chosen, &here.registry),
    };
    // Where the person's own file lies below another name (a link), it stays there.
    let file = match held {
        Some(held) => UnitFile { text: text.into(), ..held.clone() },
        None => here.own.main(&name, &text),
    };
    Ok(Planned { name, before: held.map(|held| Arc::clone(&held.text)), file })
}

fn remarks(name: &UnitName, chosen: &[Chosen]) -> Vec<String> {
    let first = "Made by `workagent init`, and yours to change.".to_owned();
    let from = chosen.iter().find(|key| matches!(key.key.as_str(), "platform" | "engine"));
    let from = from.and_then(|key| key.value.as_str());
    let all = match (name.kind, from) {
        (Kind::Connector | Kind::Engine, Some(from)) => {
            format!("`workagent new {} - --from {from}` prints all its keys.", name.kind.word())
        }
        _ => format!("`workagent new {} -` prints all its keys.", name.kind.word()),
    };
    vec![first, all]
}

/// The files with their texts, or what changes in them.
#[must_use]
pub fn shown(planned: &[Planned], here: &Here, after: &SourceMap, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    for one in planned {
        let path = here.short(&one.file.path);
        let (word, text) = match one.change() {
            Change::New => ("new", masked(after, &one.file)),
            Change::Changed => ("changed", diff(one, here, after)),
            Change::Same => ("as it is", String::new()),
        };
        let _ = writeln!(out, "{:<9} {}", word, paint.bold(path));
        out.push_str(&block(&text, "    ", width.max(60), 400));
    }
    out
}

/// Lines around a change may hold a secret of the person's, so both sides are masked before they are compared.
pub fn diff(planned: &Planned, here: &Here, after: &SourceMap) -> String {
    let before = here.held(&planned.name).map(|file| here.set.masked(file)).unwrap_or_default();
    let now = masked(after, &planned.file);
    clean(&TextDiff::from_lines(&before, &now).unified_diff().context_radius(1).to_string())
}
