//! What is there already, and trying out what would be: units, secrets, logins. Nothing here writes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::typed_secrets::TypedSecrets;
use crate::bundle::backlog::{Counted, count};
use crate::bundle::probe::{Scene, Seen};
use crate::catalog::CATALOG;
use crate::cli::backend::{Backend, present_environment};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::units::{Own, UnitSet};
use crate::cli::{secret, service};
use crate::daemon::paths::Paths;
use crate::diag::{Finding, Severity};
use crate::model::class::{ErrorClass, chain};
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::secret::secrets::Secrets;
use crate::unit::Compiled;
use crate::unit::load::UnitFile;
use crate::unit::plan::{ConnectorUnit, Plan, Standing};
use crate::unit::registry::Registry;

/// A login that takes longer is given up; a person waits for it.
const LOGIN: Duration = Duration::from_secs(30);

/// Counting what is there is worth so long.
const COUNTING: Duration = Duration::from_secs(30);

/// The settings of `backlog` that are counted besides `new` and `all`.
pub const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// What is there.
pub struct Here {
    /// Unit files.
    pub set: UnitSet,
    /// Where new ones go.
    pub own: Own,
    /// The daemon's directories.
    pub paths: Paths,
    /// Platforms and engines.
    pub registry: Registry,
    /// The stores, as the plan that is there has them.
    pub secrets: Secrets,
    /// What was typed.
    pub typed: Arc<TypedSecrets>,
    /// A daemon runs.
    pub daemon: bool,
    /// A supervisor is here, and the service is not installed.
    pub can_install: bool,
    /// Now.
    pub clock: Clock,
    scene: Scene,
    /// What is tried leaves its traces here and not in the state directory.
    _scratch: tempfile::TempDir,
}

/// Why a login did not work.
#[derive(Debug)]
pub struct Refused {
    /// The class of the error; `None`: the unit cannot be built or nobody answered.
    pub class: Option<ErrorClass>,
    /// The whole chain, masked.
    pub text: String,
}

impl Here {
    /// Looks.
    ///
    /// # Errors
    /// There is no place for units or state, or the secret store cannot be opened.
    pub async fn look(context: &Context<'_>) -> Result<Self, CliError> {
        let paths = context.paths()?;
        let set = UnitSet::read(context);
        let own = set.own(false)?;
        let scrubber = context.scrubber.clone();
        let environment = present_environment(context, &paths).await;
        let secrets = secret::open(&paths, &set.compiled.plan, context).await;
        // A store that cannot be opened would be found out only after all questions.
        secrets.names().await.map_err(|error| {
            let hint = error.hint();
            CliError::doing("open the secret store", &error).hint(hint)
        })?;
        let typed = Arc::new(TypedSecrets::new(secrets.clone().shared(), scrubber));
        let daemon = Backend::running(&paths).await?.is_some();
        let site = service::site(context, None).ok();
        let can_install = site.is_some_and(|site| !site.file().exists());
        let scratch = tempfile::Builder::new().prefix("workagent-init-").tempdir()?;
        let scene = Scene {
            environment,
            secrets: typed.clone(),
            clock: context.clock.clone(),
            process: ProcessRoom::new(scratch.path().join("children")),
            // Some connectors keep what they saw there; a count must not become their memory.
            state_dir: scratch.path().to_owned(),
        };
        let (registry, clock) = (CATALOG.registry(), context.clock.clone());
        Ok(Self {
            set,
            own,
            paths,
            registry,
            secrets,
            typed,
            daemon,
            can_install,
            clock,
            scene,
            _scratch: scratch,
        })
    }

    /// Names of connectors that are there in the user's own directory.
    #[must_use]
    pub fn own_connectors(&self) -> Vec<String> {
        use crate::unit::plan::Kind;
        let names = crate::cli::units::all_names(&self.set).into_iter();
        names
            .filter(|name| name.kind == Kind::Connector && !name.is_template() && self.held(name).is_some())
            .map(|name| name.name)
            .collect()
    }

    /// The user's own file of a unit, if there is one.
    #[must_use]
    pub fn held(&self, name: &crate::unit::plan::UnitName) -> Option<&UnitFile> {
        self.set.files(name).main.filter(|file| self.own.has(file))
    }

    /// Errors in these files, were they there.
    #[must_use]
    pub fn errors(&self, files: &[UnitFile]) -> (Compiled, Vec<Finding>) {
        let compiled = self.set.with_all(files);
        let about = |finding: &&Finding| {
            let path = compiled.sources.path(finding.span.source);
            finding.severity == Severity::Error && files.iter().any(|file| file.path == path)
        };
        let errors = compiled.findings.iter().filter(about).cloned().collect();
        (compiled, errors)
    }

    /// Logs in as the connector of this name would.
    ///
    /// # Errors
    /// What the far side says.
    pub async fn log_in(&self, plan: &Plan, name: &str) -> Result<String, Refused> {
        let unit = active(plan, name)?;
        let connector = self.scene.connector(&unit).map_err(|error| self.refused(&error))?;
        match tokio::time::timeout(LOGIN, connector.probe()).await {
            Ok(Ok(text)) => Ok(self.masked(&text)),
            Ok(Err(error)) => Err(self.refused(&error)),
            Err(_) => Err(Refused { class: None, text: format!("no answer within {} s", LOGIN.as_secs()) }),
        }
    }

    /// Counts what is there already at a connector.
    ///
    /// # Errors
    /// What the far side says.
    pub async fn count(&self, plan: &Plan, name: &str) -> Result<Counted, Refused> {
        let unit = active(plan, name)?;
        let connector = self.scene.connector(&unit).map_err(|error| self.refused(&error))?;
        match tokio::time::timeout(COUNTING, count(&*connector, self.clock.now(), &[WEEK])).await {
            Ok(counted) => counted.map_err(|error| self.refused(&error)),
            Err(_) => {
                Err(Refused { class: None, text: format!("not counted within {} s", COUNTING.as_secs()) })
            }
        }
    }

    /// Tries what of this plan is on.
    pub async fn try_all(&self, plan: &Plan) -> Vec<Seen> {
        let mut seen = self.scene.look(plan).await;
        for look in &mut seen {
            match &mut look.result {
                Ok(text) | Err(text) => *text = self.masked(text),
            }
        }
        seen
    }

    /// Masked of every secret that was typed or read.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        self.secrets.scrubber().scrub(text).into_owned()
    }

    /// A path for people.
    #[must_use]
    pub fn short(&self, path: &Path) -> String {
        self.set.short(path)
    }

    /// A text with our own paths in it, the home directory as `~`.
    #[must_use]
    pub fn with_short_home(&self, text: &str) -> String {
        match self.set.home.as_ref().and_then(|home| home.to_str()).filter(|home| home.len() > 1) {
            Some(home) => text.replace(&format!("{home}/"), "~/"),
            None => text.to_owned(),
        }
    }

    fn refused(&self, error: &crate::model::class::PortError) -> Refused {
        Refused { class: Some(error.class), text: self.masked(&chain(error)) }
    }
}

fn active(plan: &Plan, name: &str) -> Result<Arc<ConnectorUnit>, Refused> {
    match plan.connectors.get(name) {
        Some(Standing::Active(unit)) => Ok(Arc::clone(unit)),
        Some(Standing::Off(off)) => Err(Refused { class: None, text: off.reason.clone() }),
        None => Err(Refused { class: None, text: format!("there is no {name}.connector") }),
    }
}
