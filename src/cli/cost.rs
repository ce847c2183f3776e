//! `workagent cost`: what engines cost, by day, engine, case or route, with a bar for each.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, counted, line};
use crate::control::plot;
use crate::control::wire::cost::{BudgetView, CostBy, CostQuery, CostRow, CostView};
use crate::daemon::exit;
use crate::model::money::{column_usd, shown_usd};
use crate::model::time::{Timestamp, start_of_date};
use crate::unit::parse_duration;

/// `workagent cost`
#[derive(Debug, Args)]
pub struct CostArgs {
    /// What runs are put together by: day, engine, case or route
    #[arg(long, default_value = "day")]
    by: CostBy,
    /// From when on: an age such as `7d`, or a day such as `2026-11-01`
    #[arg(long, value_name = "TIME", default_value = "30d")]
    since: String,
    /// At most so many rows (those that cost most, or the newest days)
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Print a picture (SVG): columns by day, bars by anything else
    #[arg(long, conflicts_with = "json")]
    svg: bool,
    /// Print JSON; amounts are millionths of a US dollar
    #[arg(long)]
    json: bool,
}

/// Columns of the longest bar.
const BAR_WIDTH_MAX: usize = 24;

/// Columns of the first column.
const KEY_WIDTH_MAX: usize = 24;

/// Runs the command.
pub async fn command(args: CostArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let now = context.clock.now();
    let Some(since) = since(&args.since, now) else {
        let message = format!("`{}` is neither an age such as 7d nor a day such as 2026-11-01", args.since);
        return Err(CliError::new(exit::USAGE, message));
    };
    let backend = Backend::connect(context).await?;
    let view: CostView = backend.get(&CostQuery { since: since.0, by: args.by }.path()).await?;
    backend.close().await;
    if args.json {
        context.out.write_all(pretty(&view).as_bytes())?;
        return Ok(exit::OK);
    }
    if args.svg {
        context.out.write_all(plot::draw(&view).as_bytes())?;
        return Ok(exit::OK);
    }
    let text = shown(&view, args.limit, context.paint(), context.width());
    context.page(&text);
    Ok(exit::OK)
}

fn since(text: &str, now: Timestamp) -> Option<Timestamp> {
    start_of_date(text).or_else(|| parse_duration(text).map(|age| now.minus(age)))
}

fn shown(view: &CostView, limit: usize, paint: Paint, width: usize) -> String {
    if view.total.runs == 0 {
        return with_budgets("no engine ran in this time\n".to_owned(), &view.budgets);
    }
    let left_out = view.rows.len().saturating_sub(limit);
    // Days are oldest first, and the newest are kept.
    let rows: Vec<&CostRow> = match view.by {
        CostBy::Day => view.rows.iter().skip(left_out).collect(),
        _ => view.rows.iter().take(limit).collect(),
    };
    let most = rows.iter().map(|row| row.cost_micro_usd).max().unwrap_or(0);
    let figures: Vec<[String; 4]> =
        rows.iter().chain([&&view.total]).map(|row| figures(row, view.total.cost_micro_usd)).collect();
    let widths: Vec<usize> = (0..4)
        .map(|column| {
            let longest =
                figures.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max();
            longest.unwrap_or(0).max(HEAD.get(column).map_or(0, |head| head.len()))
        })
        .collect();
    let right = |column: usize, text: &str| {
        format!("{text:>width$}", width = widths.get(column).copied().unwrap_or(0))
    };
    let head: Vec<String> = HEAD.iter().enumerate().map(|(column, text)| right(column, text)).collect();
    let first = view.by.word().to_uppercase();
    let head: Vec<&str> =
        [first.as_str()].into_iter().chain(head.iter().map(String::as_str)).chain([""]).collect();
    let mut table = Table::new(&head);
    let used: usize = KEY_WIDTH_MAX.min(12) + widths.iter().map(|width| width + 2).sum::<usize>() + 2;
    let bar_width = width.saturating_sub(used).clamp(4, BAR_WIDTH_MAX);
    for (row, figures) in rows.iter().zip(&figures) {
        let cells = figures.iter().enumerate().map(|(column, text)| Cell::from(right(column, text)));
        let bar = Cell::painted("36", bar(row.cost_micro_usd, most, bar_width));
        table.row([Cell::from(line(&row.key, KEY_WIDTH_MAX))].into_iter().chain(cells).chain([bar]));
    }
    if let Some(figures) = figures.last() {
        let cells = figures.iter().enumerate().map(|(column, text)| Cell::painted("1", right(column, text)));
        table.row([Cell::painted("1", "total")].into_iter().chain(cells).chain([Cell::default()]));
    }
    let mut out = table.render(paint, width);
    if left_out > 0 {
        out.push_str(&format!(
            "{} not shown: pass --limit to see more\n",
            counted(left_out, "row is", "rows are")
        ));
    }
    if view.by == CostBy::Day {
        out.push_str(&curve(&view.rows, width));
    }
    out.push('\n');
    if view.months.len() > 1 {
        for month in &view.months {
            out.push_str(&format!(
                "{}  {} USD\n",
                month.key,
                amount(month, shown_usd(month.cost_micro_usd)).trim_end()
            ));
        }
        out.push('\n');
    }
    for remark in remarks(view) {
        out.push_str(&format!("{remark}\n"));
    }
    with_budgets(out.trim_end().to_owned() + "\n", &view.budgets)
}

