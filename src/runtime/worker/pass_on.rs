//! Cases that wait for an engine which rests go to the next engine of their route, where the route declares that for what
//! the engine rests from. So a limit that one case ran into sends the others on without a run of their own.

use std::collections::BTreeMap;

use super::Shared;
use crate::engine::router::FELL_BACK;
use crate::model::limits;
use crate::model::run::RunFailure;
use crate::store::{Rests, StoreError};

/// Looks through the queues of engines that rest, as far as one pass may.
pub(super) async fn pass_on(shared: &Shared, rests: &Rests) -> Result<(), StoreError> {
    let store = &shared.parts.store;
    for (name, engine) in &shared.parts.orders.engines {
        if rests.of(name, &engine.unit.account).is_none() || !shared.router.may_leave(name) {
            continue;
        }
        let mut next: BTreeMap<String, Option<(String, String)>> = BTreeMap::new();
        let mut moves = Vec::new();
        for (case, route) in store.waiting_for(name, limits::SWEEP_ROWS_MAX).await? {
            let to = next.entry(route.clone()).or_insert_with(|| target(shared, rests, &route, name));
            if let Some((engine, why)) = to {
                moves.push((case, engine.clone(), why.clone()));
            }
        }
        if !moves.is_empty() {
            store.pass_on(name, moves).await?;
        }
    }
    Ok(())
}

/// The first engine behind `from` that does not rest and can be reached by declared steps, and the reason.
fn target(shared: &Shared, rests: &Rests, route: &str, from: &str) -> Option<(String, String)> {
    let engines = &shared.parts.orders.engines;
    let mut at = from.to_owned();
    let mut reasons = Vec::new();
    // Each step goes further down the route's list.
    loop {
        let Some(rest) = rests.of(&at, &engines.get(&at)?.unit.account) else {
            return (at != from).then(|| (at, format!("{FELL_BACK} {}", reasons.join(", "))));
        };
        let word = rest.word();
        // Asked to slow down: it will be there in a moment.
        if word == RunFailure::RateLimited(rest.until).word() {
            return None;
        }
        reasons.push(format!("{at}: {word}"));
        at = shared.router.next_after(route, &at, word)?;
    }
}
