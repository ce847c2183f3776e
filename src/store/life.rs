//! Whose database it is, which programs wrote in it, and what follows when an earlier state of it was put back.
//!
//! After that the record has forgotten a stretch of time. What was approved before it may have been sent in it, so the
//! platform is asked and nothing goes out again by itself; what came in before the restore may have been answered in it,
//! so a person looks at every draft for it, whatever rule its connector has.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteConnection;

use super::rows::Columns;
use super::writer::Query;
use super::{Result, Store, StoreError};
use crate::model::ids::ActionId;
use crate::model::time::Timestamp;

const DOING: &str = "settle in the database";

const READ: &str = "SELECT (SELECT value FROM life WHERE name = 'id'), \
     coalesce((SELECT value FROM life WHERE name = 'stamp'), 0), (SELECT count(*) FROM connectors)";

const SETTLE: &str = "INSERT OR IGNORE INTO life (name, value) VALUES ('id', coalesce(?, lower(hex(randomblob(16))))), ('stamp', '0'); \
     UPDATE life SET value = CAST(value AS INTEGER) + 1 WHERE name = 'stamp'; \
     INSERT INTO programs (version, schema, at) SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM programs \
     WHERE id = (SELECT max(id) FROM programs) AND version = ? AND schema = ?)";

pub(super) const STAMP: &str =
    "UPDATE life SET value = CAST(value AS INTEGER) + 1 WHERE name = 'stamp' RETURNING value";

const RESTORED_AT: &str = "SELECT max(at) FROM restores";

const LAST: &str = "SELECT at, copied_at, why FROM restores ORDER BY id DESC LIMIT 1";

/// A send that was under way or about to be may be over at the far side: it is `uncertain` now, which asks there.
const DOUBT: &str = "\
     INSERT INTO restores (at, copied_at, why) VALUES (?, ?, ?); \
     INSERT OR IGNORE INTO restored_actions (action_id) \
     SELECT id FROM actions WHERE state IN ('approved', 'sending', 'uncertain', 'held'); \
     INSERT INTO journal (case_id, at, event, detail) SELECT case_id, ?, 'restored', 'a' || id || ': ' || ? \
     FROM actions WHERE state IN ('approved', 'sending', 'uncertain', 'held'); \
     UPDATE action_bodies SET last_error = ? WHERE action_id IN \
     (SELECT id FROM actions WHERE state IN ('approved', 'sending', 'uncertain', 'held')); \
     UPDATE actions SET state = 'uncertain', not_before = ? WHERE state IN ('approved', 'sending', 'uncertain'); \
     UPDATE draft_bodies SET remarks = json_insert(remarks, '$[#]', ?) \
     WHERE draft_id IN (SELECT id FROM drafts WHERE state = 'open'); \
     UPDATE drafts SET auto = 0 WHERE state = 'open'";

const MARKING: &str = "note that an earlier state was put back";

const UNDECIDED: &str = "SELECT (SELECT count(*) FROM actions WHERE state IN ('approved', 'sending', 'uncertain', 'held')), \
     (SELECT count(*) FROM drafts WHERE state = 'open')";

const REHOME: &str =
    "UPDATE OR IGNORE connectors SET identity = replace(identity, ?1, ?2) WHERE instr(identity, ?1) > 0";

pub(super) const IS_RESTORED: &str = "SELECT 1 FROM restored_actions WHERE action_id = ?1";

/// Drafts for what came in before the restore are for a person.
pub(super) const FOR_A_PERSON: &str = "\
     UPDATE draft_bodies SET remarks = json_insert(remarks, '$[#]', ?) WHERE draft_id >= ? AND EXISTS (SELECT 1 FROM drafts d \
     CROSS JOIN cases c ON c.id = d.case_id CROSS JOIN item_bodies b ON b.item_id = c.newest_item \
     WHERE d.id = draft_bodies.draft_id AND coalesce(b.body ->> '$.at', 0) <= ?); \
     UPDATE drafts SET auto = 0 WHERE id >= ? AND EXISTS (SELECT 1 FROM cases c \
     CROSS JOIN item_bodies b ON b.item_id = c.newest_item \
     WHERE c.id = drafts.case_id AND coalesce(b.body ->> '$.at', 0) <= ?)";

/// What is known of the database before it is opened, from outside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Nothing is expected: whatever is there is opened, and where nothing is, it is made.
    #[default]
    Anything,
    /// No database was ever opened here by a program that leaves marks.
    First,
    /// This one was.
    Known(Life),
}

/// Which database it is, and how far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// The same for a database and all its copies; empty where it could not be read.
    pub id: String,
    /// Grows whenever the program starts, stops and keeps house.
    pub stamp: i64,
    /// Where it lay.
    pub path: PathBuf,
}

impl Life {
    /// It has its name, and was not open yet: a program that was killed at its very first start left no more.
    pub(super) fn is_begun(&self) -> bool {
        self.stamp == 0 && !self.id.is_empty()
    }
}

/// An earlier state was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// When.
    pub at: Timestamp,
    /// When the copy was made, where that is known.
    pub copied_at: Option<Timestamp>,
    /// By what, for people.
    pub why: String,
}

/// What settling in came to.
pub(super) struct Settled {
    pub life: Life,
    /// When an earlier state was put back the last time.
    pub restored: Option<Timestamp>,
}

/// For the reviewer of a draft.
pub(super) fn remark(at: Timestamp) -> String {
    format!("an earlier state of the record was put back on {at}: look whether this was answered before that")
}

