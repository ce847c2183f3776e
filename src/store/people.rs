//! What people ask for: lists, the record of a case, another try, counts, flags.

use super::drafts::{case_state, move_case};
use super::rows::{
    Columns, RUNS_OF_CASE, action, action_sql, case, case_sql, draft, draft_sql, items, json, run,
};
use super::runs::SUPERSEDE;
use super::state::case_may;
use super::types::{CaseRecord, Counts, JournalRow, PlanRow};
use super::writer::Tx;
use super::{Result, Store, StoreError, journal, leases};
use crate::model::case::{Case, CaseState};
use crate::model::ids::CaseId;
use crate::model::limits;
use crate::model::outbound::ActionState;
use crate::model::parked::Waits;
use crate::model::time::Timestamp;

const REASON: &str = "SELECT reason FROM cases WHERE id = ?1";
const BY_ID: &str = case_sql!("WHERE c.id = ?1");
const ITEMS: &str = "SELECT b.body FROM items i CROSS JOIN item_bodies b ON b.item_id = i.id \
     WHERE i.case_id = ?1 ORDER BY i.id";
const DRAFTS: &str = draft_sql!("WHERE d.case_id = ?1 ORDER BY d.id");
const ACTIONS: &str = action_sql!("WHERE a.case_id = ?1 ORDER BY a.id");
const PLANS: &str = "SELECT g.id, g.plan_hash, g.at FROM generations g WHERE g.id IN ( \
     SELECT generation FROM runs WHERE case_id = ?1 UNION SELECT generation FROM drafts WHERE case_id = ?1) ORDER BY g.id";
const JOURNAL: &str = "SELECT at, event, detail FROM (SELECT id, at, event, detail FROM journal WHERE case_id = ?1 \
     ORDER BY id DESC LIMIT ?2) ORDER BY id";

/// Names every state, so that each part walks its own small index.
pub(super) const COUNT_CASES: &str = "SELECT \
     (SELECT count(*) FROM cases WHERE state = 'new'), (SELECT count(*) FROM cases WHERE state = 'queued'), \
     (SELECT count(*) FROM cases WHERE state = 'running'), (SELECT count(*) FROM cases WHERE state = 'review'), \
     (SELECT count(*) FROM cases WHERE state = 'approved'), (SELECT count(*) FROM cases WHERE state = 'sent'), \
     (SELECT count(*) FROM cases WHERE state = 'closed'), (SELECT count(*) FROM cases WHERE state = 'parked'), \
     (SELECT count(*) FROM cases WHERE state = 'dead'), (SELECT count(*) FROM cases WHERE state = 'dismissed')";

const COUNT_ACTIONS: &str = "SELECT state, count(*) FROM actions GROUP BY state";

const WAITING: &str = "SELECT (SELECT count(*) FROM drafts WHERE state = 'open' \
     AND (deferred_until IS NULL OR deferred_until <= ?1)), \
     (SELECT min(made_at) FROM drafts WHERE state = 'open' AND (deferred_until IS NULL OR deferred_until <= ?1)), \
     (SELECT min(made_at) FROM cases WHERE state = 'queued')";

/// What a case waits for, where it is parked.
pub(super) const WAITS: &str = "SELECT waits, changed_at FROM cases WHERE id = ?1 AND state = 'parked'";

/// In front of a person's answer, in the words that the engine reads.
const ANSWERED: &str = "You asked a question earlier; the answer is: ";

const FLAG: &str = "SELECT value FROM flags WHERE name = ?1";
const SET_FLAG: &str =
    "INSERT INTO flags (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
const CLEAR_FLAG: &str = "DELETE FROM flags WHERE name = ?1";

