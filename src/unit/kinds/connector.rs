//! `NAME.connector.toml`: one configured account of a platform.

use std::time::Duration;

use crate::diag::Finding;
use crate::model::item::Backlog;
use crate::unit::check::{bad_value, interval_under_limit, outbound_without_replies};
use crate::unit::decode::duration;
use crate::unit::kinds::{auto, oauth, restart, schedule};
use crate::unit::plan::{ConnectorUnit, OutboundRule, Schedule};
use crate::unit::registry::{PlatformView, Registry};
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Value;

/// Its tables, without the platform's own.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec::new("connector", CONNECTOR, "Which account of which platform, and what may leave."),
        auto::CONNECTOR,
        schedule::CONNECTOR,
        restart::CONNECTOR,
        oauth::CONNECTOR,
    ],
    enabled: false,
    doc: "One configured account of a platform.",
};

const CONNECTOR: &[KeySpec] = &[
    KeySpec::new("platform", ValueType::Text, "The platform, which also names the unit's own table")
        .required(),
    KeySpec::new(
        "account",
        ValueType::Text,
        "Whose account it is, where the platform's own keys do not tell",
    )
    .specifiers(),
    KeySpec::new(
        "outbound",
        ValueType::Choice(&["never", "reviewed", "auto"]),
        "What may leave without a person",
    )
    .default("\"reviewed\""),
    KeySpec::new(
        "backlog",
        ValueType::Backlog,
        "What to do with what is there already when it is switched on",
    )
    .default("\"new\""),
    KeySpec::new(
        "hold",
        ValueType::Duration { min_s: 0, max_s: 86_400 },
        "Undo window between approval and sending",
    )
    .default("\"30s\""),
    KeySpec::new(
        "shadow",
        ValueType::Bool,
        "Reads and drafts as ever; what is approved is held instead of sent, with what would have gone where",
    )
    .default("false"),
    KeySpec::new(
        "nudge",
        ValueType::Duration { min_s: 3600, max_s: 604_800 },
        "A case that was answered, and to which nothing came for so long, waits for you again; unset, it is closed after a \
         week",
    ),
    KeySpec::new(
        "stop_timeout",
        ValueType::Duration { min_s: 1, max_s: 3600 },
        "A poll in flight may go on for so long when the connector is stopped or replaced; then it is cut. When the daemon \
         stops, its own `stop_timeout` holds too",
    )
    .default("\"30s\""),
];

/// Warnings that need the platform; what is used instead is decided in [`build`].
pub(crate) fn check(typed: &Typed, registry: &Registry) -> Vec<Finding> {
    let mut findings = restart::check(typed);
    findings.extend(auto::check(typed));
    let Some(platform) = platform(typed, registry) else { return findings };
    if let Some(every) = typed.settings("schedule").duration("every")
        && every < least(platform)
        && let Some(spans) = typed.spans("schedule", "every")
    {
        findings.push(interval_under_limit::finding(
            platform.name,
            spans.value,
            &duration::shown(least(platform)),
        ));
    }
    let login = typed.settings(oauth::NAME);
    if login.get("client_id").is_some()
        && let Some(why) = (platform.login)(platform.name, typed.settings(platform.name), login)
        && let Some(spans) = typed.spans(oauth::NAME, "client_id")
    {
        findings.push(bad_value::finding(oauth::NAME, spans.value, &why));
    }
    if !platform.guarantee.replies()
        && let Some(spans) = typed.spans("connector", "outbound")
        && matches!(typed.settings("connector").text("outbound"), Some("reviewed" | "auto"))
    {
        findings.push(outbound_without_replies::finding(platform.name, spans.value));
    }
    findings
}

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed, registry: &Registry) -> Option<ConnectorUnit> {
    let platform = platform(typed, registry)?;
    let own = typed.settings("connector");
    Some(ConnectorUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        platform: platform.name.to_owned(),
        account: own.text("account").unwrap_or_default().to_owned(),
        outbound: match own.text("outbound") {
            Some("auto") => OutboundRule::Auto,
            Some("never") => OutboundRule::Never,
            _ => OutboundRule::Reviewed,
        },
        backlog: match own.get("backlog") {
            Some(Value::Text(word)) if word == "all" => Backlog::All,
            Some(Value::Duration(span)) => Backlog::Since(*span),
            _ => Backlog::New,
        },
        auto: auto::settings(typed.settings(auto::NAME)),
        guarantee: platform.guarantee,
        hold: own.duration("hold").unwrap_or_default(),
        shadow: own.flag("shadow"),
        nudge: own.duration("nudge"),
        stop_timeout: own.duration("stop_timeout").unwrap_or(Duration::from_secs(30)),
        schedule: paced(schedule::build(typed.settings(schedule::NAME)), platform),
        restart: restart::build(typed.settings(restart::NAME)),
        settings: typed.settings(platform.name).clone(),
    })
}

/// With the platform's pace where the unit says nothing, and never faster than the platform allows.
fn paced(mut schedule: Schedule, platform: &PlatformView) -> Schedule {
    if schedule.every.is_none() && schedule.calendar.is_empty() {
        schedule.every = Some(Duration::from_secs(platform.every_default_s));
    }
    schedule.every = schedule.every.map(|every| every.max(least(platform)));
    schedule.gap_min = least(platform);
    schedule
}

fn platform<'a>(typed: &Typed, registry: &'a Registry) -> Option<&'a PlatformView> {
    registry.platform(typed.settings("connector").text("platform")?)
}

fn least(platform: &PlatformView) -> Duration {
    Duration::from_secs(platform.every_min_s)
}
