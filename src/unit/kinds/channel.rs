//! `NAME.channel.toml`: where reviews are announced and decided.

use std::time::Duration;

use super::schedule;
use crate::model::channel::Detail;
use crate::unit::plan::ChannelUnit;
use crate::unit::registry::Registry;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables, without the channel's own.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec::new("channel", CHANNEL, "Which way to you, and how much is told on it."),
        schedule::CHANNEL,
    ],
    enabled: false,
    doc: "Where reviews are announced and decided.",
};

const CHANNEL: &[KeySpec] = &[
    KeySpec::new("channel", ValueType::Text, "Which channel, which also names the unit's own table").required(),
    KeySpec::new(
        "detail",
        ValueType::Choice(&Detail::WORDS),
        "How much a notice tells to whoever sees the screen: that something waits (nothing can be decided by that), also to \
         whom and on what, also the text",
    )
    .default("\"subject\""),
    KeySpec::new(
        "batch",
        ValueType::Duration { min_s: 0, max_s: 86_400 },
        "What comes within this time is told together",
    )
    .default("\"30s\""),
    KeySpec::new("per_hour", ValueType::Integer { min: 1, max: 120 }, "Most notices within an hour; the rest waits")
        .default("12"),
];

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed, registry: &Registry) -> Option<ChannelUnit> {
    let own = typed.settings("channel");
    let view = registry.channel(own.text("channel")?)?;
    Some(ChannelUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        channel: view.name.to_owned(),
        detail: Detail::from_word(own.text("detail").unwrap_or_default()),
        batch: own.duration("batch").unwrap_or(Duration::from_secs(30)),
        per_hour: own.integer("per_hour").and_then(|number| usize::try_from(number).ok()).unwrap_or(12),
        schedule: schedule::build(typed.settings(schedule::NAME)),
        settings: typed.settings(view.name).clone(),
    })
}
