//! The state of the daemon as Prometheus reads it. Names and units by its conventions: seconds, dollars, bytes; a HELP and
//! a TYPE for each; label values escaped. As many series as there are units, states and outcomes, and no more: nothing
//! that people write (subjects, addresses, ids) is a label.

use std::fmt::Write as _;

use super::wire::{ActiveState, StatusView};
use crate::model::time::Timestamp;
use crate::store::RunTally;

/// What Prometheus is told the text is.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is shown beside the status.
pub struct Measured<'a> {
    /// The status.
    pub status: &'a StatusView,
    /// Runs in the record.
    pub runs: &'a [RunTally],
    /// Passes and panics by unit since the daemon started.
    pub passes: &'a [(String, u64, u64)],
    /// Bytes of the database file, where it is known.
    pub store_bytes: Option<u64>,
}

/// The text.
#[must_use]
pub fn text(measured: &Measured<'_>) -> String {
    let Measured { status, runs, passes, store_bytes } = measured;
    let mut out = Page(String::with_capacity(4096));
    let now = status.now;
    let (version, one) = ([("version", status.version.as_str())], 1.0);
    out.family("workagent_build_info", "gauge", "The program.", [(&version[..], one)]);
    out.single("workagent_up", "A daemon runs.", f64::from(u8::from(status.running)));
    out.single("workagent_paused", "Nothing is claimed or sent.", f64::from(u8::from(status.paused)));
    out.single(
        "workagent_plan_generation",
        "Number of the plan that runs.",
        count(status.generation.unsigned_abs()),
    );
    out.single("workagent_unit_file_errors", "Errors in unit files.", count(status.findings));
    if let Some(started) = status.started_at {
        out.single(
            "workagent_start_time_seconds",
            "When the daemon started, in seconds since 1970.",
            seconds(started),
        );
    }
    let by_state =
        |all: &std::collections::BTreeMap<String, u64>| -> Vec<(Vec<(&'static str, String)>, f64)> {
            all.iter().map(|(state, number)| (vec![("state", state.clone())], count(*number))).collect()
        };
    out.owned("workagent_cases", "Cases in the record by state.", by_state(&status.counts.cases));
    out.owned("workagent_sends", "Sends in the record by state.", by_state(&status.counts.actions));
    out.single("workagent_drafts_open", "Drafts that wait for a person.", count(status.counts.drafts_open));
    for (name, help, since) in [
        (
            "workagent_draft_oldest_age_seconds",
            "How long the oldest open draft has waited.",
            status.counts.oldest_draft_at,
        ),
        (
            "workagent_queue_oldest_age_seconds",
            "How long the oldest queued case has waited.",
            status.counts.oldest_queued_at,
        ),
    ] {
        out.single(name, help, since.map_or(0.0, |since| now.since(since).as_secs_f64()));
    }
    let labels = |run: &RunTally| vec![("engine", run.engine.clone()), ("outcome", run.outcome.clone())];
    let tally = |of: fn(&RunTally) -> f64| runs.iter().map(|run| (labels(run), of(run))).collect::<Vec<_>>();
    out.owned("workagent_runs", "Runs in the record by engine and outcome.", tally(|run| count(run.runs)));
    let dollars = tally(|run| count(run.spent_micro_usd) / 1e6);
    out.owned(
        "workagent_runs_cost_dollars",
        "What runs in the record count for against budgets, in US dollars.",
        dollars,
    );
    let units: Vec<_> = status.units.iter().filter(|unit| unit.enabled).collect();
    let each =
        |of: &dyn Fn(&super::wire::UnitView) -> Option<f64>| -> Vec<(Vec<(&'static str, String)>, f64)> {
            units.iter().filter_map(|unit| Some((vec![("unit", unit.unit.clone())], of(unit)?))).collect()
        };
    out.owned(
        "workagent_unit_active",
        "The unit runs.",
        each(&|unit| Some(f64::from(u8::from(unit.active == ActiveState::Active)))),
    );
    out.owned(
        "workagent_unit_failures_in_a_row",
        "Tries in a row that failed.",
        each(&|unit| Some(count(u64::from(unit.failures_in_a_row)))),
    );
    out.owned(
        "workagent_unit_last_success_timestamp_seconds",
        "When the last try that went well ended, in seconds since 1970.",
        each(&|unit| unit.last_success.map(seconds)),
    );
    let counted = |of: fn(&(String, u64, u64)) -> u64| -> Vec<(Vec<(&'static str, String)>, f64)> {
        passes.iter().map(|unit| (vec![("unit", unit.0.clone())], count(of(unit)))).collect()
    };
    out.kind(
        "workagent_unit_passes_total",
        "counter",
        "Passes since the unit was started.",
        counted(|unit| unit.1),
    );
    out.kind(
        "workagent_unit_panics_total",
        "counter",
        "Passes that ended in a fault of workagent itself.",
        counted(|unit| unit.2),
    );
    if let Some(bytes) = store_bytes {
        out.single("workagent_store_bytes", "Size of the database file.", count(*bytes));
    }
    out.0
}

/// Counts beyond 2^53 do not occur.
#[expect(clippy::cast_precision_loss, reason = "a count of things on one machine")]
fn count(number: u64) -> f64 {
    number as f64
}

fn seconds(at: Timestamp) -> f64 {
    count(at.0.unsigned_abs()) / 1000.0
}

type Series = Vec<(Vec<(&'static str, String)>, f64)>;

struct Page(String);

impl Page {
    fn single(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, "gauge", help, [(&[][..], value)]);
    }

    fn owned(&mut self, name: &str, help: &str, series: Series) {
        self.kind(name, "gauge", help, series);
    }

    fn kind(&mut self, name: &str, kind: &str, help: &str, series: Series) {
        let series = series.into_iter().collect::<Vec<_>>();
        let borrowed: Vec<(Vec<(&str, &str)>, f64)> = series
            .iter()
            .map(|(labels, value)| {
                (labels.iter().map(|(name, text)| (*name, text.as_str())).collect(), *value)
            })
            .collect();
        self.family(name, kind, help, borrowed.iter().map(|(labels, value)| (labels.as_slice(), *value)));
    }

    /// A family without series is left out.
    fn family<'a>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        series: impl IntoIterator<Item = (&'a [(&'a str, &'a str)], f64)>,
    ) {
        let mut headed = false;
        for (labels, value) in series {
            if !headed {
                let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
                headed = true;
            }
            self.0.push_str(name);
            for (nth, (label, text)) in labels.iter().enumerate() {
                let open = if nth == 0 { '{' } else { ',' };
                let _ = write!(self.0, "{open}{label}=\"{}\"", escaped(text));
            }
            if !labels.is_empty() {
                self.0.push('}');
            }
            let _ = writeln!(self.0, " {value}");
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::{CountsView, Mode, UnitView};

    fn status() -> StatusView {
        let unit = UnitView {
            last_success: Some(Timestamp(1_500)),
            failures_in_a_row: 2,
            ..UnitView::active("a\"b\\c.connector")
        };
        let cases = [("queued".to_owned(), 3)].into();
        StatusView {
            secret_stores: Vec::new(),
            api: 1,
            version: "1.2.3".into(),
            running: true,
            pid: None,
            generation: 7,
            mode: Mode::Live,
            paused: false,
            pauses: Default::default(),
            started_at: Some(Timestamp(1_000)),
            now: Timestamp(61_000),
            units: vec![unit],
            counts: CountsView { cases, oldest_queued_at: Some(Timestamp(1_000)), ..CountsView::default() },
            findings: 0,
            findings_since: None,
            pinned: None,
            target: None,
            budgets: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// One sample: name, labels as written, value.
    fn parse(line: &str) -> (String, f64) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let name = series.split('{').next().unwrap();
        let ok = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(name.starts_with("workagent_") && name.chars().all(ok), "{line}");
        if let Some(labels) = series.strip_prefix(name).filter(|labels| !labels.is_empty()) {
            assert!(labels.starts_with('{') && labels.ends_with("\"}"), "{line}");
        }
        (name.to_owned(), value.parse().unwrap())
    }

    #[test]
    fn it_is_what_prometheus_reads() {
        let runs =
            [RunTally { engine: "e".into(), outcome: "draft".into(), runs: 5, spent_micro_usd: 1_500_000 }];
        let passes = [("a.connector".to_owned(), 9, 1)];
        let status = status();
        let text = text(&Measured { status: &status, runs: &runs, passes: &passes, store_bytes: Some(4096) });
        let mut typed = std::collections::BTreeMap::new();
        let mut helped = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                assert!(helped.insert(rest.split(' ').next().unwrap().to_owned()), "twice: {line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                typed.insert(name.to_owned(), kind.to_owned());
            } else {
                let (name, _) = parse(line);
                let kind = typed.get(&name).unwrap_or_else(|| panic!("no TYPE before {line}"));
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(helped.contains(&name));
            }
        }
        for line in [
            "workagent_cases{state=\"queued\"} 3",
            "workagent_queue_oldest_age_seconds 60",
            "workagent_runs{engine=\"e\",outcome=\"draft\"} 5",
            "workagent_runs_cost_dollars{engine=\"e\",outcome=\"draft\"} 1.5",
            "workagent_unit_last_success_timestamp_seconds{unit=\"a\\\"b\\\\c.connector\"} 1.5",
            "workagent_unit_passes_total{unit=\"a.connector\"} 9",
            "workagent_store_bytes 4096",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
