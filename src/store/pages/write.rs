//! The rows of a page. One round trip for everything new, whatever the number.

use std::collections::BTreeMap;

use super::super::rows::{json, shared};
use super::super::writer::Tx;
use super::super::{Result, journal, people};
use super::decide::{Decided, ITEM_CAME};
use super::look::Account;
use crate::model::case::CaseState;
use crate::model::ids::{ActionId, CaseId, DraftId, ItemId};
use crate::store::rows::Columns;

const WRITING: &str = "write a page";

pub(in crate::store) const NEW_ROWS: &str = "\
    INSERT INTO cases (id, connector, state, items, newest_item, made_at, changed_at) \
        SELECT ? + key, ?, 'new', value ->> 4, value ->> 3, ?, ? FROM json_each(?); \
    INSERT INTO case_heads (case_id, kind, title, author) \
        SELECT ? + key, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?); \
    INSERT INTO items (id, connector, key, revision, case_id, disposition, read_at) \
        SELECT ? + key, ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, ? FROM json_each(?); \
    INSERT INTO item_bodies (item_id, body) \
        SELECT ? + key, value FROM json_each(?) WHERE type = 'object'; \
    INSERT OR IGNORE INTO item_identities (connector, identity, item_id) \
        SELECT ?, value ->> 1, value ->> 0 FROM json_each(?); \
    INSERT OR IGNORE INTO case_threads (connector, thread, case_id) \
        SELECT ?, value ->> 1, value ->> 0 FROM json_each(?); \
    INSERT INTO journal (case_id, at, event, detail) \
        SELECT value ->> 0, ?, value ->> 1, value ->> 2 FROM json_each(?); \
    UPDATE connectors SET cursor = coalesce(?, cursor), items_known = items_known + ?, \
        items_baseline = items_baseline + ?, last_new_item_at = coalesce(?, last_new_item_at) WHERE id = ?";

const CURSOR: &str = "UPDATE connectors SET cursor = ?2 WHERE id = ?1";

pub(in crate::store) const TOUCH: &str = "UPDATE cases SET state = j.value ->> 1, \
    changed_at = CASE WHEN state = j.value ->> 1 THEN changed_at ELSE ? END, \
    reason = CASE WHEN state = j.value ->> 1 THEN reason END, until = CASE WHEN state = j.value ->> 1 THEN until END, \
    items = items + (j.value ->> 2), newest_item = coalesce(j.value ->> 3, newest_item), \
    news = max(news, j.value ->> 4), \
    attempts_extra = CASE WHEN j.value ->> 5 THEN max(attempts_extra, attempts) ELSE attempts_extra END \
    FROM json_each(?) j WHERE cases.id = j.value ->> 0; \
    UPDATE case_heads SET author = j.value ->> 6 FROM json_each(?) j \
    WHERE case_id = j.value ->> 0 AND j.value ->> 6 IS NOT NULL";

pub(in crate::store) const STALE: &str = "UPDATE drafts SET stale = 1 WHERE state = 'open' AND stale = 0 \
    AND case_id IN (SELECT value FROM json_each(?1)) RETURNING id, case_id";

/// What was approved without knowing of it, and has not been tried yet.
pub(in crate::store) const HOLD: &str = "UPDATE actions SET state = 'held' WHERE state = 'approved' AND attempts = 0 \
    AND case_id IN (SELECT value FROM json_each(?1)) RETURNING id, case_id";

pub(in crate::store) const BY_HAND: &str = "SELECT c.id, j.value ->> 2 FROM json_each(?1) j \
    CROSS JOIN cases c ON c.id = j.value ->> 0 CROSS JOIN item_bodies b ON b.item_id = c.newest_item \
    WHERE (c.state = 'review' OR (c.state = 'parked' AND c.waits = 'question')) \
    AND b.body ->> '$.at' < j.value ->> 1";

const HELD_BECAUSE: &str = "UPDATE action_bodies SET last_error = ?2 \
    WHERE action_id IN (SELECT value FROM json_each(?1))";

/// Why it waits for a person, with what can be done.
const CHANGED_MEANWHILE: &str = "something came or changed at its source after the approval; look at the case, then release or \
    cancel it";

pub(in crate::store) const UPDATED: &str = "UPDATE items SET revision = j.value ->> 1 FROM json_each(?) j \
    WHERE items.id = j.value ->> 0; \
    UPDATE item_bodies SET body = j.value ->> 2 FROM json_each(?) j WHERE item_id = j.value ->> 0";

pub(super) async fn cursor(tx: &mut Tx, account: i64, cursor: &str) -> Result<()> {
    tx.run(WRITING, sqlx::query(CURSOR).bind(account).bind(cursor.to_owned())).await.map(|_| ())
}

pub(super) async fn all(
    tx: &mut Tx,
    account: &Account,
    cursor: Option<&str>,
    decided: &Decided<'_>,
) -> Result<()> {
    new_rows(tx, account, cursor, decided).await?;
    if !decided.updates.is_empty() {
        let rows: Vec<(i64, &str, String)> =
            decided.updates.iter().map(|(id, item)| (*id, item.revision.as_str(), json(item))).collect();
        let rows = shared(&rows);
        tx.run(WRITING, sqlx::query(UPDATED).bind(rows.clone()).bind(rows)).await?;
    }
    touch(tx, decided).await?;
    by_hand(tx, decided).await?;
    tx.wake.ingest |= decided.work;
    Ok(())
}

