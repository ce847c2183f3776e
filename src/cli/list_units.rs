//! `workagent list-units`: each unit with what became of its file, what it does and how it is.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, count, glyph};
use super::units::names::Selection;
use crate::control::health::Health;
use crate::control::wire::{ActiveState, LoadState, StatusView, UnitView};
use crate::daemon::exit;
use crate::model::time::Timestamp;

/// `workagent list-units`
#[derive(Debug, Args)]
pub struct ListUnitsArgs {
    /// Those that are off, too
    #[arg(long, short)]
    all: bool,
    /// Only units in this state: active, inactive, failed, loaded, masked, ok, failing, … (may be given more than once)
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    state: Vec<String>,
    /// Only those that fail; the same as `--state failed,failing,broken`
    #[arg(long)]
    failed: bool,
    #[command(flatten)]
    selection: Selection,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Without a daemon it shows what unit files and record say by themselves.
pub async fn command(mut args: ListUnitsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if args.failed {
        args.state.extend(["failed", "failing", "broken"].map(str::to_owned));
    }
    let selected = args.selection.ready()?;
    let backend = Backend::connect(context).await?;
    let mut view: StatusView = backend.get("/v1/status").await?;
    backend.close().await;
    view.units.retain(|unit| selected.has(&unit.unit));
    let known = view.units.len();
    // Who names a unit or a state wants to see it, off or not.
    let all = args.all || !args.state.is_empty() || !args.selection.is_everything();
    let now = view.now;
    view.units.retain(|unit| all || unit.health(now) != Health::Off);
    view.units.retain(|unit| args.state.is_empty() || args.state.iter().any(|word| is_in(unit, word, now)));
    if args.json {
        context.out.write_all(pretty(&view.units).as_bytes())?;
        return Ok(exit::OK);
    }
    let hidden = if all { 0 } else { known - view.units.len() };
    let text = shown(&view, hidden, context.paint(), context.width());
    context.page(&text);
    Ok(exit::OK)
}

fn is_in(unit: &UnitView, word: &str, now: Timestamp) -> bool {
    let enabled = if unit.enabled { "enabled" } else { "disabled" };
    [load_word(unit.load), active_word(unit.active), unit.health(now).word(), enabled].contains(&word)
}

/// The list, for people.
fn shown(view: &StatusView, hidden: usize, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["", "UNIT", "LOAD", "ACTIVE", "HEALTH", "DESCRIPTION"]);
    for unit in &view.units {
        let health = unit.health(view.now);
        let (mark, code) = glyph(health);
        let is_well = matches!(health, Health::Ok | Health::Starting);
        // What is wrong says more than what it would be for.
        let words =
            unit.reason.as_ref().filter(|_| !is_well).or(unit.kept.as_ref()).unwrap_or(&unit.description);
        let load = match (&unit.kept, load_word(unit.load)) {
            (Some(_), _) => Cell::painted("33", "kept"),
            (None, "loaded") => "loaded".into(),
            (None, word) => Cell::painted("31", word),
        };
        table.row([
            Cell::painted(code, mark),
            unit.unit.as_str().into(),
            load,
            active_word(unit.active).into(),
            Cell::painted(code, health.word()),
            words.as_str().into(),
        ]);
    }
    if !table.is_empty() {
        out.push_str(&table.render(paint, width));
        out.push('\n');
    }
    out.push_str(&format!("{} listed.", count(table.len(), "unit")));
    if hidden > 0 {
        let (are, them) = if hidden == 1 { ("is", "it") } else { ("are", "them") };
        out.push_str(&format!(" {hidden} {are} off: pass --all to see {them}, too."));
    }
    if !view.running {
        out.push_str("\nThe daemon is not running.");
    }
    out.push('\n');
    out
}

/// The stable word.
#[must_use]
pub fn load_word(load: LoadState) -> &'static str {
    match load {
        LoadState::Loaded => "loaded",
        LoadState::NotFound => "not-found",
        LoadState::BadSetting => "bad-setting",
        LoadState::Masked => "masked",
    }
}

/// The stable word.
#[must_use]
pub fn active_word(active: ActiveState) -> &'static str {
    match active {
        ActiveState::Inactive => "inactive",
        ActiveState::Activating => "activating",
        ActiveState::Active => "active",
        ActiveState::Reloading => "reloading",
        ActiveState::Deactivating => "deactivating",
        ActiveState::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::{API_VERSION, CountsView, ErrorView, Mode};

    pub(crate) fn view(units: Vec<UnitView>) -> StatusView {
        StatusView {
            secret_stores: Vec::new(),
            budgets: Vec::new(),
            api: API_VERSION,
            version: "0".into(),
            running: true,
            pid: Some(1),
            generation: 3,
            mode: Mode::Live,
            paused: false,
            pauses: Default::default(),
            started_at: Some(Timestamp(0)),
            now: Timestamp(1_000_000),
            units,
            counts: CountsView::default(),
            findings: 0,
            findings_since: None,
            notes: Vec::new(),
            pinned: None,
            target: None,
        }
    }

    #[test]
    fn a_unit_that_runs_its_last_good_version_is_marked() {
        let kept = UnitView {
            kept: Some("`every` is not a span (a.toml:3:9)".to_owned()),
            ..UnitView::active("a.connector")
        };
        let shown = shown(&view(vec![kept]), 0, Paint { colour: false }, 80);
        assert!(shown.contains("kept") && shown.contains("`every` is not a span"), "{shown}");
    }

    #[test]
    fn the_list_reads_like_systemctls() {
        let units = vec![
            UnitView {
                description: "Mail at home, and everything that comes with it".into(),
                ..UnitView::active("inbox.connector")
            },
            UnitView {
                failures_in_a_row: 4,
                last_error: Some(ErrorView { at: None, class: "auth".into(), message: "no".into() }),
                reason: Some("the server refuses the password".into()),
                ..UnitView::active("work.connector")
            },
            UnitView {
                load: LoadState::BadSetting,
                active: ActiveState::Inactive,
                reason: Some("unknown key `evry`".into()),
                ..UnitView::active("typo.connector")
            },
        ];
        let view = view(units);
        insta::assert_snapshot!(shown(&view, 2, Paint { colour: false }, 80), @r#"
           UNIT             LOAD         ACTIVE    HEALTH   DESCRIPTION
        ●  inbox.connector  loaded       active    ok       Mail at home, and everythin…
        ×  work.connector   loaded       active    failing  the server refuses the pass…
        ×  typo.connector   bad-setting  inactive  broken   unknown key `evry`

        3 units listed. 2 are off: pass --all to see them, too.
        "#);
        let painted = shown(&view, 0, Paint { colour: true }, 80);
        assert!(
            painted.contains("\x1b[31m×\x1b[0m  typo.connector   \x1b[31mbad-setting\x1b[0m"),
            "{painted}"
        );
    }

    #[test]
    fn states_are_words_of_any_of_the_columns() {
        let unit = UnitView { load: LoadState::Masked, enabled: false, ..UnitView::active("a.env") };

        let words = ["masked", "off", "active", "disabled", "ok", "loaded"];
        let is: Vec<&str> =
            words.into_iter().filter(|word| is_in(&unit, word, Timestamp(1_000_000))).collect();
        assert_eq!(is, ["masked", "off", "active", "disabled"]);
    }
}
