use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::unit::plan::{DaemonUnit, OffState, RouteMatch, SandboxRule};
use crate::unit::value::Settings;

fn daemon() -> DaemonUnit {
    DaemonUnit {
        budget: crate::model::budget::Budget::default(),
        rehearsal: false,
        workers: 1,
        senders: 1,
        stop_timeout: Duration::ZERO,
        store_path: None::<PathBuf>,
        store_normal: false,
        keep: crate::model::keep::Keep::default(),
        log: Default::default(),
        otlp: Default::default(),
        web: Default::default(),
        secrets: Default::default(),
        own: Vec::new(),
        known: Vec::new(),
    }
}

fn engine(name: &str, local: bool) -> EngineUnit {
    EngineUnit {
        sandbox: SandboxRule::default(),
        name: name.into(),
        description: String::new(),
        engine: "template".into(),
        model: String::new(),
        path: Vec::new(),
        env: Vec::new(),
        account: "test".into(),
        concurrency: 1,
        runs_per_minute: None,
        timeout: Duration::ZERO,
        idle_timeout: Duration::ZERO,
        first_event_timeout: Duration::ZERO,
        local,
        daily_runs: None,
        money: crate::model::budget::EngineMoney::default(),
        exit_attempts: 2,
        settings: Settings::default(),
    }
}

fn route(name: &str, engines: &[&str]) -> RouteUnit {
    RouteUnit {
        name: name.into(),
        description: String::new(),
        priority: 0,
        engines: engines.iter().map(|name| (*name).to_owned()).collect(),
        on: Vec::new(),
        prompt: String::new(),
        env: Vec::new(),
        private: false,
        matches: RouteMatch::default(),
    }
}

fn disabled() -> Off {
    Off { state: OffState::Disabled, reason: "[install] enabled = false".into(), place: None }
}

fn off<T>() -> Standing<T> {
    Standing::Off(disabled())
}

/// `local` and `cloud` are ready, `resting` is off.
fn router(routes: Vec<RouteUnit>) -> Router {
    let plan = Plan {
        daemon: Arc::new(daemon()),
        connectors: BTreeMap::new(),
        engines: [
            ("local".to_owned(), Standing::Active(Arc::new(engine("local", true)))),
            ("cloud".to_owned(), Standing::Active(Arc::new(engine("cloud", false)))),
            ("resting".to_owned(), off()),
        ]
        .into(),
        envs: BTreeMap::new(),
        routes: routes
            .into_iter()
            .map(|route| (route.name.clone(), Standing::Active(Arc::new(route))))
            .chain([("sleeping".to_owned(), off())])
            .collect(),
        channels: BTreeMap::new(),
        timers: BTreeMap::new(),
        secrets: BTreeMap::new(),
        targets: BTreeMap::new(),
        conditions: BTreeMap::new(),
        kept: BTreeMap::new(),
        runtimes: BTreeMap::new(),
        sources: BTreeMap::new(),
        edges: Vec::new(),
        hash: String::new(),
    };
    Router::new(&plan)
}

/// A Monday, ten in the morning.
const NOW: Timestamp = Timestamp(1_796_032_800_000);

const LABELS: [&str; 2] = ["vip", "Team/Sales"];

fn routed(routes: Vec<RouteUnit>) -> String {
    let labels = LABELS.map(str::to_owned);
    let facts = RouteFacts {
        connector: "inbox",
        kind: "mail",
        labels: &labels,
        author: "Pat@Example.org",
        answered: false,
        by_timer: false,
        size_bytes: 5000,
        text: "",
        now: NOW,
    };
    match router(routes).route(&facts) {
        Routing::To { route, engine, priority, why } => format!("{route} → {engine} at {priority}: {why}"),
        Routing::Nowhere { why, .. } => format!("nowhere: {why}"),
    }
}

