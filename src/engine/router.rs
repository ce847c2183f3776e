//! From case to engine: the first route that matches, explained. Pure; made anew from each plan.

mod condition;

use std::collections::BTreeMap;

use self::condition::Condition;
use crate::model::language;
use crate::model::pattern::Pattern;
use crate::model::routing::{Explanation, RouteFacts, RouteLook, Routing};
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;
use crate::model::trust::Trust;
use crate::unit::plan::{EngineUnit, Off, OffState, Plan, RouteUnit, Standing};

/// How an explanation begins that says why it is not the first engine.
pub const FELL_BACK: &str = "fell back from";

/// The routes of one plan.
#[derive(Debug)]
pub struct Router {
    /// First match first.
    routes: Vec<Rule>,
    /// Routes that take no part, and why.
    off: Vec<(String, String)>,
    /// One of them is neither disabled nor masked.
    mendable: bool,
    engines: BTreeMap<String, Readiness>,
    own: Vec<Pattern>,
    known: Vec<Pattern>,
    /// A route asks for the language, so that it is worth finding out.
    reads_language: bool,
}

#[derive(Debug)]
struct Rule {
    name: String,
    priority: i64,
    engines: Vec<String>,
    on: Vec<String>,
    private: bool,
    conditions: Vec<Condition>,
}

#[derive(Debug)]
enum Readiness {
    Ready { local: bool },
    Off(String),
}

/// The facts, and what was found out of them.
struct Seen<'a> {
    facts: &'a RouteFacts<'a>,
    trust: Trust,
    language: Option<&'static str>,
}

impl Router {
    /// The routes of a plan, by priority, then by name.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut routes = Vec::new();
        let (mut off, mut mendable) = (Vec::new(), false);
        for (name, standing) in &plan.routes {
            match standing {
                Standing::Active(route) => match Rule::new(route) {
                    Ok(rule) => routes.push(rule),
                    Err(why) => off.push((name.clone(), why)),
                },
                Standing::Off(reason) => {
                    mendable |= !matches!(reason.state, OffState::Disabled | OffState::Masked);
                    off.push((name.clone(), shown_off(reason)));
                }
            }
        }
        // The map is in order of names and the sort is stable.
        routes.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        let engines =
            plan.engines.iter().map(|(name, standing)| (name.clone(), readiness(standing))).collect();
        let patterns = |texts: &[String]| texts.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        let (own, known) = (patterns(&plan.daemon.own), patterns(&plan.daemon.known));
        let reads_language = routes.iter().any(|rule| rule.conditions.iter().any(Condition::reads_language));
        Self { routes, off, mendable, engines, own, known, reads_language }
    }

    /// How well a writer is known.
    #[must_use]
    pub fn trust(&self, facts: &RouteFacts<'_>) -> Trust {
        let listed = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.is_match(facts.author));
        match () {
            () if facts.by_timer => Trust::Own,
            // Whoever has no address fits no list, not even `*`.
            () if facts.author.is_empty() => Trust::Stranger,
            () if listed(&self.own) => Trust::Own,
            () if facts.answered || listed(&self.known) => Trust::Known,
            () => Trust::Stranger,
        }
    }

    fn seen<'a>(&self, facts: &'a RouteFacts<'a>, language: bool) -> Seen<'a> {
        let language = if language { language::guess(facts.text) } else { None };
        Seen { facts, trust: self.trust(facts), language }
    }

    /// The first route that matches decides, also when it has no engine that may be used: another route would be a
    /// silent change of engine.
    #[must_use]
    pub fn route(&self, facts: &RouteFacts<'_>) -> Routing {
        self.routed(&self.seen(facts, self.reads_language))
    }

    fn routed(&self, seen: &Seen<'_>) -> Routing {
        let mut passed = Vec::new();
        let mut until = None;
        for rule in &self.routes {
            match rule.mismatch(seen) {
                Some(why) => {
                    passed.push(format!("{}: {why}", rule.name));
                    until = [until, rule.opening(seen)].into_iter().flatten().min();
                }
                None => return self.engine_of(rule, &passed),
            }
        }
        passed.extend(self.off.iter().map(|(name, why)| format!("{name}: {why}")));
        let looked_at = if passed.is_empty() { "there are no routes".to_owned() } else { passed.join("; ") };
        Routing::Nowhere { why: format!("no route takes it ({looked_at})"), until, mendable: self.mendable }
    }

    /// The same, with everything that every route says of the case.
    #[must_use]
    pub fn explain(&self, facts: &RouteFacts<'_>) -> Explanation {
        let seen = self.seen(facts, true);
        let look = |rule: &Rule| RouteLook {
            route: rule.name.clone(),
            priority: rule.priority,
            clauses: rule.conditions.iter().map(|condition| condition.judge(&seen)).collect(),
            off: None,
            engines: rule.engines.iter().map(|name| (name.clone(), self.unusable(rule, name))).collect(),
            on: rule.on.clone(),
            private: rule.private,
        };
        let off = self.off.iter().map(|(name, why)| RouteLook {
            route: name.clone(),
            priority: 0,
            clauses: Vec::new(),
            off: Some(why.clone()),
            engines: Vec::new(),
            on: Vec::new(),
            private: false,
        });
        Explanation {
            trust: seen.trust,
            language: seen.language.map(str::to_owned),
            routes: self.routes.iter().map(look).chain(off).collect(),
            routing: self.routed(&seen),
        }
    }

    /// The engine that `route` declares for this failure of `current`, or `None`: not declared, none left, none that
    /// may be used.
    #[must_use]
    pub fn next_engine(&self, route: &str, current: &str, failure: &RunFailure) -> Option<String> {
        self.next_after(route, current, failure.word())
    }

    /// The same, by the failure's word.
    #[must_use]
    pub fn next_after(&self, route: &str, current: &str, word: &str) -> Option<String> {
        let rule = self.routes.iter().find(|rule| rule.name == route)?;
        if word == RunFailure::Cancelled.word() || !rule.falls_back_on(word) {
            return None;
        }
        let at = rule.engines.iter().position(|engine| engine == current)?;
        rule.engines.iter().skip(at + 1).find(|engine| self.unusable(rule, engine).is_none()).cloned()
    }

    /// A route declares for some failure that another engine takes what this one cannot.
    #[must_use]
    pub fn may_leave(&self, engine: &str) -> bool {
        let leaves = |rule: &Rule| {
            !rule.on.is_empty() && rule.engines.iter().rev().skip(1).any(|named| named == engine)
        };
        self.routes.iter().any(leaves)
    }

    fn engine_of(&self, rule: &Rule, seen: &[String]) -> Routing {
        let mut skipped = Vec::new();
        for engine in &rule.engines {
            let Some(why_not) = self.unusable(rule, engine) else {
                return Routing::To {
                    route: rule.name.clone(),
                    engine: engine.clone(),
                    priority: rule.priority,
                    why: taken(rule, engine, &skipped, seen),
                };
            };
            skipped.push(format!("{engine}: {why_not}"));
            // An engine that is off is one that cannot be used as configured.
            if !rule.falls_back_on(RunFailure::Config.word()) {
                break;
            }
        }
        let reason = if skipped.is_empty() { "it names no engine".to_owned() } else { skipped.join("; ") };
        Routing::Nowhere {
            why: format!("route {} takes it, but {reason}", rule.name),
            until: None,
            mendable: true,
        }
    }

    fn unusable(&self, rule: &Rule, engine: &str) -> Option<String> {
        match self.engines.get(engine) {
            None => Some("there is no such engine".to_owned()),
            Some(Readiness::Off(why)) => Some(why.clone()),
            // The compiler refuses this; a route must stay private even if it should not.
            Some(Readiness::Ready { local: false }) if rule.private => {
                Some("the route is private and the engine is not on this machine".to_owned())
            }
            Some(Readiness::Ready { .. }) => None,
        }
    }
}

