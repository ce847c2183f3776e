//! Errors of the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::model::class::ErrorClass;
use crate::model::ids::CaseId;

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Made by a newer program; the file was not touched.
    #[error(
        "the database {path} was made by a newer workagent ({}schema {found}, this is {} and knows {known})",
        by.as_deref().map(|by| format!("version {by}, ")).unwrap_or_default(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema number.
        found: i64,
        /// Ours.
        known: i64,
        /// The version of the program that wrote in it last, where it says so.
        by: Option<String>,
    },
    /// A migration that already ran has another text now.
    #[error("migration {number} of the database {path} is not the one this program knows")]
    Altered {
        /// The file.
        path: PathBuf,
        /// Which.
        number: i64,
    },
    /// There was one, and it is gone. None was made in its place: that would forget what was answered.
    #[error("the database {path} is gone: {why}")]
    Missing {
        /// Where it is looked for.
        path: PathBuf,
        /// "there was one here", "only its log is left".
        why: String,
    },
    /// A database of another program.
    #[error("the database {path} is not one of workagent: it has the tables {tables}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Some of its tables.
        tables: String,
    },
    /// The integrity check failed.
    #[error("the database {path} is damaged: {detail}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// Nothing with that id.
    #[error("there is no {what}")]
    NotFound {
        /// "draft d12".
        what: String,
    },
    /// The state does not allow it: "action a3 is sent and cannot be cancelled".
    #[error("{why}")]
    Refused {
        /// For people.
        why: String,
    },
    /// The lease was lost: it ran out and somebody else may have taken the case. Nothing was written.
    #[error("the lease on case {0} was lost")]
    LeaseLost(CaseId),
    /// SQLite or the disk.
    #[error("{doing}")]
    Sql {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: sqlx::Error,
    },
    /// The writer is gone (the store was closed).
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// What it means for the next step: only trouble with SQLite or the disk is worth another try.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Sql { .. } => ErrorClass::NETWORK,
            Self::Newer { .. }
            | Self::Altered { .. }
            | Self::Missing { .. }
            | Self::Foreign { .. }
            | Self::Damaged { .. } => ErrorClass::Config,
            Self::NotFound { .. } | Self::Refused { .. } | Self::LeaseLost(_) | Self::Closed => {
                ErrorClass::Permanent
            }
        }
    }

    /// The database cannot be used as it is, and only a person can mend that: trying again is of no use.
    #[must_use]
    pub fn unusable(&self) -> Option<&Path> {
        match self {
            Self::Newer { path, .. }
            | Self::Altered { path, .. }
            | Self::Missing { path, .. }
            | Self::Foreign { path, .. }
            | Self::Damaged { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into() }
    }

    pub(super) fn sql(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Sql { doing, source }
    }

    /// A value in the database that this program cannot read.
    pub(super) fn unreadable(
        doing: &'static str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Sql { doing, source: sqlx::Error::Decode(cause.into()) }
    }
}

/// One cause for every operation of a round that could not be committed.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct SharedCause(pub(super) Arc<sqlx::Error>);

impl SharedCause {
    pub(super) fn error(&self, doing: &'static str) -> StoreError {
        StoreError::Sql { doing, source: sqlx::Error::AnyDriverError(Box::new(self.clone())) }
    }
}
