//! What needs the user, and how much of it is told.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::ChannelLoop;
use super::pairing::random_code;
use crate::model::channel::{DRAFT_VERBS, Detail, Entry, Notice, QUESTION_VERBS};
use crate::model::draft::Draft;
use crate::model::ids::DraftId;
use crate::model::limits;
use crate::model::live::Live;
use crate::model::parked::{Parked, Waits};
use crate::model::repair::{Repair, RepairKind};
use crate::model::text::{cut, digest, one_line};
use crate::model::time::Timestamp;
use crate::store::StoreError;

/// A line of a notice.
const LINE_BYTES_MAX: usize = 300;

/// Candidates for a reference: that all of them are taken means that something else is wrong.
const CANDIDATES: usize = 8;

/// Tells what is wrong beside drafts and cases: logins, quotas, unit files.
type Ask = Arc<dyn Fn() -> BoxFuture<'static, Vec<Repair>> + Send + Sync>;

/// What is wrong beside drafts and cases, put together by whoever knows it. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Troubles(Live<Option<Ask>>);

impl Default for Troubles {
    /// Nobody tells yet.
    fn default() -> Self {
        Self(Live::new(None))
    }
}

impl Troubles {
    /// Asks here from now on.
    pub fn ask(&self, ask: impl Fn() -> BoxFuture<'static, Vec<Repair>> + Send + Sync + 'static) {
        self.0.set(Some(Arc::new(ask)));
    }

    async fn all(&self) -> Vec<Repair> {
        match &*self.0.get() {
            Some(ask) => ask().await,
            None => Vec::new(),
        }
    }
}

/// One thing that needs the user.
pub(super) struct Need {
    /// The same for as long as it is to be told once.
    pub subject: String,
    what: What,
}

enum What {
    Draft(DraftId),
    Question(Box<Parked>),
    Other { line: String, command: String },
}

impl ChannelLoop {
    /// All that needs the user now.
    pub(super) async fn needs(&self) -> Result<Vec<Need>, StoreError> {
        let mut needs = Vec::new();
        for (id, round) in self.store.open_draft_rounds().await? {
            needs.push(Need { subject: format!("draft:{}:{}", id.0, round.0), what: What::Draft(id) });
        }
        for parked in self.store.parked(limits::PARKED_SHOWN_MAX).await? {
            if parked.until.is_some() || parked.is_rehearsed() {
                continue;
            }
            match (parked.waits, parked.action) {
                (Waits::Question, _) => needs.push(Need {
                    subject: format!("question:{}:{}", parked.case.id.0, parked.since.0),
                    what: What::Question(Box::new(parked)),
                }),
                (_, Some(action)) => needs.push(Need {
                    subject: format!("held:{}", action.0),
                    what: What::Other {
                        line: format!("{action} is held, it may have arrived: {}", parked.case.title),
                        command: parked.command(),
                    },
                }),
                _ => {}
            }
        }
        for trouble in self.troubles.all().await {
            // These were found above, one by one and with a reference.
            if matches!(trouble.kind, RepairKind::Question | RepairKind::HeldSend) {
                continue;
            }
            let what = What::Other { line: trouble.what, command: trouble.command };
            needs.push(Need { subject: trouble.key, what });
        }
        Ok(needs)
    }

