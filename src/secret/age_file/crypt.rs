//! What opens and closes the secret file: an identity in a key file, or a passphrase.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use age::secrecy::{ExposeSecret, SecretString};
use age::{DecryptError, Decryptor, Encryptor, scrypt, x25519};
use zeroize::Zeroizing;

use super::super::{Scrubber, SecretError, SecretValue};
use super::disk;
use crate::model::environment::Environment;

/// The passphrase itself.
const PASSPHRASE: &str = "WORKAGENT_SECRETS_PASSPHRASE";
/// A file that holds it.
const PASSPHRASE_FILE: &str = "WORKAGENT_SECRETS_PASSPHRASE_FILE";
/// The service credential that holds it.
const CREDENTIAL: &str = "workagent.passphrase";
/// The service credential that is the key, in place of the key file.
const KEY_CREDENTIAL: &str = "workagent.key";

/// scrypt with N = 2^17: takes 128 MiB of memory for a moment, once per change of the file. The daemon must live on small
/// machines.
const WORK_FACTOR: u8 = 17;

/// Files made elsewhere may ask for eight times as much, not for hours.
const WORK_FACTOR_MAX: u8 = 20;

/// What opens the secret file.
#[derive(Clone, Debug)]
pub struct Keys {
    key_file: PathBuf,
    /// The key file is a service credential.
    key_credential: bool,
    passphrase: Option<Passphrase>,
    work_factor: u8,
}

#[derive(Clone, Debug)]
enum Passphrase {
    /// From the environment.
    Value(SecretValue),
    /// Read at each use. A service credential is guarded by the service manager, which may give it group bits.
    File { path: PathBuf, credential: bool },
}

impl Keys {
    /// See [`choose`](Self::choose), with no passphrase file named by the daemon's unit.
    #[must_use]
    pub fn from_environment(key_file: PathBuf, environment: &Environment) -> Self {
        Self::choose(key_file, None, environment)
    }

    /// A passphrase if one is named (by the environment a file first, then the variable; then the daemon's unit; then a
    /// service credential that is there), else the key: a service credential that is there, or the key file.
    #[must_use]
    pub fn choose(key_file: PathBuf, passphrase_file: Option<&Path>, environment: &Environment) -> Self {
        let file = |path: PathBuf, credential| Passphrase::File { path, credential };
        let credential = |name: &str| {
            let path = Path::new(environment.get("CREDENTIALS_DIRECTORY")?).join(name);
            path.exists().then_some(path)
        };
        let passphrase = environment
            .get(PASSPHRASE_FILE)
            .map(|path| file(PathBuf::from(path), false))
            .or_else(|| Some(Passphrase::Value(SecretValue::new(environment.get(PASSPHRASE)?.to_owned()))))
            .or_else(|| passphrase_file.map(|path| file(path.to_owned(), false)))
            .or_else(|| credential(CREDENTIAL).map(|path| file(path, true)));
        let (key_file, key_credential) = match credential(KEY_CREDENTIAL) {
            Some(path) => (path, true),
            None => (key_file, false),
        };
        Self { key_file, key_credential, passphrase, work_factor: WORK_FACTOR }
    }

    /// This passphrase, whatever the environment says.
    pub fn of_passphrase(passphrase: SecretValue) -> Self {
        let passphrase = Some(Passphrase::Value(passphrase));
        Self { key_file: PathBuf::new(), key_credential: false, passphrase, work_factor: WORK_FACTOR }
    }

    /// For people.
    pub fn describe(&self) -> String {
        match &self.passphrase {
            None if self.key_credential => format!("the key in {}", self.key_file.display()),
            None => format!("the key file {}", self.key_file.display()),
            Some(Passphrase::Value(_)) => format!("the passphrase in ${PASSPHRASE}"),
            Some(Passphrase::File { path, .. }) => format!("the passphrase in {}", path.display()),
        }
    }

    /// A passphrase from the environment is a secret too.
    pub fn mask(&self, scrubber: &Scrubber) {
        if let Some(Passphrase::Value(value)) = &self.passphrase {
            scrubber.register(value);
        }
    }

    /// Makes the key file if it is what we close with and it is not there. Where it is.
    pub fn make_if_missing(&self) -> Result<Option<PathBuf>, SecretError> {
        if self.passphrase.is_some() || self.key_file.exists() {
            return Ok(None);
        }
        let identity = x25519::Identity::generate();
        let secret = identity.to_string();
        let text = Zeroizing::new(format!(
            "# Opens workagent's secret file. Keep a copy apart from it; without it the secrets are lost.\n\
             # public key: {}\n{}\n",
            identity.to_public(),
            secret.expose_secret()
        ));
        disk::write_new(&self.key_file, text.as_bytes())?;
        Ok(Some(self.key_file.clone()))
    }

