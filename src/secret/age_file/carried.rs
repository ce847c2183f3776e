//! Secrets on their way to another machine: a file of their own, closed with a passphrase.

use std::path::PathBuf;

use super::{AgeFile, Keys};
use crate::secret::{SecretError, SecretValue};

impl AgeFile {
    /// Writes all secrets into another file, closed with a passphrase. Gives how many. Blocks noticeably.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`].
    pub fn carry_out(&self, to: PathBuf, passphrase: SecretValue) -> Result<usize, SecretError> {
        let entries = self.0.current()?;
        let out = Self::new(to, Keys::of_passphrase(passphrase), self.0.scrubber.clone());
        out.0.change(|theirs| *theirs = (*entries).clone())?;
        Ok(entries.len())
    }

    /// Takes secrets in out of such a file. What is stored here under the same name stays as it is. Gives the names that
    /// were taken, and where the key was made if there was none.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`]: another passphrase, damage, or this file cannot be written.
    pub fn carry_in(
        &self,
        from: PathBuf,
        passphrase: SecretValue,
    ) -> Result<(Vec<String>, Option<PathBuf>), SecretError> {
        let source = Self::new(from, Keys::of_passphrase(passphrase), self.0.scrubber.clone());
        let theirs = source.0.current()?;
        self.0.change(|ours| {
            let mut taken = Vec::new();
            for (name, entry) in theirs.iter() {
                if !ours.contains_key(name) {
                    ours.insert(name.clone(), entry.clone());
                    taken.push(name.clone());
                }
            }
            taken
        })
    }
}
