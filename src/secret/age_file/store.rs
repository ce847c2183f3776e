//! The encrypted file as one of the stores. Its work blocks, shortly with a key file and noticeably with a passphrase.

use futures_util::future::BoxFuture;

use super::super::backend::{Backend, Change, Kept, SecretPlace};
use super::super::{SecretError, SetError, SetOutcome};
use super::AgeFile;

impl AgeFile {
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, SetError> + Send + 'static,
    ) -> Result<T, SetError> {
        let file = self.clone();
        let done = tokio::task::spawn_blocking(move || work(file)).await;
        done.unwrap_or_else(|error| {
            Err(SecretError::Unavailable { why: format!("the secret file's work fell over: {error}") }.into())
        })
    }
}

impl Backend for AgeFile {
    fn describe(&self) -> String {
        Self::describe(self)
    }

    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>> {
        Box::pin(self.kept(&place.entry))
    }

    fn put<'a>(
        &'a self,
        place: &'a SecretPlace,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<SetOutcome>, SetError>> {
        let entry = place.entry.clone();
        let Change { value, grant, over, now } = change;
        Box::pin(self.apart(move |file| match (over, grant) {
            (Some(version), grant) => file.renew(&entry, version, &value, grant, now),
            (None, Some(grant)) => file.set_token(&entry, &value, grant, now).map(Some),
            (None, None) => file.set(&entry, &value, now).map(Some),
        }))
    }

    fn remove<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<bool, SetError>> {
        let entry = place.entry.clone();
        Box::pin(self.apart(move |file| Ok(file.remove(&entry)?)))
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<String>, SecretError>> {
        let listed = self.apart(|file| Ok(file.list()?.into_iter().map(|entry| entry.name).collect()));
        Box::pin(async {
            listed.await.map_err(|error| match error {
                SetError::Store(error) => error,
                SetError::Refused { why } => SecretError::Unavailable { why },
            })
        })
    }
}