/// The newest of one state, from its own index.
pub(super) fn newest_in(state: CaseState) -> &'static str {
    match state {
        CaseState::New => case_sql!("WHERE c.state = 'new' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1"),
        CaseState::Queued => {
            case_sql!("WHERE c.state = 'queued' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Running => {
            case_sql!("WHERE c.state = 'running' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Review => {
            case_sql!("WHERE c.state = 'review' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Approved => {
            case_sql!("WHERE c.state = 'approved' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Sent => case_sql!("WHERE c.state = 'sent' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1"),
        CaseState::Closed => {
            case_sql!("WHERE c.state = 'closed' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Parked => {
            case_sql!("WHERE c.state = 'parked' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
        CaseState::Dead => case_sql!("WHERE c.state = 'dead' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1"),
        CaseState::Dismissed => {
            case_sql!("WHERE c.state = 'dismissed' ORDER BY c.changed_at DESC, c.id DESC LIMIT ?1")
        }
    }
}

impl Store {
    /// Cases, newest change first, optionally in one state.
    pub async fn cases(&self, state: Option<CaseState>, limit: usize) -> Result<Vec<Case>> {
        const DOING: &str = "read cases";
        let bound = i64::try_from(limit).unwrap_or(i64::MAX);
        let states = match &state {
            Some(state) => std::slice::from_ref(state),
            None => &CaseState::ALL,
        };
        let mut snapshot = self.snapshot().await?;
        let mut cases = Vec::new();
        for &state in states {
            let query = sqlx::query(newest_in(state)).bind(bound);
            let rows = query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))?;
            for row in &rows {
                cases.push(case(&mut Columns::of(row))?);
            }
        }
        cases.sort_by_key(|case: &Case| std::cmp::Reverse((case.changed_at, case.id)));
        cases.truncate(limit);
        Ok(cases)
    }

    /// The whole record of one case.
    pub async fn case_record(&self, id: CaseId) -> Result<CaseRecord> {
        const DOING: &str = "read the record of a case";
        let mut snapshot = self.snapshot().await?;
        let mut read = async |query: super::writer::Query| {
            query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))
        };
        let rows = read(sqlx::query(BY_ID).bind(id.0)).await?;
        let Some(row) = rows.first() else {
            return Err(StoreError::NotFound { what: format!("case {id}") });
        };
        let shown = i64::try_from(limits::JOURNAL_ROWS_SHOWN_MAX).unwrap_or(i64::MAX);
        let journal_row = |row: &sqlx::sqlite::SqliteRow| {
            let mut columns = Columns::of(row);
            Ok(JournalRow { at: columns.time()?, event: columns.take()?, detail: columns.take()? })
        };
        let plan_row = |row: &sqlx::sqlite::SqliteRow| {
            let mut columns = Columns::of(row);
            Ok(PlanRow { generation: columns.take()?, hash: columns.take()?, at: columns.time()? })
        };
        Ok(CaseRecord {
            case: case(&mut Columns::of(row))?,
            items: items(&read(sqlx::query(ITEMS).bind(id.0)).await?)?,
            runs: read(sqlx::query(RUNS_OF_CASE).bind(id.0)).await?.iter().map(run).collect::<Result<_>>()?,
            drafts: read(sqlx::query(DRAFTS).bind(id.0)).await?.iter().map(draft).collect::<Result<_>>()?,
            actions: read(sqlx::query(ACTIONS).bind(id.0))
                .await?
                .iter()
                .map(action)
                .collect::<Result<_>>()?,
            journal: read(sqlx::query(JOURNAL).bind(id.0).bind(shown))
                .await?
                .iter()
                .map(journal_row)
                .collect::<Result<_>>()?,
            plans: read(sqlx::query(PLANS).bind(id.0)).await?.iter().map(plan_row).collect::<Result<_>>()?,
        })
    }

    /// A person wants another try of a parked, dead or dismissed case: one more attempt, not a fresh set.
    pub async fn retry_case(&self, id: CaseId) -> Result<()> {
        self.write("retry a case", move |tx| {
            Box::pin(async move {
                let (state, _) = case_state(tx, id).await?;
                let may = match state {
                    CaseState::Parked | CaseState::Dead | CaseState::Dismissed => true,
                    CaseState::Closed => is_taken_over(tx, id).await?,
                    _ => false,
                };
                if !may {
                    return Err(refused(id, state, "retried"));
                }
                tx.wake.ingest = true;
                move_case(tx, id, CaseState::New, None, 1).await?;
                journal::note(tx, id, "retry", "one more attempt").await
            })
        })
        .await
    }

    /// A person answers the question that an engine asked: it goes on with the answer, and one more attempt.
    pub async fn answer_case(&self, id: CaseId, text: &str) -> Result<()> {
        self.answer_question(id, None, text).await
    }

    /// The same, only if it is still the question that was asked at that time; with who answered, for the record.
    pub async fn answer_question(
        &self,
        id: CaseId,
        asked: Option<(Timestamp, &str)>,
        text: &str,
    ) -> Result<()> {
        let text = text.to_owned();
        let asked = asked.map(|(at, by)| (at, by.to_owned()));
        self.write("answer the question of a case", move |tx| Box::pin(answer(tx, id, asked, text))).await
    }

    /// A person says: nothing to do here. Open drafts are superseded.
    pub async fn dismiss_case(&self, id: CaseId, why: &str) -> Result<()> {
        let why = why.to_owned();
        self.write("dismiss a case", move |tx| Box::pin(dismiss(tx, id, why))).await
    }

    /// A person says: answered by hand. Open drafts are superseded; `by` is for the record.
    pub async fn take_over_case(&self, id: CaseId, by: &str) -> Result<()> {
        let why = format!("{BY_HAND}, says {by}");
        self.write("take over a case", move |tx| Box::pin(take_over(tx, id, why))).await
    }

    /// Counts.
    pub async fn counts(&self) -> Result<Counts> {
        const DOING: &str = "count";
        let mut snapshot = self.snapshot().await?;
        let sql = |error| StoreError::sql(DOING)(error);
        let row = sqlx::query(COUNT_CASES).fetch_one(&mut *snapshot).await.map_err(sql)?;
        let mut columns = Columns::of(&row);
        let cases =
            CaseState::ALL.iter().map(|&state| Ok((state, columns.count()?))).collect::<Result<Vec<_>>>()?;
        let mut actions: Vec<_> = ActionState::ALL.iter().map(|&state| (state, 0)).collect();
        for row in sqlx::query(COUNT_ACTIONS).fetch_all(&mut *snapshot).await.map_err(sql)? {
            let mut columns = Columns::of(&row);
            let (state, count) = (columns.action_state()?, columns.count()?);
            if let Some(entry) = actions.iter_mut().find(|(known, _)| *known == state) {
                entry.1 = count;
            }
        }
        let query = sqlx::query(WAITING).bind(self.now().0);
        let row = query.fetch_one(&mut *snapshot).await.map_err(sql)?;
        let mut columns = Columns::of(&row);
        Ok(Counts {
            cases,
            actions,
            drafts_open: columns.count()?,
            oldest_draft_at: columns.maybe_time()?,
            oldest_queued_at: columns.maybe_time()?,
        })
    }

    /// A flag that survives restarts.
    pub async fn flag(&self, name: &str) -> Result<Option<String>> {
        match self.read_first("read a flag", sqlx::query(FLAG).bind(name.to_owned())).await? {
            Some(row) => Columns::of(&row).take().map(Some),
            None => Ok(None),
        }
    }

    /// Sets or removes a flag. Wakes everybody: what it stops or starts is theirs to know.
    pub async fn set_flag(&self, name: &str, value: Option<&str>) -> Result<()> {
        const DOING: &str = "set a flag";
        let query = match value {
            Some(value) => sqlx::query(SET_FLAG).bind(name.to_owned()).bind(value.to_owned()),
            None => sqlx::query(CLEAR_FLAG).bind(name.to_owned()),
        };
        self.write_single(DOING, move |tx| {
            Box::pin(async move {
                tx.run(DOING, query).await?;
                tx.wake = super::writer::Wake::ALL;
                Ok(())
            })
        })
        .await
    }
}

fn refused(id: CaseId, state: CaseState, wanted: &str) -> StoreError {
    StoreError::refused(format!("case {id} is {} and cannot be {wanted}", state.word()))
}

async fn answer(tx: &mut Tx, id: CaseId, asked: Option<(Timestamp, String)>, text: String) -> Result<()> {
    let (state, _) = case_state(tx, id).await?;
    let row = tx.first("read what a case waits for", sqlx::query(WAITS).bind(id.0)).await?;
    let (waits, since): (Option<String>, Option<Timestamp>) = match row {
        Some(row) => {
            let mut columns = Columns::of(&row);
            (columns.take()?, columns.maybe_time()?)
        }
        None => (None, None),
    };
    if Waits::of(waits.as_deref()) != Waits::Question {
        return Err(StoreError::refused(format!("case {id} is {} and asks nothing", state.word())));
    }
    if let Some((at, by)) = asked {
        if since != Some(at) {
            return Err(StoreError::refused(format!("case {id} asks something else now")));
        }
        journal::note(tx, id, "answered-by", by).await?;
    }
    // Without the question, which may repeat the words of others: notes stand outside the fence of foreign text.
    journal::note(tx, id, "answered", format!("{ANSWERED}{text}")).await?;
    tx.wake.ingest = true;
    move_case(tx, id, CaseState::New, None, 1).await
}

/// How the reason of a case begins that a person took over.
pub(super) const BY_HAND: &str = "answered by hand";

async fn is_taken_over(tx: &mut Tx, id: CaseId) -> Result<bool> {
    let row = tx.first("read why a case ended", sqlx::query(REASON).bind(id.0)).await?;
    let reason: Option<String> = row.map_or(Ok(None), |row| Columns::of(&row).take())?;
    Ok(reason.is_some_and(|reason| reason.starts_with(BY_HAND)))
}

async fn dismiss(tx: &mut Tx, id: CaseId, why: String) -> Result<()> {
    put_aside(tx, id, CaseState::Dismissed, "dismissed", why).await
}

/// The person answered by hand: what was drafted is withdrawn, and the case is over.
pub(super) async fn take_over(tx: &mut Tx, id: CaseId, why: String) -> Result<()> {
    put_aside(tx, id, CaseState::Closed, "taken over", why).await
}

/// Ends a case without sending anything; `event` is the journal's word for it.
async fn put_aside(tx: &mut Tx, id: CaseId, to: CaseState, event: &'static str, why: String) -> Result<()> {
    let (state, _) = case_state(tx, id).await?;
    if state == CaseState::Approved {
        return Err(StoreError::refused(format!(
            "case {id} has an answer on its way: cancel the action first"
        )));
    }
    if !case_may(state, to) {
        return Err(refused(id, state, event));
    }
    if state == CaseState::Running {
        leases::interrupt(tx, id, event).await?;
    }
    let gone = tx.all("end a case", sqlx::query(SUPERSEDE).bind(json(&[id.0]))).await?;
    tx.wake.review |= !gone.is_empty();
    move_case(tx, id, to, Some(why.clone()), 0).await?;
    journal::note(tx, id, event, why).await
}
