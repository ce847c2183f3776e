//! Pairing: a code is shown here and said there, or shown there and typed here. Either way whoever holds both ends is the
//! channel's one user.

use super::{ChannelLoop, lock};
use crate::channel::Hearing;
use crate::model::channel::{self, Message, Notice, PAIRING_LEN, Paired};
use crate::model::class::{ErrorClass, PortError};
use crate::model::cycle::ChannelSummary;
use crate::model::text::digest;
use crate::model::time::Timestamp;
use crate::secret::random::random_bytes;
use crate::store::{PairingTry, StoreError};
use crate::supervise::Fault;

/// Who is behind a channel on which nobody speaks.
const READER: &str = "whoever reads it";

/// In which direction the code goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Shown here, said on the channel.
    Said,
    /// Told on the channel, typed here.
    Typed,
}

/// A pairing that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The code, where it is shown here.
    pub code: Option<String>,
    /// Until when it holds.
    pub until: Timestamp,
}

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingStanding {
    /// Where it leads.
    pub place: String,
    /// Its user.
    pub paired: Option<Paired>,
    /// Until when a code waits.
    pub until: Option<Timestamp>,
}

impl ChannelLoop {
    /// In which direction its codes go.
    #[must_use]
    pub fn way(&self) -> Way {
        if self.channel.hearing() == Hearing::Deaf { Way::Typed } else { Way::Said }
    }

    /// Makes a code; one that waited before ends. Where nothing comes back, the code is told on the channel.
    ///
    /// # Errors
    /// The record, or the channel that should tell it.
    pub async fn begin_pairing(&self) -> Result<Begun, PortError> {
        let place = self.channel.place();
        let code = random_code(PAIRING_LEN);
        let until = self
            .store
            .begin_pairing(&self.unit.name, &place, self.digest(&place, &code))
            .await
            .map_err(|error| PortError::caused(ErrorClass::NETWORK, "note the pairing code", error))?;
        let shown = channel::shown_code(&code);
        // A pass that has just looked is to look again.
        *lock(&self.looked) = None;
        if self.way() == Way::Said {
            return Ok(Begun { code: Some(shown), until });
        }
        let text = format!(
            "To pair this channel type, within ten minutes:\n\nworkagent pair {} {shown}",
            self.unit.name
        );
        let notice = Notice::plain(format!("pair-{}", until.0), "workagent: pairing code", text);
        self.channel.tell(&notice, "").await?;
        Ok(Begun { code: None, until })
    }

    /// The code that was read on the channel is typed here.
    ///
    /// # Errors
    /// The record.
    pub async fn confirm_pairing(&self, code: &str) -> Result<PairingTry, StoreError> {
        let place = self.channel.place();
        let code = channel::pairing_code(code).unwrap_or_default();
        let who = Paired { user: READER.to_owned(), address: String::new(), at: self.clock.now() };
        self.store.try_pairing(&self.unit.name, &place, self.digest(&place, &code), &who).await
    }

    /// Nobody is its user any more. Says whether somebody was.
    ///
    /// # Errors
    /// The record.
    pub async fn unpair(&self) -> Result<bool, StoreError> {
        self.store.unpair(&self.unit.name).await
    }

    /// How it stands.
    ///
    /// # Errors
    /// The record.
    pub async fn standing(&self) -> Result<PairingStanding, StoreError> {
        let place = self.channel.place();
        let paired = self.store.paired(&self.unit.name, &place).await?;
        let until = self.store.pairing_until(&self.unit.name, &place).await?;
        Ok(PairingStanding { place, paired, until })
    }

    /// A message that may be a pairing code. `true`: it was one, right or wrong, and is done with.
    pub(super) async fn try_code(
        &self,
        place: &str,
        message: &Message,
        summary: &mut ChannelSummary,
    ) -> Result<bool, Fault> {
        let Some(code) = channel::pairing_code(&message.text) else { return Ok(false) };
        let (user, address) = (message.user.clone(), message.address.clone());
        let who = Paired { user, address, at: self.clock.now() };
        let tried = self.store.try_pairing(&self.unit.name, place, self.digest(place, &code), &who).await;
        let tried = tried.map_err(|error| super::store_fault("try a pairing code", &error))?;
        match tried {
            PairingTry::NoCode => return Ok(false),
            PairingTry::Paired => {
                tracing::info!(unit = self.name, "paired with {}", who.user);
                let text = "This channel is paired: what waits for you is told here from now on.";
                self.say(&who.address, &format!("paired-{}", message.id), text.to_owned()).await;
            }
            // Whoever tries is told nothing.
            PairingTry::Wrong { left } => {
                summary.refused += 1;
                tracing::warn!(
                    unit = self.name,
                    "a wrong pairing code from {}; tries left: {left}",
                    who.user
                );
            }
            PairingTry::Late => {
                summary.refused += 1;
                tracing::warn!(unit = self.name, "a pairing code came too late, from {}", who.user);
            }
        }
        Ok(true)
    }

    /// Of the code only this is kept.
    fn digest(&self, place: &str, code: &str) -> String {
        digest(&[self.unit.name.as_bytes(), place.as_bytes(), code.as_bytes()])
    }
}

/// Letters that nobody can guess.
pub(super) fn random_code(len: usize) -> String {
    loop {
        // Of 32 bytes so many are fair that this is hardly ever asked twice.
        if let Some(code) = channel::code(&random_bytes(), len) {
            return code;
        }
    }
}
