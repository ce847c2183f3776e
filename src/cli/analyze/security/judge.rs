//! The judgement of each connector and engine, from the plan alone.

use std::time::Duration;

use url::Url;

use super::reach::{Way, active, ways};
use super::weights::{self, Weight};
use crate::diag::mask;
use crate::model::item::Backlog;
use crate::unit::plan::{ConnectorUnit, EngineUnit, FilesRule, OutboundRule, Plan};
use crate::unit::value::{Setting, Settings};

/// What was found about one unit.
#[derive(Debug)]
pub struct Report {
    /// `inbox.connector`.
    pub unit: String,
    /// 0 to 10, one digit behind the point.
    pub exposure: f64,
    /// Each weight of its kind.
    pub rows: Vec<Row>,
}

/// One weight, weighed.
#[derive(Debug)]
pub struct Row {
    /// What was asked.
    pub weight: &'static Weight,
    /// 0 to its most.
    pub points: f64,
    /// What the answer is, and by which units.
    pub reason: String,
}

impl Report {
    fn new(unit: String, weights: &[&'static Weight], mut ask: impl FnMut(&Weight) -> (f64, String)) -> Self {
        let rows: Vec<Row> = weights
            .iter()
            .map(|weight| {
                let (share, reason) = ask(weight);
                Row { weight, points: weight.points_max * share.clamp(0.0, 1.0), reason }
            })
            .collect();
        let most: f64 = rows.iter().map(|row| row.weight.points_max).sum();
        let sum: f64 = rows.iter().map(|row| row.points).sum();
        let exposure = (sum / most * 100.0).round() / 10.0;
        Self { unit, exposure, rows }
    }

    /// The judgement in a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.exposure {
            0.0..1.5 => "SAFE",
            1.5..3.0 => "OK",
            3.0..5.0 => "MEDIUM",
            5.0..7.0 => "EXPOSED",
            _ => "UNSAFE",
        }
    }
}

/// All connectors and engines that take part; connectors first, then by name.
#[must_use]
pub fn judge(plan: &Plan) -> Vec<Report> {
    let ways = ways(plan);
    let engines: Vec<&EngineUnit> = active(&plan.engines).map(AsRef::as_ref).collect();
    let connectors: Vec<&ConnectorUnit> = active(&plan.connectors).map(AsRef::as_ref).collect();
    let mut reports: Vec<Report> = Vec::new();
    for unit in &connectors {
        let mine: Vec<&Way> = ways.iter().filter(|way| way.connector == unit.name).collect();
        let behind: Vec<&EngineUnit> = engines
            .iter()
            .filter(|engine| mine.iter().any(|way| way.engine == engine.name))
            .copied()
            .collect();
        reports.push(Scene { plan, ways: &mine, connectors: &[unit], engines: &behind }.connector(unit));
    }
    for unit in &engines {
        let mine: Vec<&Way> = ways.iter().filter(|way| way.engine == unit.name).collect();
        let before: Vec<&ConnectorUnit> = connectors
            .iter()
            .filter(|connector| mine.iter().any(|way| way.connector == connector.name))
            .copied()
            .collect();
        reports.push(Scene { plan, ways: &mine, connectors: &before, engines: &[unit] }.engine(unit));
    }
    reports
}

/// Those that have to do with the judged unit.
struct Scene<'a> {
    plan: &'a Plan,
    ways: &'a [&'a Way],
    connectors: &'a [&'a ConnectorUnit],
    engines: &'a [&'a EngineUnit],
}

