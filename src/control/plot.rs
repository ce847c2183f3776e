//! What engines cost, as a picture: one self-contained SVG without script or style sheet, for `cost --svg` and pages.
//! Columns over time; bars where runs are put together by anything else.

use std::fmt::Write as _;

use super::wire::cost::{BudgetView, CostBy, CostRow, CostView};
use crate::model::drawing::{FONTS, columns, escape, fit, number, width};
use crate::model::money::shown_usd;

const WIDE: f64 = 760.0;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 56.0;
const PLOT_HIGH: f64 = 180.0;
const RUNS_HIGH: f64 = 60.0;
const BAR_STEP: f64 = 24.0;
const TEXT: f64 = 11.0;
/// Lines of the grid above nothing.
const GRID: u64 = 4;
/// Bars of engines, cases or routes; the cheapest go together.
const BARS_MAX: usize = 20;
const KEY_COLUMNS_MAX: usize = 24;
const COST: &str = "#1565c0";
const UNKNOWN: &str = "#b26a00";
const RUNS: &str = "#607d8b";
const INK: &str = "#202124";
const FAINT: &str = "#5f6368";

/// Draws the view.
#[must_use]
pub fn draw(view: &CostView) -> String {
    let (body, bottom) = match view.by {
        CostBy::Day => days(&view.rows, &view.budgets),
        CostBy::Engine | CostBy::Case | CostBy::Route => bars(&view.rows),
    };
    let high = number(bottom + MARGIN);
    let (title, said) = (title(view), said(view));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDE}\" height=\"{high}\" viewBox=\"0 0 {WIDE} {high}\" \
         role=\"img\" aria-label=\"{label}\" font-family=\"{FONTS}\">\n\
         <rect width=\"{WIDE}\" height=\"{high}\" fill=\"#ffffff\"/>\n",
        label = escape(&format!("{title}: {said}"))
    );
    text(&mut out, (MARGIN, 24.0), INK, "start", &title, 13.0);
    text(&mut out, (MARGIN, 41.0), FAINT, "start", &said, TEXT);
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

fn title(view: &CostView) -> String {
    format!("what engines cost, by {}", view.by.word())
}

fn said(view: &CostView) -> String {
    let total = &view.total;
    let runs = if total.runs == 1 { "1 run".to_owned() } else { format!("{} runs", total.runs) };
    let unknown = match total.unknown_runs {
        0 => String::new(),
        count => format!(", {count} of them at an unknown cost"),
    };
    format!("{} USD for {runs}{unknown}", shown_usd(total.cost_micro_usd))
}

/// Costs as columns, runs below them; gives the picture and where it ends.
fn days(rows: &[CostRow], budgets: &[BudgetView]) -> (String, f64) {
    let mut out = String::new();
    let most = rows.iter().map(|row| row.cost_micro_usd).max().unwrap_or(0);
    let top = round_up(most);
    let labels: Vec<String> = (0..=GRID).map(|step| shown_usd(top / GRID * step)).collect();
    let left = MARGIN + width(labels.iter().map(|label| columns(label)).max().unwrap_or(0), TEXT) + 8.0;
    let right = WIDE - MARGIN;
    let floor = HEAD + PLOT_HIGH;
    for (step, label) in (0..=GRID).zip(&labels) {
        let y = floor - PLOT_HIGH * step as f64 / GRID as f64;
        line(&mut out, (left, y), (right, y), "#e3e5e8", "");
        text(&mut out, (left - 6.0, y + 4.0), FAINT, "end", label, TEXT);
    }
    let step = (right - left) / rows.len().max(1) as f64;
    let (thick, most_runs) = ((step * 0.8).clamp(1.0, 40.0), rows.iter().map(|row| row.runs).max());
    let base = floor + 30.0 + RUNS_HIGH;
    for (index, row) in rows.iter().enumerate() {
        let x = left + step * (index as f64 + 0.5) - thick / 2.0;
        let tip = tip(row);
        column(&mut out, (x, floor), (thick, PLOT_HIGH * share(row.cost_micro_usd, top)), COST, &tip);
        if row.unknown_runs > 0 {
            // Its cost is more than the column says.
            let y = floor - PLOT_HIGH * share(row.cost_micro_usd, top) - 4.0;
            text(&mut out, (x + thick / 2.0, y), UNKNOWN, "middle", "?", TEXT);
        }
        column(&mut out, (x, base), (thick, RUNS_HIGH * share(row.runs, most_runs.unwrap_or(0))), RUNS, &tip);
    }
    if let Some(cap) =
        budgets.iter().find(|budget| budget.unit == "workagent.daemon" && budget.span == "today")
        && cap.micro_usd_max <= top
    {
        let y = floor - PLOT_HIGH * share(cap.micro_usd_max, top);
        line(&mut out, (left, y), (right, y), "#c62828", " stroke-dasharray=\"5 3\"");
        text(&mut out, (right, y - 4.0), "#c62828", "end", "the most for a day", TEXT);
    }
    // As many days are named as find room.
    let room = width(12, TEXT);
    let every = (room / step).ceil().max(1.0) as usize;
    for (index, row) in rows.iter().enumerate().step_by(every) {
        let x = left + step * (index as f64 + 0.5);
        text(&mut out, (x, floor + 16.0), FAINT, "middle", &row.key, TEXT);
    }
    line(&mut out, (left, base), (right, base), "#e3e5e8", "");
    text(&mut out, (left - 6.0, base), FAINT, "end", "runs", TEXT);
    let most_runs = most_runs.unwrap_or(0);
    text(&mut out, (left - 6.0, base - RUNS_HIGH + 8.0), FAINT, "end", &most_runs.to_string(), TEXT);
    (out, base)
}

