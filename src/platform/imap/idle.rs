//! Waiting for news: IDLE (RFC 2177) on a connection of its own.

use std::time::{Duration, Instant};

use async_imap::imap_proto::{MailboxDatum, Response};

use super::cursor::Position;
use super::name::WireName;
use super::session::Session;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::Cursor;
use crate::model::limits::IMAP_ANSWER_BYTES_MAX;

/// A connection that waits. It outlives the wait for it: whoever gives up waiting and comes back later finds it where
/// it was.
#[derive(Debug)]
pub struct Watch {
    session: Session,
    mailbox: WireName,
    /// IDLE is begun anew this often.
    renew: Duration,
    exists: u32,
    idling: Option<Idling>,
}

#[derive(Debug)]
struct Idling {
    tag: String,
    since: Instant,
}

const DOING: &str = "wait for new mail";

impl Watch {
    /// A watch over a mailbox, not yet waiting.
    #[must_use]
    pub fn new(session: Session, mailbox: WireName, renew: Duration) -> Self {
        Self { session, mailbox, renew, exists: 0, idling: None }
    }

    /// The server can tell of news.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.session.wire.can("IDLE")
    }

    /// Resolves when the mailbox holds something behind `cursor`, or grows. May be dropped and called again.
    ///
    /// # Errors
    /// Class `Network` when the connection is dead: the watch is of no more use then.
    pub async fn wait(&mut self, cursor: Option<&Cursor>) -> Result<(), PortError> {
        loop {
            let idling = match self.idling.take() {
                Some(idling) => self.idling.insert(idling),
                None => {
                    if self.open_mailbox(cursor).await? {
                        return Ok(());
                    }
                    let tag = self.session.wire.begin(DOING, "IDLE", IMAP_ANSWER_BYTES_MAX).await?;
                    self.idling.insert(Idling { tag, since: Instant::now() })
                }
            };
            let left = self.renew.saturating_sub(idling.since.elapsed());
            if left.is_zero() {
                self.end().await?;
            } else if self.news(left).await? {
                self.end().await?;
                return Ok(());
            }
        }
    }

    /// Opens the mailbox anew; true if there is something behind the cursor. What came between the last poll and now
    /// would not be told by IDLE.
    async fn open_mailbox(&mut self, cursor: Option<&Cursor>) -> Result<bool, PortError> {
        let mailbox = self.session.examine(&self.mailbox).await?;
        self.exists = mailbox.exists;
        let stored = cursor.and_then(|cursor| serde_json::from_str::<Position>(&cursor.0).ok());
        Ok(stored.is_some_and(|position| {
            position.uidvalidity != mailbox.uid_validity
                || mailbox.uid_next.is_some_and(|uid_next| uid_next > position.uid_next)
        }))
    }

    /// One answer of the server, or none within `limit`; true if the mailbox grew.
    async fn news(&mut self, limit: Duration) -> Result<bool, PortError> {
        let exists = &mut self.exists;
        let news = self.session.wire.read_if_any(DOING, limit, |answer| match answer {
            Response::MailboxData(MailboxDatum::Exists(count)) => {
                let grew = *count > *exists;
                *exists = *count;
                Ok(grew)
            }
            Response::Expunge(_) => {
                *exists = exists.saturating_sub(1);
                Ok(false)
            }
            Response::Done { .. } => {
                Err(PortError::caused(ErrorClass::NETWORK, DOING, "the server ended the wait"))
            }
            _ => Ok(false),
        });
        news.await?.unwrap_or(Ok(false))
    }

    /// Ends IDLE and reads its end: a dead connection shows here.
    async fn end(&mut self) -> Result<(), PortError> {
        if let Some(idling) = self.idling.take() {
            self.session.wire.send(DOING, b"DONE\r\n").await?;
            self.session.wire.finish(DOING, &idling.tag, |_| ()).await?;
        }
        Ok(())
    }

    /// Can it be waited on again?
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.idling.is_some() || self.session.wire.is_clean()
    }
}