fn list(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_first_match_by_priority_then_name() {
    let high = RouteUnit { priority: 5, ..route("z", &["cloud"]) };
    assert_eq!(
        routed(vec![route("b", &["local"]), route("a", &["local"]), high]),
        "z → cloud at 5: route z: takes everything; engine cloud"
    );
    assert!(routed(vec![route("b", &["local"]), route("a", &["local"])]).starts_with("a → local at 0"));
}

#[test]
fn every_condition_and_why_it_did_not_match() {
    let with = |name, matches| RouteUnit { matches, ..route(name, &["local"]) };
    let all = RouteMatch {
        connector: list(&["in*"]),
        kind: list(&["entry", "mail"]),
        labels: list(&["TEAM/*"]),
        author: list(&["*@example.org"]),
        size_max: Some(5000),
        ..RouteMatch::default()
    };
    insta::assert_snapshot!(
        routed(vec![
            with("a", RouteMatch { connector: list(&["feed"]), ..RouteMatch::default() }),
            with("b", RouteMatch { kind: list(&["entry", "note"]), ..RouteMatch::default() }),
            with("c", RouteMatch { labels: list(&["spam"]), ..RouteMatch::default() }),
            with("d", RouteMatch { author: list(&["*@example.com"]), ..RouteMatch::default() }),
            with("e", RouteMatch { size_max: Some(4096), ..RouteMatch::default() }),
            with("f", RouteMatch { kind: list(&["[z-a]"]), ..RouteMatch::default() }),
            with("g", all),
        ])
        .replace("; ", ";\n"),
        @r#"
        g → local at 0: route g: connector, kind, label, author, size match;
        engine local (before it: a: connector `inbox` is not `feed`;
        b: kind `mail` is not `entry` or `note`;
        c: label `vip`, `Team/Sales` is not `spam`;
        d: author `Pat@Example.org` is not `*@example.com`;
        e: size 5000 is not at most 4096 bytes)
        "#
    );
}

#[test]
fn nothing_matches() {
    insta::assert_snapshot!(
        routed(vec![RouteUnit {
            matches: RouteMatch { kind: list(&["entry"]), ..RouteMatch::default() },
            ..route("feeds", &["local"])
        }]),
        @"nowhere: no route takes it (feeds: kind `mail` is not `entry`; sleeping: disabled ([install] enabled = false))"
    );
}

#[test]
fn an_engine_that_is_off_is_not_silently_replaced() {
    // Neither by the next engine of the route nor by the next route.
    insta::assert_snapshot!(routed(vec![route("a", &["resting", "local"]), route("b", &["local"])]), @"nowhere: route a takes it, but resting: disabled ([install] enabled = false)");
    insta::assert_snapshot!(routed(vec![route("a", &["gone"]), route("b", &["local"])]), @"nowhere: route a takes it, but gone: there is no such engine");
    let declared = RouteUnit { on: list(&["config"]), ..route("a", &["resting", "local"]) };
    insta::assert_snapshot!(routed(vec![declared]), @"a → local at 0: fell back from resting: disabled ([install] enabled = false) (declared for `config`); route a: takes everything; engine local");
}

fn next(route: RouteUnit, current: &str, failure: &RunFailure) -> Option<String> {
    let name = route.name.clone();
    router(vec![route]).next_engine(&name, current, failure)
}

#[test]
fn falls_back_on_declared_failures_only() {
    let with = |on: &[&str]| RouteUnit { on: list(on), ..route("a", &["local", "resting", "cloud"]) };
    let cloud = Some("cloud".to_owned());
    assert_eq!(next(with(&["network"]), "local", &RunFailure::Network), cloud);
    assert_eq!(next(with(&["usage-limit"]), "local", &RunFailure::UsageLimit(None)), cloud);
    assert_eq!(next(with(&["network"]), "local", &RunFailure::Auth), None);
    assert_eq!(next(with(&[]), "local", &RunFailure::Network), None);
    assert_eq!(next(with(&["refused"]), "local", &RunFailure::Refused), cloud);
    assert_eq!(next(with(&["cancelled"]), "local", &RunFailure::Cancelled), None);
}

#[test]
fn the_last_engine_and_a_stranger_have_no_next() {
    let with = || RouteUnit { on: list(&["network"]), ..route("a", &["local", "cloud"]) };
    assert_eq!(next(with(), "cloud", &RunFailure::Network), None);
    assert_eq!(next(with(), "elsewhere", &RunFailure::Network), None);
    assert_eq!(router(vec![with()]).next_engine("gone", "local", &RunFailure::Network), None);
}

#[test]
fn a_private_route_stays_on_this_machine() {
    let private = |engines: &[&str]| RouteUnit {
        private: true,
        on: list(&["network", "config"]),
        ..route("a", engines)
    };
    assert_eq!(next(private(&["local", "cloud"]), "local", &RunFailure::Network), None);
    insta::assert_snapshot!(routed(vec![private(&["cloud"])]), @"nowhere: route a takes it, but cloud: the route is private and the engine is not on this machine");
}

/// Whether a route with these conditions takes a case.
fn takes(matches: RouteMatch, facts: &RouteFacts<'_>) -> bool {
    matches!(router(vec![RouteUnit { matches, ..route("a", &["local"]) }]).route(facts), Routing::To { .. })
}

fn facts(author: &str) -> RouteFacts<'_> {
    RouteFacts {
        connector: "inbox",
        kind: "mail",
        labels: &[],
        author,
        answered: false,
        by_timer: false,
        size_bytes: 10,
        text: "Can you tell me what the plan for Friday is? We have to know.",
        now: NOW,
    }
}

