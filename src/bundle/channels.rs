//! The channels of a bundle: a way to the user and its loop, for each unit that is on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deps::BundleDeps;
use super::unknown;
use crate::catalog::CATALOG;
use crate::channel::ChannelContext;
use crate::model::class::PortError;
use crate::runtime::RuntimeRecord;
use crate::runtime::notices::{ChannelLoop, ChannelParts, Troubles};
use crate::runtime::review::ReviewDesk;
use crate::supervise::Board;
use crate::unit::plan::ChannelUnit;

/// A channel with its loop.
#[derive(Clone)]
pub(super) struct ChannelPart {
    pub unit: Arc<ChannelUnit>,
    pub cycle: Arc<ChannelLoop>,
}

/// What channels share with the rest of a bundle.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub desk: &'a ReviewDesk,
    pub troubles: &'a Troubles,
    pub board: &'a Board<RuntimeRecord>,
}

/// Builds one.
pub(super) fn channel(
    unit: &Arc<ChannelUnit>,
    deps: &BundleDeps,
    around: Around<'_>,
) -> Result<ChannelPart, PortError> {
    let BundleDeps { store, secrets, scrubber, http, process, environment, clock, state_dir } = deps.clone();
    let secrets = secrets.shared();
    let spec = CATALOG.channel(&unit.channel).ok_or_else(|| unknown("channel", &unit.channel))?;
    let channel = (spec.build)(ChannelContext {
        unit: unit.name.clone(),
        settings: unit.settings.clone(),
        secrets: Arc::clone(&secrets),
        clock: clock.clone(),
        state_dir: state_dir.join("channels").join(&unit.name),
        http,
        process,
        environment,
    })?;
    let cycle = Arc::new(ChannelLoop::new(ChannelParts {
        unit: Arc::clone(unit),
        channel,
        store,
        desk: around.desk.clone(),
        troubles: around.troubles.clone(),
        board: around.board.clone(),
        secrets,
        scrubber,
        clock,
    }));
    Ok(ChannelPart { unit: Arc::clone(unit), cycle })
}

/// By unit name.
pub(super) fn loops(parts: &BTreeMap<String, ChannelPart>) -> BTreeMap<String, Arc<ChannelLoop>> {
    parts.iter().map(|(name, part)| (name.clone(), Arc::clone(&part.cycle))).collect()
}