const HEAD: [&str; 4] = ["RUNS", "READ", "WRITTEN", "USD  "];

fn figures(row: &CostRow, most: u64) -> [String; 4] {
    let cost = amount(row, column_usd(row.cost_micro_usd, most));
    [row.runs.to_string(), tokens(row.input_tokens), tokens(row.output_tokens), cost]
}

/// What is known of the cost; a mark where there is more that is not.
fn amount(row: &CostRow, cost: String) -> String {
    let known = row.runs > row.unknown_runs + row.plan_runs;
    match (known, row.unknown_runs) {
        (_, 0) => format!("{cost}  "),
        (true, _) => format!("{cost}+?"),
        (false, _) => "?".to_owned(),
    }
}

/// `950`, `12.3k`, `4.5M`
fn tokens(count: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", count / unit, count % unit * 10 / unit);
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", tenths(1_000)),
        _ => format!("{}M", tenths(1_000_000)),
    }
}

/// A bar in eighths of a column; what is not nothing shows.
fn bar(amount: u64, most: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if amount == 0 || most == 0 {
        return String::new();
    }
    let steps = u128::from(amount) * (width as u128 * 8) / u128::from(most);
    let steps = usize::try_from(steps).unwrap_or(0).max(1);
    format!("{}{}", "█".repeat(steps / 8), EIGHTHS.get(steps % 8).copied().unwrap_or_default())
}

/// All days in one line, also those that the table leaves out: "2026-11-01 ▁ ▃█ 2026-11-30". Several days share a column
/// where there are more than columns.
fn curve(rows: &[CostRow], width: usize) -> String {
    const STEPS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return String::new() };
    let room = width.saturating_sub(first.key.len() + last.key.len() + 2).max(1);
    let days = rows.len().div_ceil(room);
    let sums: Vec<u64> = rows
        .chunks(days)
        .map(|days| days.iter().map(|row| row.cost_micro_usd).fold(0, u64::saturating_add))
        .collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    if rows.len() < 3 || most == 0 {
        return String::new();
    }
    let step = |sum: &u64| {
        let step = u128::from(*sum) * (STEPS.len() as u128 - 1) / u128::from(most);
        let step = usize::try_from(step).unwrap_or(0).max(usize::from(*sum > 0));
        STEPS.get(step).copied().unwrap_or_default()
    };
    let line: String = sums.iter().map(step).collect();
    format!("{} {line} {}\n", first.key, last.key)
}

/// What the figures leave out.
fn remarks(view: &CostView) -> Vec<String> {
    let total = &view.total;
    let mut remarks = Vec::new();
    if total.unknown_runs > 0 {
        let runs = counted(usize::try_from(total.unknown_runs).unwrap_or(usize::MAX), "run has", "runs have");
        remarks.push(match total.unknown_micro_usd_max {
            0 => format!("? {runs} no known cost"),
            most => format!("? {runs} no known cost; budgets count {} USD for that", shown_usd(most)),
        });
    }
    if total.plan_runs > 0 {
        let runs = counted(usize::try_from(total.plan_runs).unwrap_or(usize::MAX), "run was", "runs were");
        remarks.push(match total.plan_micro_usd {
            0 => format!("{runs} paid by a plan"),
            cost => format!("{runs} paid by a plan, {} USD by list price", shown_usd(cost)),
        });
    }
    if view.cut {
        remarks.push(
            "there are more runs than were added up: the oldest are missing, use a later --since".to_owned(),
        );
    }
    remarks
}

