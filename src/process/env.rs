//! The environment of children: empty, plus an allowlist from the daemon's own, plus `env` units.
//!
//! A CLI engine hands its whole environment to the shell commands that a model runs, and a key that was meant for
//! something else changes who pays. So nothing is inherited by accident.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use super::{ChildEnv, EnvValue};
use crate::model::class::PortError;
use crate::model::environment::Environment;
use crate::model::secret_ref::SecretRef;
use crate::secret::SecretStore;
use crate::unit::plan::EnvUnit;
use crate::unit::value::Setting;

/// Names handed through without being asked for: what a well-behaved program needs to run at all.
const ALLOWED: [&str; 25] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NIX_SSL_CERT_FILE",
    "__CF_USER_TEXT_ENCODING",
];

/// Prefixes handed through.
const ALLOWED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Never handed through but by an explicit `pass`, whatever the allowlist comes to say: credentials, sockets of the
/// user's session, the service manager's own, marks of an agent that happened to start the daemon.
const DENIED: [&str; 9] = [
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "SSH_AUTH_SOCK",
    "NOTIFY_SOCKET",
    "CREDENTIALS_DIRECTORY",
    "RUST_LOG",
    "COPILOT_ALLOW_ALL",
    "NODE_OPTIONS",
    "LD_PRELOAD",
];

/// Prefixes of the same kind.
const DENIED_PREFIXES: [&str; 6] = ["AWS_", "DBUS_", "LISTEN_", "WATCHDOG_", "CLAUDECODE", "WORKAGENT_"];

/// Searched when the daemon itself has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A locale in which programs write UTF-8, when the daemon has none.
const DEFAULT_LANG: &str = "C.UTF-8";

/// Where a variable of a child comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Handed through: every child gets it.
    Allowlist,
    /// The daemon has none, programs need one.
    Default(&'static str),
    /// `pass` of this env unit.
    Passed {
        /// The env unit.
        unit: String,
    },
    /// `[set]` of this env unit.
    Set {
        /// The env unit.
        unit: String,
        /// As declared: a text or a reference.
        setting: Setting,
    },
    /// The PATH with directories in front.
    Extended {
        /// The engine whose `path` they are.
        unit: String,
        /// The first is searched first.
        dirs: Vec<PathBuf>,
        /// Where the rest comes from.
        rest: Box<Self>,
    },
}

impl Origin {
    /// For people; never a value: "the daemon's environment (allowlist)", "secret `ai/key`, set by `work.env`".
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Allowlist => "the daemon's environment (allowlist)".to_owned(),
            Self::Default(value) => format!("default `{value}`, the daemon has none"),
            Self::Passed { unit } => format!("the daemon's environment, passed by `{unit}.env`"),
            Self::Set { unit, setting: Setting::Text(_) } => format!("set by `{unit}.env`"),
            Self::Set { unit, setting: Setting::Secret(reference) } => {
                format!("secret `{reference}`, set by `{unit}.env`")
            }
            Self::Extended { unit, dirs, rest } => {
                let dirs: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
                format!("{} by `path` of `{unit}.engine`, then {}", dirs.join(", "), rest.describe())
            }
        }
    }
}

/// Each variable a child would get and where it comes from, without reading a secret. The same function decides for
/// [`build`], so an explanation cannot differ from the truth. Units apply in order; within one: pass, set, unset.
#[must_use]
pub fn explain(base: &Environment, envs: &[Arc<EnvUnit>]) -> BTreeMap<String, Origin> {
    let mut origins = BTreeMap::new();
    for name in base.iter().filter_map(|(name, _)| name.to_str()) {
        if is_allowed(name) {
            origins.insert(name.to_owned(), Origin::Allowlist);
        }
    }
    origins.entry("PATH".to_owned()).or_insert(Origin::Default(DEFAULT_PATH));
    if !["LANG", "LC_ALL"].iter().any(|name| origins.contains_key(*name)) {
        origins.insert("LANG".to_owned(), Origin::Default(DEFAULT_LANG));
    }
    for unit in envs {
        for name in unit.pass.iter().filter(|name| base.get_os(name).is_some()) {
            origins.insert(name.clone(), Origin::Passed { unit: unit.name.clone() });
        }
        for (name, setting) in &unit.set {
            let origin = Origin::Set { unit: unit.name.clone(), setting: setting.clone() };
            origins.insert(name.clone(), origin);
        }
        for name in &unit.unset {
            origins.remove(name);
        }
    }
    for unit in envs.iter().filter(|unit| !unit.path.is_empty()) {
        let rest = Box::new(origins.remove("PATH").unwrap_or(Origin::Default("")));
        let (unit, dirs) = (unit.name.clone(), unit.path.clone());
        origins.insert("PATH".to_owned(), Origin::Extended { unit, dirs, rest });
    }
    origins
}

