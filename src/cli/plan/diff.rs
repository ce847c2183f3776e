//! `workagent plan diff`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, count};
use crate::daemon::exit;
use crate::daemon::paths::Paths;
use crate::daemon::plans::{KeptPlan, KeptUnit, PlanChange};
use crate::daemon::unit_source::UnitSource;
use crate::diag::Counts;
use crate::diag::mask::Masked;

/// `plan diff --json`.
#[derive(Debug, Serialize)]
pub(super) struct DiffView {
    /// The generation it begins from.
    pub from: i64,
    /// The generation it is compared with; nothing is the unit files as they are now.
    pub to: Option<i64>,
    /// Units that differ, by name.
    pub units: Vec<UnitDiff>,
}

/// One unit that differs.
#[derive(Debug, Serialize)]
pub(super) struct UnitDiff {
    /// Its full name.
    pub unit: String,
    /// What became of it.
    pub change: PlanChange,
    /// Its text before; nothing while it was off or not there.
    pub before: Option<String>,
    /// Its text after.
    pub after: Option<String>,
    /// Why it is off after, if it is.
    pub reason: Option<String>,
}

/// Shows what differs.
pub(super) fn command(
    from: &KeptPlan,
    to: Option<&KeptPlan>,
    paths: &Paths,
    json: bool,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let now;
    let (number, to) = match to {
        Some(to) => (Some(to.generation), to),
        None => {
            // As the daemon would take them: with the last good version of what is broken.
            let mut files = UnitSource::new(context.search(), &context.environment, paths);
            let compiled = files.look(context.clock.now());
            let errors = count(Counts::of(&compiled.findings).errors, "error");
            if !errors.starts_with("0 ") {
                context.note(&format!(
                    "{errors} in the unit files: shown is what a reload would make of them; workagent validate tells\n"
                ));
            }
            now = KeptPlan::of(&compiled, 0, context.clock.now());
            (None, &now)
        }
    };
    let view = DiffView { from: from.generation, to: number, units: units(from, to) };
    if json {
        context.out.write_all(pretty(&view).as_bytes())?;
    } else {
        let text = shown(&view, context.paint());
        context.page(&text);
    }
    Ok(exit::OK)
}

/// What differs, unit by unit.
pub(super) fn units(from: &KeptPlan, to: &KeptPlan) -> Vec<UnitDiff> {
    let changes: BTreeMap<String, PlanChange> = to.changes_from(from);
    let text = |plan: &KeptPlan, name: &str| match plan.units.get(name) {
        Some(KeptUnit::On { text, .. }) => Some(Masked::new(text, []).text),
        _ => None,
    };
    let reason = |name: &str| match to.units.get(name) {
        Some(KeptUnit::Off { state, reason, .. }) => Some(format!("{state}: {reason}")),
        _ => None,
    };
    changes
        .into_iter()
        .map(|(unit, change)| UnitDiff {
            change,
            before: text(from, &unit),
            after: text(to, &unit),
            reason: reason(&unit),
            unit,
        })
        .collect()
}

/// Lines of unchanged text around what changed.
const CONTEXT_LINES: usize = 3;

/// As `diff -u` shows it, one head a unit.
pub(super) fn shown(view: &DiffView, paint: Paint) -> String {
    let to = view.to.map_or_else(|| "the unit files now".to_owned(), |to| format!("generation {to}"));
    if view.units.is_empty() {
        return format!("generation {} and {to} mean the same\n", view.from);
    }
    let mut out = String::new();
    for unit in &view.units {
        out.push_str(&format!("{} {}\n", paint.bold(&unit.unit), unit.change.word()));
        if let Some(reason) = &unit.reason {
            out.push_str(&format!("  {}\n", paint.dim(reason)));
        }
        let (before, after) = (unit.before.as_deref().unwrap_or(""), unit.after.as_deref().unwrap_or(""));
        let diff = TextDiff::from_lines(before, after);
        for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
            out.push_str(&format!("{}\n", paint.cyan(hunk.header().to_string())));
            for change in hunk.iter_changes() {
                let text = change.value().trim_end_matches('\n');
                let line = match change.tag() {
                    ChangeTag::Equal => format!(" {text}"),
                    ChangeTag::Delete => paint.red(format!("-{text}")).to_string(),
                    ChangeTag::Insert => paint.green(format!("+{text}")).to_string(),
                };
                out.push_str(&format!("{line}\n"));
            }
        }
        out.push('\n');
    }
    let kinds: BTreeSet<&str> = view.units.iter().map(|unit| unit.change.word()).collect();
    let each = |word: &&str| {
        let many = view.units.iter().filter(|unit| unit.change.word() == *word).count();
        format!("{many} {word}")
    };
    let kinds: Vec<String> = kinds.iter().map(each).collect();
    let total = count(view.units.len(), "unit");
    let verb = if view.units.len() == 1 { "differs" } else { "differ" };
    out.push_str(&format!(
        "{total} {verb} between generation {} and {to}: {}\n",
        view.from,
        kinds.join(", ")
    ));
    out
}
