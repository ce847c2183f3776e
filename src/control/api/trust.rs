//! How far connectors are trusted to send by themselves: the rule of each, and the record it is judged by.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;

use super::{Reply, Shared};
use crate::control::wire::trust::{KindRecord, TrustView};
use crate::model::auto::{Agreement, Decided};
use crate::runtime::desk_rule::DeskRule;
use crate::unit::plan::OutboundRule;

/// `GET /v1/trust`: connectors that are on and may send, by name.
pub(super) async fn list(State(state): Shared) -> Reply<Vec<TrustView>> {
    let mut views = Vec::new();
    for (connector, rule) in state.desk.rules().iter() {
        if rule.outbound != OutboundRule::Never {
            views.push(view(connector, rule, &state.store.decided(connector).await?));
        }
    }
    Ok(Json(views))
}

fn view(connector: &str, rule: &DeskRule, decided: &[Decided]) -> TrustView {
    let settings = rule.auto.settings();
    let record = rule.auto.record(decided);
    let mut kinds: BTreeMap<&str, Vec<&Decided>> = BTreeMap::new();
    for one in decided {
        kinds.entry(&one.kind).or_default().push(one);
    }
    let of =
        |(kind, all): (&str, Vec<&Decided>)| KindRecord { kind: kind.to_owned(), record: Agreement::of(all) };
    TrustView {
        connector: connector.to_owned(),
        auto: rule.outbound == OutboundRule::Auto,
        kinds: settings.kinds.clone(),
        recipients: settings.recipients.clone(),
        show_one_in: settings.show_one_in,
        after: settings.after,
        agreement: settings.agreement,
        record,
        not_yet: rule.auto.not_yet(record).map(|stays| stays.to_string()),
        by_kind: kinds.into_iter().map(of).collect(),
    }
}
