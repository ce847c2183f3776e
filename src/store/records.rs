//! What stays of runs besides their outcome: the session to go on in, the exact prompt.

use sha2::{Digest, Sha256};

use super::rows::Columns;
use super::{Result, Store};
use crate::model::ids::{CaseId, RunId};
use crate::model::limits;
use crate::model::text::hex;
use crate::model::time::Timestamp;

/// A session is gone on in unless a later run of the engine failed in a way that may be the session's fault.
pub(super) const LAST_SESSION: &str = "SELECT r.session FROM runs r WHERE r.case_id = ?1 AND r.engine = ?2 \
     AND r.session IS NOT NULL AND r.replay IS NULL AND NOT EXISTS (SELECT 1 FROM runs l WHERE l.case_id = ?1 \
     AND l.engine = ?2 AND l.id > r.id AND l.replay IS NULL AND l.ended_at IS NOT NULL AND l.outcome NOT IN \
     ('reply', 'nothing-to-do', 'question', 'interrupted', 'cancelled', 'network', 'overloaded', 'usage-limit', \
     'rate-limited')) ORDER BY r.id DESC LIMIT 1";

pub(super) const KEEP_PROMPT: &str =
    "INSERT OR REPLACE INTO run_prompts (run_id, at, bytes, prompt) VALUES (?1, ?2, ?3, ?4)";

pub(super) const NAME_PROMPT: &str = "UPDATE runs SET prompt_hash = ?2 WHERE id = ?1";

/// The newest kept one if no run is named.
pub(super) const PROMPT_OF: &str = "SELECT p.run_id, p.at, p.prompt FROM runs r \
     CROSS JOIN run_prompts p ON p.run_id = r.id WHERE r.case_id = ?1 AND (?2 IS NULL OR r.id = ?2) \
     ORDER BY r.id DESC LIMIT 1";

const PRUNE: &str =
    "DELETE FROM run_prompts WHERE run_id IN (SELECT run_id FROM run_prompts WHERE at < ?1 LIMIT ?2)";

/// Of the newest so many bytes stay.
const PRUNE_BYTES: &str = "DELETE FROM run_prompts WHERE run_id IN (SELECT run_id FROM \
     (SELECT run_id, sum(bytes) OVER (ORDER BY at DESC, run_id DESC) AS kept FROM run_prompts) WHERE kept > ?1 LIMIT ?2)";

/// The exact prompt of a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeptPrompt {
    /// The run.
    pub run: RunId,
    /// When the run ended.
    pub at: Timestamp,
    /// The text, secrets masked.
    pub prompt: String,
}

impl Store {
    /// The session in which an engine can go on with a case.
    pub async fn last_session(&self, case: CaseId, engine: &str) -> Result<Option<String>> {
        let query = sqlx::query(LAST_SESSION).bind(case.0).bind(engine.to_owned());
        match self.read_first("read the last session of a case", query).await? {
            Some(row) => Columns::of(&row).take(),
            None => Ok(None),
        }
    }

    /// Keeps the prompt of a run, and its hash with the run.
    pub async fn keep_prompt(&self, run: RunId, prompt: String) -> Result<()> {
        const DOING: &str = "keep a prompt";
        let hash = hex(&Sha256::digest(prompt.as_bytes()));
        let query = sqlx::query(KEEP_PROMPT)
            .bind(run.0)
            .bind(self.now().0)
            .bind(i64::try_from(prompt.len()).unwrap_or(i64::MAX))
            .bind(prompt);
        let name = sqlx::query(NAME_PROMPT).bind(run.0).bind(hash);
        self.write(DOING, move |tx| {
            Box::pin(async move {
                tx.run(DOING, query).await?;
                tx.run(DOING, name).await.map(|_| ())
            })
        })
        .await
    }

    /// The prompt of a run of this case, of its newest run if none is named; `None`: none is kept.
    pub async fn prompt_of(&self, case: CaseId, run: Option<RunId>) -> Result<Option<KeptPrompt>> {
        let query = sqlx::query(PROMPT_OF).bind(case.0).bind(run.map(|run| run.0));
        let Some(row) = self.read_first("read a prompt", query).await? else { return Ok(None) };
        let mut columns = Columns::of(&row);
        Ok(Some(KeptPrompt { run: RunId(columns.take()?), at: columns.time()?, prompt: columns.take()? }))
    }

    /// Lets go of prompts that are too old, and of the oldest where there are too many. Gives how many.
    pub async fn prune_prompts(&self) -> Result<u64> {
        const DOING: &str = "let go of old prompts";
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let rows = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
                let before = tx.now.minus(limits::PROMPTS_AGE_MAX);
                let old = tx.run(DOING, sqlx::query(PRUNE).bind(before.0).bind(rows)).await?;
                let most = i64::try_from(limits::PROMPTS_BYTES_MAX).unwrap_or(i64::MAX);
                Ok(old + tx.run(DOING, sqlx::query(PRUNE_BYTES).bind(most).bind(rows)).await?)
            })
        })
        .await
    }
}
