//! What the screen asks of the daemon, and what comes back. The only part that speaks to it.

use crate::cli::backend::Backend;
use crate::cli::error::CliError;
use crate::control::wire::{
    ApproveBody, Approved, DeferBody, EditBody, ListQuery, Mode, Reason, RejectBody, ReviewView, StatusView,
};
use crate::model::draft::Draft;
use crate::model::ids::{ActionId, CaseId, DraftId};
use crate::model::outbound::OutboundAction;
use crate::model::time::Timestamp;

/// Of the outbox, what is looked at: the newest.
const SENDS_MAX: usize = 20;

/// Who decides here, in the record.
const BY: &str = "terminal";

/// A decision. All of it, so that one that is refused can be told of, and nothing typed is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Approve the version that was on the screen.
    Approve { draft: DraftId, hash: String, stale_ok: bool },
    /// A new text, or other effects.
    Edit { draft: DraftId, hash: String, body: String, effects: Option<Vec<String>> },
    /// Reject, with a word for the engine or the record.
    Reject { draft: DraftId, note: String, retry: bool },
    /// Out of the queue until then.
    Defer { draft: DraftId, until: Timestamp },
    /// The case needs no answer.
    Dismiss { draft: DraftId, case: CaseId, reason: String },
    /// Take a send back before it leaves.
    TakeBack(ActionId),
}

impl Deed {
    /// The draft it is about.
    pub(super) fn draft(&self) -> Option<DraftId> {
        match self {
            Self::Approve { draft, .. }
            | Self::Edit { draft, .. }
            | Self::Reject { draft, .. }
            | Self::Defer { draft, .. }
            | Self::Dismiss { draft, .. } => Some(*draft),
            Self::TakeBack(_) => None,
        }
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Everything that is shown; the daemon's own situation too.
    Look { situation: bool },
    /// One draft anew.
    Show(DraftId),
    /// A decision.
    Do(Deed),
}

/// What comes back. Errors are told with what to do next.
#[derive(Debug)]
pub(super) enum Answer {
    /// To [`Request::Look`].
    Looked(Result<Looked, String>),
    /// To [`Request::Show`].
    Shown(DraftId, Box<Result<ReviewView, String>>),
    /// To [`Request::Do`].
    Done(Deed, Result<Done, String>),
}

/// A look at everything.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Open drafts, oldest first.
    pub cards: Vec<ReviewView>,
    /// The newest sends.
    pub sends: Vec<OutboundAction>,
    /// How the daemon is, where it was asked.
    pub situation: Option<Situation>,
}

/// What of the daemon matters for whoever decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Situation {
    /// A daemon runs.
    pub running: bool,
    /// The global stop is on.
    pub paused: bool,
    /// Sends are pretended.
    pub rehearsal: bool,
}

/// What a decision brought.
#[derive(Debug)]
pub(super) enum Done {
    /// An approval's send.
    Approved(Approved),
    /// The draft as it is now.
    Edited(Box<Draft>),
    /// Nothing to tell.
    Plainly,
}

pub(super) async fn carry_out(backend: &Backend, request: Request) -> Answer {
    match request {
        Request::Look { situation } => Answer::Looked(look(backend, situation).await.map_err(told)),
        Request::Show(draft) => {
            let view = backend.get(&format!("/v1/reviews/{draft}")).await.map_err(told);
            Answer::Shown(draft, Box::new(view))
        }
        Request::Do(deed) => {
            let done = decide(backend, &deed).await.map_err(told);
            Answer::Done(deed, done)
        }
    }
}

async fn look(backend: &Backend, situation: bool) -> Result<Looked, CliError> {
    let sends = ListQuery { limit: Some(SENDS_MAX), ..ListQuery::default() };
    let situation = if situation {
        let status: StatusView = backend.get("/v1/status").await?;
        let rehearsal = status.mode == Mode::Rehearsal;
        Some(Situation { running: status.running, paused: status.paused, rehearsal })
    } else {
        None
    };
    Ok(Looked {
        cards: backend.get("/v1/reviews?deferred=false").await?,
        sends: backend.get(&sends.path("/v1/outbox")).await?,
        situation,
    })
}

async fn decide(backend: &Backend, deed: &Deed) -> Result<Done, CliError> {
    match deed {
        Deed::Approve { draft, hash, stale_ok } => {
            let body = ApproveBody { hash: hash.clone(), by: BY.to_owned(), stale_ok: *stale_ok };
            let approved = backend.post(&format!("/v1/reviews/{draft}/approve"), &body).await?;
            return Ok(Done::Approved(approved));
        }
        Deed::Edit { draft, hash, body, effects } => {
            let body = EditBody { hash: hash.clone(), body: body.clone(), effects: effects.clone() };
            let edited = backend.post(&format!("/v1/reviews/{draft}/edit"), &body).await?;
            return Ok(Done::Edited(Box::new(edited)));
        }
        Deed::Reject { draft, note, retry } => {
            let body = RejectBody { note: note.clone(), retry: *retry };
            backend.post::<_, ()>(&format!("/v1/reviews/{draft}/reject"), &body).await?;
        }
        Deed::Defer { draft, until } => {
            let body = DeferBody { until: *until };
            backend.post::<_, ()>(&format!("/v1/reviews/{draft}/defer"), &body).await?;
        }
        Deed::Dismiss { case, reason, .. } => {
            let body = Reason { reason: reason.clone() };
            backend.post::<_, ()>(&format!("/v1/cases/{case}/dismiss"), &body).await?;
        }
        Deed::TakeBack(action) => {
            backend.post::<(), ()>(&format!("/v1/outbox/{action}/cancel"), &()).await?;
        }
    }
    Ok(Done::Plainly)
}

fn told(error: CliError) -> String {
    error.message
}
