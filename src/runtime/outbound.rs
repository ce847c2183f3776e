//! The outbound runtime: sends what was approved, once. The journal says `sending` before the wire is touched; a lost
//! answer makes an action `uncertain`; the platform is asked; where it cannot tell, the user is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tracing::Instrument as _;

use super::credentials::fingerprint;
use super::desk_rule::DeskRule;
use super::jobs::{Ended, Jobs};
use super::masked::masked_name;
use super::points::Point;
use super::refused::RefusedLogins;
use super::{RuntimeRecord, cycle_error, store_fault};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::cycle::{CycleError, OutboundSummary, RuntimeSummary};
use crate::model::draft::approval_hash;
use crate::model::limits;
use crate::model::live::Live;
use crate::model::outbound::{ActionState, Confirmation, OutboundAction, Receipt};
use crate::model::parked::REHEARSED;
use crate::model::retry::Backoff;
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::model::time::{Clock, Timestamp};
use crate::secret::SecretStore;
use crate::secret::scrub::Scrubber;
use crate::store::{Due, Store, StoreError};
use crate::supervise::{Cycle, Group, Next, Pass};
use crate::unit::plan::OutboundRule;

/// First question "did it arrive?" after a lost answer.
const CONFIRM_FIRST: Duration = Duration::from_secs(5);

/// Between two questions.
const CONFIRM: Backoff = Backoff { first: Duration::from_secs(20), max: Duration::from_secs(120) };

/// After the journal could not be written: the disk may be full, and a send without a journal is none.
const STALL: Duration = Duration::from_secs(5);

/// Credentials refused at sending: tried again after this if nobody replaces them.
const AUTH_WAIT: Duration = Duration::from_secs(600);

/// A destination.
#[derive(Clone)]
pub struct Destination {
    /// The account, what may leave through it, and where to.
    pub rule: DeskRule,
    /// What it logs in with.
    pub secrets: Vec<SecretRef>,
    /// Nothing leaves through this one.
    pub shadow: bool,
}

/// Sends approved actions.
#[derive(Clone)]
pub struct OutboundRuntime {
    parts: Live<OutboundParts>,
    jobs: Jobs<End>,
    refused: Arc<RefusedLogins>,
}

/// What the outbound runtime is made of.
#[derive(Clone)]
pub struct OutboundParts {
    /// The record.
    pub store: Store,
    /// What the plan says.
    pub orders: OutboundOrders,
    /// To see whether refused credentials were replaced.
    pub secrets: Arc<dyn SecretStore>,
    /// Masks errors.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
}

/// The part of the outbound runtime that comes from a plan.
#[derive(Clone)]
pub struct OutboundOrders {
    /// Active connectors by unit name.
    pub destinations: BTreeMap<String, Destination>,
    /// Real reads, fake sends.
    pub rehearsal: bool,
    /// Sends at once per destination.
    pub per_destination: usize,
}

/// What one job came to.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// With what could not be tidied up at the platform.
    Sent(Option<CycleError>),
    Confirmed,
    Retried(CycleError),
    Uncertain(CycleError),
    Held(CycleError),
    Dead(CycleError),
    Rehearsed,
    Gone,
    Store(String),
}

