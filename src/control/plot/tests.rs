use super::*;
use crate::model::time::Timestamp;

fn row(key: &str, runs: u64, cost: u64) -> CostRow {
    CostRow { key: key.into(), runs, cost_micro_usd: cost, ..CostRow::default() }
}

fn view(by: CostBy, rows: Vec<CostRow>) -> CostView {
    CostView {
        since: Timestamp(0),
        now: Timestamp(0),
        by,
        total: row("total", 15, 1_680_000),
        rows,
        months: Vec::new(),
        cut: false,
        budgets: Vec::new(),
    }
}

/// The fill and the size of each rectangle that has a word to it.
fn rects(svg: &str) -> Vec<(String, f64, f64)> {
    let field = |line: &str, name: &str| {
        let from = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        line[from..].split('"').next().unwrap().to_owned()
    };
    let tipped = svg.lines().filter(|line| line.starts_with("<rect") && line.contains("<title>"));
    let size = |line: &str, name: &str| field(line, name).parse().unwrap();
    tipped.map(|line| (field(line, "fill"), size(line, "width"), size(line, "height"))).collect()
}

#[test]
fn a_column_is_as_high_as_its_day_was_dear() {
    let rows = vec![row("2026-11-28", 12, 400_000), row("2026-11-29", 0, 0), row("2026-11-30", 3, 800_000)];
    let found = rects(&draw(&view(CostBy::Day, rows)));
    let high =
        |fill: &str| -> Vec<f64> { found.iter().filter(|rect| rect.0 == fill).map(|rect| rect.2).collect() };
    assert_eq!(high(COST), [90.0, 180.0], "a day without a run has no column, and the top is 0.80");
    assert_eq!(high(RUNS), [60.0, 15.0]);
}

#[test]
fn bars_are_as_long_as_their_share_and_the_cheapest_go_together() {
    let mut rows = vec![row("claude", 4, 1_000_000), row("local <&>", 9, 500_000)];
    rows.extend((0..30).map(|index| row(&format!("e{index}"), 1, 1_000)));
    let svg = draw(&view(CostBy::Engine, rows));
    let found = rects(&svg);
    assert_eq!(found.len(), BARS_MAX + 1);
    assert!((found[0].1 / found[1].1 - 2.0).abs() < 0.01, "{found:?}");
    assert!(svg.contains("12 others") && svg.contains("local &lt;&amp;&gt;"), "{svg}");
}

#[test]
fn an_unknown_cost_is_marked_and_nothing_at_all_is_drawn() {
    let unknown = CostRow { unknown_runs: 2, ..row("2026-11-30", 3, 0) };
    let svg = draw(&view(CostBy::Day, vec![unknown]));
    assert!(svg.contains(">?</text>"), "{svg}");
    let empty = draw(&view(CostBy::Day, Vec::new()));
    assert!(empty.ends_with("</svg>\n") && !empty.contains("NaN") && !empty.contains("inf"), "{empty}");
}

#[test]
fn the_cap_of_a_day_is_a_line_where_it_lies_in_sight() {
    let cap = |most| BudgetView {
        unit: "workagent.daemon".into(),
        span: "today".into(),
        spent_micro_usd: 0,
        micro_usd_max: most,
        until: None,
        near: false,
    };
    let with = |most| {
        let view =
            CostView { budgets: vec![cap(most)], ..view(CostBy::Day, vec![row("2026-11-30", 3, 800_000)]) };
        draw(&view).contains("the most for a day")
    };
    assert!(with(700_000));
    assert!(!with(900_000_000));
}

#[test]
fn the_top_is_a_round_number() {
    assert_eq!([0, 9_999, 10_001, 1_680_000].map(round_up), [10_000, 10_000, 20_000, 2_000_000]);
    assert!(round_up(u64::MAX) == u64::MAX);
}
