//! The review runtime and the desk: drafts wait here for a person. Nothing leaves without a decision unless the
//! connector's unit says `outbound = "auto"`; an approval is of a hash.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::desk_rule::{DeskRule, DeskRules};
use super::points::Point;
use super::{RuntimeRecord, cycle_error, store_fault};
use crate::model::auto::Decided;
use crate::model::class::chain;
use crate::model::cycle::{CycleError, ReviewSummary, RuntimeSummary};
use crate::model::draft::Draft;
use crate::model::ids::{ActionId, DraftId};
use crate::model::live::Live;
use crate::secret::scrub::Scrubber;
use crate::store::{Due, Store, StoreError, WayOut};
use crate::supervise::{Cycle, Next, Pass};
use crate::unit::plan::OutboundRule;

/// Where decisions are made, by whatever channel they come.
#[derive(Clone)]
pub struct ReviewDesk {
    store: Store,
    rules: Live<DeskRules>,
}

impl ReviewDesk {
    /// `rules` by connector unit name, active connectors only.
    #[must_use]
    pub fn new(store: Store, rules: DeskRules) -> Self {
        Self { store, rules: Live::new(rules) }
    }

    /// Takes over another plan's rules.
    pub fn adopt(&self, rules: DeskRules) {
        self.rules.set(rules);
        self.store.wakeups().review.notify_one();
    }

    /// What applies to a connector; `None` when it is off.
    #[must_use]
    pub fn rule(&self, connector: &str) -> Option<DeskRule> {
        self.rules.get().get(connector).cloned()
    }

    /// What applies to each connector that is on.
    #[must_use]
    pub fn rules(&self) -> DeskRules {
        Arc::clone(&self.rules.get())
    }

    /// What applies to each connector that is on, as the record keeps it for drafts made while it is off.
    #[must_use]
    pub fn ways_out(&self) -> Vec<WayOut> {
        let way = |(connector, rule): (&String, &DeskRule)| WayOut {
            connector: connector.clone(),
            destination: rule.destination.to_string(),
            auto: rule.outbound == OutboundRule::Auto,
        };
        self.rules.get().iter().map(way).collect()
    }

    /// Approves the version of a draft that has this hash.
    ///
    /// # Errors
    /// Refused when the draft changed, was decided, is stale without `stale_ok`, or its connector may not send.
    pub async fn approve(
        &self,
        id: DraftId,
        hash: &str,
        by: &str,
        stale_ok: bool,
    ) -> Result<ActionId, StoreError> {
        let rule = self.may_leave(id).await?;
        let action = self.store.approve(id, hash, rule.hold, by, stale_ok).await?;
        Point::AfterApproval.pass();
        Ok(action)
    }

    /// The same by what the connector's unit says, and nobody's decision.
    async fn approve_by_rule(&self, draft: &Draft) -> Result<ActionId, StoreError> {
        let rule = self.may_leave(draft.id).await?;
        let action = self.store.approve_by_rule(draft.id, &draft.hash, rule.hold).await?;
        Point::AfterApproval.pass();
        Ok(action)
    }

    /// What applies to a draft that could be sent as it is.
    async fn may_leave(&self, id: DraftId) -> Result<DeskRule, StoreError> {
        let draft = self.store.draft(id).await?;
        let refused = |why: String| Err(StoreError::Refused { why });
        let Some(rule) = self.rule(&draft.connector) else {
            return refused(format!("the connector {} is off: switch it on to send {id}", draft.connector));
        };
        if rule.outbound == OutboundRule::Never {
            return refused(format!("the connector {} says outbound = \"never\"", draft.connector));
        }
        if draft.envelope == crate::model::draft::Envelope::default() {
            return refused(format!("{id} has no recipient"));
        }
        if !rule.sends_to(&draft.destination) {
            self.store.readdress_draft(id, &rule.destination).await?;
            return refused(format!(
                "{id} was made when {} sent to {}; it sends to {} now",
                draft.connector, draft.destination, rule.destination
            ));
        }
        if let Some(why) = rule.cannot_send(&draft, self.store.time()) {
            return refused(format!("{id} cannot be sent as it is: {why}"));
        }
        Ok(rule)
    }

