//! Pairing of channels.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::{ApiState, Fault, Reply, Shared};
use crate::control::wire::channels::{ChannelView, PairBody, PairedView};
use crate::model::class::chain;
use crate::runtime::notices::{Begun, ChannelLoop, Way};
use crate::store::{PairingTry, StoreError};

pub(super) async fn list(State(state): Shared) -> Reply<Vec<ChannelView>> {
    let mut all = Vec::new();
    for channel in state.channels.get().values() {
        all.push(view(channel).await?);
    }
    Ok(Json(all))
}

pub(super) async fn show(State(state): Shared, Path(channel): Path<String>) -> Reply<ChannelView> {
    let found = find(&state, &channel)?;
    Ok(Json(view(&found).await?))
}

pub(super) async fn pair(
    State(state): Shared,
    Path(channel): Path<String>,
    Json(body): Json<PairBody>,
) -> Reply<ChannelView> {
    let found = find(&state, &channel)?;
    match (body.code, found.way()) {
        (Some(_), Way::Said) => {
            let fault = Fault::usage("on this channel the code is shown here and said there");
            Err(fault.hint(format!("workagent pair {channel}, without a code")))
        }
        (Some(code), Way::Typed) => {
            typed(found.confirm_pairing(&code).await?, &channel)?;
            Ok(Json(view(&found).await?))
        }
        (None, Way::Said) if !state.daemon => {
            let fault = Fault::refused("the daemon is not running, so nobody would hear the code");
            Err(fault.hint("start it with `workagent run`, or as a service with `workagent service start`"))
        }
        (None, _) => {
            let begun = found.begin_pairing().await.map_err(|error| {
                let said = state.scrubber.scrub(&chain(&error)).into_owned();
                Fault::new(StatusCode::BAD_GATEWAY, error.class.word(), said)
            });
            let Begun { code, until } = begun?;
            Ok(Json(ChannelView { code, code_until: Some(until), ..view(&found).await? }))
        }
    }
}

pub(super) async fn unpair(State(state): Shared, Path(channel): Path<String>) -> Reply<ChannelView> {
    let found = find(&state, &channel)?;
    if !found.unpair().await? {
        return Err(Fault::refused(format!("{channel}.channel is not paired")));
    }
    tracing::info!("{channel}.channel is not paired any more");
    Ok(Json(view(&found).await?))
}

fn typed(tried: PairingTry, channel: &str) -> Result<(), Fault> {
    let again = format!("workagent pair {channel} tells a new code");
    match tried {
        PairingTry::Paired => Ok(()),
        PairingTry::Wrong { left: 0 } => {
            Err(Fault::refused("that is not the code, and there are no more tries").hint(again))
        }
        PairingTry::Wrong { left } => {
            Err(Fault::refused("that is not the code").hint(format!("tries left: {left}")))
        }
        PairingTry::Late => Err(Fault::refused("the code has ended").hint(again)),
        PairingTry::NoCode => Err(Fault::refused("no code waits").hint(again)),
    }
}

fn find(state: &ApiState, name: &str) -> Result<Arc<ChannelLoop>, Fault> {
    let name = name.strip_suffix(".channel").unwrap_or(name);
    if let Some(found) = state.channels.get().get(name) {
        return Ok(Arc::clone(found));
    }
    let plan = &state.present.get().plan;
    match plan.channels.get(name).and_then(|standing| standing.off()) {
        Some(off) => {
            let fault = Fault::refused(format!("{name}.channel is off: {}", off.told()));
            Err(fault.hint(format!("workagent enable {name}.channel")))
        }
        None => Err(Fault::not_found(format!("there is no unit {name}.channel"))
            .hint("workagent list-unit-files lists them; workagent new channel NAME makes one")),
    }
}

async fn view(channel: &ChannelLoop) -> Result<ChannelView, StoreError> {
    let standing = channel.standing().await?;
    Ok(ChannelView {
        unit: crate::supervise::Cycle::unit(channel).to_owned(),
        place: standing.place,
        said_there: channel.way() == Way::Said,
        paired: standing.paired.map(|paired| PairedView { user: paired.user, since: paired.at }),
        code_until: standing.until,
        code: None,
    })
}