impl OutboundRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "outbound.runtime";

    /// Nothing is sent yet.
    #[must_use]
    pub fn new(parts: OutboundParts) -> Self {
        Self { parts: Live::new(parts), jobs: Jobs::new("outbound"), refused: Arc::default() }
    }

    /// Takes over another plan. A send in flight goes on with the one it began with.
    pub fn adopt(&self, orders: OutboundOrders) {
        let old = self.parts.get();
        self.parts.set(OutboundParts { orders, ..(*old).clone() });
        old.store.wakeups().outbound.notify_one();
    }

    /// Sends in flight, for stopping.
    #[must_use]
    pub fn group(&self) -> &Group {
        self.jobs.group()
    }

    /// A job runs, or has ended and was not counted yet.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.jobs.is_unsettled()
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let started = self.start_due().await;
        let (summary, errors) = self.collect();
        let stalled = errors.iter().any(|error| error.unit == Self::UNIT);
        let (fault, next) = match started {
            Ok(_) if stalled => (None, Next::At(self.parts.get().clock.now().plus(STALL))),
            Ok(next) => (None, next),
            Err(error) => (Some(store_fault("look for due actions", &error)), Next::WhenWoken),
        };
        let record = RuntimeRecord { summary: RuntimeSummary::Outbound(summary), errors };
        Pass { record, fault, next, fresh: false, tried: true }
    }

    async fn start_due(&self) -> Result<Next, StoreError> {
        let parts = self.parts.get();
        let pauses = parts.store.pauses().await?;
        if let Some(all) = pauses.all {
            return Ok(all.until.map_or(Next::WhenWoken, Next::At));
        }
        let paused: Vec<&str> =
            pauses.units.keys().filter_map(|unit| unit.strip_suffix(".connector")).collect();
        let look_again = self.refused.look(&parts).await?;
        let mut waiting = false;
        for state in [ActionState::Uncertain, ActionState::Approved] {
            for action in parts.store.due_actions(state, limits::PAGE_ITEMS_MAX, &paused).await? {
                if self.jobs.is_running(&action.id.to_string()) {
                    continue;
                }
                if self.jobs.running_in(&action.connector) >= parts.orders.per_destination {
                    waiting = true;
                    continue;
                }
                let (lane, name) = (action.connector.clone(), action.id.to_string());
                self.jobs.start(
                    vec![lane],
                    name,
                    handle(Arc::clone(&parts), Arc::clone(&self.refused), action),
                );
            }
        }
        // What waits for a free place, or runs, wakes the next pass by its end; only the future needs a timer.
        if waiting || self.jobs.running() > 0 {
            return Ok(Next::WhenWoken);
        }
        let due = parts.store.next_due(Due::Actions(&paused)).await?;
        let resumed = pauses.units.iter().filter(|(unit, _)| unit.ends_with(".connector"));
        let resumed = resumed.filter_map(|(_, pause)| pause.until);
        Ok(due.into_iter().chain(look_again).chain(resumed).min().map_or(Next::WhenWoken, Next::At))
    }

    fn collect(&self) -> (OutboundSummary, Vec<CycleError>) {
        let mut summary = OutboundSummary::default();
        let mut errors = Vec::new();
        for ended in self.jobs.take_results() {
            match ended {
                Ended::Well(End::Sent(untidy)) => {
                    summary.sent += 1;
                    errors.extend(untidy);
                }
                Ended::Well(End::Confirmed) => summary.confirmed += 1,
                Ended::Well(End::Rehearsed) => summary.rehearsed += 1,
                Ended::Well(End::Gone) => {}
                Ended::Well(End::Retried(error)) => {
                    summary.retried += 1;
                    errors.push(error);
                }
                Ended::Well(End::Uncertain(error)) => {
                    summary.uncertain += 1;
                    errors.push(error);
                }
                Ended::Well(End::Held(error)) => {
                    summary.held += 1;
                    errors.push(error);
                }
                Ended::Well(End::Dead(error)) => {
                    summary.dead += 1;
                    errors.push(error);
                }
                Ended::Well(End::Store(message)) => {
                    errors.push(cycle_error(Self::UNIT, "network", &message, &self.parts.get().scrubber));
                }
                Ended::Panicked(name) => {
                    let message = format!("sending {name} panicked");
                    errors.push(cycle_error(Self::UNIT, "bug", &message, &self.parts.get().scrubber));
                }
            }
        }
        (summary, errors)
    }
}

impl Cycle for OutboundRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        let parts = self.parts.get();
        Box::pin(async move {
            tokio::select! {
                () = parts.store.wakeups().outbound.notified() => {}
                () = self.jobs.ended() => {}
            }
        })
    }
}

/// One due action, to its next state.
async fn handle(parts: Arc<OutboundParts>, refused: Arc<RefusedLogins>, action: OutboundAction) -> End {
    let span = tracing::info_span!(
        "send",
        unit = format!("{}.connector", action.connector),
        case = %action.case,
        action = %action.id,
    );
    let work = async {
        match action.state {
            ActionState::Uncertain => confirm(&parts, &action).await,
            _ => send(&parts, &refused, &action).await,
        }
    };
    let outcome = work.instrument(span).await;
    outcome.unwrap_or_else(|error| End::Store(format!("journal {}: {}", action.id, chain(&error))))
}

