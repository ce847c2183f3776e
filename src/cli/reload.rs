//! `workagent reload`, and what came of it on one screen.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, count};
use crate::control::wire::units::{Change, ReloadOutcome, ReloadView};
use crate::daemon::exit;

/// `workagent reload`
#[derive(Debug, Args)]
pub struct ReloadArgs {
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Count "nothing to do" as success, as `systemctl reload` wants it
    #[arg(long)]
    service: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command; waits until it is done.
pub async fn command(args: ReloadArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let view: ReloadView = backend.post(&format!("/v1/reload?dry_run={}", args.dry_run), &()).await?;
    let text = if args.json { pretty(&view) } else { shown(&view, context.paint(), context.width()) };
    context.out.write_all(text.as_bytes())?;
    // What has errors already is no success for being looked at again: its outcome is another.
    let is_fine = args.service && view.outcome == ReloadOutcome::Nothing;
    Ok(if is_fine { exit::OK } else { view.outcome.exit() })
}

/// For people: what it came to, a line for each unit it touched, the rest as numbers.
#[must_use]
pub fn shown(view: &ReloadView, paint: Paint, width: usize) -> String {
    let mut out = format!("{}\n", head(view, paint));
    if !view.changes.is_empty() {
        let mut table = Table::bare(4);
        for change in &view.changes {
            let (glyph, code) = glyph(change.change);
            let reason = change.reason.clone().unwrap_or_default();
            table.row([
                Cell::painted(code, glyph),
                change.unit.as_str().into(),
                Cell::painted(code, change.change.word()),
                reason.as_str().into(),
            ]);
            if let Some(place) = &change.place {
                table.note(Cell::painted("2", place.as_str()));
            }
        }
        out.push_str(&table.render(paint, width));
    }
    let unchanged = usize::try_from(view.unchanged).unwrap_or(usize::MAX);
    let mut parts = vec![format!("{} left alone", count(unchanged, "unit"))];
    if view.errors + view.warnings > 0 {
        let number = |number: u64, one| count(usize::try_from(number).unwrap_or(usize::MAX), one);
        let wrong = [(view.errors, "error"), (view.warnings, "warning")];
        let wrong: Vec<String> = wrong
            .into_iter()
            .filter(|(found, _)| *found > 0)
            .map(|(found, one)| number(found, one))
            .collect();
        parts.push(format!("{} in unit files: workagent validate", wrong.join(", ")));
    }
    if let Some(pinned) = view.pinned {
        parts.push(format!("pinned to generation {pinned}: workagent plan unpin"));
    }
    out.push_str(&parts.join("; "));
    out.push('\n');
    out
}

fn head(view: &ReloadView, paint: Paint) -> String {
    let code = match view.outcome {
        ReloadOutcome::Applied => "32",
        ReloadOutcome::Nothing => "0",
        ReloadOutcome::Invalid => "31",
        ReloadOutcome::AppliedWithFailures => "33",
    };
    let word = match (view.dry_run, view.outcome) {
        (true, ReloadOutcome::Applied) => "would be applied",
        (true, ReloadOutcome::AppliedWithFailures) => "would be applied with failures",
        (_, outcome) => outcome.word(),
    };
    let word = if code == "0" { word.to_owned() } else { paint.with(code, word).to_string() };
    let generation = if view.generation == view.previous {
        format!("generation {}", view.generation)
    } else {
        format!("generation {} → {}", view.previous, view.generation)
    };
    let took =
        if view.dry_run { "; nothing was done".to_owned() } else { format!(" in {} ms", view.took_ms) };
    format!("{word}: {generation}{took}")
}

fn glyph(change: Change) -> (&'static str, &'static str) {
    match change {
        Change::Added | Change::Changed | Change::Started | Change::Restarted => ("●", "32"),
        Change::Stopped | Change::Removed => ("○", "2"),
        Change::Kept | Change::NeedsRestart => ("▲", "33"),
        Change::Failed => ("×", "31"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::units::ChangeView;

    fn change(unit: &str, change: Change, reason: Option<&str>, place: Option<&str>) -> ChangeView {
        let (reason, place) = (reason.map(str::to_owned), place.map(str::to_owned));
        ChangeView { unit: unit.to_owned(), change, reason, place }
    }

    fn view() -> ReloadView {
        ReloadView {
            outcome: ReloadOutcome::Applied,
            dry_run: false,
            generation: 12,
            previous: 12,
            pinned: None,
            changes: Vec::new(),
            unchanged: 14,
            errors: 0,
            warnings: 0,
            took_ms: 7,
        }
    }

    #[test]
    fn a_reload_with_every_fate() {
        let view = ReloadView {
            outcome: ReloadOutcome::AppliedWithFailures,
            generation: 13,
            changes: vec![
                change(
                    "broken.connector",
                    Change::Kept,
                    Some("unknown key `evry` in [schedule]"),
                    Some("/u/broken.connector.toml:5:1"),
                ),
                change("inbox.connector", Change::Changed, Some("schedule.every"), None),
                change("old.route", Change::Removed, None, None),
                change(
                    "typo.engine",
                    Change::Failed,
                    Some("unknown engine `comand`"),
                    Some("/u/typo.engine.toml:2:10"),
                ),
                change("workagent.daemon", Change::NeedsRestart, Some("store.path"), None),
            ],
            errors: 2,
            warnings: 1,
            ..view()
        };
        insta::assert_snapshot!(shown(&view, Paint { colour: false }, 80), @r#"
        applied with failures: generation 12 → 13 in 7 ms
        ▲  broken.connector  kept           unknown key `evry` in [schedule]
           /u/broken.connector.toml:5:1
        ●  inbox.connector   changed        schedule.every
        ○  old.route         removed
        ×  typo.engine       failed         unknown engine `comand`
           /u/typo.engine.toml:2:10
        ▲  workagent.daemon  needs restart  store.path
        14 units left alone; 2 errors, 1 warning in unit files: workagent validate
        "#);
    }

    #[test]
    fn nothing_to_do_and_a_dry_run() {
        let nothing = ReloadView { outcome: ReloadOutcome::Nothing, pinned: Some(9), ..view() };
        insta::assert_snapshot!(shown(&nothing, Paint { colour: false }, 80), @r#"
        nothing to do: generation 12 in 7 ms
        14 units left alone; pinned to generation 9: workagent plan unpin
        "#);
        let dry = ReloadView {
            dry_run: true,
            changes: vec![change("inbox.connector", Change::Started, None, None)],
            unchanged: 1,
            ..view()
        };
        insta::assert_snapshot!(shown(&dry, Paint { colour: false }, 80), @r#"
        would be applied: generation 12; nothing was done
        ●  inbox.connector  started
        1 unit left alone
        "#);
    }

    #[test]
    fn colours_say_the_same() {
        let view = ReloadView { outcome: ReloadOutcome::Invalid, errors: 1, ..view() };
        assert!(
            shown(&view, Paint { colour: true }, 80).starts_with("\x1b[31minvalid\x1b[0m: generation 12")
        );
    }
}
