use std::sync::Arc;

use super::super::{
    Condition, ConditionTest, DaemonUnit, EngineUnit, EnvUnit, Place, RouteUnit, SandboxRule, TargetUnit,
};
use super::*;
use crate::unit::condition::{Facts, unmet};
use crate::unit::plan::RouteMatch;

fn unit(text: &str) -> UnitName {
    let (name, kind) = text.rsplit_once('.').unwrap();
    UnitName { name: name.into(), kind: Kind::from_word(kind).unwrap() }
}

fn place() -> Place {
    Place { file: "/u/x.toml".into(), line: 1, column: 1 }
}

/// A plan with these units (targets for whatever has no words of its own here) and these edges, `a.env requires b.env`.
fn plan(units: &[&str], edges: &[&str]) -> Plan {
    let mut plan = Plan {
        daemon: Arc::new(DaemonUnit {
            budget: crate::model::budget::Budget::default(),
            rehearsal: false,
            workers: 1,
            senders: 1,
            stop_timeout: std::time::Duration::ZERO,
            store_path: None,
            store_normal: false,
            keep: crate::model::keep::Keep::default(),
            log: Default::default(),
            otlp: Default::default(),
            web: Default::default(),
            secrets: Default::default(),
            own: Vec::new(),
            known: Vec::new(),
        }),
        connectors: BTreeMap::new(),
        engines: BTreeMap::new(),
        envs: BTreeMap::new(),
        routes: BTreeMap::new(),
        runtimes: BTreeMap::new(),
        channels: BTreeMap::new(),
        timers: BTreeMap::new(),
        secrets: BTreeMap::new(),
        targets: BTreeMap::new(),
        conditions: BTreeMap::new(),
        kept: BTreeMap::new(),
        sources: BTreeMap::new(),
        edges: Vec::new(),
        hash: String::new(),
    };
    for name in units {
        let UnitName { name, kind } = unit(name);
        match kind {
            Kind::Engine => {
                let second = std::time::Duration::from_secs(1);
                let engine = EngineUnit {
                    sandbox: SandboxRule::default(),
                    name: name.clone(),
                    description: String::new(),
                    engine: "template".into(),
                    model: String::new(),
                    path: Vec::new(),
                    env: Vec::new(),
                    account: "test".into(),
                    concurrency: 1,
                    runs_per_minute: None,
                    timeout: second,
                    idle_timeout: second,
                    first_event_timeout: second,
                    local: true,
                    daily_runs: None,
                    money: crate::model::budget::EngineMoney::default(),
                    exit_attempts: 2,
                    settings: crate::unit::value::Settings::default(),
                };
                plan.engines.insert(name, Standing::Active(Arc::new(engine)));
            }
            Kind::Route => {
                let route = RouteUnit {
                    env: Vec::new(),
                    name: name.clone(),
                    description: String::new(),
                    priority: 0,
                    engines: Vec::new(),
                    on: Vec::new(),
                    prompt: String::new(),
                    private: false,
                    matches: RouteMatch::default(),
                };
                plan.routes.insert(name, Standing::Active(Arc::new(route)));
            }
            Kind::Runtime => {
                let runtime = RuntimeUnit { name: name.clone(), runtime: format!("{name}-word") };
                plan.runtimes.insert(format!("{name}-word"), Standing::Active(Arc::new(runtime)));
            }
            Kind::Target => {
                let target =
                    TargetUnit { name: name.clone(), description: String::new(), members: Vec::new() };
                plan.targets.insert(name, Standing::Active(Arc::new(target)));
            }
            _ => {
                plan.envs.insert(name, Standing::Active(Arc::new(EnvUnit::default())));
            }
        }
    }
    for edge in edges {
        let words: Vec<&str> = edge.split(' ').collect();
        let kind = match words[1] {
            "requires" => EdgeKind::Requires,
            "wants" => EdgeKind::Wants,
            "part_of" => EdgeKind::PartOf,
            _ => EdgeKind::Uses,
        };
        plan.edges.push(Arc::new(Edge { from: unit(words[0]), to: unit(words[2]), kind, place: place() }));
    }
    plan.edges.sort();
    plan
}

fn stopped(names: &[&str]) -> BTreeMap<UnitName, Off> {
    let off = Off { state: OffState::Stopped, reason: "stopped by hand".into(), place: None };
    names.iter().map(|name| (unit(name), off.clone())).collect()
}

fn shown(plan: &Plan) -> Vec<String> {
    plan.off().map(|(name, off)| format!("{name} {}: {}", off.state.word(), off.reason)).collect()
}