async fn send(
    parts: &OutboundParts,
    refused: &RefusedLogins,
    action: &OutboundAction,
) -> Result<End, StoreError> {
    if let Some(why) = may_not_leave(parts, action) {
        return hold(parts, action, &why).await;
    }
    let Some(destination) = parts.orders.destinations.get(&action.connector) else {
        return hold(parts, action, "its connector is switched off or broken").await;
    };
    if parts.orders.rehearsal || destination.shadow {
        let how = if parts.orders.rehearsal { "rehearsal" } else { "shadow" };
        let why = format!("{how}{REHEARSED}{}", action.envelope.recipients());
        parts.store.mark_held(action.id, &why).await?;
        return Ok(End::Rehearsed);
    }
    let connector = &destination.rule.connector;
    let payload = match (&action.payload, connector.prepare(action, parts.clock.now())) {
        // The bytes of the first try serve every try.
        (Some(payload), _) => payload.clone(),
        (None, Ok(payload)) => payload,
        (None, Err(error)) => return give_up(parts, action, &error).await,
    };
    let Some(action) = parts.store.mark_sending(action.id, payload).await? else {
        return Ok(End::Gone);
    };
    Point::AfterSending.pass();
    let Some(payload) = &action.payload else {
        return hold(parts, &action, "its bytes were not stored").await;
    };
    // Before: what is stored while it is on its way is another login.
    let login = fingerprint(parts.secrets.as_ref(), &destination.secrets).await;
    let delivered = connector.deliver(&action, payload).await;
    Point::AfterWire.pass();
    match delivered {
        Ok(receipt) => {
            let receipt = clean(parts, receipt);
            tracing::info!("sent");
            Point::BeforeReceipt.pass();
            parts.store.mark_sent(action.id, receipt.clone()).await?;
            Point::AfterReceipt.pass();
            // Only now: whatever lies between the wire and the record is a stretch in which a crash costs certainty.
            let untidy = connector.delivered(&action, payload, &receipt).await.err().map(|error| {
                let message = format!("{} is sent; afterwards: {}", action.id, chain(&error));
                let untidy = cycle_error(
                    &format!("{}.connector", action.connector),
                    error.class.word(),
                    &message,
                    &parts.scrubber,
                );
                tracing::warn!("{}", untidy.message);
                untidy
            });
            Ok(End::Sent(untidy))
        }
        Err(error) => {
            if error.class == ErrorClass::Auth {
                refused.note(&action.connector, login, parts);
            }
            after_refusal(parts, &action, &error).await
        }
    }
}

/// A receipt is the far side's word: one line, and no secret of ours that it echoes.
fn clean(parts: &OutboundParts, receipt: Receipt) -> Receipt {
    let remote_id = match parts.scrubber.scrub(&receipt.remote_id) {
        Cow::Owned(_) => masked_name(&receipt.remote_id),
        Cow::Borrowed(id) => one_line(id, limits::RECEIPT_BYTES_MAX),
    };
    let evidence = one_line(&parts.scrubber.scrub(&receipt.evidence), limits::RECEIPT_BYTES_MAX);
    Receipt { remote_id, evidence }
}

/// Rights and recipients are looked at again at send time.
fn may_not_leave(parts: &OutboundParts, action: &OutboundAction) -> Option<String> {
    if approval_hash(&action.connector, &action.destination, &action.envelope, &action.body) != action.hash {
        return Some("it is not what was approved".into());
    }
    let rule = &parts.orders.destinations.get(&action.connector)?.rule;
    if rule.outbound == OutboundRule::Never {
        return Some("the connector says outbound = \"never\"".into());
    }
    elsewhere(rule, action).map(|why| format!("it was approved {why}"))
}

/// "for A, and the connector sends to B now", if it does.
fn elsewhere(rule: &DeskRule, action: &OutboundAction) -> Option<String> {
    let (then, now) = (&action.destination, &rule.destination);
    (!rule.sends_to(then)).then(|| format!("for {then}, and the connector sends to {now} now"))
}

async fn after_refusal(
    parts: &OutboundParts,
    action: &OutboundAction,
    error: &PortError,
) -> Result<End, StoreError> {
    let now = parts.clock.now();
    let again_at = match error.class {
        ErrorClass::Network { retry_after } => {
            let wait = Backoff::NETWORK.wait(action.attempts, u64::try_from(action.id.0).unwrap_or(0));
            now.plus(retry_after.map_or(wait, |asked| asked.max(wait)))
        }
        ErrorClass::RateLimited { until } => until,
        ErrorClass::Auth => now.plus(AUTH_WAIT),
        ErrorClass::Permanent => return give_up(parts, action, error).await,
        // It waits for an edit of the unit, and goes out once it is released.
        ErrorClass::Config => {
            return hold(parts, action, &format!("it was not sent: {}", chain(error))).await;
        }
        ErrorClass::Uncertain | ErrorClass::Bug => {
            let message = parts.scrubber.scrub(&chain(error)).into_owned();
            parts.store.mark_uncertain(action.id, now.plus(CONFIRM_FIRST), &message).await?;
            return Ok(End::Uncertain(noted(parts, action, error)));
        }
    };
    if action.attempts >= limits::SEND_ATTEMPTS_MAX {
        let message = format!("not sent after {} tries: {}", action.attempts, chain(error));
        return hold(parts, action, &message).await;
    }
    let message = parts.scrubber.scrub(&chain(error)).into_owned();
    if error.class == ErrorClass::Auth {
        parts.store.mark_refused(action.id, again_at, &message).await?;
    } else {
        parts.store.mark_not_sent(action.id, again_at, &message).await?;
    }
    Ok(End::Retried(noted(parts, action, error)))
}