/// After the migrations: makes or reads the name of the database, counts this start, and sees whether an earlier state
/// of it was put in its place by hand.
pub(super) async fn settle(
    conn: &mut SqliteConnection,
    path: PathBuf,
    (expected, schema, now): (&Expected, i64, Timestamp),
) -> Result<Settled> {
    let row = sqlx::query(READ).fetch_one(&mut *conn).await.map_err(StoreError::sql(DOING))?;
    let mut columns = Columns::of(&row);
    let id: Option<String> = columns.take()?;
    let stamp = number(columns.take::<Option<String>>().unwrap_or_default());
    let replaced = match (expected, &id) {
        (Expected::Known(known), Some(id)) if !known.id.is_empty() => {
            if known.id != *id {
                Some("another database was put in the place of the one that was used here".to_owned())
            } else if known.stamp > stamp {
                Some("an older copy of the database was put in its place".to_owned())
            } else {
                None
            }
        }
        // From another machine, or from a backup program that kept the database alone.
        (Expected::First, Some(_)) => Some("the database was brought here from elsewhere".to_owned()),
        _ => None,
    };
    let version = env!("CARGO_PKG_VERSION");
    let named = match expected {
        Expected::Known(known) if known.is_begun() => Some(known.id.as_str()),
        _ => None,
    };
    let query =
        sqlx::query(SETTLE).bind(named).bind(version).bind(schema).bind(now.0).bind(version).bind(schema);
    query.execute(&mut *conn).await.map_err(StoreError::sql(DOING))?;
    if let Some(why) = replaced {
        tracing::warn!("{why}: nothing that may have been answered is sent without you");
        doubt(conn, now, None, &why).await?;
    }
    let row = sqlx::query(READ).fetch_one(&mut *conn).await.map_err(StoreError::sql(DOING))?;
    let mut columns = Columns::of(&row);
    let id: Option<String> = columns.take()?;
    let stamp = number(columns.take::<Option<String>>().unwrap_or_default());
    let row = sqlx::query(RESTORED_AT).fetch_one(conn).await.map_err(StoreError::sql(DOING))?;
    let restored = Columns::of(&row).maybe_time()?;
    Ok(Settled { life: Life { id: id.unwrap_or_default(), stamp, path }, restored })
}

fn number(text: Option<String>) -> i64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// From now on nothing that may have been answered is sent without a person. In one transaction.
async fn doubt(
    conn: &mut SqliteConnection,
    now: Timestamp,
    copied_at: Option<Timestamp>,
    why: &str,
) -> Result<()> {
    let sql = StoreError::sql;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await.map_err(sql(MARKING))?;
    let done = begin_doubt(now, copied_at, why).execute(&mut *conn).await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sqlx::query(end).execute(&mut *conn).await;
    done.map_err(sql(MARKING))?;
    ended.map_err(sql(MARKING)).map(|_| ())
}

fn begin_doubt(now: Timestamp, copied_at: Option<Timestamp>, why: &str) -> Query {
    let said = "an earlier state of the record was put back: it may have been sent since";
    sqlx::query(DOUBT)
        .bind(now.0)
        .bind(copied_at.map(|at| at.0))
        .bind(why.to_owned())
        .bind(now.0)
        .bind(said)
        .bind(said)
        .bind(now.0)
        .bind(remark(now))
}

impl Store {
    /// Which database this is, as it was when it was opened.
    #[must_use]
    pub fn life(&self) -> &Life {
        &self.life
    }

    /// Counts the stamp up, and gives what the mark outside the database is to say.
    pub async fn stamp(&self) -> Result<Life> {
        let query = sqlx::query(STAMP);
        let value = self
            .write_single(DOING, move |tx| {
                Box::pin(async move {
                    let row = tx.first(DOING, query).await?;
                    row.map_or(Ok(None), |row| Columns::of(&row).take::<Option<String>>())
                })
            })
            .await?;
        Ok(Life { stamp: number(value), ..(*self.life).clone() })
    }

    /// This is a copy that is put back: from now on nothing that may have been answered is sent without a person. `homes`:
    /// the home directory where the copy was made and the one here, where they differ; accounts that are folders there are
    /// the same accounts here. Gives the sends that are asked about, and the drafts that wait.
    pub async fn put_back(
        &self,
        copied_at: Option<Timestamp>,
        why: &str,
        homes: Option<(String, String)>,
    ) -> Result<(u64, u64)> {
        let why = why.to_owned();
        self.write(MARKING, move |tx| {
            Box::pin(async move {
                let row = tx.first(MARKING, sqlx::query(UNDECIDED)).await?;
                let row = row.ok_or_else(|| StoreError::unreadable(MARKING, "no answer"))?;
                let mut columns = Columns::of(&row);
                let counts = (columns.count()?, columns.count()?);
                tx.run(MARKING, begin_doubt(tx.now, copied_at, &why)).await?;
                if let Some((then, now)) = homes {
                    let (then, now) = (format!("{then}/"), format!("{now}/"));
                    tx.run(MARKING, sqlx::query(REHOME).bind(then).bind(now)).await?;
                }
                Ok(counts)
            })
        })
        .await
    }

    /// When an earlier state was put back the last time, if ever.
    pub async fn last_restore(&self) -> Result<Option<Restored>> {
        let row = self.read_first("read when an earlier state was put back", sqlx::query(LAST)).await?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = Columns::of(&row);
        Ok(Some(Restored { at: columns.time()?, copied_at: columns.maybe_time()?, why: columns.take()? }))
    }

    /// It was not over when the copy was made that was put back: it may have been sent since.
    pub async fn is_restored(&self, id: ActionId) -> Result<bool> {
        let row = self.read_first("look at an action", sqlx::query(IS_RESTORED).bind(id.0)).await?;
        Ok(row.is_some())
    }
}
