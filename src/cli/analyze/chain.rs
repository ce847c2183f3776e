//! `workagent analyze critical-chain`: what a unit starts after, and when that was up.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::{compiled, is_meant, no_such_unit};
use crate::cli::backend::running;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, line};
use crate::control::wire::{ActiveState, StatusView};
use crate::daemon::exit;
use crate::model::time::Timestamp;
use crate::unit::plan::{EdgeKind, Plan};

/// `workagent analyze critical-chain`
#[derive(Debug, Args)]
pub struct ChainArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only this unit: `mail.route`; else all that nobody starts after
    unit: Option<String>,
}

/// Levels shown; nobody reads deeper, and it bounds the recursion.
const DEPTH_MAX: usize = 40;

/// Runs the command.
///
/// # Errors
/// There is no such unit, or it takes no part.
pub fn command(args: &ChainArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let plan = compiled(context).plan;
    let order = Order::new(&plan);
    let wanted = args
        .unit
        .as_ref()
        .map(|given: &String| order.units.iter().find(|full| is_meant(given, full)).unwrap_or(given));
    if let Some(unit) = wanted
        && !order.units.contains(unit)
    {
        let off = plan.standings().into_iter().find(|(name, _)| name.to_string() == *unit);
        return Err(match off.and_then(|(_, off)| off) {
            Some(off) => CliError::usage(format!("{unit} takes no part: {}", off.reason)),
            None => no_such_unit(unit, &order.units.iter().cloned().collect::<Vec<_>>()),
        });
    }
    let times = times(context)?;
    let starts: Vec<&String> = match wanted {
        Some(unit) => vec![unit],
        None => order.last(),
    };
    let paint = Paint { colour: context.colour() };
    let text = if args.json {
        let units: Vec<_> = order
            .reached(&starts)
            .into_iter()
            .map(|unit| {
                let after_ms = times.get(unit).map(|span| span.as_millis() as u64);
                json!({"unit": unit, "after": order.before(unit), "up_after_ms": after_ms})
            })
            .collect();
        pretty(&json!({"version": 1, "units": units}))
    } else {
        show(&order, &starts, &times, paint)
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// How long after the daemon's start each unit that runs was up. Empty without a daemon.
fn times(context: &Context<'_>) -> Result<BTreeMap<String, Duration>, CliError> {
    let Ok(paths) = context.paths() else { return Ok(BTreeMap::new()) };
    let threads = crate::cli::threads(1)?;
    let view: Option<StatusView> = threads.block_on(async {
        let client = running(&paths).await.ok().flatten()?;
        client.get("/v1/status").await.ok()
    });
    Ok(view.map(|view| since_start(&view)).unwrap_or_default())
}

fn since_start(view: &StatusView) -> BTreeMap<String, Duration> {
    let Some(start) = view.started_at else { return BTreeMap::new() };
    let up = |since: Option<Timestamp>| since.map(|since| since.since(start));
    let units = view.units.iter().filter(|unit| unit.active == ActiveState::Active);
    units.filter_map(|unit| Some((unit.unit.clone(), up(unit.since)?))).collect()
}

/// Who starts after whom.
struct Order {
    units: BTreeSet<String>,
    before: BTreeMap<String, BTreeSet<String>>,
}

impl Order {
    fn new(plan: &Plan) -> Self {
        let on = plan.standings().into_iter().filter(|(_, off)| off.is_none());
        let units = on.map(|(name, _)| name.to_string()).collect();
        let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for edge in &plan.edges {
            let (from, to) = (edge.from.to_string(), edge.to.to_string());
            let (later, earlier) = match edge.kind {
                EdgeKind::Before => (to, from),
                EdgeKind::After | EdgeKind::Wants | EdgeKind::Requires | EdgeKind::Uses => (from, to),
                EdgeKind::PartOf | EdgeKind::Conflicts | EdgeKind::OnFailure | EdgeKind::WantedBy => continue,
            };
            before.entry(later).or_default().insert(earlier);
        }
        Self { units, before }
    }

    fn before(&self, unit: &str) -> Vec<&String> {
        self.before.get(unit).into_iter().flatten().collect()
    }

    /// Units that start after others, and that nobody starts after.
    fn last(&self) -> Vec<&String> {
        let waited_for: BTreeSet<&String> = self.before.values().flatten().collect();
        self.before.keys().filter(|unit| !waited_for.contains(unit)).collect()
    }

    fn reached<'a>(&'a self, starts: &[&'a String]) -> BTreeSet<&'a String> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = starts.to_vec();
        while let Some(unit) = open.pop() {
            if seen.insert(unit) {
                open.extend(self.before(unit));
            }
        }
        seen
    }
}

fn show(order: &Order, starts: &[&String], times: &BTreeMap<String, Duration>, paint: Paint) -> String {
    let mut out = String::new();
    if starts.is_empty() {
        return "no unit starts after another\n".to_owned();
    }
    out.push_str(if times.is_empty() {
        "Each unit starts after those below it. No daemon runs, so there are no times.\n\n"
    } else {
        "Each unit starts after those below it. Behind the @: how long after the start\nof the daemon it was \
         up.\n\n"
    });
    let mut tree = Tree { order, times, paint, shown: BTreeSet::new(), out: &mut out };
    for unit in starts {
        tree.unit(unit, "", "");
    }
    out
}

struct Tree<'a> {
    order: &'a Order,
    times: &'a BTreeMap<String, Duration>,
    paint: Paint,
    shown: BTreeSet<String>,
    out: &'a mut String,
}

impl Tree<'_> {
    /// `lead` stands before the unit, `below` before what it starts after. A plan has no cycles; whatever was shown is
    /// not unfolded again, so a web of units stays as long as it has units.
    fn unit(&mut self, unit: &str, lead: &str, below: &str) {
        let time = match self.times.get(unit) {
            Some(span) => format!(" @{}", took(*span)),
            None => String::new(),
        };
        let known = !self.shown.insert(unit.to_owned());
        let mut before = self.order.before(unit);
        let again = if known && !before.is_empty() { " (shown above)" } else { "" };
        let _ = writeln!(self.out, "{lead}{}{}{again}", line(unit, 80), self.paint.cyan(time));
        if known {
            return;
        }
        if below.chars().count() >= 2 * DEPTH_MAX {
            let _ = writeln!(self.out, "{below}…");
            return;
        }
        // The last to come up is what was waited for.
        before.sort_by_key(|unit| std::cmp::Reverse(self.times.get(*unit).copied()));
        let count = before.len();
        let before: Vec<String> = before.into_iter().cloned().collect();
        for (at, earlier) in before.iter().enumerate() {
            let (joint, bar) = if at + 1 == count { ("└─", "  ") } else { ("├─", "│ ") };
            self.unit(earlier, &format!("{below}{joint}"), &format!("{below}{bar}"));
        }
    }
}

