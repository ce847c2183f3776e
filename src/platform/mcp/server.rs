//! The server of a unit, and a talk with it from the greeting on: which era it speaks, its tools, calls.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::pins::Tool;
use super::protocol::{Era, agreed, hello, initialized, request, server_name, speaks_modern};
use super::wire::{ChildWire, Failed, Question, WebWire, Wire};
use crate::http::{Credentials, Effect, masked};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::mcp::MODERN;
use crate::platform::ConnectorContext;
use crate::platform::oauth::renew::Asker;
use crate::process::{ChildLimits, ChildSpec, EnvValue, env};
use crate::secret::Scrubber;
use crate::unit::plan::EnvUnit;

/// Where the server is and how it is spoken with.
pub struct Server {
    context: ConnectorContext,
    way: Way,
    timeout: Duration,
    eras: &'static [Era],
    /// The era that was spoken last.
    known: Mutex<Option<Era>>,
}

enum Way {
    Program { program: String, args: Vec<String>, env: [Arc<EnvUnit>; 1] },
    Web(Url),
}

/// A greeted server.
pub struct Session {
    wire: Wire,
    /// Knows the secrets that went out.
    pub scrubber: Scrubber,
    /// What it speaks.
    pub era: Era,
    /// Its own name and version.
    pub name: String,
    asked: u64,
    timeout: Duration,
}

impl Server {
    /// From the checked keys. Opens nothing.
    ///
    /// # Errors
    /// `Config`: neither a program nor a URL.
    pub fn of(context: ConnectorContext) -> Result<Self, PortError> {
        let settings = &context.settings;
        let way = match (settings.text("command"), settings.text("url")) {
            (Some(program), _) => Way::Program {
                program: program.to_owned(),
                args: settings.list("args").to_vec(),
                env: [Arc::new(EnvUnit {
                    name: context.unit.clone(),
                    set: settings.map("set").cloned().unwrap_or_else(BTreeMap::new),
                    unset: Vec::new(),
                    pass: settings.list("pass").to_vec(),
                })],
            },
            (None, Some(url)) => Way::Web(Url::parse(url).map_err(|error| {
                PortError::caused(ErrorClass::Config, "use `url`", format!("it is not a URL: {error}"))
            })?),
            (None, None) => return Err(PortError::new(ErrorClass::Config, "`command` or `url` is missing")),
        };
        let eras: &[Era] = match settings.text("revision") {
            Some("2026-07-28") => &[Era::Modern],
            Some("2025-11-25") => &[Era::Legacy],
            _ => &[Era::Modern, Era::Legacy],
        };
        let timeout = settings.duration("timeout").unwrap_or(Duration::from_secs(60));
        Ok(Self { way, timeout, eras, known: Mutex::new(None), context })
    }

    /// For people.
    pub fn place(&self) -> String {
        match &self.way {
            Way::Program { program, args, .. } => {
                let line =
                    std::iter::once(program).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ");
                format!("the MCP server `{line}`")
            }
            Way::Web(url) => format!("the MCP server {}", masked(url)),
        }
    }

    /// Names it over restarts, arguments and queries apart: `https://host/mcp`, or nothing for a program.
    pub fn address(&self) -> Option<String> {
        let Way::Web(url) = &self.way else { return None };
        let mut url = url.clone();
        url.set_query(None);
        Some(masked(&url))
    }

    /// Greets it in the era it was last known to speak, or else in both.
    ///
    /// # Errors
    /// It cannot be reached, refuses us, or speaks no revision that we know.
    pub async fn open(&self, known: Option<Era>) -> Result<Session, PortError> {
        let known = known.or(*self.known.lock().unwrap_or_else(PoisonError::into_inner));
        let mut eras = self.eras.to_vec();
        eras.sort_by_key(|era| known.is_some_and(|known| *era != known));
        let child = matches!(self.way, Way::Program { .. });
        while !eras.is_empty() {
            let era = eras.remove(0);
            let last = eras.is_empty();
            let mut session = self.start(era, last).await?;
            match session.greet().await {
                Ok(()) => {
                    *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.era);
                    return Ok(session);
                }
                // It may be of the other era: it said so, or (a program) said nothing, or ended in confusion.
                Err(Failed::Refused(_) | Failed::OtherEra(_)) if !last => session.close().await,
                Err(Failed::Port(_)) if !last && child => session.close().await,
                Err(failed) => {
                    return Err(session.explain(failed, "greet the MCP server", Effect::Read).await);
                }
            }
        }
        Err(PortError::new(ErrorClass::Bug, "an MCP server was greeted in no era"))
    }

    async fn start(&self, era: Era, last: bool) -> Result<Session, PortError> {
        let scrubber = Scrubber::new();
        let wire = match &self.way {
            Way::Web(url) => {
                let credentials = self.credentials(&scrubber).await?;
                let (http, clock) = (self.context.http.clone(), self.context.clock.clone());
                Wire::Web(Box::new(WebWire::new(http, clock, url.clone(), credentials, era)))
            }
            Way::Program { program, args, env } => {
                let mut child = self.child(program, args, env, scrubber.clone()).await?;
                child.patience = (!last && era == Era::Modern).then_some(limits::MCP_PATIENCE);
                Wire::Child(Box::new(child))
            }
        };
        Ok(Session { wire, scrubber, era, name: String::new(), asked: 0, timeout: self.timeout })
    }

    async fn credentials(&self, scrubber: &Scrubber) -> Result<Option<Credentials>, PortError> {
        let Some(reference) = self.context.settings.secret("token") else { return Ok(None) };
        let ConnectorContext { http, secrets, clock, unit, .. } = &self.context;
        let value = Asker { http, secrets: secrets.as_ref(), clock, unit }.token(reference).await?.value;
        scrubber.register(&value);
        Ok(Some(Credentials::Bearer(value)))
    }

    async fn child(
        &self,
        program: &str,
        args: &[String],
        env_unit: &[Arc<EnvUnit>; 1],
        scrubber: Scrubber,
    ) -> Result<ChildWire, PortError> {
        let ConnectorContext { environment, secrets, process, state_dir, .. } = &self.context;
        let env = env::build(environment, env_unit, secrets.as_ref()).await?;
        for value in env.0.values() {
            if let EnvValue::Secret(value) = value {
                scrubber.register(value);
            }
        }
        let cwd = state_dir.clone();
        let made = tokio::task::spawn_blocking(move || {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&cwd)
        });
        let doing = || format!("make the directory {}", state_dir.display());
        match made.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(PortError::caused(ErrorClass::NETWORK, doing(), error)),
            Err(error) => return Err(PortError::caused(ErrorClass::Bug, doing(), error)),
        }
        let spec = ChildSpec {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            env,
            cwd: state_dir.clone(),
            stdin: Vec::new(),
            limits: ChildLimits {
                first_output: self.timeout,
                idle: limits::MCP_SESSION,
                total: limits::MCP_SESSION,
                line_bytes_max: limits::JSON_BYTES_MAX,
                stdout_bytes_max: limits::MCP_STDOUT_BYTES_MAX,
            },
        };
        let dialogue = process.talk(spec, limits::MCP_SESSION, &CancellationToken::new()).await?;
        Ok(ChildWire { dialogue, scrubber, name: program.to_owned(), patience: None })
    }
}