    /// One notice of all these; `None`: nothing is left to be told.
    pub(super) async fn notice(
        &self,
        needs: &[Need],
        untold: &[(String, Timestamp)],
    ) -> Result<Option<Notice>, StoreError> {
        let mut entries = Vec::new();
        let (mut drafts, mut count) = (0_usize, 0_usize);
        for need in needs.iter().filter(|need| untold.iter().any(|(subject, _)| *subject == need.subject)) {
            count += 1;
            drafts += usize::from(matches!(need.what, What::Draft(_)));
            if entries.len() < limits::CHANNEL_ENTRIES_MAX && self.unit.detail != Detail::None {
                entries.push(self.entry(need).await?);
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let (one, more) = if drafts == count {
            ("draft waits for you", "drafts wait for you")
        } else {
            ("thing waits for you", "things wait for you")
        };
        let title = format!("{count} {}", if count == 1 { one } else { more });
        let text = match count - entries.len() {
            _ if self.unit.detail == Detail::None => "workagent repairs, workagent review".to_owned(),
            0 => String::new(),
            1 => "1 more: workagent repairs, workagent review".to_owned(),
            left => format!("{left} more: workagent repairs, workagent review"),
        };
        // With the time since when: what comes back after it was mended is another notice.
        let parts: Vec<String> = untold.iter().map(|(subject, at)| format!("{subject} {}", at.0)).collect();
        let key = digest(&parts.iter().map(String::as_bytes).collect::<Vec<_>>());
        let title = self.scrubber.scrub(&title).into_owned();
        Ok(Some(Notice { key, title, text, entries }))
    }

    async fn entry(&self, need: &Need) -> Result<Entry, StoreError> {
        match &need.what {
            What::Draft(id) => self.draft_entry(&self.store.draft(*id).await?).await,
            What::Question(parked) => self.question_entry(parked).await,
            What::Other { line, command } => Ok(self.masked(Entry {
                line: line.clone(),
                body: None,
                reference: None,
                verbs: &[],
                command: command.clone(),
            })),
        }
    }

    /// A draft as it is now, with a reference to this very version.
    pub(super) async fn draft_entry(&self, draft: &Draft) -> Result<Entry, StoreError> {
        let around = self.store.around(std::slice::from_ref(draft), 1).await?.pop().unwrap_or_default();
        let subject = match draft.envelope.subject.as_str() {
            "" => around.items.last().map(|item| item.title.clone()).unwrap_or_default(),
            subject => subject.to_owned(),
        };
        let mut line = format!("to {}", draft.envelope.told());
        for (word, said) in
            [(": ", subject.as_str()), (" · ", if draft.stale { "something new came since" } else { "" })]
        {
            if !said.is_empty() {
                line.push_str(word);
                line.push_str(said);
            }
        }
        let reference = self.refer(&draft_subject(draft.id), &draft.hash).await?;
        Ok(self.masked(Entry {
            line,
            body: Some(draft.body.clone()),
            reference,
            verbs: DRAFT_VERBS,
            command: format!("workagent review show {}", draft.id),
        }))
    }

    pub(super) async fn question_entry(&self, parked: &Parked) -> Result<Entry, StoreError> {
        let subject = format!("question:{}", parked.case.id.0);
        let reference = self.refer(&subject, &parked.since.0.to_string()).await?;
        Ok(self.masked(Entry {
            line: format!("{} has a question to you: {}", parked.case.id, parked.case.title),
            body: Some(parked.reason.clone()),
            reference,
            verbs: QUESTION_VERBS,
            command: parked.command(),
        }))
    }

    /// No secret, and no more than the unit allows.
    fn masked(&self, entry: Entry) -> Entry {
        let text = |text: &str| self.scrubber.scrub(text).into_owned();
        let body = entry.body.filter(|_| self.unit.detail == Detail::Full).map(|body| {
            let body = text(&body);
            match cut(&body, limits::CHANNEL_BODY_BYTES_MAX) {
                whole if whole.len() == body.len() => body,
                part => format!("{part}…\n(cut: {})", entry.command),
            }
        });
        let reference = entry.reference.filter(|_| self.unit.detail != Detail::None);
        Entry { line: one_line(&text(&entry.line), LINE_BYTES_MAX), body, reference, ..entry }
    }

    async fn refer(&self, subject: &str, version: &str) -> Result<Option<String>, StoreError> {
        let len = self.channel.reference_len();
        let candidates = (0..CANDIDATES).map(|_| random_code(len)).collect();
        self.store.refer(&self.unit.name, subject, version, candidates).await
    }
}

/// What a reference names that was made for a draft.
pub(super) fn draft_subject(id: DraftId) -> String {
    format!("draft:{}", id.0)
}
