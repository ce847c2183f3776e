//! `NAME.channel.toml`: where reviews are announced and decided.

use crate::unit::plan::ChannelUnit;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new("channel", CHANNEL, "Which way to you, and how much is told on it.")],
    enabled: false,
    doc: "Where reviews are announced and decided.",
};

const CHANNEL: &[KeySpec] = &[
    KeySpec::new("channel", ValueType::Choice(&["desktop", "ntfy", "connector"]), "Which channel").required(),
    KeySpec::new(
        "detail",
        ValueType::Choice(&["none", "title", "full"]),
        "How much of a draft a notice shows to whoever sees the screen",
    )
    .default("\"title\""),
    KeySpec::new("connector", ValueType::Unit("connector"), "The connector, where the channel is one"),
];

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> ChannelUnit {
    let own = typed.settings("channel");
    ChannelUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        channel: own.text("channel").unwrap_or_default().to_owned(),
        detail: own.text("detail").unwrap_or_default().to_owned(),
    }
}
