//! `[restart]`: how a connector is tried again after a fault, by the fault's class; and an engine's part of it.

use std::time::Duration;

use crate::diag::Finding;
use crate::model::limits::CASE_ATTEMPTS_MAX;
use crate::model::retry::{Backoff, RestartPolicy};
use crate::unit::check::bad_value;
use crate::unit::decode::duration;
use crate::unit::schema::{KeySpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// The table's name.
pub(crate) const NAME: &str = "restart";

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// The table of connectors.
pub(crate) const CONNECTOR: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "network_first",
            ValueType::Duration { min_s: 1, max_s: HOUR_S },
            "Wait after the first fault of the network or the far side; each further one doubles it",
        )
        .default("\"5s\""),
        KeySpec::new(
            "network_max",
            ValueType::Duration { min_s: 1, max_s: DAY_S },
            "Longest wait after such faults, which are never given up on",
        )
        .default("\"15m\""),
        KeySpec::new(
            "config_first",
            ValueType::Duration { min_s: 1, max_s: DAY_S },
            "Wait after the first fault of the settings, or a refusal that asking again does not help; each further one \
             doubles it, and an edit ends it",
        )
        .default("\"1m\""),
        KeySpec::new(
            "config_max",
            ValueType::Duration { min_s: 1, max_s: 7 * DAY_S },
            "Longest wait after such faults",
        )
        .default("\"1h\""),
        KeySpec::new(
            "auth_every",
            // Many far sides lock an account after some refused logins within minutes.
            ValueType::Duration { min_s: 300, max_s: 30 * DAY_S },
            "Refused credentials that did not change are tried again this seldom; new ones within a minute",
        )
        .default("\"1h\""),
        KeySpec::new(
            "bug_first",
            ValueType::Duration { min_s: 1, max_s: HOUR_S },
            "Wait after the first fault of ours, a panic; each further one doubles it",
        )
        .default("\"10s\""),
        KeySpec::new(
            "bug_max",
            ValueType::Duration { min_s: 1, max_s: DAY_S },
            "Longest wait after such faults",
        )
        .default("\"30m\""),
        KeySpec::new(
            "bug_attempts",
            ValueType::Integer { min: 1, max: 1000 },
            "After so many of them in a row it is left alone until somebody restarts it",
        )
        .default("10"),
    ],
    "How it is tried again after a fault, by its class. Where a far side asks to wait, that is obeyed.",
);

/// The table of engines.
pub(crate) const ENGINE: TableSpec = TableSpec::new(
    NAME,
    &[KeySpec::new(
        "exit_attempts",
        ValueType::Integer { min: 1, max: CASE_ATTEMPTS_MAX as i64 },
        "Where the engine is a program: a case at whose try so many it fell over is not given to it again, but to the \
         route's next engine, or to you",
    )
    .default("2")],
    "How often a case is tried again.",
);

/// Waits that double: their class, and the two keys.
const DOUBLING: [(&str, &str); 3] =
    [("network_first", "network_max"), ("config_first", "config_max"), ("bug_first", "bug_max")];

/// The policy, from checked values.
pub(crate) fn build(settings: &Settings) -> RestartPolicy {
    let default = RestartPolicy::default();
    let backoff = |[first, max]: [&str; 2], default: Backoff| Backoff {
        first: settings.duration(first).unwrap_or(default.first),
        max: settings.duration(max).unwrap_or(default.max),
    };
    RestartPolicy {
        network: backoff(["network_first", "network_max"], default.network),
        config: backoff(["config_first", "config_max"], default.config),
        auth_every: settings.duration("auth_every").unwrap_or(default.auth_every),
        bug: backoff(["bug_first", "bug_max"], default.bug),
        bug_attempts: settings
            .integer("bug_attempts")
            .and_then(|number| u32::try_from(number).ok())
            .unwrap_or(default.bug_attempts),
    }
}

/// Tries of a case with a program that falls over.
pub(crate) fn exit_attempts(settings: &Settings) -> u32 {
    settings.integer("exit_attempts").and_then(|number| u32::try_from(number).ok()).unwrap_or(2)
}

/// A first wait that is longer than the longest one.
pub(crate) fn check(typed: &Typed) -> Vec<Finding> {
    let settings = typed.settings(NAME);
    let mut findings = Vec::new();
    for (first, max) in DOUBLING {
        let span = |key: &str| settings.duration(key).unwrap_or(Duration::ZERO);
        if span(first) <= span(max) {
            continue;
        }
        // The one that is written, for the other may be the default.
        let Some((key, spans)) =
            [first, max].into_iter().find_map(|key| Some((key, typed.spans(NAME, key)?)))
        else {
            continue;
        };
        let problem = if key == first {
            format!("is longer than `{max}`, which is {}", duration::shown(span(max)))
        } else {
            format!("is shorter than `{first}`, which is {}", duration::shown(span(first)))
        };
        findings.push(bad_value::finding(&format!("{NAME}.{key}"), spans.value, &problem));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_table_it_is_the_default_policy() {
        assert_eq!(build(&Settings::default()), RestartPolicy::default());
    }
}
