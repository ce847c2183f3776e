//! Replaces one secret: by its schedule, or when a person says so. Whatever fails on the way, the old value stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::former::{retire_of, told};
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::limits::SECRET_BYTES_MAX;
use crate::model::live::Live;
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Clock, Timestamp};
use crate::platform::oauth::renew::Asker;
use crate::secret::backend::Kept;
use crate::secret::due::{Due, is_to_be_replaced};
use crate::secret::places::filled;
use crate::secret::program::Asked;
use crate::secret::scrub::Scrubber;
use crate::secret::secrets::Secrets;
use crate::secret::{SecretError, SecretStore as _, SecretValue};
use crate::store::{Rotation, Store};
use crate::unit::plan::{NewValue, Plan, SecretBackend, SecretUnit, Standing};

/// What replaces secrets.
pub struct Rotator {
    parts: RotatorParts,
    plan: Live<Watched>,
}

/// A plan, and what of it a look goes over: read off once, since looks are many and plans are large.
pub(super) struct Watched {
    plan: Arc<Plan>,
    /// The units of secrets that are to be replaced some day, each with the name that others know it by.
    pub(super) replaced: Vec<(Arc<SecretUnit>, String)>,
    /// Who reads what, as [`Plan::secret_users`].
    pub(super) users: BTreeMap<String, BTreeSet<String>>,
}

impl Watched {
    fn of(plan: Arc<Plan>) -> Self {
        let users = plan.secret_users();
        let active = plan.secrets.values().filter_map(|standing| match standing {
            Standing::Active(unit) if is_to_be_replaced(unit) => Some(Arc::clone(unit)),
            _ => None,
        });
        let named = |unit: Arc<SecretUnit>| {
            let by_entry = !users.contains_key(&unit.name) && users.contains_key(&unit.entry);
            let name = if by_entry { unit.entry.clone() } else { unit.name.clone() };
            (unit, name)
        };
        let replaced = active.map(named).collect();
        Self { plan, replaced, users }
    }
}

/// What a rotator is made of.
pub struct RotatorParts {
    /// Where secrets are kept.
    pub secrets: Secrets,
    /// To ask for tokens.
    pub http: HttpRoom,
    /// Where each try is noted.
    pub store: Store,
    /// Masks what is told.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
}

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// The version that is stored since; 0 where its store counts none.
    pub version: u32,
}

/// Why a secret was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// It has no unit that is on, or one that leaves it to the user.
    #[error("{why}")]
    NotSaid {
        /// For people.
        why: String,
        /// What to do.
        hint: String,
    },
    /// It was tried; the old value stays.
    #[error("{why}")]
    Failed {
        /// For people; no value in it.
        why: String,
    },
}

impl Rotator {
    /// For the secrets of a plan.
    #[must_use]
    pub fn new(parts: RotatorParts, plan: Arc<Plan>) -> Self {
        Self { parts, plan: Live::new(Watched::of(plan)) }
    }

    /// Goes on with another plan.
    pub fn adopt(&self, plan: Arc<Plan>) {
        self.plan.set(Watched::of(plan));
    }

    pub(super) fn watched(&self) -> Arc<Watched> {
        self.plan.get()
    }

