//! What a message does. Only the channel's user decides, each message counts once, and a decision is bound to the version
//! that was told: it goes the same way as every other surface's.

use super::{ChannelLoop, store_fault};
use crate::channel::Heard;
use crate::model::channel::{self, Entry, Message, Notice, Order, Verb};
use crate::model::cycle::ChannelSummary;
use crate::model::ids::{CaseId, DraftId};
use crate::model::limits;
use crate::model::text::{clean, one_line};
use crate::model::time::{Timestamp, short_span};
use crate::store::{Referred, Seen, StoreError};
use crate::supervise::Fault;

const HELP: &str = "approve REF, reject REF [what to do better], defer REF 2h, show REF, answer REF TEXT; a REF stands \
                    under each notice.";

/// What is said back, and whether something was decided.
enum Said {
    Decided(String),
    Told(String),
    Shown(Box<Entry>),
}

/// What a reference names, read.
enum Named {
    Draft(DraftId),
    Question(CaseId),
}

impl ChannelLoop {
    /// Takes what was said, message by message; the place is kept only behind the last.
    pub(super) async fn take(
        &self,
        place: &str,
        heard: Heard,
        summary: &mut ChannelSummary,
    ) -> Result<(), Fault> {
        for message in heard.messages.into_iter().take(limits::CHANNEL_MESSAGES_MAX) {
            let names = [&message.id, &message.user, &message.address];
            if names.iter().any(|name| name.len() > limits::CHANNEL_NAME_BYTES_MAX) {
                summary.refused += 1;
                continue;
            }
            let fresh = self.store.take_message(&self.unit.name, &message.id).await;
            if !fresh.map_err(|error| store_fault("take a message", &error))? {
                summary.repeated += 1;
                continue;
            }
            summary.heard += 1;
            self.message(place, &message, summary).await?;
        }
        if let Some(cursor) = heard.cursor {
            let kept = self.store.set_channel_cursor(&self.unit.name, place, &cursor).await;
            kept.map_err(|error| store_fault("note how far the channel was heard", &error))?;
        }
        Ok(())
    }

    async fn message(
        &self,
        place: &str,
        message: &Message,
        summary: &mut ChannelSummary,
    ) -> Result<(), Fault> {
        if self.try_code(place, message, summary).await? {
            return Ok(());
        }
        let paired = self.paired(place).await?;
        let Some(paired) = paired.filter(|paired| paired.user == message.user) else {
            // Said by somebody else: not even that there was something to decide is told.
            summary.refused += 1;
            tracing::warn!(
                unit = self.name,
                "a message of {} was refused: not paired with them",
                message.user
            );
            return Ok(());
        };
        let answer = match self.order(message, paired.at).await {
            Ok(None) => return Ok(()),
            Ok(Some(said)) => said,
            Err(StoreError::Refused { why }) => {
                summary.refused += 1;
                Said::Told(format!("Refused: {why}."))
            }
            Err(StoreError::NotFound { what }) => {
                summary.refused += 1;
                Said::Told(format!("Refused: {what} is gone."))
            }
            Err(error) => {
                let text = "That could not be recorded, so nothing was done: say it again.";
                self.say(&paired.address, &message.id, text.to_owned()).await;
                return Err(store_fault("decide by a message", &error));
            }
        };
        let key = format!("re-{}", message.id);
        match answer {
            Said::Decided(text) => {
                summary.decided += 1;
                self.say(&paired.address, &key, text).await;
            }
            Said::Told(text) => self.say(&paired.address, &key, text).await,
            Said::Shown(entry) => {
                let notice = Notice { entries: vec![*entry], ..Notice::plain(key, "workagent", "") };
                if let Err(error) = self.channel.tell(&notice, &paired.address).await {
                    return Err(self.fault(&error));
                }
            }
        }
        Ok(())
    }

    /// Does what a message of the user says. `None`: it says nothing to us.
    async fn order(&self, message: &Message, paired_at: Timestamp) -> Result<Option<Said>, StoreError> {
        if message.text.trim().eq_ignore_ascii_case("help") {
            return Ok(Some(Said::Told(HELP.to_owned())));
        }
        let Some(order) = channel::order(&message.text) else { return Ok(None) };
        let refused = |why: String| Err(StoreError::Refused { why });
        let age = self.clock.now().since(message.at);
        if age > limits::CHANNEL_MESSAGE_AGE_MAX {
            return refused(format!("it was said {} ago; say it again if it still holds", short_span(age)));
        }
        if message.at < paired_at.minus(limits::CLOCK_SKEW_MAX) {
            return refused("it was said before this channel was paired".to_owned());
        }
        if message.text.len() > limits::CHANNEL_TEXT_BYTES_MAX {
            return refused("it is too long for a message".to_owned());
        }
        if self.store.is_guessed(&self.unit.name).await? {
            return refused("too many references that there are not were said; wait an hour".to_owned());
        }
        let reference = &order.reference;
        let Some(referred) = self.store.referred(&self.unit.name, reference).await? else {
            self.store.wrong_reference(&self.unit.name).await?;
            return refused(format!("there is no `{reference}` here"));
        };
        if referred.used && order.verb != Verb::Show {
            return refused(format!("`{reference}` was used already"));
        }
        let by = one_line(&format!("{} ({})", self.name, message.user), limits::JOURNAL_BY_BYTES_MAX);
        let said = match named(&referred) {
            Some(Named::Draft(id)) => self.on_draft(id, &referred, &order, &by).await?,
            Some(Named::Question(id)) => self.on_question(id, &referred, &order, &by).await?,
            None => return refused(format!("`{reference}` names nothing that is known here")),
        };
        if let Said::Decided(text) = &said {
            self.store.use_reference(&self.unit.name, reference).await?;
            tracing::info!(unit = self.name, "{text}");
        }
        Ok(Some(said))
    }

