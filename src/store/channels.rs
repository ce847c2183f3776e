//! Channels: who is paired, what was heard, and by what a message names what it decides.

use super::rows::Columns;
use super::writer::Tx;
use super::{Result, Store};
use crate::model::channel::Paired;
use crate::model::limits;
use crate::model::time::Timestamp;

const PAIRED: &str = "SELECT user, address, at FROM pairings WHERE channel = ?1 AND place = ?2";
const PAIR: &str =
    "INSERT OR REPLACE INTO pairings (channel, place, user, address, at) VALUES (?1, ?2, ?3, ?4, ?5)";
const WRONG: &str = "UPDATE pairings SET wrong = CASE WHEN wrong_since > ?2 THEN wrong + 1 ELSE 1 END, \
     wrong_since = CASE WHEN wrong_since > ?2 THEN wrong_since ELSE ?3 END WHERE channel = ?1";
const IS_WRONG: &str = "SELECT 1 FROM pairings WHERE channel = ?1 AND wrong_since > ?2 AND wrong >= ?3";

const CODE: &str = "SELECT until FROM pairing_codes WHERE channel = ?1 AND place = ?2 AND until > ?3";
const CODE_WHOLE: &str = "SELECT digest, until, tries FROM pairing_codes WHERE channel = ?1 AND place = ?2";
const SET_CODE: &str =
    "INSERT OR REPLACE INTO pairing_codes (channel, place, digest, until) VALUES (?1, ?2, ?3, ?4)";
const MISSED: &str = "UPDATE pairing_codes SET tries = tries + 1 WHERE channel = ?1";
const END_CODE: &str = "DELETE FROM pairing_codes WHERE channel = ?1";

const CURSOR: &str = "SELECT cursor FROM channel_cursors WHERE channel = ?1 AND place = ?2";
const SET_CURSOR: &str =
    "INSERT OR REPLACE INTO channel_cursors (channel, place, cursor) VALUES (?1, ?2, ?3)";
const TAKE: &str = "INSERT OR IGNORE INTO channel_messages (channel, message) VALUES (?1, ?2)";
const PRUNE_TAKEN: &str = "DELETE FROM channel_messages WHERE channel = ?1 AND id <= \
     (SELECT id FROM channel_messages WHERE channel = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";

const FORGET: [&str; 5] = [
    "DELETE FROM pairings WHERE channel = ?1",
    "DELETE FROM pairing_codes WHERE channel = ?1",
    "DELETE FROM channel_cursors WHERE channel = ?1",
    "DELETE FROM notice_references WHERE channel = ?1",
    "DELETE FROM notices WHERE channel = ?1",
];

pub(super) const REFERENCE_OF: &str = "SELECT reference FROM notice_references WHERE channel = ?1 AND subject = ?2 \
     AND version = ?3 AND used_at IS NULL";
const REFER: &str = "INSERT OR IGNORE INTO notice_references (channel, reference, subject, version, made_at) \
     VALUES (?1, ?2, ?3, ?4, ?5)";
const PRUNE_REFERENCES: &str = "DELETE FROM notice_references WHERE channel = ?1 AND made_at < ?2";
const REFERRED: &str =
    "SELECT subject, version, used_at FROM notice_references WHERE channel = ?1 AND reference = ?2";
const USE: &str =
    "UPDATE notice_references SET used_at = ?3 WHERE channel = ?1 AND reference = ?2 AND used_at IS NULL";

/// What came of a pairing code that was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingTry {
    /// It was right: whoever said it is the channel's user from here on.
    Paired,
    /// It was not, and so many tries are left.
    Wrong {
        /// Tries left; with none the code has ended.
        left: u32,
    },
    /// It came too late, right or not.
    Late,
    /// No code waits.
    NoCode,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referred {
    /// `draft:12`, `question:7`.
    pub subject: String,
    /// The version that was told: a draft's hash, the time of a question.
    pub version: String,
    /// A decision was made by it.
    pub used: bool,
}