async fn confirm(parts: &OutboundParts, action: &OutboundAction) -> Result<End, StoreError> {
    let Some(destination) = parts.orders.destinations.get(&action.connector) else {
        return hold(parts, action, "it may have been sent, and its connector is off").await;
    };
    // Another server knows nothing of it, and "it did not arrive" would send it twice.
    if let Some(why) = elsewhere(&destination.rule, action) {
        return hold(parts, action, &format!("it may have been sent: it was {why}")).await;
    }
    let now = parts.clock.now();
    let restored = parts.store.is_restored(action.id).await?;
    let payload = match &action.payload {
        Some(payload) => Some(payload.clone()),
        // It was about to be sent when the copy was made; its mark follows from its key, so it can be asked for.
        None if restored => destination.rule.connector.prepare(action, now).ok(),
        None => None,
    };
    let Some(payload) = &payload else {
        return hold(parts, action, "it may have been sent, and its bytes were not stored").await;
    };
    let since = action.sending_at.unwrap_or(action.approved_at);
    let asked = destination.rule.connector.confirm(action, payload, since).await;
    Point::AfterConfirm.pass();
    let why = match asked {
        Ok(Confirmation::Sent(receipt)) => {
            parts.store.mark_sent(action.id, clean(parts, receipt)).await?;
            return Ok(End::Confirmed);
        }
        Ok(Confirmation::NotSent) if restored => {
            let why =
                "an earlier state of the record was put back: the platform says that this did not arrive";
            return hold(parts, action, why).await;
        }
        Ok(Confirmation::NotSent) => {
            let why = "the platform says that it did not arrive";
            parts.store.mark_not_sent(action.id, now, why).await?;
            return Ok(End::Retried(cycle_error(&action.connector, "uncertain", why, &parts.scrubber)));
        }
        Ok(Confirmation::CannotTell) => {
            return hold(parts, action, "it may have been sent, and the platform cannot be asked").await;
        }
        Ok(Confirmation::AskAgain) => "not found yet; asked again".to_owned(),
        Err(error) => format!("asking whether it arrived failed: {}", chain(&error)),
    };
    if now.since(since) >= limits::CONFIRM_WINDOW {
        return hold(parts, action, &format!("it may have been sent: {why}")).await;
    }
    let why = parts.scrubber.scrub(&why).into_owned();
    parts.store.mark_uncertain(action.id, next_question(now, since), &why).await?;
    Ok(End::Uncertain(cycle_error(&action.connector, "uncertain", &why, &parts.scrubber)))
}

/// The longer it is unknown, the longer the pause between questions.
fn next_question(now: Timestamp, since: Timestamp) -> Timestamp {
    let asked = u32::try_from(now.since(since).as_secs() / 60).unwrap_or(u32::MAX).saturating_add(1);
    now.plus(CONFIRM.wait(asked, 0))
}

async fn hold(parts: &OutboundParts, action: &OutboundAction, why: &str) -> Result<End, StoreError> {
    let why = parts.scrubber.scrub(why).into_owned();
    tracing::warn!("held for you: {why}");
    parts.store.mark_held(action.id, &why).await?;
    Ok(End::Held(cycle_error(&action.connector, "held", &why, &parts.scrubber)))
}

async fn give_up(
    parts: &OutboundParts,
    action: &OutboundAction,
    error: &PortError,
) -> Result<End, StoreError> {
    let message = parts.scrubber.scrub(&chain(error)).into_owned();
    tracing::warn!("will not be sent: {message}");
    parts.store.mark_dead(action.id, &message).await?;
    Ok(End::Dead(noted(parts, action, error)))
}

fn noted(parts: &OutboundParts, action: &OutboundAction, error: &PortError) -> CycleError {
    let unit = format!("{}.connector", action.connector);
    cycle_error(&unit, error.class.word(), &format!("{}: {}", action.id, chain(error)), &parts.scrubber)
}