#[test]
fn how_well_a_writer_is_known() {
    let with = |word: &str| RouteMatch { trust: list(&[word]), ..RouteMatch::default() };
    let known = RouteFacts { answered: true, ..facts("pat@example.org") };
    let timer = RouteFacts { by_timer: true, ..facts("") };
    let nobody = RouteFacts { answered: true, ..facts("") };
    for (facts, expected) in
        [(facts("pat@example.org"), "stranger"), (known, "known"), (timer, "own"), (nobody, "stranger")]
    {
        for word in Trust::WORDS {
            assert_eq!(takes(with(word), &facts), word == expected, "{facts:?} {word}");
        }
    }
}

#[test]
fn language_size_and_hours() {
    let english = |word: &str| RouteMatch { language: list(&[word]), ..RouteMatch::default() };
    assert!(takes(english("en"), &facts("")) && !takes(english("de"), &facts("")));
    let unsure = RouteFacts { text: "ok", ..facts("") };
    assert!(!takes(english("en"), &unsure));
    let least = |bytes| RouteMatch { size_min: Some(bytes), ..RouteMatch::default() };
    assert!(takes(least(10), &facts("")) && !takes(least(11), &facts("")));
    let hours = |text: &str| RouteMatch { hours: list(&[text]), ..RouteMatch::default() };
    assert!(takes(hours("Mon 09:00-11:00 UTC"), &facts("")));
    let closed = router(vec![RouteUnit { matches: hours("Mon 11:00-12:00 UTC"), ..route("a", &["local"]) }]);
    let Routing::Nowhere { until, .. } = closed.route(&facts("")) else { panic!("taken") };
    assert_eq!(until, Some(NOW.plus(Duration::from_secs(3600))));
}

#[test]
fn an_explanation_agrees_with_the_route_taken() {
    let vip =
        RouteMatch { author: list(&["*@vip.example"]), trust: list(&["known"]), ..RouteMatch::default() };
    let routes = || {
        vec![RouteUnit { matches: vip.clone(), ..route("a", &["cloud"]) }, route("b", &["local", "cloud"])]
    };
    let facts = facts("x@vip.example");
    let explained = router(routes()).explain(&facts);
    assert_eq!(explained.routing, router(routes()).route(&facts));
    let met: Vec<bool> = explained.routes[0].clauses.iter().map(|clause| clause.met).collect();
    assert_eq!((met.as_slice(), explained.routes[0].takes()), (&[true, false][..], false));
    assert_eq!((explained.routes[1].takes(), explained.routes[2].off.is_some()), (true, true));
}

#[test]
fn patterns_with_and_without_wildcards_do_not_mind_case() {
    let fits = |pattern: &str, text: &str| Pattern::new(pattern).unwrap().is_match(text);
    assert!(fits("Pat@Example.org", "pat@example.ORG") && !fits("pat@example.org", "pat@example.org.evil"));
    assert!(fits("*@Example.org", "pat@example.ORG") && !fits("*@example.org", "pat@example.net"));
    assert!(Pattern::new("[").is_err());
}
