//! What the screen asks of the daemon: one look at everything.

use crate::cli::backend::Backend;
use crate::cli::error::CliError;
use crate::control::wire::cost::{CostBy, CostQuery, CostView};
use crate::control::wire::{ReviewView, StatusView};
use crate::model::time::{Timestamp, day_bounds};
use crate::store::JournalLine;

/// A look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The last line of the journal that is known.
    pub after: i64,
    /// Today's first moment is before this.
    pub now: Timestamp,
}

/// What it brought.
#[derive(Debug)]
pub(super) struct Looked {
    /// Units, counts, notes, budgets.
    pub status: StatusView,
    /// Open drafts, oldest first.
    pub drafts: Vec<ReviewView>,
    /// What engines cost since midnight.
    pub cost: CostView,
    /// New lines of the journal, oldest first.
    pub journal: Vec<JournalLine>,
}

pub(super) async fn look(backend: &Backend, request: Request) -> Result<Box<Looked>, String> {
    all(backend, request).await.map(Box::new).map_err(|error| error.message)
}

async fn all(backend: &Backend, request: Request) -> Result<Looked, CliError> {
    let today = CostQuery { since: day_bounds(request.now).0.0, by: CostBy::Engine };
    Ok(Looked {
        status: backend.get("/v1/status").await?,
        drafts: backend.get("/v1/reviews?deferred=false").await?,
        cost: backend.get(&today.path()).await?,
        journal: backend
            .get(&format!("/v1/journal?after={}&limit={}", request.after, super::model::LINES_MAX))
            .await?,
    })
}