    /// The plan that counts now.
    #[must_use]
    pub fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan.get().plan)
    }

    /// Where secrets are kept.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.parts.secrets
    }

    pub(super) fn store(&self) -> &Store {
        &self.parts.store
    }

    pub(super) fn scrubber(&self) -> &Scrubber {
        &self.parts.scrubber
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// When a secret ends and is to be replaced.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn due(&self, unit: &SecretUnit, name: &str) -> Result<Due, SecretError> {
        let place = self.parts.secrets.place(name)?;
        if place.backend == SecretBackend::Command {
            // A program tells no age, and may ask a person.
            return Ok(Due::of(unit, None, None));
        }
        let Kept { token, set_at } = self.parts.secrets.kept(name).await?;
        // What is renewed by itself has no end that anybody need know.
        let login_ends =
            token.grant.filter(|grant| grant.refresh.is_none()).and_then(|grant| grant.expires_at);
        Ok(Due::of(unit, set_at, login_ends))
    }

    /// The last try, if one is known.
    pub async fn last(&self, name: &str) -> Option<Rotation> {
        let known = self.parts.store.rotations(name, 1).await;
        known.unwrap_or_default().into_iter().next()
    }

    /// Replaces a secret now, as its unit says, and notes it.
    ///
    /// # Errors
    /// See [`RotateError`].
    pub async fn rotate(&self, name: &str) -> Result<Rotated, RotateError> {
        let plan = self.plan();
        let unit = match plan.secret_unit(name) {
            Some(Standing::Active(unit)) => Arc::clone(unit),
            Some(Standing::Off(off)) => {
                return Err(RotateError::NotSaid {
                    why: format!("the unit of the secret {name} is off: {}", off.reason),
                    hint: "workagent validate".to_owned(),
                });
            }
            None => return Err(by_hand(name)),
        };
        let turn = self.parts.secrets.renewing(name);
        let (how, came) = match &unit.how {
            NewValue::Ask => return Err(by_hand(name)),
            NewValue::OAuth => ("oauth", self.by_login(&unit, name).await),
            NewValue::Command { command, give_old, .. } => {
                let _one_at_a_time = turn.lock().await;
                ("command", self.by_program(&unit, name, command, *give_old).await)
            }
        };
        let came = came.map_err(|why| self.parts.scrubber.scrub(&why).into_owned());
        let (version, detail) = match &came {
            Ok(version) => (Some(*version), "replaced".to_owned()),
            Err(why) => (None, why.clone()),
        };
        match &came {
            Ok(version) => tracing::info!(secret = name, version, how, "the secret was replaced"),
            Err(why) => tracing::warn!(secret = name, how, "not replaced, the old value stays: {why}"),
        }
        let rotation =
            Rotation { secret: name.to_owned(), at: self.now(), version, how: how.to_owned(), detail };
        if let Err(error) = self.parts.store.note_rotation(rotation).await {
            tracing::warn!(secret = name, "{}", chain(&error));
        }
        came.map(|version| Rotated { version }).map_err(|why| RotateError::Failed { why })
    }

    async fn by_login(&self, unit: &SecretUnit, name: &str) -> Result<u32, String> {
        let RotatorParts { secrets, http, clock, .. } = &self.parts;
        let reference = SecretRef::Stored(name.to_owned());
        let full = format!("{}.secret", unit.name);
        let asker = Asker { http, secrets, clock, unit: &full };
        let told = |error: PortError| match error.class {
            ErrorClass::Auth => format!("{}; log in again: workagent secret login CONNECTOR", chain(&error)),
            _ => chain(&error),
        };
        let token = secrets.token(&reference).await.map_err(|error| error.to_string())?;
        let renewed = asker.after_refusal(&reference, &token).await.map_err(told)?;
        match renewed {
            Some(new) if new.version != token.version => Ok(new.version),
            Some(_) => Err("the new token could not be kept".to_owned()),
            None => {
                Err("no login gave the present value, so none can renew it: workagent secret login"
                    .to_owned())
            }
        }
    }

    async fn by_program(
        &self,
        unit: &SecretUnit,
        name: &str,
        command: &[String],
        give_old: bool,
    ) -> Result<u32, String> {
        let secrets = &self.parts.secrets;
        let old = match secrets.kept(name).await {
            Ok(kept) => Some(kept.token),
            // The first value may come from there too.
            Err(SecretError::Missing { .. }) => None,
            Err(error) => return Err(error.to_string()),
        };
        let retire = retire_of(unit);
        if let (Some(retire), Some(_)) = (retire, &old) {
            // There is room for one: two of three values in service would be one too many.
            self.retire(unit, name, retire)
                .await
                .map_err(|why| format!("the value before it is still in service: {why}"))?;
        }
        let command = filled(command, &unit.entry);
        let stdin = old.as_ref().map(|old| &old.value).filter(|_| give_old);
        let asked = Asked { command: &command, pass: &unit.pass, stdin };
        let new = secrets.print(asked).await.map_err(|error| match error {
            // The program is at fault, and not a store.
            SecretError::Unavailable { why } | SecretError::NeedsUnlock { why } => why,
            error @ SecretError::Missing { .. } => error.to_string(),
        })?;
        check(&new, old.as_ref().map(|old| &old.value))?;
        let over = old.as_ref().map(|old| old.version);
        // Before the new one takes its place: after a crash between the two nothing is lost.
        let former = old.filter(|_| retire.is_some());
        let is_kept = former.is_some();
        if let Some(former) = former {
            secrets.keep_former(name, former.value).await.map_err(|error| told(&error))?;
        }
        match secrets.put(name, new, None, over).await {
            Ok(Some(outcome)) => Ok(outcome.version),
            failed => {
                if is_kept && let Err(error) = secrets.forget_former(name).await {
                    tracing::warn!(secret = name, "{}", told(&error));
                }
                match failed {
                    Err(error) => Err(told(&error)),
                    Ok(_) => Err("somebody stored another value meanwhile, which stays".to_owned()),
                }
            }
        }
    }
}

/// A new value that is none.
fn check(new: &SecretValue, old: Option<&SecretValue>) -> Result<(), String> {
    let text = new.expose_to_the_wire();
    if old.is_some_and(|old| old.expose_to_the_wire() == text) {
        return Err("the program printed the value that is there already".to_owned());
    }
    if text.contains('\n') {
        return Err("the program printed more than one line".to_owned());
    }
    if text.len() > SECRET_BYTES_MAX {
        return Err("the program printed too much".to_owned());
    }
    Ok(())
}

fn by_hand(name: &str) -> RotateError {
    RotateError::NotSaid {
        why: format!("nothing says where a new value of {name} comes from but you"),
        hint: format!("workagent secret set {name}"),
    }
}