    async fn on_draft(
        &self,
        id: DraftId,
        referred: &Referred,
        order: &Order,
        by: &str,
    ) -> Result<Said, StoreError> {
        let Order { verb, reference, rest } = order;
        let hash = referred.version.as_str();
        let refused = |why: String| Err(StoreError::Refused { why });
        if *verb == Verb::Answer {
            return refused(format!("`{reference}` is a draft: approve, reject, defer or show it"));
        }
        let draft = self.store.draft(id).await?;
        if *verb == Verb::Show {
            if draft.state != crate::model::draft::DraftState::Open {
                return Ok(Said::Told(format!("{id} is {}.", draft.state.word())));
            }
            return self.draft_entry(&draft).await.map(|entry| Said::Shown(Box::new(entry)));
        }
        if draft.state == crate::model::draft::DraftState::Open && draft.hash != hash {
            return refused(format!(
                "{id} changed since it was told: `show {reference}` tells it as it is now"
            ));
        }
        match verb {
            Verb::Approve => {
                let action = self.desk.approve(id, hash, by, false).await?;
                let hold = self.desk.rule(&draft.connector).map(|rule| rule.hold).unwrap_or_default();
                let when = if hold.is_zero() { String::new() } else { format!(" in {}", short_span(hold)) };
                Ok(Said::Decided(format!("{id} is approved and leaves{when}, as {action}.")))
            }
            Verb::Reject => {
                let note = clean(rest);
                self.store.reject_seen(id, Some(Seen { hash, by }), &note, !note.is_empty()).await?;
                Ok(Said::Decided(match note.is_empty() {
                    true => format!("{id} is rejected."),
                    false => format!("{id} is rejected and goes back for another try."),
                }))
            }
            Verb::Defer => {
                let Some(span) = channel::span(rest) else {
                    return refused(format!("it does not say for how long: `defer {reference} 2h`"));
                };
                let until = self.clock.now().plus(span);
                self.store.defer_seen(id, Some(Seen { hash, by }), until).await?;
                Ok(Said::Decided(format!("{id} comes back in {}.", short_span(span))))
            }
            Verb::Show | Verb::Answer => Ok(Said::Told(HELP.to_owned())),
        }
    }

    async fn on_question(
        &self,
        id: CaseId,
        referred: &Referred,
        order: &Order,
        by: &str,
    ) -> Result<Said, StoreError> {
        let Order { verb, reference, rest } = order;
        let refused = |why: String| Err(StoreError::Refused { why });
        match verb {
            Verb::Answer if rest.is_empty() => {
                refused(format!("it holds no answer: `answer {reference} TEXT`"))
            }
            Verb::Answer => {
                let asked = Timestamp(referred.version.parse().unwrap_or_default());
                self.store.answer_question(id, Some((asked, by)), &clean(rest)).await?;
                Ok(Said::Decided(format!("{id} goes on with your answer.")))
            }
            Verb::Show => {
                let waits = self.store.parked(limits::PARKED_SHOWN_MAX).await?;
                let asks = |one: &&crate::model::parked::Parked| {
                    one.case.id == id && one.waits == crate::model::parked::Waits::Question
                };
                match waits.iter().find(asks) {
                    Some(parked) => {
                        self.question_entry(parked).await.map(|entry| Said::Shown(Box::new(entry)))
                    }
                    None => Ok(Said::Told(format!("{id} asks nothing any more."))),
                }
            }
            Verb::Approve | Verb::Reject | Verb::Defer => {
                refused(format!("`{reference}` is a question: `answer {reference} TEXT`"))
            }
        }
    }
}

fn named(referred: &Referred) -> Option<Named> {
    let (kind, id) = referred.subject.split_once(':')?;
    let id = id.parse().ok()?;
    match kind {
        "draft" => Some(Named::Draft(DraftId(id))),
        "question" => Some(Named::Question(CaseId(id))),
        _ => None,
    }
}
