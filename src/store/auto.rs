//! What goes by itself: which drafts might, and how a person decided before.

use std::collections::HashMap;

use super::rows::{Columns, draft, draft_sql, json};
use super::{Result, Store, journal};
use crate::model::auto::Decided;
use crate::model::draft::Draft;
use crate::model::ids::DraftId;
use crate::model::limits::DECISIONS_LEN_MAX;

pub(super) const CANDIDATES: &str = draft_sql!(
    "WHERE d.state = 'open' AND d.auto = 1 AND d.stale = 0 \
     AND (d.deferred_until IS NULL OR d.deferred_until <= ?1) ORDER BY d.id"
);
pub(super) const KINDS: &str =
    "SELECT h.case_id, h.kind FROM json_each(?1) j CROSS JOIN case_heads h ON h.case_id = j.value";
/// Drafts whose texts were let go of tell nothing any more.
pub(super) const DECIDED: &str = "SELECT h.kind, b.envelope, d.state = 'approved' AND b.body = b.engine_body \
     FROM drafts d CROSS JOIN draft_bodies b ON b.draft_id = d.id CROSS JOIN case_heads h ON h.case_id = d.case_id \
     WHERE d.connector = ?1 AND d.by_person = 1 AND b.engine_body <> '' ORDER BY d.decided_at DESC LIMIT ?2";
const KEEP: &str = "UPDATE drafts SET auto = 0 WHERE id = ?; \
     UPDATE draft_bodies SET remarks = json_insert(remarks, '$[#]', ?) WHERE draft_id = ?";

impl Store {
    /// Open drafts that were made to go by themselves, each with the kind of its case; oldest first.
    pub async fn auto_drafts(&self) -> Result<Vec<(Draft, String)>> {
        const DOING: &str = "read the drafts that go by themselves";
        let rows = self.read_all(DOING, sqlx::query(CANDIDATES).bind(self.now().0)).await?;
        let drafts = rows.iter().map(draft).collect::<Result<Vec<_>>>()?;
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let cases: Vec<i64> = drafts.iter().map(|draft| draft.case.0).collect();
        let rows = self.read_all(DOING, sqlx::query(KINDS).bind(json(&cases))).await?;
        let one = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take::<i64>()?, columns.take()?))
        };
        let kinds = rows.iter().map(one).collect::<Result<HashMap<i64, String>>>()?;
        let with_kind = |draft: Draft| {
            let kind = kinds.get(&draft.case.0).cloned().unwrap_or_default();
            (draft, kind)
        };
        Ok(drafts.into_iter().map(with_kind).collect())
    }

    /// What a person decided about drafts of a connector, the newest first, as far as the texts are still there; at most
    /// [`DECISIONS_LEN_MAX`]. What acts beside its text never goes by itself, and is not among them.
    pub async fn decided(&self, connector: &str) -> Result<Vec<Decided>> {
        let most = i64::try_from(DECISIONS_LEN_MAX).unwrap_or(i64::MAX);
        let query = sqlx::query(DECIDED).bind(connector.to_owned()).bind(most);
        let rows = self.read_all("read what was decided", query).await?;
        let one = |row| {
            let mut columns = Columns::of(row);
            Ok(Decided { kind: columns.take()?, envelope: columns.json()?, as_written: columns.take()? })
        };
        let all = rows.iter().map(one).collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().filter(|one| one.envelope.effects.is_empty()).collect())
    }

    /// A draft that was made to go by itself is for a person after all, who is told why.
    pub async fn keep_for_person(&self, draft: &Draft, why: &str) -> Result<()> {
        const DOING: &str = "keep a draft for a person";
        let (id, case, why): (DraftId, _, _) = (draft.id, draft.case, why.to_owned());
        self.write(DOING, move |tx| {
            Box::pin(async move {
                tx.run(DOING, sqlx::query(KEEP).bind(id.0).bind(why.clone()).bind(id.0)).await?;
                journal::note(tx, case, "shown", format!("{id}: {why}")).await
            })
        })
        .await
    }
}