impl Scene<'_> {
    fn connector(&self, unit: &ConnectorUnit) -> Report {
        Report::new(format!("{}.connector", unit.name), weights::CONNECTOR, |weight| match weight.code {
            "foreign-text" => self.text_of(unit),
            "no-undo" => self.no_undo(unit),
            "plain-transport" => plain(&unit.settings),
            "whole-backlog" => match unit.backlog {
                Backlog::All => (1.0, "everything from before it was switched on".to_owned()),
                Backlog::Since(_) | Backlog::New => (0.0, "only what is new, or of a chosen age".to_owned()),
            },
            code => self.both(code),
        })
    }

    fn engine(&self, unit: &EngineUnit) -> Report {
        Report::new(format!("{}.engine", unit.name), weights::ENGINE, |weight| match weight.code {
            "foreign-text" => self.text_for_engine(),
            "files" => match (program(unit), unit.sandbox.files) {
                (None, _) => (0.0, "it starts no program".to_owned()),
                (Some(program), FilesRule::All) => {
                    (1.0, format!("{program} reads and changes all that you may"))
                }
                (Some(program), FilesRule::ReadOnly) => (0.5, format!("{program} reads all that you may")),
                (Some(program), FilesRule::Named) => (0.1, format!("{program} reads what the unit names")),
            },
            "passed-variables" => {
                let passed: Vec<String> = unit
                    .env
                    .iter()
                    .flat_map(|env| env.pass.iter().map(|name| format!("{name} ({}.env)", env.name)))
                    .collect();
                match passed.len() {
                    0 => (0.0, "none".to_owned()),
                    count => (0.4 + 0.2 * count as f64, names(&passed)),
                }
            }
            "no-budget" => match unit.daily_runs {
                Some(runs) => (0.0, format!("at most {runs} a day")),
                None if unit.engine == "template" => (0.0, "a template costs nothing".to_owned()),
                None if unit.local => (0.4, "as many as there are cases, on this machine".to_owned()),
                None => (1.0, "as many as there are cases".to_owned()),
            },
            code => self.both(code),
        })
    }

    /// What is asked of both kinds, over everything on their ways.
    fn both(&self, code: &str) -> (f64, String) {
        match code {
            "unreviewed" => self.unreviewed(),
            "leaves-machine" => self.elsewhere(),
            "runs-program" => self.program(),
            "secrets-in-env" => self.secrets(),
            "open-way" => self.open_way(),
            _ => (0.0, String::new()),
        }
    }

    fn text_of(&self, unit: &ConnectorUnit) -> (f64, String) {
        if self.ways.is_empty() {
            return (0.2, "no route leads it to an engine; it is only stored".to_owned());
        }
        if self.ways.iter().all(|way| way.authors) {
            return (0.4, "its routes take only authors that they name".to_owned());
        }
        match unit.platform.as_str() {
            // Whoever writes there can mostly run programs as well.
            "directory" => (0.5, "whoever can write into the folder".to_owned()),
            platform => (1.0, format!("anybody who can write to this {platform} account or source")),
        }
    }

    fn text_for_engine(&self) -> (f64, String) {
        if self.ways.is_empty() {
            return (0.0, "no connector's cases come to it".to_owned());
        }
        let from: Vec<String> = self
            .ways
            .iter()
            .map(|way| format!("{}.connector over {}.route", way.connector, way.route))
            .collect();
        let share = if self.ways.iter().all(|way| way.authors) { 0.4 } else { 1.0 };
        (share, names(&from))
    }

    fn unreviewed(&self) -> (f64, String) {
        let auto: Vec<String> = self
            .connectors
            .iter()
            .filter(|unit| unit.outbound == OutboundRule::Auto)
            .map(|unit| format!("{}.connector", unit.name))
            .collect();
        if auto.is_empty() {
            let sends = self.connectors.iter().any(|unit| unit.outbound == OutboundRule::Reviewed);
            let reason = if sends { "each draft waits for you" } else { "nothing is sent" };
            return (0.0, reason.to_owned());
        }
        if self.ways.is_empty() {
            return (0.0, "nothing is drafted: no route leads to an engine".to_owned());
        }
        if self.plan.daemon.rehearsal {
            return (0.1, format!("{} would, but the daemon only rehearses", names(&auto)));
        }
        let sending = self.connectors.iter().filter(|unit| unit.outbound == OutboundRule::Auto);
        let all_bounded = sending.clone().all(|unit| unit.auto.is_bounded());
        let bounds = if all_bounded { ", to the kinds and recipients of `[auto]`" } else { "" };
        let share = if all_bounded { 0.6 } else { 1.0 };
        (share, format!("{} sends what the engine wrote (`outbound = \"auto\"`){bounds}", names(&auto)))
    }

    fn no_undo(&self, unit: &ConnectorUnit) -> (f64, String) {
        match (unit.outbound, unit.hold) {
            (OutboundRule::Never, _) => (0.0, "nothing is sent".to_owned()),
            (rule, Duration::ZERO) => {
                let share = if rule == OutboundRule::Auto { 1.0 } else { 0.5 };
                (share, "`hold` is 0: it leaves at once".to_owned())
            }
            (_, hold) => (0.0, format!("it is held for {}", crate::model::time::short_span(hold))),
        }
    }

    fn elsewhere(&self) -> (f64, String) {
        let far: Vec<String> = self
            .engines
            .iter()
            .filter(|unit| !unit.local)
            .map(|unit| match host(&unit.settings) {
                Some(host) => format!("{}.engine at {host}", unit.name),
                None => format!("{}.engine, which does not say that it stays here", unit.name),
            })
            .collect();
        match (far.is_empty(), self.engines.is_empty()) {
            (false, _) => (1.0, names(&far)),
            (true, true) => (0.0, "it goes to no engine".to_owned()),
            (true, false) => (0.0, "it stays on this machine".to_owned()),
        }
    }

    fn program(&self) -> (f64, String) {
        let programs: Vec<String> = self
            .engines
            .iter()
            .filter_map(|unit| Some(format!("{} ({}.engine)", program(unit)?, unit.name)))
            .collect();
        match programs.is_empty() {
            true => (0.0, "no engine on its way starts a program".to_owned()),
            false => (1.0, names(&programs)),
        }
    }

    /// Variables that hold secrets, in environments of programs.
    fn secrets(&self) -> (f64, String) {
        let mut found: Vec<String> = Vec::new();
        for unit in self.engines.iter().filter(|unit| program(unit).is_some()) {
            for env in &unit.env {
                let set = env.set.iter().filter(|(_, setting)| matches!(setting, Setting::Secret(_)));
                let passed = env.pass.iter().filter(|name| mask::telling_name(name));
                found.extend(
                    set.map(|(name, _)| name).chain(passed).map(|name| format!("{name} ({}.env)", env.name)),
                );
            }
        }
        for unit in self.connectors.iter().filter(|unit| unit.settings.text("program").is_some()) {
            let secrets = unit.settings.secrets();
            found.extend(secrets.iter().map(|secret| format!("{secret} ({}.connector)", unit.name)));
        }
        found.sort();
        found.dedup();
        match found.len() {
            0 => (0.0, "none".to_owned()),
            count => (0.5 + 0.25 * (count - 1) as f64, names(&found)),
        }
    }

    fn open_way(&self) -> (f64, String) {
        let foreign = self.ways.iter().any(|way| !way.authors);
        let private = self.program().0 > 0.0;
        let out = self.unreviewed().0 > 0.1 || self.elsewhere().0 > 0.0;
        match (foreign, private, out) {
            (true, true, true) => {
                let exit = if self.unreviewed().0 > 0.1 { "unreviewed replies" } else { "another machine" };
                (1.0, format!("text by others reaches a program with your files, and {exit} is the way out"))
            }
            _ => (0.0, "at least one of the three is missing".to_owned()),
        }
    }
}