impl Session {
    async fn greet(&mut self) -> Result<(), Failed> {
        match self.era {
            Era::Modern => {
                let found =
                    self.call("server/discover", Map::new(), "greet the MCP server", Effect::Read).await?;
                if !speaks_modern(&found) {
                    let why = format!("it does not speak revision {MODERN}");
                    return Err(Failed::OtherEra(PortError::caused(
                        ErrorClass::Config,
                        "greet the MCP server",
                        why,
                    )));
                }
                self.name = server_name(&found);
            }
            Era::Legacy => {
                let found = self.call("initialize", hello(), "greet the MCP server", Effect::Read).await?;
                let revision = agreed(&found).map_err(|given| {
                    let why = format!("it speaks revision `{given}`, which is not known here");
                    Failed::Port(PortError::caused(ErrorClass::Config, "greet the MCP server", why))
                })?;
                self.name = server_name(&found);
                self.wire.agree(Era::Legacy, revision);
                self.wire.tell(&initialized()).await?;
            }
        }
        if let Wire::Child(child) = &mut self.wire {
            child.patience = None;
        }
        Ok(())
    }

    /// Asks, once.
    pub async fn call(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        doing: &str,
        effect: Effect,
    ) -> Result<Value, Failed> {
        self.asked += 1;
        let message = request(self.asked, method, params, self.era);
        let question = Question { id: self.asked, message: &message, doing, effect, wait: self.timeout };
        self.wire.ask(&question).await
    }

    /// Calls a tool.
    pub async fn call_tool(&mut self, tool: &str, arguments: Value, effect: Effect) -> Result<Value, Failed> {
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(tool));
        params.insert("arguments".to_owned(), arguments);
        self.call("tools/call", params, &format!("call the tool `{tool}`"), effect).await
    }

    /// All its tools, page by page within a bound.
    pub async fn tools(&mut self) -> Result<Vec<Tool>, Failed> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..limits::MCP_PAGES_MAX {
            let mut params = Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            let page =
                self.call("tools/list", params, "list the tools of the MCP server", Effect::Read).await?;
            let given = page.get("tools").and_then(Value::as_array).into_iter().flatten();
            tools.extend(given.filter_map(Tool::of).take(limits::MCP_TOOLS_MAX.saturating_sub(tools.len())));
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || next == cursor {
                break;
            }
            cursor = next;
        }
        Ok(tools)
    }

    /// The end.
    pub async fn close(self) {
        self.wire.close().await;
    }

    /// The error of a failed call, with the last words of a program, and the end.
    pub async fn explain(self, failed: Failed, doing: &str, effect: Effect) -> PortError {
        let scrubber = self.scrubber.clone();
        match failed {
            Failed::Refused(mut refusal) => {
                self.close().await;
                refusal.message = scrubber.scrub_owned(refusal.message);
                let class = match (effect, refusal.is_definite()) {
                    (Effect::Read, true) => ErrorClass::Config,
                    (Effect::Read, false) => ErrorClass::NETWORK,
                    (Effect::Write, true) => ErrorClass::Permanent,
                    (Effect::Write, false) => ErrorClass::Uncertain,
                };
                PortError::caused(class, doing, refusal)
            }
            Failed::Port(error) | Failed::OtherEra(error) => {
                let said = match self.wire {
                    Wire::Child(child) => child.last_words().await,
                    web @ Wire::Web(_) => {
                        web.close().await;
                        String::new()
                    }
                };
                let PortError { class, doing, source } = error;
                let cause = source.map(|cause| cause.to_string()).unwrap_or_default();
                let cause = if said.is_empty() { cause } else { format!("{cause}; it said: {said}") };
                if cause.is_empty() {
                    PortError::new(class, doing)
                } else {
                    PortError::caused(class, doing, cause)
                }
            }
        }
    }
}