fn taken(rule: &Rule, engine: &str, skipped: &[String], seen: &[String]) -> String {
    let mut why = String::new();
    if !skipped.is_empty() {
        why = format!("{FELL_BACK} {} (declared for `config`); ", skipped.join(", "));
    }
    why += &format!("route {}: ", rule.name);
    if rule.conditions.is_empty() {
        why += "takes everything";
    } else {
        let words: Vec<_> = rule.conditions.iter().map(Condition::word).collect();
        why += &format!("{} {}", words.join(", "), if words.len() == 1 { "matches" } else { "match" });
    }
    why += &format!("; engine {engine}");
    if !seen.is_empty() {
        why += &format!(" (before it: {})", seen.join("; "));
    }
    why
}

fn readiness(standing: &Standing<EngineUnit>) -> Readiness {
    match standing {
        Standing::Active(unit) => Readiness::Ready { local: unit.local },
        Standing::Off(off) => Readiness::Off(shown_off(off)),
    }
}

fn shown_off(off: &Off) -> String {
    format!("{} ({})", off.state.word(), off.reason)
}

impl Rule {
    fn new(unit: &RouteUnit) -> Result<Self, String> {
        Ok(Self {
            name: unit.name.clone(),
            priority: unit.priority,
            engines: unit.engines.clone(),
            on: unit.on.clone(),
            private: unit.private,
            conditions: condition::of(&unit.matches)?,
        })
    }

    fn falls_back_on(&self, word: &str) -> bool {
        self.on.iter().any(|declared| declared == word)
    }

    /// The first condition that is not met.
    fn mismatch(&self, seen: &Seen<'_>) -> Option<String> {
        let clause =
            self.conditions.iter().map(|condition| condition.judge(seen)).find(|clause| !clause.met)?;
        Some(format!("{} {} is not {}", clause.word, clause.given, clause.wanted))
    }

    /// When it would take the case, if it does not only because of the hour.
    fn opening(&self, seen: &Seen<'_>) -> Option<Timestamp> {
        let mut unmet = self.conditions.iter().filter(|condition| !condition.judge(seen).met);
        let (only, None) = (unmet.next()?, unmet.next()) else { return None };
        only.opening(seen.facts.now)
    }
}

#[cfg(test)]
mod tests;
