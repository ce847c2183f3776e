//! Tries live what the units that are on need: programs, secrets, logins. It changes nothing.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;

use crate::catalog::CATALOG;
use crate::engine::EngineContext;
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::environment::Environment;
use crate::model::secret_ref::SecretRef;
use crate::model::time::Clock;
use crate::platform::{Connector, ConnectorContext};
use crate::process::{ProcessRoom, env, lookup};
use crate::secret::SecretStore;
use crate::unit::plan::{ConnectorUnit, Plan, Standing};
use crate::unit::value::Setting;

/// For one look; a server that does not answer in this time is not there for a person who waits.
const LOOK: Duration = Duration::from_secs(15);

/// Looks at once.
const AT_ONCE: usize = 8;

/// What came of one look.
#[derive(Debug)]
pub struct Seen {
    /// `inbox.connector`.
    pub unit: String,
    /// `secret`, `program`, `connection`, `engine`.
    pub what: &'static str,
    /// What was found, or what is missing; not yet scrubbed of secrets.
    pub result: Result<String, String>,
}

/// What is looked at, and the look.
type Look<'a> = (&'static str, BoxFuture<'a, Seen>);

/// What looks need.
pub struct Scene {
    /// The environment in which programs are looked up.
    pub environment: Environment,
    /// Where secrets come from.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Clock,
    /// Children.
    pub process: ProcessRoom,
    /// The daemon's state directory.
    pub state_dir: PathBuf,
}

impl Scene {
    /// Looks at everything, a few at once; sorted by unit.
    pub async fn look(&self, plan: &Plan) -> Vec<Seen> {
        let looks =
            stream::iter(self.looks(plan).into_iter().map(|(_, look)| look)).buffer_unordered(AT_ONCE);
        let mut seen = looks.collect::<Vec<Seen>>().await;
        seen.sort_by(|a, b| (&a.unit, a.what).cmp(&(&b.unit, b.what)));
        seen
    }

    /// Looks whether each engine that is on can be started; nothing else.
    pub async fn look_at_engines(&self, plan: &Plan) -> Vec<Seen> {
        let looks = self.looks(plan).into_iter().filter(|(what, _)| *what == "engine").map(|(_, look)| look);
        let mut seen = stream::iter(looks).buffer_unordered(AT_ONCE).collect::<Vec<Seen>>().await;
        seen.sort_by(|a, b| a.unit.cmp(&b.unit));
        seen
    }

    /// A connector of its own, apart from a daemon's.
    ///
    /// # Errors
    /// It cannot be built from its settings.
    pub fn connector(&self, unit: &ConnectorUnit) -> Result<Arc<dyn Connector>, PortError> {
        let unknown =
            || PortError::new(ErrorClass::Config, format!("there is no platform {}", unit.platform));
        let spec = CATALOG.platform(&unit.platform).ok_or_else(unknown)?;
        (spec.build)(ConnectorContext {
            unit: unit.name.clone(),
            settings: unit.settings.clone(),
            secrets: Arc::clone(&self.secrets),
            clock: self.clock.clone(),
            state_dir: self.state_dir.join("connectors").join(&unit.name),
            http: HttpRoom::default(),
            process: self.process.clone(),
            environment: self.environment.clone(),
        })
    }

    fn looks<'a>(&'a self, plan: &'a Plan) -> Vec<Look<'a>> {
        let mut looks: Vec<Look<'a>> = Vec::new();
        for standing in plan.connectors.values() {
            let Standing::Active(unit) = standing else { continue };
            let name = format!("{}.connector", unit.name);
            looks.extend(unit.settings.secrets().into_iter().map(|secret| self.secret(&name, secret)));
            if let Some(program) = unit.settings.list("sendmail").first() {
                looks.push(self.program(&name, program));
            }
            looks.push(look(name, "connection", async move {
                let connector = self.connector(unit).map_err(|error| chain(&error))?;
                connector.probe().await.map_err(|error| chain(&error))
            }));
        }
        for standing in plan.engines.values() {
            let Standing::Active(unit) = standing else { continue };
            let name = format!("{}.engine", unit.name);
            let mut secrets = unit.settings.secrets();
            for setting in unit.env.iter().flat_map(|env| env.set.values()) {
                if let Setting::Secret(reference) = setting {
                    secrets.push(reference.clone());
                }
            }
            secrets.sort();
            secrets.dedup();
            looks.extend(secrets.into_iter().map(|secret| self.secret(&name, secret)));
            let Some(spec) = CATALOG.engine(&unit.engine) else { continue };
            let context = EngineContext {
                secrets: Arc::clone(&self.secrets),
                http: HttpRoom::default(),
                process: self.process.clone(),
                environment: self.environment.clone(),
                clock: self.clock.clone(),
            };
            looks.push(look(name, "engine", async move {
                let engine = (spec.build)(unit, context).map_err(|error| chain(&error))?;
                engine.probe().await.map_err(|error| error.to_string())
            }));
        }
        looks
    }

    fn secret<'a>(&'a self, unit: &str, secret: SecretRef) -> Look<'a> {
        look(unit.to_owned(), "secret", async move {
            match self.secrets.read(&secret).await {
                Ok(_) => Ok(format!("{secret} is there")),
                Err(error) => Err(format!("{error}; {}", error.hint())),
            }
        })
    }

    fn program<'a>(&'a self, unit: &str, program: &'a str) -> Look<'a> {
        look(unit.to_owned(), "program", async move {
            let env = env::build(&self.environment, &[], self.secrets.as_ref()).await;
            let env = env.map_err(|error| chain(&error))?;
            let found = lookup::find(OsStr::new(program), &env).map_err(|error| chain(&error))?;
            lookup::check(&found, &env).map_err(|error| chain(&error))?;
            Ok(format!("{} can be started", found.display()))
        })
    }
}

fn look<'a>(
    unit: String,
    what: &'static str,
    doing: impl Future<Output = Result<String, String>> + Send + 'a,
) -> Look<'a> {
    let looking = Box::pin(async move {
        let result = tokio::time::timeout(LOOK, doing).await;
        let result = result.unwrap_or_else(|_| Err(format!("no answer within {}s", LOOK.as_secs())));
        Seen { unit, what, result }
    });
    (what, looking)
}
