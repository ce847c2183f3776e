//! A program that a unit names: a request on its standard input, its lines to whoever asks, what it says on stderr for
//! people.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{ChildEnd, ChildEnv, ChildLimits, ChildReport, ChildSpec, EnvValue, ProcessRoom, env};
use crate::model::class::{ErrorClass, PortError};
use crate::model::environment::Environment;
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::model::time::{Clock, Timestamp, short_span};
use crate::secret::{Scrubber, SecretStore, SecretValue};
use crate::unit::plan::EnvUnit;
use crate::unit::value::Settings;

/// What a program is made of: the keys `program`, `args`, `timeout`, `pass` and `set` of the unit's own table, and the
/// rooms it needs.
#[derive(Clone)]
pub struct ProgramParts {
    /// The unit's name.
    pub unit: String,
    /// The unit's own table.
    pub settings: Settings,
    /// Where secret values come from, read at use.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Clock,
    /// Its working directory, not yet made.
    pub state_dir: PathBuf,
    /// Children.
    pub process: ProcessRoom,
    /// The daemon's environment, out of which that of the program is made.
    pub environment: Environment,
}

/// The program and what it gets.
pub struct Program {
    context: ProgramParts,
    name: String,
    args: Vec<String>,
    timeout: Duration,
    env: [Arc<EnvUnit>; 1],
}

/// What one run is asked.
pub struct Ask {
    /// Its standard input, then closed.
    pub stdin: Vec<u8>,
    /// Arguments behind those of the unit: never a secret.
    pub args: Vec<OsString>,
    /// Most bytes of its standard output.
    pub stdout_bytes_max: usize,
}

impl Ask {
    /// A request of our own protocol.
    #[must_use]
    pub fn line(stdin: Vec<u8>) -> Self {
        Self { stdin, args: Vec::new(), stdout_bytes_max: limits::COMMAND_STDOUT_BYTES_MAX }
    }
}

/// A run that came to its end.
pub struct Ran {
    /// How it ended.
    pub report: ChildReport,
    /// What of its stderr is worth showing, masked; may be empty.
    pub said: String,
}

impl Program {
    /// Starts nothing.
    #[must_use]
    pub fn new(context: ProgramParts) -> Self {
        let settings = &context.settings;
        let own = EnvUnit {
            path: Vec::new(),
            name: context.unit.clone(),
            set: settings.map("set").cloned().unwrap_or_else(BTreeMap::new),
            unset: Vec::new(),
            pass: settings.list("pass").to_vec(),
        };
        Self {
            name: settings.text("program").unwrap_or_default().to_owned(),
            args: settings.list("args").to_vec(),
            timeout: settings.duration("timeout").unwrap_or(Duration::from_secs(60)),
            env: [Arc::new(own)],
            context,
        }
    }

    /// For people, with the arguments.
    #[must_use]
    pub fn command_line(&self) -> String {
        std::iter::once(&self.name).chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// As the unit says it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// A directory of its own, not yet made.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.context.state_dir.clone()
    }

    /// The value behind a reference of the unit.
    ///
    /// # Errors
    /// Of the secret store.
    pub async fn secret(&self, reference: &SecretRef, name: &str) -> Result<SecretValue, PortError> {
        self.context
            .secrets
            .read(reference)
            .await
            .map_err(|error| PortError::caused(error.class(), format!("read the secret for `{name}`"), error))
    }

    /// Its whole environment, and what masks the secrets in it.
    pub async fn environment(&self) -> Result<(ChildEnv, Scrubber), PortError> {
        let ProgramParts { environment, secrets, .. } = &self.context;
        let env = env::build(environment, &self.env, secrets.as_ref()).await?;
        let scrubber = Scrubber::new();
        for value in env.0.values() {
            if let EnvValue::Secret(value) = value {
                scrubber.register(value);
            }
        }
        Ok((env, scrubber))
    }

    /// One run. `take` gets each line and says whether it wants more; if not the program is ended.
    ///
    /// # Errors
    /// It did not start.
    pub async fn run(
        &self,
        env: ChildEnv,
        scrubber: &Scrubber,
        ask: Ask,
        take: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> Result<Ran, PortError> {
        let cwd = self.context.state_dir.clone();
        let make = tokio::task::spawn_blocking({
            let cwd = cwd.clone();
            move || std::fs::DirBuilder::new().recursive(true).mode(0o700).create(cwd)
        });
        let doing = || format!("make the directory {}", cwd.display());
        match make.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(PortError::caused(ErrorClass::NETWORK, doing(), error)),
            Err(error) => return Err(PortError::caused(ErrorClass::Bug, doing(), error)),
        }
        let spec = ChildSpec {
            program: self.name.clone().into(),
            args: self.args.iter().map(Into::into).chain(ask.args).collect(),
            env,
            cwd,
            stdin: ask.stdin,
            limits: ChildLimits {
                first_output: self.timeout,
                idle: self.timeout,
                total: self.timeout,
                line_bytes_max: limits::COMMAND_LINE_BYTES_MAX,
                stdout_bytes_max: ask.stdout_bytes_max,
            },
        };
        let enough = CancellationToken::new();
        let mut on_line = |line: &[u8]| {
            if !take(line) {
                enough.cancel();
            }
        };
        let report = self.context.process.run(spec, &enough, &mut on_line).await?;
        // Masked before it is cut: half a secret would not be known.
        let said = scrubber.scrub_owned(report.stderr_tail.trim().to_owned());
        let start =
            said.ceil_char_boundary(said.len().saturating_sub(limits::COMMAND_STDERR_SHOWN_BYTES_MAX));
        let said = one_line(said.get(start..).unwrap_or_default(), limits::COMMAND_STDERR_SHOWN_BYTES_MAX);
        Ok(Ran { report, said })
    }

    /// How it ended, if not well.
    #[must_use]
    pub fn bad_end(&self, end: ChildEnd) -> Option<String> {
        Some(match end {
            ChildEnd::Exited(0) => return None,
            ChildEnd::Exited(code) => format!("exit status {code}"),
            ChildEnd::Signalled(signal) => format!("ended by signal {signal}"),
            ChildEnd::TimedOutFirst
            | ChildEnd::TimedOutIdle
            | ChildEnd::TimedOutProgress
            | ChildEnd::TimedOutTotal => {
                format!("it was not done after {}", short_span(self.timeout))
            }
            ChildEnd::OverCap => "it wrote too much".to_owned(),
            ChildEnd::Cancelled => "it was ended".to_owned(),
        })
    }
}