/// One bar for each row, the dearest first.
fn bars(rows: &[CostRow]) -> (String, f64) {
    let mut out = String::new();
    let mut shown: Vec<CostRow> = rows.iter().take(BARS_MAX).cloned().collect();
    let rest = rows.get(BARS_MAX..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = |of: fn(&CostRow) -> u64| rest.iter().map(of).fold(0, u64::saturating_add);
        shown.push(CostRow {
            key: format!("{} others", rest.len()),
            runs: sum(|row| row.runs),
            cost_micro_usd: sum(|row| row.cost_micro_usd),
            unknown_runs: sum(|row| row.unknown_runs),
            ..CostRow::default()
        });
    }
    let keys = shown.iter().map(|row| columns(&fit(&row.key, KEY_COLUMNS_MAX))).max().unwrap_or(0);
    let left = MARGIN + width(keys, TEXT) + 8.0;
    let long = WIDE - MARGIN - left - width(22, TEXT);
    let most = shown.iter().map(|row| row.cost_micro_usd).max().unwrap_or(0);
    let mut y = HEAD;
    for row in &shown {
        let reach = long * share(row.cost_micro_usd, most);
        text(&mut out, (left - 8.0, y + 13.0), INK, "end", &fit(&row.key, KEY_COLUMNS_MAX), TEXT);
        rect(&mut out, (left, y + 2.0), (reach, 15.0), COST, &tip(row));
        let mark = if row.unknown_runs > 0 { " + ?" } else { "" };
        let amount = format!("{}{mark} ({})", shown_usd(row.cost_micro_usd), row.runs);
        text(&mut out, (left + reach + 6.0, y + 13.0), FAINT, "start", &amount, TEXT);
        y += BAR_STEP;
    }
    (out, y)
}

fn tip(row: &CostRow) -> String {
    let unknown =
        if row.unknown_runs > 0 { format!(", {} unknown", row.unknown_runs) } else { String::new() };
    format!("{}: {} USD, {} runs{unknown}", row.key, shown_usd(row.cost_micro_usd), row.runs)
}

/// A part of a whole, 0 to 1.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

/// The next of 1, 2, 4 or 8 times a power of ten: a quarter of it is a round number too.
fn round_up(most: u64) -> u64 {
    let mut unit = 10_000_u64;
    loop {
        for times in [1, 2, 4, 8] {
            let top = unit.saturating_mul(times);
            if top >= most {
                return top;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

fn column(out: &mut String, (x, floor): (f64, f64), (wide, high): (f64, f64), fill: &str, tip: &str) {
    if high > 0.0 {
        rect(out, (x, floor - high), (wide, high), fill, tip);
    }
}

fn rect(out: &mut String, (x, y): (f64, f64), (wide, high): (f64, f64), fill: &str, tip: &str) {
    // What is not nothing shows.
    let (wide, high) = (number(wide.max(0.5)), number(high.max(0.5)));
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\"><title>{}</title></rect>",
        number(x),
        number(y),
        escape(tip)
    );
}

fn line(out: &mut String, (x, y): (f64, f64), (to_x, to_y): (f64, f64), stroke: &str, more: &str) {
    let [x, y, to_x, to_y] = [x, y, to_x, to_y].map(number);
    let _ =
        writeln!(out, "<line x1=\"{x}\" y1=\"{y}\" x2=\"{to_x}\" y2=\"{to_y}\" stroke=\"{stroke}\"{more}/>");
}

fn text(out: &mut String, (x, y): (f64, f64), fill: &str, anchor: &str, text: &str, size: f64) {
    let (x, y, text) = (number(x), number(y), escape(text));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests;