#[test]
fn those_that_need_it_go_with_it() {
    let plan = plan(
        &["a.env", "b.env", "c.env", "d.env", "p.env"],
        &["b.env requires a.env", "c.env uses b.env", "d.env wants a.env", "p.env part_of a.env"],
    );
    let without = plan.without(&stopped(&["a.env"]));
    assert_eq!(
        shown(&without),
        [
            "a.env stopped: stopped by hand",
            "b.env dependency: needs `a.env`, which is off (stopped)",
            "c.env dependency: needs `b.env`, which is off (dependency)",
            "p.env stopped: part of `a.env`, which is stopped",
        ]
    );
    assert!(without.edges.is_empty());
    assert_eq!(plan.without(&BTreeMap::new()).edges, plan.edges);
}

#[test]
fn a_route_lives_on_while_one_of_its_engines_is_on() {
    let plan =
        plan(&["r.route", "a.engine", "b.engine"], &["r.route uses a.engine", "r.route uses b.engine"]);
    assert_eq!(shown(&plan.without(&stopped(&["a.engine"]))).len(), 1);
    let none = plan.without(&stopped(&["a.engine", "b.engine"]));
    assert_eq!(shown(&none)[2], "r.route dependency: needs `b.engine`, which is off (stopped)");
}

#[test]
fn a_runtime_is_found_by_its_units_name() {
    let plan = plan(&["x.runtime"], &[]);
    assert_eq!(shown(&plan.without(&stopped(&["x.runtime"]))), ["x-word.runtime stopped: stopped by hand"]);
}

#[test]
fn a_target_leaves_out_what_none_of_its_members_needs_or_wants() {
    let mut plan = plan(
        &["t.target", "s.target", "a.env", "b.env", "c.env", "d.env"],
        &["a.env requires b.env", "t.target wants s.target"],
    );
    for (target, member) in [("t", "a.env"), ("s", "c.env")] {
        let of = TargetUnit { name: target.into(), description: String::new(), members: vec![unit(member)] };
        plan.targets.insert(target.into(), Standing::Active(Arc::new(of)));
    }
    let outside: Vec<String> = plan.outside("t").unwrap().keys().map(ToString::to_string).collect();
    assert_eq!(outside, ["d.env"]);
    assert_eq!(plan.outside("u"), None);
}

struct Machine;

impl Facts for Machine {
    fn holds(&self, test: &ConditionTest) -> Result<bool, String> {
        match test {
            ConditionTest::PathExists(path) => Ok(path.starts_with("/there")),
            ConditionTest::SecretExists(_) => Err("the store is locked".into()),
            other => panic!("asked for {other:?}"),
        }
    }
}

fn check_conditions(all: &[(&str, ConditionTest, bool, bool)], edges: &[&str], expected: &[&str]) {
    let mut plan = plan(&["a.env", "b.env", "c.env", "d.env"], edges);
    for (name, test, negated, assert) in all {
        let condition = Condition { test: test.clone(), negated: *negated, assert: *assert, place: place() };
        plan.conditions.entry(unit(name)).or_default().push(condition);
    }
    let unmet = unmet(&plan, &Machine);
    let lines: Vec<String> =
        unmet.iter().map(|(name, off)| format!("{name} {}: {}", off.state.word(), off.reason)).collect();
    assert_eq!(lines, expected);
}

#[test]
fn what_does_not_hold_is_told_as_it_stands_in_the_file() {
    let path = |text: &str| ConditionTest::PathExists(text.into());
    check_conditions(
        &[
            ("a.env", path("/there/x"), false, false),
            ("a.env", path("/gone"), false, false),
            ("b.env", path("/there"), true, false),
            ("c.env", path("/gone"), false, true),
            ("d.env", ConditionTest::SecretExists("k".into()), true, false),
        ],
        &[],
        &[
            "a.env condition: condition path_exists = \"/gone\" does not hold",
            "b.env condition: condition path_exists = \"!/there\" does not hold",
            "c.env bad-setting: assert path_exists = \"/gone\" does not hold",
            "d.env condition: condition secret_exists = \"!k\" cannot be told: the store is locked",
        ],
    );
}

#[test]
fn active_asks_for_the_plan_without_those_whose_conditions_do_not_hold() {
    let active = |name: &str| ConditionTest::Active(unit(name));
    check_conditions(
        &[
            ("a.env", active("b.env"), false, false),
            ("b.env", active("c.env"), false, false),
            ("d.env", ConditionTest::PathExists("/gone".into()), false, false),
        ],
        &["c.env requires d.env"],
        &[
            "a.env condition: condition active = \"b.env\" does not hold",
            "b.env condition: condition active = \"c.env\" does not hold",
            "d.env condition: condition path_exists = \"/gone\" does not hold",
        ],
    );
}

#[test]
fn of_two_that_exclude_each_other_one_stays() {
    let active = |name: &str| ConditionTest::Active(unit(name));
    check_conditions(
        &[("a.env", active("b.env"), true, false), ("b.env", active("a.env"), true, false)],
        &[],
        &["a.env condition: condition active = \"!b.env\" does not hold"],
    );
}
