//! Which store keeps which secret, by the plan.

use std::collections::BTreeMap;

use super::SecretError;
use super::backend::{Program, SecretPlace};
use crate::unit::plan::{Plan, SecretBackend, SecretDefaults, SecretUnit, Standing};

/// Stands for the entry in a command.
const ENTRY: &str = "{entry}";

/// Variables that look a secret up in the environment begin so, where only the secret's name is known.
const VARIABLE: &str = "WORKAGENT_SECRET_";

/// Which store keeps which secret. Without a plan all are in the encrypted file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    default: SecretDefaults,
    named: BTreeMap<String, SecretPlace>,
    off: BTreeMap<String, String>,
}

impl Places {
    /// As a plan says it.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let default = plan.daemon.secrets.clone();
        let (mut by_entry, mut by_name, mut off) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (name, standing) in &plan.secrets {
            match standing {
                Standing::Active(unit) => {
                    let place = place_of(unit, &default);
                    by_entry.entry(unit.entry.clone()).or_insert_with(|| place.clone());
                    by_name.insert(name.clone(), place);
                }
                Standing::Off(why) => {
                    off.insert(name.clone(), why.told());
                }
            }
        }
        by_entry.extend(by_name);
        Self { default, named: by_entry, off }
    }

    /// Where a secret is kept.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`]: its unit is off. Nobody looks elsewhere for it then.
    pub fn place(&self, name: &str) -> Result<SecretPlace, SecretError> {
        if let Some(place) = self.named.get(name) {
            return Ok(place.clone());
        }
        if let Some(why) = self.off.get(name) {
            let why = format!("`{name}` is kept as {name}.secret says, and that is off: {why}");
            return Err(SecretError::Unavailable { why });
        }
        let SecretDefaults { backend, command, pass, keep, .. } = &self.default;
        let entry = match backend {
            SecretBackend::Env => variable(name),
            SecretBackend::Credentials => credential(name),
            _ => name.to_owned(),
        };
        let program = (*backend == SecretBackend::Command).then(|| Program {
            command: filled(command, name),
            pass: pass.clone(),
            keep: *keep,
        });
        Ok(SecretPlace { backend: *backend, entry, program })
    }

    /// The store of secrets that have no unit.
    #[must_use]
    pub fn default_backend(&self) -> SecretBackend {
        self.default.backend
    }

    /// The stores in use, the default first.
    #[must_use]
    pub fn backends(&self) -> Vec<SecretBackend> {
        let mut all = vec![self.default.backend];
        for place in self.named.values() {
            if !all.contains(&place.backend) {
                all.push(place.backend);
            }
        }
        all
    }
}

fn place_of(unit: &SecretUnit, default: &SecretDefaults) -> SecretPlace {
    let backend = unit.backend.unwrap_or(default.backend);
    let entry = match backend {
        SecretBackend::Env if unit.entry == unit.name => variable(&unit.entry),
        SecretBackend::Credentials => credential(&unit.entry),
        _ => unit.entry.clone(),
    };
    let program = (backend == SecretBackend::Command).then(|| match unit.command.as_slice() {
        [] => Program {
            command: filled(&default.command, &unit.entry),
            pass: default.pass.clone(),
            keep: default.keep,
        },
        own => Program { command: filled(own, &unit.entry), pass: unit.pass.clone(), keep: unit.keep },
    });
    SecretPlace { backend, entry, program }
}

/// A command with the entry in its place.
#[must_use]
pub fn filled(command: &[String], entry: &str) -> Vec<String> {
    command.iter().map(|part| part.replace(ENTRY, entry)).collect()
}

/// `mail/work` → `WORKAGENT_SECRET_MAIL_WORK`.
fn variable(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{VARIABLE}{}", name.chars().map(word).collect::<String>())
}

/// `mail/work` → `mail.work`: a credential is one file.
fn credential(name: &str) -> String {
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::plan::SecretBackend::{Command, Credentials, Env, File, Keyring};

    fn check(default: SecretDefaults, name: &str, expected: (SecretBackend, &str)) {
        let places = Places { default, ..Places::default() };
        let place = places.place(name).unwrap();
        assert_eq!((place.backend, place.entry.as_str()), expected);
    }

    #[test]
    fn names_without_a_unit_go_to_the_one_default() {
        let by = |backend| SecretDefaults { backend, ..SecretDefaults::default() };
        check(by(File), "mail/work", (File, "mail/work"));
        check(by(Keyring), "mail/work", (Keyring, "mail/work"));
        check(by(Credentials), "mail/work", (Credentials, "mail.work"));
        check(by(Env), "mail/me@work-1", (Env, "WORKAGENT_SECRET_MAIL_ME_WORK_1"));
        let command = vec!["pass".to_owned(), "show".to_owned(), "w/{entry}".to_owned()];
        let default = SecretDefaults { backend: Command, command, ..SecretDefaults::default() };
        let place = Places { default, ..Places::default() }.place("mail/work").unwrap();
        assert_eq!(place.program.unwrap().command, ["pass", "show", "w/mail/work"]);
    }

    #[test]
    fn a_secret_whose_unit_is_off_is_looked_for_nowhere_else() {
        let off = [("mail".to_owned(), "disabled".to_owned())].into();
        let error = Places { off, ..Places::default() }.place("mail").unwrap_err().to_string();
        assert!(error.contains("mail.secret says, and that is off: disabled"), "{error}");
    }
}