fn with_budgets(mut out: String, budgets: &[BudgetView]) -> String {
    for budget in budgets {
        let BudgetView { unit, span, spent_micro_usd, micro_usd_max, .. } = budget;
        let (spent, most) = (shown_usd(*spent_micro_usd), shown_usd(*micro_usd_max));
        let mark = if budget.near { "!" } else { " " };
        out.push_str(&format!("{mark} {unit}: {spent} of {most} USD {span}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, runs: u64, cost: u64, unknown: u64, plan: u64) -> CostRow {
        CostRow {
            key: key.into(),
            runs,
            input_tokens: runs * 12_345,
            output_tokens: runs * 400,
            cost_micro_usd: cost,
            unknown_runs: unknown,
            unknown_micro_usd_max: unknown * 100_000,
            plan_runs: plan,
            plan_micro_usd: plan * 50_000,
        }
    }

    fn view() -> CostView {
        let budget = |unit: &str, span: &str, spent, near| BudgetView {
            unit: unit.into(),
            span: span.into(),
            spent_micro_usd: spent,
            micro_usd_max: 1_000_000,
            until: None,
            near,
        };
        CostView {
            since: Timestamp(0),
            now: Timestamp(0),
            by: CostBy::Day,
            rows: vec![
                row("2026-11-28", 12, 420_000, 0, 0),
                row("2026-11-29", 0, 0, 0, 0),
                row("2026-11-30", 3, 1_260_000, 1, 1),
            ],
            total: row("total", 15, 1_680_000, 1, 1),
            months: vec![row("2026-10", 1, 0, 1, 0), row("2026-11", 14, 1_680_000, 0, 0)],
            cut: false,
            budgets: vec![
                budget("workagent.daemon", "this month", 300_000, false),
                budget("sonnet.engine", "today", 900_000, true),
            ],
        }
    }

    #[test]
    fn a_table_with_bars() {
        let text = shown(&view(), 50, Paint { colour: false }, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        DAY         RUNS    READ  WRITTEN     USD
        2026-11-28    12  148.1k     4.8k  0.4200    ████████
        2026-11-29     0       0        0  0.0000
        2026-11-30     3   37.0k     1.2k  1.2600+?  ████████████████████████
        total         15  185.1k     6.0k  1.6800+?
        2026-11-28 ▂ █ 2026-11-30

        2026-10  ? USD
        2026-11  1.68 USD

        ? 1 run has no known cost; budgets count 0.10 USD for that
        1 run was paid by a plan, 0.05 USD by list price
          workagent.daemon: 0.30 of 1.00 USD this month
        ! sonnet.engine: 0.90 of 1.00 USD today
        "#);
    }

    #[test]
    fn the_newest_days_are_kept() {
        let text = shown(&view(), 1, Paint { colour: false }, 80);
        let has = |day: &str| text.lines().any(|line| line.starts_with(&format!("{day}  ")));
        assert!(has("2026-11-30") && !has("2026-11-28"), "{text}");
        assert!(text.contains("2 rows are not shown"), "{text}");
    }

    #[test]
    fn many_days_share_columns() {
        let days: Vec<CostRow> =
            (0..100).map(|day| row(&format!("d{day:02}"), 1, u64::from(day < 2) + 1, 0, 0)).collect();
        assert_eq!(curve(&days, 58), format!("d00 █{} d99\n", "▄".repeat(49)));
        assert_eq!(curve(&days[..2], 58), "", "two days are in the table");
    }

    #[test]
    fn a_time_is_an_age_or_a_day() {
        let now = Timestamp(1_796_025_600_000);
        assert_eq!(since("7d", now), Some(Timestamp(now.0 - 7 * 86_400_000)));
        assert!(since("2026-11-01", now).is_some());
        assert_eq!(since("soon", now), None);
    }

    #[test]
    fn bars_and_tokens() {
        assert_eq!([0, 1, 50, 100].map(|amount| bar(amount, 100, 4)), ["", "▏", "██", "████"]);
        assert_eq!([999, 12_345, 4_567_890].map(tokens), ["999", "12.3k", "4.5M"]);
    }
}
