//! The record of secrets that were replaced: name, version, outcome; never a value.

use super::rows::Columns;
use super::{Result, Store};
use crate::model::limits;
use crate::model::time::Timestamp;

pub(super) const NOTE: &str =
    "INSERT INTO rotations (secret, at, version, how, detail) VALUES (?1, ?2, ?3, ?4, ?5)";

/// Of each secret the newest stay.
pub(super) const PRUNE: &str = "DELETE FROM rotations WHERE secret = ?1 AND id <= \
     (SELECT id FROM rotations WHERE secret = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";

pub(super) const NEWEST: &str = "SELECT secret, at, version, how, detail FROM rotations WHERE secret = ?1 \
     ORDER BY id DESC LIMIT ?2";

/// One try to replace a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The secret's name.
    pub secret: String,
    /// When.
    pub at: Timestamp,
    /// The version that is stored since; `None`: the old value stayed.
    pub version: Option<u32>,
    /// `oauth`, `command`, `ask`.
    pub how: String,
    /// What came of it, for people; no value in it.
    pub detail: String,
}

impl Store {
    /// Notes a try. Its time is now.
    pub async fn note_rotation(&self, rotation: Rotation) -> Result<()> {
        const DOING: &str = "note that a secret was replaced";
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let Rotation { secret, version, how, detail, at: _ } = rotation;
                let most = i64::try_from(limits::ROTATIONS_KEPT_LEN_MAX).unwrap_or(i64::MAX);
                let note = sqlx::query(NOTE)
                    .bind(secret.clone())
                    .bind(tx.now.0)
                    .bind(version.map(i64::from))
                    .bind(how)
                    .bind(detail);
                tx.run(DOING, note).await?;
                tx.run(DOING, sqlx::query(PRUNE).bind(secret).bind(most)).await?;
                Ok(())
            })
        })
        .await
    }

    /// The newest tries of a secret, the newest first.
    pub async fn rotations(&self, secret: &str, limit: usize) -> Result<Vec<Rotation>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = sqlx::query(NEWEST).bind(secret.to_owned()).bind(limit);
        let rows = self.read_all("read when a secret was replaced", query).await?;
        let one = |row: &sqlx::sqlite::SqliteRow| {
            let mut columns = Columns::of(row);
            Ok(Rotation {
                secret: columns.take()?,
                at: columns.time()?,
                version: columns.take::<Option<i64>>()?.and_then(|version| u32::try_from(version).ok()),
                how: columns.take()?,
                detail: columns.take()?,
            })
        };
        rows.iter().map(one).collect()
    }
}