    /// Why a draft cannot be sent as it is, where that can be known before: its connector is off or may not send, or the
    /// platform does not take such a thing.
    #[must_use]
    pub fn blocked(&self, draft: &Draft) -> Option<String> {
        let connector = &draft.connector;
        match self.rule(connector) {
            None => Some(format!("the connector {connector} is off")),
            Some(rule) if rule.outbound == OutboundRule::Never => {
                Some(format!("the connector {connector} says outbound = \"never\""))
            }
            Some(rule) => rule.cannot_send(draft, self.store.time()),
        }
    }

    /// A person says of a held action: send it (again), by where its connector sends now, or it was sent.
    ///
    /// # Errors
    /// Refused when it is not held.
    pub async fn release(&self, id: ActionId, connector: &str, was_sent: bool) -> Result<(), StoreError> {
        let rule = self.rule(connector);
        let destination = rule.as_ref().map(|rule| &*rule.destination);
        self.store.release_action(id, was_sent, destination).await
    }
}

/// Keeps the review queue in order.
pub struct ReviewRuntime {
    desk: ReviewDesk,
    scrubber: Scrubber,
}

impl ReviewRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "review.runtime";

    /// Over a desk.
    #[must_use]
    pub fn new(desk: ReviewDesk, scrubber: Scrubber) -> Self {
        Self { desk, scrubber }
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let mut errors = Vec::new();
        let mut summary = ReviewSummary::default();
        let store = &self.desk.store;
        let result = async {
            if self.desk.rules.get().values().any(|rule| rule.outbound == OutboundRule::Auto) {
                self.send_by_rule(&mut summary, &mut errors).await?;
            }
            summary.open = store.open_draft_count().await?;
            store.next_due(Due::Drafts).await
        }
        .await;
        let (fault, next) = match result {
            Ok(due) => (None, due.map_or(Next::WhenWoken, Next::At)),
            Err(error) => (Some(store_fault("look at the drafts", &error)), Next::WhenWoken),
        };
        let record = RuntimeRecord { summary: RuntimeSummary::Review(summary), errors };
        Pass { record, fault, next, fresh: false, tried: true }
    }
}

impl ReviewRuntime {
    /// Lets go what may go without a person. What may not is for a person from here on, with the reason: a pile of those is
    /// not read again with each new draft, and is not sent one day because a record got better.
    async fn send_by_rule(
        &self,
        summary: &mut ReviewSummary,
        errors: &mut Vec<CycleError>,
    ) -> Result<(), StoreError> {
        let store = &self.desk.store;
        let mut records: BTreeMap<String, Vec<Decided>> = BTreeMap::new();
        for (draft, kind) in store.auto_drafts().await? {
            let Some(rule) = self.desk.rule(&draft.connector) else { continue };
            // What acts at the far side beside a text is for a person, also where texts go by themselves.
            if rule.outbound != OutboundRule::Auto || !draft.envelope.effects.is_empty() {
                continue;
            }
            if !records.contains_key(&draft.connector) {
                records.insert(draft.connector.clone(), store.decided(&draft.connector).await?);
            }
            let decided = records.get(&draft.connector).map(Vec::as_slice).unwrap_or_default();
            if let Some(stays) = rule.auto.stays(draft.case, &kind, &draft.envelope, decided) {
                store.keep_for_person(&draft, &stays.to_string()).await?;
                continue;
            }
            match self.desk.approve_by_rule(&draft).await {
                Ok(_) => summary.auto_approved += 1,
                Err(error) => {
                    let unit = format!("{}.connector", draft.connector);
                    errors.push(cycle_error(&unit, "permanent", &chain(&error), &self.scrubber));
                }
            }
        }
        Ok(())
    }
}

impl Cycle for ReviewRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.desk.store.wakeups().review.notified())
    }
}
