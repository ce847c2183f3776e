//! A child that is given its input at once and heard to its end.

use tokio_util::sync::CancellationToken;

use super::attended::{Attended, OnLine, Step};
use super::watch::Manner;
use super::{ChildEnd, ChildReport, ChildSpec, ProcessRoom};
use crate::model::class::PortError;
use crate::model::limits;

const MANNER: Manner =
    Manner { asked: None, closing: limits::CHILD_TERM_GRACE, term: limits::CHILD_TERM_GRACE };

pub(super) async fn run(
    room: &ProcessRoom,
    spec: ChildSpec,
    cancel: &CancellationToken,
    on_line: &mut OnLine<'_>,
) -> Result<ChildReport, PortError> {
    if cancel.is_cancelled() {
        return Ok(ChildReport::not_started(ChildEnd::Cancelled));
    }
    let mut child = Attended::start(room, spec, MANNER, None).await?;
    child.close_input();
    while child.step(cancel, on_line).await != Step::Over {}
    Ok(child.finish(on_line).await)
}
