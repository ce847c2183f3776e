//! `workagent plan show`.

use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Cell, Paint, Table, ago, line};
use crate::daemon::exit;
use crate::daemon::plans::{KeptPlan, KeptUnit};
use crate::diag::mask::Masked;
use crate::model::text;
use crate::model::time::Timestamp;

/// Shows a plan or one unit of it.
pub(super) fn command(
    plan: &KeptPlan,
    unit: Option<&str>,
    json: bool,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let text = match unit {
        None if json => pretty(plan),
        None => overview(plan, context.clock.now(), context.paint(), context.width()),
        Some(word) => {
            let (name, unit) = find(plan, word)?;
            if json { pretty(unit) } else { closely(name, unit, context.paint(), context.width()) }
        }
    };
    if json {
        context.out.write_all(text.as_bytes())?;
    } else {
        context.page(&text);
    }
    Ok(exit::OK)
}

/// By its full name, or by a name that only one unit has.
fn find<'a>(plan: &'a KeptPlan, word: &str) -> Result<(&'a String, &'a KeptUnit), CliError> {
    if let Some(found) = plan.units.get_key_value(word) {
        return Ok(found);
    }
    let short = |name: &str| name.rsplit_once('.').map(|(short, _)| short.to_owned());
    let mut fits = plan.units.iter().filter(|(name, _)| short(name).as_deref() == Some(word));
    match (fits.next(), fits.next()) {
        (Some(found), None) => Ok(found),
        (Some((one, _)), Some((other, _))) => {
            Err(CliError::usage(format!("`{word}` could be {one} or {other}")).hint("give the full name"))
        }
        (None, _) => {
            let hint = format!("workagent plan show {} lists them", plan.generation);
            Err(CliError::usage(format!("generation {} has no unit {word}", plan.generation)).hint(hint))
        }
    }
}

/// Which units it has, and how they stand.
pub(super) fn overview(plan: &KeptPlan, now: Timestamp, paint: Paint, width: usize) -> String {
    let head = plan.head(None);
    let hash = plan.hash.get(..12).unwrap_or(&plan.hash);
    let mut out = format!(
        "{}  applied {} ({}), hash {hash}\n{} on, {} off, from {}\n\n",
        paint.bold(format!("generation {}", plan.generation)),
        plan.applied_at,
        ago(plan.applied_at, now),
        head.on,
        head.off,
        crate::cli::look::count(plan.files.len(), "file"),
    );
    let mut table = Table::new(&["", "UNIT", "STATE", "REASON"]);
    for (name, unit) in &plan.units {
        match unit {
            KeptUnit::On { .. } => {
                table.row([Cell::painted("32", "●"), name.as_str().into(), "on".into(), Cell::default()]);
            }
            KeptUnit::Off { state, reason, .. } => table.row([
                Cell::painted("2", "○"),
                name.as_str().into(),
                state.as_str().into(),
                reason.as_str().into(),
            ]),
        }
    }
    out.push_str(&table.render(paint, width));
    out
}

/// Its text, with the place of each key beside it; without a place, it is the default.
pub(super) fn closely(name: &str, unit: &KeptUnit, paint: Paint, width: usize) -> String {
    let (canonical, origins) = match unit {
        KeptUnit::On { text, origins } => (text, origins),
        KeptUnit::Off { state, reason, place } => {
            let place = place.as_ref().map(|place| format!("  {}\n", paint.dim(place))).unwrap_or_default();
            return format!(
                "{} is off ({state}): {}\n{place}",
                paint.bold(name),
                line(reason, width.max(80))
            );
        }
    };
    let mut out = format!("{}\n", paint.bold(format!("# {name}")));
    let mut table = String::new();
    let masked = text::visible(&text::clean(&Masked::new(canonical, []).text));
    for row in masked.lines() {
        if let Some(head) = row.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = head.to_owned();
        }
        out.push_str(row);
        let key = row.split_once('=').map(|(key, _)| format!("{table}.{}", key.trim()));
        if let Some(place) = key.and_then(|key| origins.get(&key)) {
            out.push_str(&format!("  {}", paint.dim(format!("# {place}"))));
        }
        out.push('\n');
    }
    out
}