/// A child's whole environment. Secrets are read now.
///
/// # Errors
/// `Auth` if a secret is missing, `Network` (try again) if the store cannot be opened now.
pub async fn build(
    base: &Environment,
    envs: &[Arc<EnvUnit>],
    secrets: &dyn SecretStore,
) -> Result<ChildEnv, PortError> {
    let mut vars = BTreeMap::new();
    for (name, origin) in explain(base, envs) {
        let (dirs, origin) = match origin {
            Origin::Extended { dirs, rest, .. } => (dirs, *rest),
            origin => (Vec::new(), origin),
        };
        let value = match origin {
            Origin::Allowlist | Origin::Passed { .. } => match base.get_os(&name) {
                Some(value) => from_daemon(&name, value),
                None => continue,
            },
            Origin::Default(value) => EnvValue::Plain(value.into()),
            Origin::Set { setting: Setting::Text(text), .. } => EnvValue::Plain(text.into()),
            Origin::Set { unit, setting: Setting::Secret(reference) } => {
                EnvValue::Secret(read(secrets, &reference, &name, &unit).await?)
            }
            // One engine has one `path`.
            Origin::Extended { .. } => continue,
        };
        let value = in_front(&dirs, value);
        vars.insert(name, value);
    }
    Ok(ChildEnv(vars))
}

/// A PATH with directories in front; one out of the secret store stays as it is.
fn in_front(dirs: &[PathBuf], value: EnvValue) -> EnvValue {
    let EnvValue::Plain(rest) = &value else { return value };
    if dirs.is_empty() {
        return value;
    }
    let rest = std::env::split_paths(rest).filter(|dir| !dir.as_os_str().is_empty());
    // A directory with a `:` in its name cannot stand in a PATH.
    std::env::join_paths(dirs.iter().cloned().chain(rest)).map_or(value, EnvValue::Plain)
}

async fn read(
    secrets: &dyn SecretStore,
    reference: &SecretRef,
    name: &str,
    unit: &str,
) -> Result<crate::secret::SecretValue, PortError> {
    secrets.read(reference).await.map_err(|error| {
        PortError::caused(error.class(), format!("read the secret for `{name}` of `{unit}.env`"), error)
    })
}

/// A passed variable is masked where it looks like a credential: proxies carry passwords, and whoever passes a token
/// by name does not want to meet it in an error text.
fn from_daemon(name: &str, value: &OsStr) -> EnvValue {
    let upper = name.to_ascii_uppercase();
    let secret_name =
        ["TOKEN", "KEY", "SECRET", "PASSW", "CREDENTIAL"].iter().any(|word| upper.contains(word));
    match value.to_str() {
        Some(text) if secret_name || (upper.ends_with("_PROXY") && text.contains('@')) => {
            EnvValue::Secret(crate::secret::SecretValue::new(text.to_owned()))
        }
        _ => EnvValue::Plain(value.to_owned()),
    }
}

