//! All places secret values come from, as one store. Everything read through it is masked from then on.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::age_file::{AgeFile, Keys};
use super::{Grant, Scrubber, SecretError, SecretStore, SecretValue, SetError, Token};
use crate::model::environment::Environment;
use crate::model::secret_ref::SecretRef;
use crate::model::time::Timestamp;

/// The age file and the daemon's environment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Secrets {
    file: AgeFile,
    environment: Environment,
    scrubber: Scrubber,
}

impl Secrets {
    /// Opens nothing: the file is read at the first use, and again whenever it changed.
    ///
    /// `file` is the encrypted file, `key_file` the key it is opened with unless the environment names a passphrase.
    #[must_use]
    pub fn new(file: PathBuf, key_file: PathBuf, environment: Environment, scrubber: Scrubber) -> Self {
        let keys = Keys::from_environment(key_file, &environment);
        Self { file: AgeFile::new(file, keys, scrubber.clone()), environment, scrubber }
    }

    /// As the rooms take it.
    #[must_use]
    pub fn shared(self) -> Arc<dyn SecretStore> {
        Arc::new(self)
    }

    /// The file, for `secret set|list|remove`.
    #[must_use]
    pub fn file(&self) -> &AgeFile {
        &self.file
    }

    /// What masks the values read here.
    #[must_use]
    pub fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }
}

impl SecretStore for Secrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move {
            match reference {
                SecretRef::Stored(name) => self.file.read(name).await,
                SecretRef::Env(name) => {
                    let text = self.environment.get(name);
                    let text = text.ok_or_else(|| SecretError::Missing { name: reference.to_string() })?;
                    let value = SecretValue::new(text.to_owned());
                    self.scrubber.register(&value);
                    Ok(value)
                }
            }
        })
    }

    fn token<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        Box::pin(async move {
            match reference {
                SecretRef::Stored(name) => self.file.token(name).await,
                SecretRef::Env(_) => {
                    Ok(Token { value: self.read(reference).await?, version: 0, grant: None })
                }
            }
        })
    }

    fn renew<'a>(
        &'a self,
        name: &'a str,
        version: u32,
        value: SecretValue,
        grant: Grant,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, SetError>> {
        Box::pin(async move {
            let (file, name) = (self.file.clone(), name.to_owned());
            let work = tokio::task::spawn_blocking(move || file.renew(&name, version, &value, grant, now));
            work.await.unwrap_or_else(|error| {
                Err(SetError::Store(SecretError::Unavailable { why: format!("the store gave up: {error}") }))
            })
        })
    }

    fn renewing(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        self.file.renewing(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Timestamp;

    fn secrets(root: &tempfile::TempDir, environment: &[(&str, &str)]) -> Secrets {
        let environment = Environment::of(environment.iter().copied());
        Secrets::new(root.path().join("s.age"), root.path().join("key"), environment, Scrubber::new())
    }

    async fn read(secrets: &Secrets, reference: SecretRef) -> Result<String, String> {
        let value = secrets.read(&reference).await;
        value.map(|value| value.expose_to_the_wire().to_owned()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn reads_the_captured_environment_and_masks_what_it_read() {
        let root = tempfile::tempdir().unwrap();
        let secrets = secrets(&root, &[("TOKEN", "canary-from-env"), ("EMPTY", "")]);
        assert_eq!(secrets.scrubber().scrub("canary-from-env"), "canary-from-env");
        assert_eq!(read(&secrets, SecretRef::Env("TOKEN".into())).await, Ok("canary-from-env".into()));
        assert_eq!(secrets.scrubber().scrub("canary-from-env"), "[masked]");
        for name in ["EMPTY", "NOT_THERE"] {
            let expected = Err(format!("no secret is stored under `${name}`"));
            assert_eq!(read(&secrets, SecretRef::Env(name.into())).await, expected);
        }
    }

    #[tokio::test]
    async fn reads_the_file_and_masks_all_of_it() {
        let root = tempfile::tempdir().unwrap();
        let one = secrets(&root, &[]);
        one.file().set("mail/work", &SecretValue::new("canary-a".into()), Timestamp(1)).unwrap();
        one.file().set("other", &SecretValue::new("canary-b".into()), Timestamp(1)).unwrap();
        let other = secrets(&root, &[]);
        assert_eq!(read(&other, SecretRef::Stored("mail/work".into())).await, Ok("canary-a".into()));
        assert_eq!(other.scrubber().scrub("canary-a canary-b"), "[masked] [masked]");
        let expected = Err("no secret is stored under `mail/home`".to_owned());
        assert_eq!(read(&other, SecretRef::Stored("mail/home".into())).await, expected);
    }
}
