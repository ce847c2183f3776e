//! From case to engine: the first route that matches, explained. Pure; made anew from each plan.

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::unit::plan::{EngineUnit, Off, Plan, RouteUnit, Standing};

/// How an explanation begins that says why it is not the first engine.
pub const FELL_BACK: &str = "fell back from";

/// What routes look at.
#[derive(Clone, Copy, Debug)]
pub struct RouteFacts<'a> {
    /// The connector unit's name.
    pub connector: &'a str,
    /// The item's kind.
    pub kind: &'a str,
    /// The platform's labels or flags.
    pub labels: &'a [String],
    /// The author's address, may be empty.
    pub author: &'a str,
    /// Of the text.
    pub size_bytes: u64,
}

/// Where a case goes. `why` has one clause for each route that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// To this engine.
    To {
        /// The route's name.
        route: String,
        /// The engine unit.
        engine: String,
        /// The route's priority.
        priority: i64,
        /// For the journal and `route explain`; begins with "fell back from" when the first engine is off.
        why: String,
    },
    /// To none: no route matches, or the one that does has no engine that may be used now.
    Nowhere {
        /// For the user.
        why: String,
    },
}

/// The routes of one plan.
#[derive(Debug)]
pub struct Router {
    /// First match first.
    routes: Vec<Rule>,
    /// Routes that take no part, and why.
    off: Vec<String>,
    engines: BTreeMap<String, Readiness>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    priority: i64,
    engines: Vec<String>,
    on: Vec<String>,
    private: bool,
    /// Each with the word that says what did not match.
    conditions: Vec<(&'static str, Condition)>,
}

#[derive(Debug)]
enum Condition {
    /// Any of these.
    Any {
        patterns: Vec<GlobMatcher>,
        shown: String,
    },
    SizeMax(u64),
}

#[derive(Debug)]
enum Readiness {
    Ready { local: bool },
    Off(String),
}

impl Router {
    /// The routes of a plan, by priority, then by name.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut routes = Vec::new();
        let mut off = Vec::new();
        for (name, standing) in &plan.routes {
            match standing {
                Standing::Active(route) => match Rule::new(route) {
                    Ok(rule) => routes.push(rule),
                    Err(why) => off.push(format!("{name}: {why}")),
                },
                Standing::Off(reason) => off.push(format!("{name}: {}", shown_off(reason))),
            }
        }
        // The map is in order of names and the sort is stable.
        routes.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        let engines =
            plan.engines.iter().map(|(name, standing)| (name.clone(), readiness(standing))).collect();
        Self { routes, off, engines }
    }

    /// The first route that matches decides, also when it has no engine that may be used: another route would be a
    /// silent change of engine.
    #[must_use]
    pub fn route(&self, facts: &RouteFacts<'_>) -> Routing {
        let mut seen = Vec::new();
        for rule in &self.routes {
            match rule.mismatch(facts) {
                Some(why) => seen.push(format!("{}: {why}", rule.name)),
                None => return self.engine_of(rule, &seen),
            }
        }
        seen.extend(self.off.iter().cloned());
        let looked_at = if seen.is_empty() { "there are no routes".to_owned() } else { seen.join("; ") };
        Routing::Nowhere { why: format!("no route takes it ({looked_at})") }
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
        Routing::Nowhere { why: format!("route {} takes it, but {reason}", rule.name) }
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
        let words: Vec<_> = rule.conditions.iter().map(|(word, _)| *word).collect();
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
        let matches = &unit.matches;
        let mut conditions = Vec::new();
        for (word, texts) in [
            ("connector", &matches.connector),
            ("kind", &matches.kind),
            ("label", &matches.labels),
            ("author", &matches.author),
        ] {
            if !texts.is_empty() {
                let patterns = texts.iter().map(|text| pattern(text)).collect::<Result<Vec<_>, _>>()?;
                let shown = texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ");
                conditions.push((word, Condition::Any { patterns, shown }));
            }
        }
        if let Some(most) = matches.size_max {
            conditions.push(("size", Condition::SizeMax(most)));
        }
        Ok(Self {
            name: unit.name.clone(),
            priority: unit.priority,
            engines: unit.engines.clone(),
            on: unit.on.clone(),
            private: unit.private,
            conditions,
        })
    }

    fn falls_back_on(&self, word: &str) -> bool {
        self.on.iter().any(|declared| declared == word)
    }

    /// The first condition that is not met.
    fn mismatch(&self, facts: &RouteFacts<'_>) -> Option<String> {
        self.conditions.iter().find_map(|(word, condition)| {
            let one = |text: &str| vec![text.to_owned()];
            let given = match *word {
                "connector" => one(facts.connector),
                "kind" => one(facts.kind),
                "author" => one(facts.author),
                _ => facts.labels.to_vec(),
            };
            condition.mismatch(word, &given, facts.size_bytes)
        })
    }
}

impl Condition {
    fn mismatch(&self, word: &str, given: &[String], size_bytes: u64) -> Option<String> {
        match self {
            Self::Any { patterns, shown } => {
                if given.iter().any(|text| patterns.iter().any(|pattern| pattern.is_match(text))) {
                    return None;
                }
                // Labels and authors are foreign text.
                let given: Vec<_> =
                    given.iter().take(3).map(|text| format!("`{}`", one_line(text, 80))).collect();
                let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
                Some(format!("{word} {given} is not {shown}"))
            }
            Self::SizeMax(most) => {
                (size_bytes > *most).then(|| format!("size {size_bytes} is over {most} bytes"))
            }
        }
    }
}

/// `*` matches `/` too: these are names and addresses, not paths. Case does not matter.
fn pattern(text: &str) -> Result<GlobMatcher, String> {
    let glob: Result<Glob, _> =
        GlobBuilder::new(text).case_insensitive(true).literal_separator(false).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("bad pattern `{text}`: {}", error.kind()))
}

#[cfg(test)]
mod tests;
