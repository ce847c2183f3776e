//! `workagent plan list`.

use serde::Serialize;

use super::none_kept;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Cell, Paint, Table, ago};
use crate::daemon::exit;
use crate::daemon::plans::{PlanChange, PlanHead, PlanStore};
use crate::model::class::chain;
use crate::model::time::Timestamp;

/// `plan list --json`.
#[derive(Debug, Serialize)]
pub(super) struct ListView {
    /// The generation that runs, or ran last.
    pub current: Option<i64>,
    /// The generation that is pinned.
    pub pinned: Option<i64>,
    /// Newest first.
    pub plans: Vec<PlanHead>,
    /// What could not be read.
    pub damaged: Vec<String>,
}

/// Shows what is kept.
pub(super) fn command(store: &PlanStore, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let (mut plans, troubles) = store.list();
    plans.reverse();
    let pinned = store.pinned();
    let current = pinned.or_else(|| plans.first().map(|head| head.generation));
    let damaged: Vec<String> = troubles.iter().map(|trouble| chain(trouble)).collect();
    let view = ListView { current, pinned, plans, damaged };
    if json {
        context.out.write_all(pretty(&view).as_bytes())?;
        return Ok(exit::OK);
    }
    for trouble in &view.damaged {
        context.note(&format!("warning: passed over: {trouble}\n"));
    }
    if view.plans.is_empty() {
        return Err(none_kept());
    }
    let text = shown(&view, context.clock.now(), context.paint(), context.width());
    context.page(&text);
    Ok(exit::OK)
}

/// One line a plan.
pub(super) fn shown(view: &ListView, now: Timestamp, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["", "GENERATION", "APPLIED", "ON", "OFF", "CHANGES"]);
    for head in &view.plans {
        let is_current = view.current == Some(head.generation);
        let pinned = if view.pinned == Some(head.generation) { " pinned" } else { "" };
        table.row([
            if is_current { Cell::painted("32", "●") } else { Cell::default() },
            Cell::from(format!("{}{pinned}", head.generation)),
            Cell::from(ago(head.applied_at, now)),
            Cell::from(head.on.to_string()),
            Cell::from(head.off.to_string()),
            Cell::from(changes(head)),
        ]);
    }
    let mut out = table.render(paint, width);
    if let Some(pinned) = view.pinned {
        out.push_str(&format!(
            "\nUnit files are not followed while generation {pinned} is pinned: workagent plan unpin\n"
        ));
    }
    out
}

/// `+work.connector ~inbox.connector`, the sign telling what became of it.
fn changes(head: &PlanHead) -> String {
    let Some(changes) = &head.changes else { return "(the oldest that is kept)".to_owned() };
    if changes.is_empty() {
        return "the same units".to_owned();
    }
    let sign = |change: PlanChange| match change {
        PlanChange::Added | PlanChange::On => "+",
        PlanChange::Removed | PlanChange::Off => "-",
        PlanChange::Changed => "~",
    };
    let words: Vec<String> =
        changes.iter().map(|(name, change)| format!("{}{name}", sign(*change))).collect();
    words.join(" ")
}