fn is_allowed(name: &str) -> bool {
    let listed = |names: &[&str], prefixes: &[&str]| {
        names.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    listed(&ALLOWED, &ALLOWED_PREFIXES) && !listed(&DENIED, &DENIED_PREFIXES)
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::model::class::ErrorClass;
    use crate::secret::{SecretError, SecretValue};

    struct OneSecret;

    impl SecretStore for OneSecret {
        fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
            Box::pin(async move {
                match reference {
                    SecretRef::Stored(name) if name == "ai/key" => Ok(SecretValue::new("canary".into())),
                    other => Err(SecretError::Missing { name: other.to_string() }),
                }
            })
        }
    }

    fn hostile() -> Environment {
        Environment::of([
            ("HOME", "/home/me"),
            ("PATH", "/bin"),
            ("LC_TIME", "de_DE"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("https_proxy", "http://me:canary@proxy:3128"),
            ("ANTHROPIC_API_KEY", "canary"),
            ("OPENAI_API_KEY", "canary"),
            ("GITHUB_TOKEN", "canary"),
            ("AWS_SECRET_ACCESS_KEY", "canary"),
            ("SSH_AUTH_SOCK", "/s"),
            ("DBUS_SESSION_BUS_ADDRESS", "/d"),
            ("NOTIFY_SOCKET", "/n"),
            ("LISTEN_FDS", "3"),
            ("WATCHDOG_USEC", "1"),
            ("CREDENTIALS_DIRECTORY", "/c"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("RUST_LOG", "trace"),
            ("WORKAGENT_UNIT_PATH", "/u"),
            ("NODE_OPTIONS", "--require=/x"),
        ])
    }

    fn unit(name: &str) -> EnvUnit {
        EnvUnit { name: name.into(), ..EnvUnit::default() }
    }

    fn names(envs: &[Arc<EnvUnit>]) -> Vec<String> {
        explain(&hostile(), envs).into_keys().collect()
    }

    #[test]
    fn nothing_hostile_comes_through() {
        assert_eq!(names(&[]), ["HOME", "LANG", "LC_TIME", "PATH", "XDG_RUNTIME_DIR", "https_proxy"]);
    }

    #[tokio::test]
    async fn directories_stand_in_front_of_the_path() {
        let envs = [Arc::new(EnvUnit { path: vec!["/opt/a".into(), "/opt/b".into()], ..unit("x") })];
        let built = build(&hostile(), &envs, &OneSecret).await.unwrap();
        assert!(matches!(&built.0["PATH"], EnvValue::Plain(path) if path == "/opt/a:/opt/b:/bin"));
        let told = explain(&hostile(), &envs)["PATH"].describe();
        assert_eq!(told, "/opt/a, /opt/b by `path` of `x.engine`, then the daemon's environment (allowlist)");
    }

    #[test]
    fn units_apply_in_order_pass_set_unset() {
        let first = EnvUnit {
            pass: vec!["ANTHROPIC_API_KEY".into(), "NOT_THERE".into()],
            set: [("A".into(), Setting::Text("1".into()))].into(),
            unset: vec!["https_proxy".into(), "LANG".into()],
            ..unit("first")
        };
        let second = EnvUnit {
            set: [("A".into(), Setting::Text("2".into()))].into(),
            unset: vec!["LC_TIME".into()],
            ..unit("second")
        };
        let envs = [Arc::new(first), Arc::new(second)];
        assert_eq!(names(&envs), ["A", "ANTHROPIC_API_KEY", "HOME", "PATH", "XDG_RUNTIME_DIR"]);
        let origins = explain(&hostile(), &envs);
        assert_eq!(origins["A"].describe(), "set by `second.env`");
        assert_eq!(
            origins["ANTHROPIC_API_KEY"].describe(),
            "the daemon's environment, passed by `first.env`"
        );
    }

    #[tokio::test]
    async fn secrets_are_read_and_masked() {
        let key = |name: &str| Setting::Secret(SecretRef::Stored(name.into()));
        let with = EnvUnit { set: [("KEY".into(), key("ai/key"))].into(), ..unit("work") };
        let env = build(&hostile(), &[Arc::new(with)], &OneSecret).await.unwrap();
        assert!(matches!(&env.0["KEY"], EnvValue::Secret(value) if value.expose_to_the_wire() == "canary"));
        assert!(matches!(&env.0["https_proxy"], EnvValue::Secret(_)));
        assert!(!format!("{env:?}").contains("canary"));

        let without = EnvUnit { set: [("KEY".into(), key("gone"))].into(), ..unit("work") };
        let error = build(&hostile(), &[Arc::new(without)], &OneSecret).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Auth);
        assert_eq!(
            crate::model::class::chain(&error),
            "read the secret for `KEY` of `work.env`: no secret is stored under `gone`"
        );
    }

    #[test]
    fn an_empty_daemon_environment_gets_defaults() {
        let origins = explain(&Environment::default(), &[]);
        assert_eq!(origins["PATH"], Origin::Default(DEFAULT_PATH));
        assert_eq!(origins["LANG"], Origin::Default(DEFAULT_LANG));
    }
}