    /// Encrypts for what is configured now.
    pub fn seal(&self, plain: &[u8], scrubber: &Scrubber) -> Result<Vec<u8>, SecretError> {
        let failed = |why: String| SecretError::Unavailable { why: format!("encrypt the secrets: {why}") };
        let seal = |recipient: &dyn age::Recipient| -> io::Result<Vec<u8>> {
            let encryptor =
                Encryptor::with_recipients(std::iter::once(recipient)).map_err(io::Error::other)?;
            let mut sealed = Vec::with_capacity(plain.len() + 1024);
            let mut writer = encryptor.wrap_output(&mut sealed)?;
            writer.write_all(plain)?;
            writer.finish()?;
            Ok(sealed)
        };
        let sealed = match &self.passphrase {
            Some(passphrase) => {
                let mut recipient = scrypt::Recipient::new(passphrase.read(scrubber)?);
                recipient.set_work_factor(self.work_factor);
                seal(&recipient)
            }
            None => match self.identity(scrubber)? {
                Some(identity) => seal(&identity.to_public()),
                None => return Err(failed(format!("there is no key file {}", self.key_file.display()))),
            },
        };
        sealed.map_err(|error| failed(error.to_string()))
    }

    /// Decrypts with what the file was closed with: its header says whether that was a passphrase.
    pub fn open(
        &self,
        path: &Path,
        sealed: &[u8],
        scrubber: &Scrubber,
    ) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let refuse = |why: String| SecretError::Unavailable { why: format!("{} {why}", path.display()) };
        let decryptor = Decryptor::new_buffered(sealed)
            .map_err(|_| refuse("is not an age file or is damaged".to_owned()))?;
        let identity: Box<dyn age::Identity> = if decryptor.is_scrypt() {
            let passphrase = self.passphrase.as_ref().ok_or_else(|| {
                refuse(format!("is locked with a passphrase; name it with {PASSPHRASE_FILE} or {PASSPHRASE}"))
            })?;
            let mut identity = scrypt::Identity::new(passphrase.read(scrubber)?);
            identity.set_max_work_factor(WORK_FACTOR_MAX);
            Box::new(identity)
        } else {
            Box::new(self.identity(scrubber)?.ok_or_else(|| {
                let key_file = self.key_file.display();
                refuse(format!(
                    "needs its key file, and there is none at {key_file}: put the copy back there"
                ))
            })?)
        };
        // The crate's own texts are translated and laid out for another program.
        let opened_by = self.describe();
        let why = move |error: DecryptError| {
            refuse(match error {
                DecryptError::NoMatchingKeys
                | DecryptError::DecryptionFailed
                | DecryptError::KeyDecryptionFailed => format!("is not opened by {opened_by}"),
                DecryptError::ExcessiveWork { .. } => "asks for too much work to be opened".to_owned(),
                DecryptError::Io(error) => format!("cannot be decrypted: {error}"),
                _ => "is damaged".to_owned(),
            })
        };
        let mut plain = Zeroizing::new(Vec::with_capacity(sealed.len() + 1));
        let mut reader = decryptor.decrypt(std::iter::once(&*identity)).map_err(&why)?;
        reader.read_to_end(&mut plain).map_err(|error| why(DecryptError::Io(error)))?;
        Ok(plain)
    }

    /// The identity in the key file; `None` when there is no such file.
    fn identity(&self, scrubber: &Scrubber) -> Result<Option<x25519::Identity>, SecretError> {
        let bytes = if self.key_credential {
            // Guarded by the service manager, which may give it group bits.
            let path = &self.key_file;
            let file = File::open(path).map_err(|error| disk::unavailable("open", path, &error))?;
            disk::read_bounded(path, file)?
        } else {
            let (_, Some(bytes)) = disk::read(&self.key_file)? else { return Ok(None) };
            bytes
        };
        let refuse = || SecretError::Unavailable {
            why: format!("{} holds no age identity (AGE-SECRET-KEY-1…)", self.key_file.display()),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| refuse())?;
        let line = text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1")).ok_or_else(refuse)?;
        scrubber.register(&SecretValue::new(line.to_owned()));
        line.trim().parse().map(Some).map_err(|_| refuse())
    }

    /// Cheap work for tests.
    #[cfg(test)]
    pub fn with_work_factor(mut self, work_factor: u8) -> Self {
        self.work_factor = work_factor;
        self
    }
}

impl Passphrase {
    fn read(&self, scrubber: &Scrubber) -> Result<SecretString, SecretError> {
        let value = match self {
            Self::Value(value) => value.clone(),
            Self::File { path, credential } => {
                let file = File::open(path).map_err(|error| disk::unavailable("open", path, &error))?;
                if !credential {
                    let found =
                        file.metadata().map_err(|error| disk::unavailable("look at", path, &error))?;
                    disk::check_private(path, &found)?;
                }
                let bytes = disk::read_bounded(path, file)?;
                let text = std::str::from_utf8(&bytes).map_err(|_| SecretError::Unavailable {
                    why: format!("{} is not text in UTF-8", path.display()),
                })?;
                SecretValue::new(text.to_owned())
            }
        };
        if value.expose_to_the_wire().is_empty() {
            return Err(SecretError::Unavailable {
                why: "the passphrase of the secret file is empty".to_owned(),
            });
        }
        scrubber.register(&value);
        Ok(SecretString::from(value.expose_to_the_wire().to_owned()))
    }
}
