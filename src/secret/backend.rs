//! What every store of secrets can do, whatever it is made of.

use futures_util::future::BoxFuture;

use super::{Grant, SecretError, SecretValue, SetError, SetOutcome, Token};
use crate::model::time::Timestamp;
use crate::unit::plan::SecretBackend;

/// Where one secret is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPlace {
    /// In which store.
    pub backend: SecretBackend,
    /// Under which name there.
    pub entry: String,
    /// For programs.
    pub program: Option<Program>,
}

/// A program that prints a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Variables that it gets beside the usual ones.
    pub pass: Vec<String>,
    /// What it gave is believed for so long.
    pub keep: std::time::Duration,
}

/// A value as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The value, with what renews it; version 0 where the store has none.
    pub token: Token,
    /// When it was set, where the store knows.
    pub set_at: Option<Timestamp>,
}

/// What is to be put into a store.
#[derive(Clone, Debug)]
pub struct Change {
    /// The value.
    pub value: SecretValue,
    /// What renews it.
    pub grant: Option<Grant>,
    /// Only in the place of this version.
    pub over: Option<u32>,
    /// Now.
    pub now: Timestamp,
}

/// A store of secrets. Every call ends within a bounded time.
pub trait Backend: Send + Sync {
    /// For people: "encrypted file …, opened by …".
    fn describe(&self) -> String;

    /// The value that is kept there now.
    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>>;

    /// Puts a value there and reads it back; `None`, and nothing done, where [`Change::over`] is not the version any
    /// more. After an error the old value is still there.
    fn put<'a>(
        &'a self,
        place: &'a SecretPlace,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<SetOutcome>, SetError>> {
        drop(change);
        Box::pin(async move { Err(read_only(place, "set")) })
    }

    /// Takes it away; `false` when there was none.
    fn remove<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<bool, SetError>> {
        Box::pin(async move { Err(read_only(place, "removed")) })
    }

    /// The names it holds; empty where it cannot say.
    fn names(&self) -> BoxFuture<'_, Result<Vec<String>, SecretError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Whatever is remembered of an earlier look is forgotten.
    fn forget(&self) {}
}

fn read_only(place: &SecretPlace, what: &str) -> SetError {
    let where_from = match place.backend {
        SecretBackend::Command => "comes from a program; change it there",
        SecretBackend::Credentials => {
            "is given by the service manager; change it there and restart the daemon"
        }
        _ => "comes from the daemon's environment; change it there and restart the daemon",
    };
    SetError::Refused { why: format!("it cannot be {what} from here: it {where_from}") }
}
