//! Stops that a person asked for, kept over restarts.

use super::rows::{Columns, json};
use super::{Result, Store, writer};
use crate::model::pause::{Pause, Pauses};

const DOING: &str = "end all pauses";

/// The flag of all, and in front of a unit's name that of the unit.
const ALL: &str = "paused";

/// `:` and the character behind it bound the range of the units' flags.
pub(super) const PAUSES: &str =
    "SELECT name, value FROM flags WHERE name = 'paused' OR (name > 'paused:' AND name < 'paused;')";

const END_ALL: &str = "DELETE FROM flags WHERE name = 'paused' OR (name > 'paused:' AND name < 'paused;')";

fn flag(unit: Option<&str>) -> String {
    unit.map_or_else(|| ALL.to_owned(), |unit| format!("{ALL}:{unit}"))
}

impl Store {
    /// What is stopped now. A stop whose time is over is none.
    pub async fn pauses(&self) -> Result<Pauses> {
        let now = self.now();
        let mut pauses = Pauses::default();
        for row in self.read_all("read what is paused", sqlx::query(PAUSES)).await? {
            let mut columns = Columns::of(&row);
            let (name, value): (String, String) = (columns.take()?, columns.take()?);
            // Written by an earlier version: the bare moment. It has no end.
            let pause = serde_json::from_str(&value).unwrap_or(Pause { since: now, until: None });
            if pause.until.is_some_and(|until| until <= now) {
                continue;
            }
            match name.split_once(':') {
                Some((_, unit)) => drop(pauses.units.insert(unit.to_owned(), pause)),
                None => pauses.all = Some(pause),
            }
        }
        Ok(pauses)
    }

    /// Stops everything, or one unit by its full name.
    pub async fn pause(&self, unit: Option<&str>, pause: Pause) -> Result<()> {
        self.set_flag(&flag(unit), Some(&json(&pause))).await
    }

    /// Ends the stop of one unit, or all stops.
    pub async fn resume(&self, unit: Option<&str>) -> Result<()> {
        if unit.is_some() {
            return self.set_flag(&flag(unit), None).await;
        }
        self.write_single(DOING, move |tx| {
            Box::pin(async move {
                tx.run(DOING, sqlx::query(END_ALL)).await?;
                // What it starts again is theirs to know.
                tx.wake = writer::Wake::ALL;
                Ok(())
            })
        })
        .await
    }
}
