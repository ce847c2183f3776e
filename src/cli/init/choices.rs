//! Who could answer: model servers and agents of this machine, vendors, and what needs none of them.

use std::collections::BTreeMap;

use super::draft::Engine;
use super::here::Here;
use crate::bundle::machine::{self, ModelServer, SERVERS};
use crate::catalog::CATALOG;
use crate::model::environment::Environment;
use crate::unit::load::UnitFile;
use crate::unit::plan::{Kind, Standing, UnitName};

/// Agents that speak the Agent Client Protocol, by preset; their program has the same name.
const ACP: [&str; 5] = ["gemini", "opencode", "qwen", "copilot", "goose"];

/// Vendors' APIs: the word, the engine, and the name of the key in the secret store.
const VENDORS: [(&str, &str, &str); 3] = [
    ("anthropic", "anthropic", "anthropic/key"),
    ("openai", "openai-responses", "openai/key"),
    ("google", "gemini", "gemini/key"),
];

/// One of them.
#[derive(Clone, Debug)]
pub struct Choice {
    /// As far as it is known without a question.
    pub engine: Engine,
    /// What was found, for people.
    pub told: String,
    /// What else must be said.
    pub asks: Asks,
    /// Can answer as it is.
    pub ready: bool,
    /// Texts stay on this machine.
    pub local: bool,
}

/// What else must be said of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// One of these models.
    Model(Vec<String>),
    /// A model by its vendor's name (this one, for example) and a key, which is stored under this name.
    Key {
        /// A model.
        model: String,
        /// The name in the store.
        name: &'static str,
    },
    /// A program.
    Program,
    /// A text.
    Text,
}

/// Looks what there is: servers and programs at once, logins of agents by their own way of asking.
pub async fn choices(here: &Here, environment: &Environment) -> Vec<Choice> {
    let servers = machine::model_servers(&SERVERS).await;
    let mut choices: Vec<Choice> = servers.into_iter().filter_map(server).collect();
    let mut agents = agents(environment);
    ask_agents(&mut agents, here).await;
    // Who can answer at once comes first.
    agents.sort_by_key(|choice| !choice.ready);
    choices.extend(agents);
    choices.push(Choice {
        engine: Engine::new("template", "template"),
        told: "a text of yours for everybody, no model".to_owned(),
        asks: Asks::Text,
        ready: true,
        local: true,
    });
    choices.push(Choice {
        engine: Engine::new("program", "command"),
        told: "a program of yours, which gets the case and prints the answer".to_owned(),
        asks: Asks::Program,
        ready: true,
        local: false,
    });
    choices.extend(VENDORS.iter().map(|(word, engine, name)| Choice {
        engine: Engine::new(word, engine),
        told: "an API key of yours; each token costs".to_owned(),
        asks: Asks::Key { model: example_model(engine), name },
        ready: false,
        local: false,
    }));
    choices
}

fn server(server: ModelServer) -> Option<Choice> {
    let ModelServer { name, base_url, models } = server;
    let first = models.first()?.clone();
    let more = match models.len() {
        1 => first.clone(),
        many => format!("{first} and {} more", many - 1),
    };
    let mut engine = Engine::new(&name, "openai-chat").with("base_url", base_url.as_str());
    engine.model = Some(first);
    let asks = if models.len() > 1 { Asks::Model(models) } else { Asks::Nothing };
    Some(Choice {
        engine,
        told: format!("{more} at {base_url}; texts stay on this machine"),
        asks,
        ready: true,
        local: true,
    })
}

/// Programs of agents that are there.
fn agents(environment: &Environment) -> Vec<Choice> {
    let mut found = Vec::new();
    for name in ["claude", "codex"] {
        let Some(program) = machine::program(name, environment) else { continue };
        let engine = Engine::new(name, name)
            .with("program", program.display().to_string())
            .with("auth", "subscription")
            .with("home", format!("~/.{name}"));
        let told = format!("{}, not logged in: run `{name}` once", program.display());
        found.push(Choice { engine, told, asks: Asks::Nothing, ready: false, local: false });
    }
    for name in ACP {
        let Some(program) = machine::program(name, environment) else { continue };
        let program = program.display().to_string();
        let engine = Engine::new(name, "acp").with("preset", name).with("program", program.as_str());
        let told = format!("{program}; whether it is logged in, its first run shows");
        found.push(Choice { engine, told, asks: Asks::Nothing, ready: true, local: false });
    }
    found
}

/// Versions and logins of those that can tell. One without a home of its own was never logged in, and asking it would
/// make that home.
async fn ask_agents(agents: &mut [Choice], here: &Here) {
    let has_home = |choice: &Choice| {
        let dir = here.set.home.as_ref().map(|home| home.join(format!(".{}", choice.engine.name)));
        dir.is_some_and(|dir| dir.is_dir())
    };
    let can_tell = |choice: &&Choice| choice.engine.keys.contains_key("auth") && has_home(choice);
    let files: Vec<UnitFile> = agents.iter().filter(can_tell).map(|choice| file(choice, here)).collect();
    if files.is_empty() {
        return;
    }
    let mut plan = here.set.with_all(&files).plan;
    plan.connectors = BTreeMap::new();
    let asked = |name: &str| files.iter().any(|file| file.path.ends_with(format!("{name}.engine.toml")));
    plan.engines.retain(|name, standing| asked(name) && matches!(standing, Standing::Active(_)));
    for seen in here.try_all(&plan).await.into_iter().filter(|seen| seen.what == "engine") {
        let name = seen.unit.trim_end_matches(".engine").to_owned();
        for choice in agents.iter_mut().filter(|choice| choice.engine.name == name) {
            choice.ready = seen.result.is_ok();
            let (Ok(text) | Err(text)) = &seen.result;
            choice.told.clone_from(text);
        }
    }
}

fn file(choice: &Choice, here: &Here) -> UnitFile {
    let name = UnitName { name: choice.engine.name.clone(), kind: Kind::Engine };
    let chosen = choice.engine.chosen(false, &here.registry);
    let text = crate::unit::compose::text(Kind::Engine, &[], &chosen, &here.registry);
    here.own.main(&name, &text)
}

/// The model that the shipped unit names as an example.
fn example_model(engine: &str) -> String {
    let shipped = CATALOG.registry().shipped;
    let text = shipped.iter().find(|unit| unit.file == format!("{engine}.engine.toml")).map(|unit| unit.text);
    let line = text.and_then(|text| text.lines().find_map(|line| line.strip_prefix("#model = ")));
    line.unwrap_or_default().trim().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_have_a_model_for_an_example() {
        for (_, engine, _) in VENDORS {
            assert!(example_model(engine).len() > 3, "{engine}");
        }
    }
}
