//! What the native engines of agent CLIs share: the program and its version, login, environment, a home of their own.

mod version;

use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use self::version::parse;
pub(super) use self::version::{Known, Version};
use super::{EngineContext, failed, port_failure};
use crate::model::run::{EngineError, RunFailure};
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::process::{ChildEnd, ChildEnv, ChildLimits, ChildSpec, EnvValue, env, lookup};
use crate::secret::{SecretError, SecretValue};
use crate::unit::plan::{EngineUnit, EnvUnit};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// Asking for the version is a start of the program and nothing else; a cold one of 400 MB takes some seconds.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// Output of `--version`.
const VERSION_BYTES_MAX: usize = 64 * 1024;

/// What a run is paid with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth {
    /// A key of the API: each token costs.
    ApiKey,
    /// The login of a plan: windows are used up.
    Subscription,
}

impl Auth {
    pub(super) fn of(settings: &Settings) -> Self {
        if settings.text("auth") == Some("subscription") { Self::Subscription } else { Self::ApiKey }
    }
}

/// The key `auth` of both engines.
pub(super) const AUTH: KeySpec = KeySpec::new(
    "auth",
    ValueType::Choice(&["api-key", "subscription"]),
    "What runs are paid with. With subscription every API key is taken out of the program's environment, also one that \
     an env unit sets: the program would prefer it, and the API account would pay",
)
.default("\"api-key\"");

/// The key `program` of both engines.
pub(super) const PROGRAM: KeySpec = KeySpec::new(
    "program",
    ValueType::Text,
    "The absolute path of the program: a daemon's PATH is short, and what is found on it may change under it",
)
.specifiers()
.required();

/// The key `home` of both engines.
pub(super) const HOME: KeySpec = KeySpec::new(
    "home",
    ValueType::Path,
    "The program's own configuration, login and sessions; a directory for each unit, so that units cannot log each other \
     out. Name your own to use a login that you have",
)
.default("\"%S/engines/%p\"");

/// The key `sessions` of both engines.
pub(super) const SESSIONS: KeySpec = KeySpec::new(
    "sessions",
    ValueType::Bool,
    "Keep the program's sessions in `home`, with the texts of cases, so that a later run of a case goes on where the last \
     one ended",
)
.default("false");

/// How a program wants its environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes {
    /// The program's word.
    pub name: &'static str,
    /// Names its home.
    pub home: &'static str,
    /// Takes the key of the API.
    pub api_key: &'static str,
    /// Takes the token of a subscription, if it can be given one.
    pub token: Option<&'static str>,
    /// Count as a key of the API where one is needed.
    pub api_keys_read: &'static [&'static str],
    /// Would be paid by the API account: taken away from a subscription.
    pub api_keys: &'static [&'static str],
    /// Would be paid by the plan: taken away from a key.
    pub tokens: &'static [&'static str],
    /// Set to the run directory: what it writes on the way goes with the run.
    pub scratch: &'static [&'static str],
    /// Set to these.
    pub set: &'static [(&'static str, &'static str)],
    /// In its home, the login of a subscription.
    pub login_file: &'static str,
    /// How to log in, behind the variable that names the home.
    pub login_command: &'static str,
    /// Versions that it was tried with.
    pub known: Known,
}

/// A program by its unit.
#[derive(Debug)]
pub(super) struct Agent {
    pub program: OsString,
    pub auth: Auth,
    pub home: PathBuf,
    pub sessions: bool,
    key: Option<SecretRef>,
    env: Vec<Arc<EnvUnit>>,
    wishes: &'static Wishes,
    pub context: EngineContext,
    /// Of the file as it is: another file is asked anew.
    version: Mutex<Option<(SystemTime, u64, Version)>>,
}

/// Problems of the shared keys.
pub(super) fn problems(settings: &Settings) -> Vec<KeyProblem> {
    let program = settings.text("program").unwrap_or_default();
    if program.is_empty() || program.starts_with('/') {
        return Vec::new();
    }
    let message = format!("`{}` is no absolute path; `command -v {0}` prints it", one_line(program, 80));
    vec![KeyProblem { key: "program", message }]
}

impl Agent {
    pub(super) fn new(unit: &EngineUnit, wishes: &'static Wishes, context: EngineContext) -> Self {
        let settings = &unit.settings;
        Self {
            program: settings.text("program").unwrap_or_default().into(),
            auth: Auth::of(settings),
            home: settings.path("home").cloned().unwrap_or_default(),
            sessions: settings.flag("sessions"),
            key: settings.secret("key").cloned(),
            env: unit.child_env(),
            wishes,
            context,
            version: Mutex::new(None),
        }
    }

