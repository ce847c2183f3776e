//! Stores that can only be read: files that the service manager gives, and the daemon's environment.

use std::fs::File;
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;

use super::age_file::disk;
use super::backend::{Backend, Kept, SecretPlace};
use super::{SecretError, SecretValue, Token};
use crate::model::environment::Environment;

/// The variable in which the service manager says where its credentials are.
const DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// Files in `$CREDENTIALS_DIRECTORY`, one each. The service manager guards them.
pub struct Credentials {
    directory: Option<PathBuf>,
}

/// Variables of the daemon's environment, as it was at the start.
pub struct Variables {
    environment: Environment,
}

impl Credentials {
    /// From the captured environment.
    #[must_use]
    pub fn new(environment: &Environment) -> Self {
        Self { directory: environment.get(DIRECTORY).map(PathBuf::from) }
    }

    fn read(&self, entry: &str) -> Result<SecretValue, SecretError> {
        let Some(directory) = &self.directory else {
            let why = format!(
                "the service manager gave this process no credentials (${DIRECTORY} is not set), so there is no \
                 `{entry}`: start workagent as a service with LoadCredential= or SetCredentialEncrypted="
            );
            return Err(SecretError::Unavailable { why });
        };
        let is_name = !entry.contains('/') && !matches!(entry, "" | "." | "..");
        let path = directory.join(entry);
        if !is_name || !path.exists() {
            return Err(SecretError::Missing { name: format!("{} (credential)", entry) });
        }
        let file = File::open(&path).map_err(|error| disk::unavailable("open", &path, &error))?;
        let bytes = disk::read_bounded(&path, file)?;
        text(&path, &bytes)
    }
}

fn text(path: &Path, bytes: &[u8]) -> Result<SecretValue, SecretError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| SecretError::Unavailable { why: format!("{} is not text in UTF-8", path.display()) })?;
    let value = SecretValue::new(text.to_owned());
    if value.expose_to_the_wire().is_empty() {
        return Err(SecretError::Unavailable { why: format!("{} is empty", path.display()) });
    }
    Ok(value)
}

impl Backend for Credentials {
    fn describe(&self) -> String {
        match &self.directory {
            Some(directory) => format!("credentials of the service manager in {}", directory.display()),
            None => "credentials of the service manager, which gave none".to_owned(),
        }
    }

    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>> {
        Box::pin(async move { self.read(&place.entry).map(without_version) })
    }
}

impl Variables {
    /// Of the captured environment.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    /// A variable's value.
    ///
    /// # Errors
    /// [`SecretError::Missing`], also for an empty one.
    pub fn read(&self, name: &str) -> Result<SecretValue, SecretError> {
        let text = self.environment.get(name);
        let text = text.ok_or_else(|| SecretError::Missing { name: format!("${name}") })?;
        Ok(SecretValue::new(text.to_owned()))
    }
}

impl Backend for Variables {
    fn describe(&self) -> String {
        "the daemon's environment".to_owned()
    }

    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>> {
        Box::pin(async move { self.read(&place.entry).map(without_version) })
    }
}

pub(super) fn without_version(value: SecretValue) -> Kept {
    Kept { token: Token { value, version: 0, grant: None }, set_at: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(store: &Credentials, entry: &str, expected: Result<&str, &str>) {
        let read = store.read(entry);
        match (read, expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value.expose_to_the_wire(), expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (other, _) => panic!("{entry}: {other:?}"),
        }
    }

    #[test]
    fn a_credential_is_one_file_and_no_way_out_of_its_directory() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("credentials");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("mail.work"), "canary-a\n").unwrap();
        std::fs::write(inside.join("empty"), "\n").unwrap();
        std::fs::write(inside.join("bytes"), b"\xff\xfe").unwrap();
        std::fs::write(root.path().join("outside"), "canary-b").unwrap();
        let store = Credentials { directory: Some(inside) };
        check(&store, "mail.work", Ok("canary-a"));
        check(&store, "gone", Err("no secret is stored under `gone (credential)`"));
        check(&store, "../outside", Err("no secret is stored"));
        check(&store, "..", Err("no secret is stored"));
        check(&store, "empty", Err("is empty"));
        check(&store, "bytes", Err("not text in UTF-8"));
    }

    #[test]
    fn without_a_service_manager_it_says_how_to_get_one() {
        let store = Credentials::new(&Environment::default());
        check(&store, "mail.work", Err("$CREDENTIALS_DIRECTORY is not set"));
    }
}
