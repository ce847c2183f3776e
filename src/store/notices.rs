//! What was told on which channel, so that it is told once.

use super::rows::{Columns, json};
use super::{Result, Store};
use crate::model::time::Timestamp;

pub(super) const GONE: &str =
    "DELETE FROM notices WHERE channel = ?1 AND subject NOT IN (SELECT value FROM json_each(?2))";
const FOUND: &str = "INSERT OR IGNORE INTO notices (channel, subject, found_at) \
     SELECT ?1, value, ?2 FROM json_each(?3)";
pub(super) const UNTOLD: &str =
    "SELECT subject, found_at FROM notices WHERE channel = ?1 AND told_at IS NULL";
const KNOWN: &str = "SELECT subject FROM notices WHERE channel = ?1";
const TOLD: &str =
    "UPDATE notices SET told_at = ?2 WHERE channel = ?1 AND subject IN (SELECT value FROM json_each(?3))";
const NOTE_TIME: &str = "INSERT INTO notice_times (channel, at) VALUES (?1, ?2)";
const PRUNE_TIMES: &str = "DELETE FROM notice_times WHERE channel = ?1 AND at <= ?2";
pub(super) const TIMES: &str = "SELECT at FROM notice_times WHERE channel = ?1 AND at > ?2 ORDER BY at";

const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

impl Store {
    /// Of what needs the user now, by subject, what this channel has not told, each with the time since when it is known
    /// there, the oldest first. What is not among `subjects` is decided or mended: it is forgotten, and told anew should it come back.
    pub async fn untold(&self, channel: &str, subjects: Vec<String>) -> Result<Vec<(String, Timestamp)>> {
        const DOING: &str = "look for what is not told yet";
        let mut known: Vec<String> = Vec::new();
        for row in &self.read_all(DOING, sqlx::query(KNOWN).bind(channel.to_owned())).await? {
            known.push(Columns::of(row).take()?);
        }
        let same = known.len() == subjects.len() && known.iter().all(|one| subjects.contains(one));
        if !same {
            let channel = channel.to_owned();
            self.write(DOING, move |tx| {
                Box::pin(async move {
                    let subjects = json(&subjects);
                    let query = sqlx::query(GONE).bind(channel.clone()).bind(subjects.clone());
                    tx.run(DOING, query).await?;
                    tx.run(DOING, sqlx::query(FOUND).bind(channel).bind(tx.now.0).bind(subjects))
                        .await
                        .map(|_| ())
                })
            })
            .await?;
        }
        let rows = self.read_all(DOING, sqlx::query(UNTOLD).bind(channel.to_owned())).await?;
        let pair = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take()?, columns.time()?))
        };
        let mut untold = rows.iter().map(pair).collect::<Result<Vec<(String, Timestamp)>>>()?;
        untold.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        Ok(untold)
    }

    /// They were told, in one notice.
    pub async fn note_told(&self, channel: &str, subjects: Vec<String>) -> Result<()> {
        const DOING: &str = "note what was told";
        let channel = channel.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let query = sqlx::query(TOLD).bind(channel.clone()).bind(tx.now.0).bind(json(&subjects));
                tx.run(DOING, query).await?;
                let before = tx.now.minus(HOUR);
                tx.run(DOING, sqlx::query(PRUNE_TIMES).bind(channel.clone()).bind(before.0)).await?;
                tx.run(DOING, sqlx::query(NOTE_TIME).bind(channel).bind(tx.now.0)).await.map(|_| ())
            })
        })
        .await
    }

    /// When notices were told within the last hour, oldest first.
    pub async fn told_within_an_hour(&self, channel: &str) -> Result<Vec<Timestamp>> {
        let query = sqlx::query(TIMES).bind(channel.to_owned()).bind(self.now().minus(HOUR).0);
        let rows = self.read_all("read when notices were told", query).await?;
        rows.iter().map(|row| Columns::of(row).time()).collect()
    }
}
