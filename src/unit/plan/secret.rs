//! Where secrets are kept and how they are replaced, as units say it; who reads which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::{Plan, Standing};
use crate::model::secret_ref::SecretRef;
use crate::model::time::Timestamp;
use crate::unit::value::Setting;

/// A kind of store for secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretBackend {
    /// The age-encrypted file in the state directory.
    #[default]
    File,
    /// The desktop's keyring.
    Keyring,
    /// Files that the service manager gives to the daemon.
    Credentials,
    /// A program that prints the value.
    Command,
    /// Variables of the daemon's environment.
    Env,
}

impl SecretBackend {
    /// The words of unit files.
    pub const WORDS: [&'static str; 5] = ["file", "keyring", "credentials", "command", "env"];

    /// From its word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "file" => Self::File,
            "keyring" => Self::Keyring,
            "credentials" => Self::Credentials,
            "command" => Self::Command,
            "env" => Self::Env,
            _ => return None,
        })
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Keyring => "keyring",
            Self::Credentials => "credentials",
            Self::Command => "command",
            Self::Env => "env",
        }
    }

    /// Values can be put into it from here.
    #[must_use]
    pub fn can_be_written(self) -> bool {
        matches!(self, Self::File | Self::Keyring)
    }
}

/// Where a new value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// The user stores it.
    Ask,
    /// The login that gave the present one.
    OAuth,
    /// A program prints it.
    Command {
        /// Program and arguments; `{entry}` stands for the entry.
        command: Vec<String>,
        /// It gets the present value on its standard input.
        give_old: bool,
        /// What takes the value before out of service, where the far side takes both for a while.
        retire: Option<Retire>,
    },
}

/// The end of a value that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retire {
    /// Program and arguments; `{entry}` stands for the entry. It gets the former value on its standard input.
    pub command: Vec<String>,
    /// So long after it was replaced.
    pub after: Duration,
}

/// Where a secret comes from and when it is replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// Which store; `None`: that of the daemon unit.
    pub backend: Option<SecretBackend>,
    /// The name in the store.
    pub entry: String,
    /// For [`SecretBackend::Command`]: program and arguments; `{entry}` stands for the entry.
    pub command: Vec<String>,
    /// Variables that programs get beside the usual ones.
    pub pass: Vec<String>,
    /// What a program gave is believed for so long.
    pub keep: Duration,
    /// How often it is to be replaced.
    pub rotate_every: Option<Duration>,
    /// When the value ends, unless it was replaced within `warn` of it.
    pub expires: Option<Timestamp>,
    /// So long before the end it is to be replaced.
    pub warn: Duration,
    /// Where the new value comes from.
    pub how: NewValue,
}

/// Where secrets without a unit are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretDefaults {
    /// Which store.
    pub backend: SecretBackend,
    /// For [`SecretBackend::Command`]: program and arguments; `{entry}` stands for the name.
    pub command: Vec<String>,
    /// Variables that it gets beside the usual ones.
    pub pass: Vec<String>,
    /// What it gave is believed for so long.
    pub keep: Duration,
    /// Holds the passphrase of the encrypted file.
    pub passphrase_file: Option<PathBuf>,
    /// Holds the key of the encrypted file.
    pub key_file: Option<PathBuf>,
}

impl Plan {
    /// The unit that stands for a stored secret: the one of that name, else the one with that entry.
    #[must_use]
    pub fn secret_unit(&self, name: &str) -> Option<&Standing<SecretUnit>> {
        let by_entry = || {
            self.secrets.values().find(|standing| match standing {
                Standing::Active(unit) => unit.entry == name,
                Standing::Off(_) => false,
            })
        };
        self.secrets.get(name).or_else(by_entry)
    }

    /// Stored secrets by name, each with the units that take part and read it.
    #[must_use]
    pub fn secret_users(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut note = |unit: String, reference: &SecretRef| {
            if let SecretRef::Stored(name) = reference {
                users.entry(name.clone()).or_default().insert(unit);
            }
        };
        if let Some(token) = &self.daemon.otlp.token {
            note("workagent.daemon".to_owned(), token);
        }
        for standing in self.connectors.values() {
            let Standing::Active(unit) = standing else { continue };
            for reference in unit.settings.secrets() {
                note(format!("{}.connector", unit.name), &reference);
            }
        }
        for standing in self.channels.values() {
            let Standing::Active(unit) = standing else { continue };
            for reference in unit.settings.secrets() {
                note(format!("{}.channel", unit.name), &reference);
            }
        }
        for standing in self.engines.values() {
            let Standing::Active(unit) = standing else { continue };
            for reference in unit.settings.secrets() {
                note(format!("{}.engine", unit.name), &reference);
            }
            for setting in unit.env.iter().flat_map(|env| env.set.values()) {
                if let Setting::Secret(reference) = setting {
                    note(format!("{}.engine", unit.name), reference);
                }
            }
        }
        users
    }
}