fn took(span: Duration) -> String {
    match span.as_millis() {
        millis @ 0..1000 => format!("{millis}ms"),
        millis @ 1000..60_000 => format!("{}.{:03}s", millis / 1000, millis % 1000),
        millis => format!("{}min {}s", millis / 60_000, millis / 1000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{HOUSE, compile};
    use super::*;

    #[test]
    fn a_unit_stands_above_what_it_starts_after() {
        let plan = compile(HOUSE).plan;
        let order = Order::new(&plan);
        let times = BTreeMap::from([
            ("local.engine".to_owned(), Duration::from_millis(1234)),
            ("mail.route".to_owned(), Duration::from_millis(12)),
        ]);
        insta::assert_snapshot!(show(&order, &order.last(), &times, Paint { colour: false }), @r#"
        Each unit starts after those below it. Behind the @: how long after the start
        of the daemon it was up.

        mail.route @12ms
        └─local.engine @1.234s
          └─work.env
        "#);
    }

    #[test]
    fn without_order_it_says_so() {
        let plan = compile(&[("a.env", "")]).plan;
        let order = Order::new(&plan);
        let shown = show(&order, &order.last(), &BTreeMap::new(), Paint { colour: false });
        assert_eq!(shown, "no unit starts after another\n");
    }
}
