//! What a unit says of the program's protocol, and the beginning of a run of a tap.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::run_files::{Given, RunFiles, read_json};
use super::tap::{Protocol, Reader, catalog_for};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::platform::fill::fill;
use crate::platform::record::Fields;
use crate::process::program::Program;
use crate::secret::Scrubber;
use crate::unit::value::{Setting, Settings};

/// How the program is spoken with.
pub struct Tap {
    /// Its protocol.
    pub protocol: Protocol,
    fields: Fields,
    streams: Vec<String>,
    config: Value,
    values: BTreeMap<String, Setting>,
    catalog: Option<PathBuf>,
}

/// A run that can begin.
#[derive(Default)]
pub struct Begun {
    /// What it reads, for as long as it runs.
    pub files: Option<RunFiles>,
    catalog: Option<Value>,
}

/// Most items and bytes of one run.
pub struct Caps {
    /// Items.
    pub items: usize,
    /// Bytes of standard output.
    pub stdout_bytes: usize,
    /// Log lines shown.
    pub logs: usize,
}

impl Tap {
    /// From the checked keys.
    ///
    /// # Errors
    /// `Config`: `config` is not a JSON object.
    pub fn of(settings: &Settings) -> Result<Self, PortError> {
        let config = match settings.text("config") {
            None => json!({}),
            Some(text) => config_of(text)
                .map_err(|why| PortError::new(ErrorClass::Config, format!("`config` {why}")))?,
        };
        Ok(Self {
            protocol: Protocol::of(settings.text("protocol").unwrap_or_default()),
            fields: Fields::new(
                settings.map("fields"),
                settings.list("ignore"),
                settings.text("body_format"),
            ),
            streams: settings.list("streams").to_vec(),
            config,
            values: settings.map("config_values").cloned().unwrap_or_default(),
            catalog: settings.path("catalog").cloned(),
        })
    }

    /// Bounds of a run. A tap cannot be told to stop early and go on later, so it may say more than a program that can.
    pub fn caps(&self) -> Caps {
        if self.protocol.is_tap() {
            Caps {
                items: limits::TAP_ITEMS_MAX,
                stdout_bytes: limits::TAP_STDOUT_BYTES_MAX,
                logs: limits::TAP_LOGS_MAX,
            }
        } else {
            Caps {
                items: limits::COMMAND_ITEMS_MAX,
                stdout_bytes: limits::COMMAND_STDOUT_BYTES_MAX,
                logs: limits::ITEM_LIST_LEN_MAX,
            }
        }
    }

    /// Reads secrets and files, and writes what a tap reads. Nothing for a program of our own protocol.
    ///
    /// # Errors
    /// Of the secret store, and of files.
    pub async fn begin(
        &self,
        program: &Program,
        scrubber: &Scrubber,
        state: &Value,
    ) -> Result<Begun, PortError> {
        if !self.protocol.is_tap() {
            return Ok(Begun::default());
        }
        let catalog = match &self.catalog {
            None => None,
            Some(path) => {
                let doing = || format!("use the catalog {}", path.display());
                let whole = read_json(path.clone()).await?;
                let fit = catalog_for(self.protocol, &whole, &self.streams);
                Some(fit.map_err(|why| PortError::caused(ErrorClass::Config, doing(), why))?)
            }
        };
        let mut values = BTreeMap::new();
        for (name, setting) in &self.values {
            let value = match setting {
                Setting::Text(text) => text.clone(),
                Setting::Secret(reference) => {
                    let value = program.secret(reference, name).await?;
                    scrubber.register(&value);
                    value.expose_to_the_wire().to_owned()
                }
            };
            values.insert(name.as_str(), value);
        }
        let config = fill(&self.config, &|name| values.get(name).map(|value| json!(value)));
        let given = Given { config, state: Some(state.clone()).filter(|state| !state.is_null()), catalog };
        let catalog = given.catalog.clone();
        let files = RunFiles::write(program.state_dir(), self.protocol, given).await?;
        Ok(Begun { files: Some(files), catalog })
    }

    /// Reads the lines of a run that began at `state`.
    pub fn reader<'a>(&'a self, begun: &Begun, scrubber: &'a Scrubber, state: &Value) -> Reader<'a> {
        let catalog = begun.catalog.as_ref();
        Reader::new(self.protocol, &self.fields, &self.streams, scrubber, catalog, state.clone())
    }
}

/// A JSON object out of a unit. The text is not repeated: it may hold what it should not.
pub fn config_of(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(error) => Err(format!("is not JSON (line {}, column {})", error.line(), error.column())),
    }
}