async fn new_rows(tx: &mut Tx, account: &Account, cursor: Option<&str>, decided: &Decided<'_>) -> Result<()> {
    let cases: Vec<_> = decided
        .cases
        .iter()
        .map(|case| (&case.first.kind, &case.first.title, &case.author, case.newest, case.items))
        .collect();
    let items: Vec<_> = decided
        .items
        .iter()
        .map(|new| (&new.item.key, &new.item.revision, new.case, new.disposition))
        .collect();
    // Only what may be worked on is kept whole.
    let bodies: Vec<_> = decided.items.iter().map(|new| new.case.map(|_| new.item)).collect();
    let known = i64::try_from(decided.items.len()).unwrap_or(i64::MAX);
    let (first_case, first_item) = (account.last_case + 1, account.last_item + 1);
    let cases = shared(&cases);
    let query = sqlx::query(NEW_ROWS)
        // cases
        .bind(first_case)
        .bind(account.id)
        .bind(tx.now.0)
        .bind(tx.now.0)
        .bind(cases.clone())
        // heads
        .bind(first_case)
        .bind(cases)
        // items
        .bind(first_item)
        .bind(account.id)
        .bind(tx.now.0)
        .bind(json(&items))
        // bodies
        .bind(first_item)
        .bind(json(&bodies))
        // identities, threads
        .bind(account.id)
        .bind(json(&decided.identities))
        .bind(account.id)
        .bind(json(&decided.threads))
        // journal
        .bind(tx.now.0)
        .bind(json(&decided.journal))
        // connector
        .bind(cursor.map(str::to_owned))
        .bind(known)
        .bind(i64::try_from(decided.baseline).unwrap_or(i64::MAX))
        .bind(decided.work.then_some(tx.now.0))
        .bind(account.id);
    tx.run(WRITING, query).await.map(|_| ())
}

/// Cases whose draft or question waits for a person who has answered in the thread by now. One that was written before the
/// newest of the case, and read late, is no answer to it; where that one has no time, nobody can tell.
async fn by_hand(tx: &mut Tx, decided: &Decided<'_>) -> Result<()> {
    if decided.by_hand.is_empty() {
        return Ok(());
    }
    let rows = tx.all(WRITING, sqlx::query(BY_HAND).bind(json(&decided.by_hand))).await?;
    let mut over = BTreeMap::new();
    for row in &rows {
        let mut columns = Columns::of(row);
        let (case, item): (i64, i64) = (columns.take()?, columns.take()?);
        over.entry(case).or_insert(item);
    }
    for (case, item) in over {
        let why = format!("{}: yours came in the thread ({})", people::BY_HAND, ItemId(item));
        people::take_over(tx, CaseId(case), why).await?;
    }
    Ok(())
}

/// Known cases that items joined, or of which an item changed.
async fn touch(tx: &mut Tx, decided: &Decided<'_>) -> Result<()> {
    if decided.touched.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = decided
        .touched
        .iter()
        .map(|(id, case)| {
            let held = matches!(case.state, CaseState::Running | CaseState::Approved);
            let (newest, author) = case.newest.as_ref().map(|(id, author)| (*id, author)).unzip();
            let news = if held { case.news } else { 0 };
            (id, case.state.word(), case.added, newest, news, i64::from(case.news == ITEM_CAME), author)
        })
        .collect();
    let rows = shared(&rows);
    tx.run(WRITING, sqlx::query(TOUCH).bind(tx.now.0).bind(rows.clone()).bind(rows)).await?;

    let stale: Vec<i64> = decided.touched.iter().filter(|(_, case)| case.stale).map(|(id, _)| *id).collect();
    if stale.is_empty() {
        return Ok(());
    }
    let rows = tx.all(WRITING, sqlx::query(STALE).bind(json(&stale))).await?;
    let mut lines = Vec::new();
    for row in &rows {
        let mut columns = Columns::of(row);
        let draft = DraftId(columns.take()?);
        let case = CaseId(columns.take()?);
        lines.push((case.0, "stale", format!("{draft} does not answer what came after it")));
    }
    tx.wake.review |= !lines.is_empty();
    let held = tx.all(WRITING, sqlx::query(HOLD).bind(json(&stale))).await?;
    let mut ids = Vec::new();
    for row in &held {
        let mut columns = Columns::of(row);
        let action = ActionId(columns.take()?);
        let case = CaseId(columns.take()?);
        ids.push(action.0);
        lines.push((case.0, "held", format!("{action}: {CHANGED_MEANWHILE}")));
    }
    if !ids.is_empty() {
        let query = sqlx::query(HELD_BECAUSE).bind(json(&ids)).bind(CHANGED_MEANWHILE);
        tx.run(WRITING, query).await?;
    }
    journal::notes(tx, &lines).await
}