impl Store {
    /// The channel's user, if it was paired in this place.
    pub async fn paired(&self, channel: &str, place: &str) -> Result<Option<Paired>> {
        let query = sqlx::query(PAIRED).bind(channel.to_owned()).bind(place.to_owned());
        let Some(row) = self.read_first("read who a channel is paired with", query).await? else {
            return Ok(None);
        };
        let mut columns = Columns::of(&row);
        Ok(Some(Paired { user: columns.take()?, address: columns.take()?, at: columns.time()? }))
    }

    /// Until when a pairing code waits there, if one does.
    pub async fn pairing_until(&self, channel: &str, place: &str) -> Result<Option<Timestamp>> {
        let query = sqlx::query(CODE).bind(channel.to_owned()).bind(place.to_owned()).bind(self.now().0);
        match self.read_first("read whether a channel is being paired", query).await? {
            Some(row) => Columns::of(&row).time().map(Some),
            None => Ok(None),
        }
    }

    /// A pairing code waits from here on; an earlier one ends. Gives until when.
    pub async fn begin_pairing(&self, channel: &str, place: &str, digest: String) -> Result<Timestamp> {
        const DOING: &str = "note a pairing code";
        let (channel, place) = (channel.to_owned(), place.to_owned());
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let until = tx.now.plus(limits::PAIRING_TIME);
                let query = sqlx::query(SET_CODE).bind(channel).bind(place).bind(digest).bind(until.0);
                tx.run(DOING, query).await?;
                tx.wake.notices = true;
                Ok(until)
            })
        })
        .await
    }

    /// Somebody said something that has the form of a pairing code.
    pub async fn try_pairing(
        &self,
        channel: &str,
        place: &str,
        digest: String,
        who: &Paired,
    ) -> Result<PairingTry> {
        let (channel, place, who) = (channel.to_owned(), place.to_owned(), who.clone());
        self.write("try a pairing code", move |tx| Box::pin(try_code(tx, channel, place, digest, who))).await
    }

    /// Nobody is the channel's user any more; what it told is void. Says whether somebody was.
    pub async fn unpair(&self, channel: &str) -> Result<bool> {
        const DOING: &str = "unpair a channel";
        let channel = channel.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let mut gone = 0;
                for (nth, sql) in FORGET.into_iter().enumerate() {
                    let rows = tx.run(DOING, sqlx::query(sql).bind(channel.clone())).await?;
                    gone += if nth == 0 { rows } else { 0 };
                }
                tx.wake.notices = true;
                Ok(gone > 0)
            })
        })
        .await
    }

    /// How far a channel was heard in this place.
    pub async fn channel_cursor(&self, channel: &str, place: &str) -> Result<Option<String>> {
        let query = sqlx::query(CURSOR).bind(channel.to_owned()).bind(place.to_owned());
        match self.read_first("read how far a channel was heard", query).await? {
            Some(row) => Columns::of(&row).take().map(Some),
            None => Ok(None),
        }
    }

    /// It was heard up to here.
    pub async fn set_channel_cursor(&self, channel: &str, place: &str, cursor: &str) -> Result<()> {
        const DOING: &str = "note how far a channel was heard";
        let query =
            sqlx::query(SET_CURSOR).bind(channel.to_owned()).bind(place.to_owned()).bind(cursor.to_owned());
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }

    /// Takes a message; `false`: it was taken before.
    pub async fn take_message(&self, channel: &str, message: &str) -> Result<bool> {
        const DOING: &str = "take a message of a channel";
        let (channel, message) = (channel.to_owned(), message.to_owned());
        let kept = i64::try_from(limits::CHANNEL_HEARD_MAX).unwrap_or(i64::MAX);
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let fresh = tx.run(DOING, sqlx::query(TAKE).bind(channel.clone()).bind(message)).await? > 0;
                if fresh {
                    tx.run(DOING, sqlx::query(PRUNE_TAKEN).bind(channel).bind(kept)).await?;
                }
                Ok(fresh)
            })
        })
        .await
    }

    /// The reference to this version of a subject: the one that is open, or the first of `candidates` that is free. `None`:
    /// none is.
    pub async fn refer(
        &self,
        channel: &str,
        subject: &str,
        version: &str,
        candidates: Vec<String>,
    ) -> Result<Option<String>> {
        const DOING: &str = "make a reference for a notice";
        let (channel, subject, version) = (channel.to_owned(), subject.to_owned(), version.to_owned());
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let query = sqlx::query(REFERENCE_OF);
                let query = query.bind(channel.clone()).bind(subject.clone()).bind(version.clone());
                if let Some(row) = tx.first(DOING, query).await? {
                    return Columns::of(&row).take().map(Some);
                }
                let before = tx.now.minus(limits::CHANNEL_REFERENCE_AGE_MAX);
                tx.run(DOING, sqlx::query(PRUNE_REFERENCES).bind(channel.clone()).bind(before.0)).await?;
                for candidate in candidates {
                    let query = sqlx::query(REFER).bind(channel.clone()).bind(candidate.clone());
                    let query = query.bind(subject.clone()).bind(version.clone()).bind(tx.now.0);
                    if tx.run(DOING, query).await? > 0 {
                        return Ok(Some(candidate));
                    }
                }
                Ok(None)
            })
        })
        .await
    }

    /// What a reference of this channel names.
    pub async fn referred(&self, channel: &str, reference: &str) -> Result<Option<Referred>> {
        let query = sqlx::query(REFERRED).bind(channel.to_owned()).bind(reference.to_owned());
        let Some(row) = self.read_first("read what a reference names", query).await? else { return Ok(None) };
        let mut columns = Columns::of(&row);
        let (subject, version) = (columns.take()?, columns.take()?);
        Ok(Some(Referred { subject, version, used: columns.maybe_time()?.is_some() }))
    }

    /// A decision was made by this reference.
    pub async fn use_reference(&self, channel: &str, reference: &str) -> Result<()> {
        const DOING: &str = "note that a reference was used";
        let query = sqlx::query(USE).bind(channel.to_owned()).bind(reference.to_owned()).bind(self.now().0);
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }

    /// A reference was said that there is not.
    pub async fn wrong_reference(&self, channel: &str) -> Result<()> {
        const DOING: &str = "count a wrong reference";
        let now = self.now();
        let query = sqlx::query(WRONG).bind(channel.to_owned());
        let query = query.bind(now.minus(HOUR).0).bind(now.0);
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }

    /// So many wrong references were said within the hour that none is taken for the rest of it.
    pub async fn is_guessed(&self, channel: &str) -> Result<bool> {
        let query = sqlx::query(IS_WRONG).bind(channel.to_owned()).bind(self.now().minus(HOUR).0);
        let query = query.bind(i64::from(limits::CHANNEL_WRONG_MAX));
        Ok(self.read_first("read how often a wrong reference was said", query).await?.is_some())
    }
}