    /// The environment of a run: units first, then what the draft profile needs, then what must not be there.
    pub(super) async fn env(&self, run_dir: &Path) -> Result<ChildEnv, EngineError> {
        let EngineContext { environment, secrets, .. } = &self.context;
        let built = env::build(environment, &self.env, secrets.as_ref()).await;
        let mut env = built.map_err(|error| port_failure(&error))?;
        let wishes = self.wishes;
        let mut plain = |name: &str, value: OsString| {
            env.0.insert(name.to_owned(), EnvValue::Plain(value));
        };
        for (name, value) in wishes.set {
            plain(name, (*value).into());
        }
        for name in wishes.scratch {
            plain(name, run_dir.into());
        }
        plain(wishes.home, self.home.clone().into());
        let taken_away = match self.auth {
            Auth::ApiKey => wishes.tokens,
            Auth::Subscription => wishes.api_keys,
        };
        for name in taken_away {
            env.0.remove(*name);
        }
        let place = match self.auth {
            Auth::ApiKey => Some(wishes.api_key),
            Auth::Subscription => wishes.token,
        };
        if let (Some(place), Some(reference)) = (place, &self.key) {
            env.0.insert(place.to_owned(), EnvValue::Secret(self.secret(reference).await?));
        }
        Ok(env)
    }

    async fn secret(&self, reference: &SecretRef) -> Result<SecretValue, EngineError> {
        match self.context.secrets.read(reference).await {
            Ok(value) => Ok(value),
            Err(error @ SecretError::Missing { .. }) => Err(failed(RunFailure::Auth, error.to_string())),
            Err(error) => Err(failed(RunFailure::Network, error.to_string())),
        }
    }

    /// The home must be there before the program starts: some refuse to make it.
    pub(super) fn make_home(&self) -> Result<(), EngineError> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.home).map_err(|error| {
            let home = self.home.display();
            failed(RunFailure::Config, format!("make its home {home}: {error}"))
        })
    }

    /// Logged in, as far as can be told without asking anybody: how, in words.
    pub(super) fn login(&self, env: &ChildEnv) -> Result<String, EngineError> {
        let wishes = self.wishes;
        let has = |name: &str| env.0.contains_key(name);
        match self.auth {
            Auth::ApiKey if wishes.api_keys_read.iter().any(|name| has(name)) => {
                Ok("with an API key".to_owned())
            }
            Auth::ApiKey => Err(failed(
                RunFailure::Auth,
                format!(
                    "no API key: set `key = {{ secret = … }}` in [{}], or auth = \"subscription\"",
                    wishes.name
                ),
            )),
            Auth::Subscription if wishes.token.is_some_and(has) => {
                Ok("with the token of a subscription".to_owned())
            }
            Auth::Subscription if self.home.join(wishes.login_file).is_file() => {
                Ok("with the login of a subscription".to_owned())
            }
            // There the login is kept in the system's key store, where only the program itself may look.
            Auth::Subscription if cfg!(target_os = "macos") && wishes.name == "claude" => {
                Ok("with a login that cannot be looked at".to_owned())
            }
            Auth::Subscription => Err(failed(
                RunFailure::Auth,
                format!("not logged in: {}={} {}", wishes.home, self.home.display(), wishes.login_command),
            )),
        }
    }

    /// The program's version, asked once for each state of its file.
    pub(super) async fn version(&self) -> Result<Version, EngineError> {
        let env = self.env(&self.home).await?;
        lookup::check(Path::new(&self.program), &env).map_err(|error| port_failure(&error))?;
        let file = std::fs::metadata(&self.program).ok();
        let state = file.and_then(|file| Some((file.modified().ok()?, file.len())));
        if let Some((modified, length)) = state
            && let Some((at, of, version)) = &*self.version.lock().unwrap_or_else(PoisonError::into_inner)
            && (*at, *of) == (modified, length)
        {
            return Ok(version.clone());
        }
        self.make_home()?;
        let mut text = Vec::new();
        let mut on_line = |line: &[u8]| {
            text.extend_from_slice(line);
            text.push(b'\n');
        };
        let spec = ChildSpec {
            program: self.program.clone(),
            args: vec!["--version".into()],
            env,
            cwd: self.home.clone(),
            stdin: Vec::new(),
            limits: ChildLimits {
                first_output: VERSION_TIME,
                idle: VERSION_TIME,
                total: VERSION_TIME,
                line_bytes_max: VERSION_BYTES_MAX,
                stdout_bytes_max: VERSION_BYTES_MAX,
            },
        };
        let report = self.context.process.run(spec, &CancellationToken::new(), &mut on_line).await;
        let report = report.map_err(|error| port_failure(&error))?;
        let shown = self.program.display();
        let version = parse(&String::from_utf8_lossy(&text)).filter(|_| report.end == ChildEnd::Exited(0));
        let Some(version) = version else {
            return Err(failed(RunFailure::Config, format!("`{shown} --version` did not tell a version")));
        };
        if let Some((modified, length)) = state {
            let cached = Some((modified, length, version.clone()));
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = cached;
        }
        Ok(version)
    }

    /// `claude 2.1.332 at /opt/claude, with an API key`, and a warning about a version that nobody tried.
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        let version = self.version().await?;
        let login = self.login(&self.env(&self.home).await?)?;
        let name = self.wishes.name;
        let warning = self.wishes.known.warning(&version).map(|text| format!("; {text}")).unwrap_or_default();
        Ok(format!("{name} {version} at {}, {login}{warning}", self.program.display()))
    }

    /// A remark for the reviewer about a version that nobody tried.
    pub(super) fn version_remark(&self, version: &Version) -> Option<String> {
        self.wishes.known.warning(version).map(|text| format!("{} {version}: {text}", self.wishes.name))
    }
}
