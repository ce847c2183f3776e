//! Hands what the log relays to an OpenTelemetry collector, by OTLP over HTTP with JSON bodies.
//!
//! A collector that is away costs nothing but the oldest records: nobody waits for it, and the log where it is written does
//! not depend on it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::logging::{Log, OF_RELAY, RecordKind};
use crate::control::api::Present;
use crate::http::{Credentials, HttpRequest, HttpRoom};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::limits::OTLP_BATCH_LEN_MAX;
use crate::model::live::Live;
use crate::model::text::digest;
use crate::model::time::Clock;
use crate::secret::SecretStore as _;
use crate::secret::secrets::Secrets;
use crate::unit::plan::OtlpSettings;

/// What comes within so long goes in one request.
const GATHER: Duration = Duration::from_secs(2);

/// The first wait after a failure, doubled up to the longest.
const WAIT: Duration = Duration::from_secs(2);
const WAIT_MAX: Duration = Duration::from_secs(120);

/// One request, with the connection.
const TOTAL: Duration = Duration::from_secs(10);

/// For what is left when the daemon ends.
const AT_END: Duration = Duration::from_secs(2);

/// Takes from the log and gives to the collector.
pub struct Exporter {
    log: Log,
    /// The plan says to whom.
    present: Live<Present>,
    secrets: Secrets,
    http: HttpRoom,
    clock: Clock,
    /// Tells this installation from others, in the same words after a restart.
    instance: String,
}

/// A name for the installation that keeps its state there, on this machine; it says nothing about either.
fn instance(state: &Path) -> String {
    let machine = rustix::system::uname();
    let mut name = digest(&[machine.nodename().to_bytes(), state.as_os_str().as_encoded_bytes()]);
    name.truncate(32);
    name
}

impl Exporter {
    /// Lets the log relay from now on, if the plan that runs names a collector. `state`: where this installation keeps its
    /// state.
    #[must_use]
    pub fn new(log: &Log, present: Live<Present>, secrets: Secrets, clock: Clock, state: &Path) -> Self {
        let instance = instance(state);
        log.relay().call(&instance);
        log.relay().switch(present.get().plan.daemon.otlp.endpoint.is_some());
        Self { log: log.clone(), present, secrets, http: HttpRoom::default(), clock, instance }
    }

    /// Hands over until told to end, and then what is left.
    pub async fn work(&self, end: CancellationToken) {
        end.run_until_cancelled(self.keep()).await;
        self.flush().await;
    }

    /// For ever; rests while there is nothing to tell.
    async fn keep(&self) {
        let mut failures = 0_u32;
        loop {
            self.log.relay().news().await;
            tokio::time::sleep(GATHER).await;
            while self.log.relay().is_on() {
                match self.hand_over().await {
                    Ok(true) => failures = 0,
                    Ok(false) => break,
                    Err(error) => {
                        failures = failures.saturating_add(1);
                        if failures == 1 {
                            tracing::warn!(target: OF_RELAY, "the collector does not take the log: {}", chain(&error));
                        }
                        let asked = match error.class {
                            ErrorClass::Network { retry_after } => retry_after,
                            _ => None,
                        };
                        let doubled = WAIT.saturating_mul(1 << failures.min(8).saturating_sub(1));
                        tokio::time::sleep(asked.unwrap_or(doubled).min(WAIT_MAX)).await;
                    }
                }
            }
        }
    }

    /// What is held when the daemon ends, as far as it goes in [`AT_END`].
    async fn flush(&self) {
        let rest = async { while self.log.relay().is_on() && matches!(self.hand_over().await, Ok(true)) {} };
        let _ = tokio::time::timeout(AT_END, rest).await;
    }

    /// One batch. `false`: there was nothing.
    async fn hand_over(&self) -> Result<bool, PortError> {
        let settings = self.present.get().plan.daemon.otlp.clone();
        let Some(endpoint) = settings.endpoint.as_deref() else { return Ok(false) };
        let records = self.log.relay().take(OTLP_BATCH_LEN_MAX);
        if records.is_empty() {
            return Ok(false);
        }
        let count = records.len();
        for kind in [RecordKind::Log, RecordKind::Span] {
            let of_kind: Vec<Json> = records
                .iter()
                .filter(|record| record.kind == kind)
                .map(|record| record.json.clone())
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            match self.post(endpoint, &settings, kind, of_kind).await {
                Ok(()) => {}
                Err(error) if error.class == ErrorClass::Permanent => {
                    tracing::warn!(target: OF_RELAY, "the collector refused {count} records: {}", chain(&error));
                }
                Err(error) => {
                    // What came through already is not sent again.
                    let left = records
                        .into_iter()
                        .filter(|record| record.kind == RecordKind::Span || kind == RecordKind::Log);
                    self.log.relay().put_back(left.collect());
                    return Err(error);
                }
            }
        }
        match self.log.relay().dropped() {
            0 => {}
            dropped => {
                tracing::warn!(target: OF_RELAY, dropped, "records that the collector did not take in time are gone");
            }
        }
        Ok(true)
    }

    async fn post(
        &self,
        endpoint: &str,
        settings: &OtlpSettings,
        kind: RecordKind,
        records: Vec<Json>,
    ) -> Result<(), PortError> {
        let (path, all, scoped, one) = match kind {
            RecordKind::Log => ("/v1/logs", "resourceLogs", "scopeLogs", "logRecords"),
            RecordKind::Span => ("/v1/traces", "resourceSpans", "scopeSpans", "spans"),
        };
        let address = format!("{}{path}", endpoint.trim_end_matches('/'));
        let url = Url::parse(&address).map_err(|error| {
            PortError::caused(ErrorClass::Config, format!("POST {address}"), error.to_string())
        })?;
        let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
        let resource = json!({ "attributes": [
            text("service.name", "workagent"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("service.instance.id", &self.instance),
        ] });
        let body = json!({ all: [{
            "resource": resource,
            scoped: [{ "scope": { "name": "workagent", "version": env!("CARGO_PKG_VERSION") }, one: records }],
        }] });
        let credentials = match &settings.token {
            Some(token) => {
                let value = self.secrets.read(token).await.map_err(|error| {
                    PortError::caused(ErrorClass::Auth, "read the token for the collector", chain(&error))
                })?;
                Some(Credentials::Bearer(value))
            }
            None => None,
        };
        // Said twice is better than not said.
        let request = HttpRequest::post_json(url, &body).credentials(credentials).reading().total(TOTAL);
        self.http.send(request).await?.into_ok(self.clock.now()).map(drop)
    }
}
