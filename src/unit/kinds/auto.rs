//! `[auto]` of connectors: what of `outbound = "auto"` really goes without a person.

use crate::diag::Finding;
use crate::model::auto::AutoSettings;
use crate::model::pattern::Pattern;
use crate::unit::check::{auto_without_bounds, bad_value};
use crate::unit::schema::{KeySpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// Its name.
pub(crate) const NAME: &str = "auto";

/// So many of a hundred.
const AGREEMENT: u64 = 95;

/// The table.
pub(crate) const CONNECTOR: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "kinds",
            ValueType::List,
            "Kinds of items whose answers go by themselves (`mail`, `note`, `issue*`); absent: all",
        ),
        KeySpec::new(
            "recipients",
            ValueType::List,
            "Who may get an answer by itself: addresses or globs, each single recipient has to be among them; absent: all",
        ),
        KeySpec::new(
            "show_one_in",
            ValueType::Integer { min: 2, max: 1000 },
            "Of so many cases one is shown to you all the same, picked by lot; absent: none",
        ),
        KeySpec::new(
            "after",
            ValueType::Integer { min: 0, max: 200 },
            "A trial first: so many decisions of yours about drafts that these rules speak of",
        )
        .default("0"),
        KeySpec::new(
            "agreement",
            ValueType::Integer { min: 0, max: 100 },
            "With `after`: of a hundred of them you approved so many as the engine wrote them; a worse record ends it again",
        )
        .default("95"),
    ],
    "With `outbound = \"auto\"`: what goes without a person; everything else is shown to you, with the reason. With \
     `\"reviewed\"` nothing goes by it, and `workagent trust` says how it would have done.",
);

/// What can be said of it by itself.
pub(crate) fn check(typed: &Typed) -> Vec<Finding> {
    let own = typed.settings(NAME);
    let mut findings = Vec::new();
    for key in ["kinds", "recipients"] {
        let spans = typed.spans(NAME, key);
        for (nth, text) in own.list(key).iter().enumerate() {
            if let (Err(why), Some(spans)) = (Pattern::new(text), spans) {
                let span = spans.items.get(nth).copied().unwrap_or(spans.value);
                findings.push(bad_value::finding(&format!("{NAME}.{key}"), span, &why));
            }
        }
    }
    if typed.settings("connector").text("outbound") == Some("auto")
        && !settings(own).is_bounded()
        && let Some(spans) = typed.spans("connector", "outbound")
    {
        findings.push(auto_without_bounds::finding(spans.value));
    }
    findings
}

/// From checked values.
pub(crate) fn settings(own: &Settings) -> AutoSettings {
    let number = |key| own.integer(key).and_then(|number| u64::try_from(number).ok());
    AutoSettings {
        kinds: own.list("kinds").to_vec(),
        recipients: own.list("recipients").to_vec(),
        show_one_in: number("show_one_in"),
        after: number("after").unwrap_or(0),
        agreement: number("agreement").unwrap_or(AGREEMENT),
    }
}