const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

async fn try_code(
    tx: &mut Tx,
    channel: String,
    place: String,
    digest: String,
    who: Paired,
) -> Result<PairingTry> {
    const DOING: &str = "try a pairing code";
    let query = sqlx::query(CODE_WHOLE).bind(channel.clone()).bind(place.clone());
    let Some(row) = tx.first(DOING, query).await? else { return Ok(PairingTry::NoCode) };
    let mut columns = Columns::of(&row);
    let (right, until, tries): (String, Timestamp, i64) = (columns.take()?, columns.time()?, columns.take()?);
    if until <= tx.now {
        tx.run(DOING, sqlx::query(END_CODE).bind(channel)).await?;
        return Ok(PairingTry::Late);
    }
    if right == digest {
        tx.run(DOING, sqlx::query(END_CODE).bind(channel.clone())).await?;
        // What was told to the one before is void.
        for sql in FORGET.into_iter().skip(3) {
            tx.run(DOING, sqlx::query(sql).bind(channel.clone())).await?;
        }
        let query = sqlx::query(PAIR).bind(channel).bind(place).bind(who.user).bind(who.address);
        tx.run(DOING, query.bind(tx.now.0)).await?;
        tx.wake.notices = true;
        return Ok(PairingTry::Paired);
    }
    let tries = u32::try_from(tries).unwrap_or(u32::MAX).saturating_add(1);
    let left = limits::PAIRING_TRIES_MAX.saturating_sub(tries);
    let sql = if left == 0 { END_CODE } else { MISSED };
    tx.run(DOING, sqlx::query(sql).bind(channel)).await?;
    Ok(PairingTry::Wrong { left })
}