/// The program that an engine starts.
fn program(unit: &EngineUnit) -> Option<&str> {
    unit.settings.text("program")
}

fn host(settings: &Settings) -> Option<String> {
    let url = Url::parse(settings.text("base_url").or_else(|| settings.text("url"))?).ok()?;
    url.host_str().map(str::to_owned)
}

fn plain(settings: &Settings) -> (f64, String) {
    let is_local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1");
    if settings.text("security") == Some("none") || settings.text("smtp_security") == Some("none") {
        let local = settings.text("host").is_some_and(is_local);
        let share = if local { 0.2 } else { 1.0 };
        return (share, "`security = \"none\"`".to_owned());
    }
    let url = settings.text("url").and_then(|url| Url::parse(url).ok());
    match url {
        Some(url) if url.scheme() == "http" && !is_loopback(&url) => {
            (1.0, "the URL is plain http".to_owned())
        }
        _ => (0.0, "TLS, or it does not leave this machine".to_owned()),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => true,
    }
}

/// Names, the first few of many.
fn names(all: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    let shown = all.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::graph::tests::{HOUSE, compile};
    use super::*;

    /// The points of a unit, those above zero.
    fn points(files: &[(&str, &str)], unit: &str) -> String {
        let reports = judge(&compile(files).plan);
        let report = reports.iter().find(|report| report.unit == unit).unwrap();
        let rows = report.rows.iter().filter(|row| row.points > 0.0);
        rows.map(|row| format!("{} {:.1}", row.weight.code, row.points)).collect::<Vec<_>>().join(", ")
    }

    fn with<'a>(file: (&'a str, &'a str)) -> Vec<(&'a str, &'a str)> {
        let mut files = HOUSE.to_vec();
        files.retain(|(name, _)| *name != file.0);
        files.push(file);
        files
    }

    const PROGRAM: &str =
        "[engine]\nengine = \"command\"\nenv = [\"work\"]\n[command]\nprogram = \"agent\"\n";

    #[test]
    fn the_worst_is_unsafe_and_nothing_is_safe() {
        let inbox = "[connector]\nplatform = \"imap\"\noutbound = \"auto\"\nhold = \"0s\"\nbacklog = \"all\"\n[imap]\n\
                     host = \"h.example.org\"\nuser = \"me@example.org\"\npassword = { secret = \"m\" }\n\
                     smtp_host = \"h.example.org\"\n[install]\nenabled = true\n";
        let mut files = with(("inbox.connector", inbox));
        files.retain(|(name, _)| *name != "local.engine");
        files.push(("local.engine", PROGRAM));
        let reports = judge(&compile(&files).plan);
        let words: Vec<(&str, &str)> =
            reports.iter().map(|report| (report.unit.as_str(), report.word())).collect();
        assert_eq!(words, [("inbox.connector", "UNSAFE"), ("local.engine", "UNSAFE")]);
        assert!(reports.iter().all(|report| report.exposure <= 10.0));
    }

    #[test]
    fn a_local_model_without_tools_and_with_review_is_little_exposed() {
        assert_eq!(points(HOUSE, "inbox.connector"), "foreign-text 1.5");
        assert_eq!(points(HOUSE, "local.engine"), "foreign-text 1.5, no-budget 0.2");
    }

    #[test]
    fn a_program_brings_files_secrets_and_a_way_out() {
        let files = with(("local.engine", PROGRAM));
        assert_eq!(
            points(&files, "local.engine"),
            "foreign-text 1.5, leaves-machine 1.5, runs-program 1.5, files 1.0, secrets-in-env 0.8, open-way 2.0, \
             no-budget 0.5"
        );
    }

    #[test]
    fn named_authors_lower_it_and_a_wildcard_does_not() {
        let route =
            |author: &str| format!("[route]\nengines = [\"local\"]\n[match]\nauthor = [\"{author}\"]\n");
        let named = route("boss@example.org");
        assert_eq!(points(&with(("mail.route", &named)), "inbox.connector"), "foreign-text 0.6");
        let any = route("*@example.org");
        assert_eq!(points(&with(("mail.route", &any)), "inbox.connector"), "foreign-text 1.5");
    }

    #[test]
    fn an_earlier_route_that_takes_all_hides_later_ones() {
        let mut files = HOUSE.to_vec();
        files.push(("far.engine", "[engine]\nengine = \"command\"\n[command]\nprogram = \"x\"\n"));
        let late = "[route]\nengines = [\"far\"]\npriority = -1\n";
        files.push(("late.route", late));
        assert_eq!(points(&files, "inbox.connector"), "foreign-text 1.5");
        let early = "[route]\nengines = [\"far\"]\npriority = 1\n";
        files.retain(|(name, _)| *name != "late.route");
        files.push(("late.route", early));
        assert!(points(&files, "inbox.connector").contains("runs-program"));
    }
}
