//! What tools a server had, and what they took: a server may change between two looks, and a unit's templates were
//! written for what it was. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::limits;
use crate::model::text::{digest, one_line};
use crate::platform::record::canonical;

/// A tool as a server lists it.
#[derive(Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Of the schema of its arguments.
    hash: String,
}

impl Tool {
    /// `None` for one without a name.
    pub fn of(listed: &Value) -> Option<Self> {
        let name = one_line(listed.get("name")?.as_str()?, 128);
        let schema = canonical(listed.get("inputSchema").unwrap_or(&Value::Null));
        let hash = digest(&[schema.as_bytes()]).get(..16).unwrap_or_default().to_owned();
        (!name.is_empty()).then_some(Self { name, hash })
    }
}

/// Kept in the cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pins {
    /// The tools that the unit uses, and the hash of what each takes.
    used: BTreeMap<String, String>,
    /// The names of all, in order; none until the first look.
    names: Vec<String>,
}

impl Pins {
    /// As the server is now. `used` are the tools that the unit names.
    ///
    /// # Errors
    /// A tool that the unit names is not there: which, and which there are.
    pub fn of(tools: &[Tool], used: &[&str]) -> Result<Self, String> {
        let mut pins = Self::default();
        for name in used {
            let Some(tool) = tools.iter().find(|tool| tool.name == *name) else {
                return Err(format!(
                    "it has no tool `{name}`; it has {}",
                    listed(tools.iter().map(|tool| &tool.name))
                ));
            };
            pins.used.insert(tool.name.clone(), tool.hash.clone());
        }
        pins.names = tools.iter().map(|tool| tool.name.clone()).take(limits::MCP_TOOLS_KEPT_MAX).collect();
        pins.names.sort_unstable();
        Ok(pins)
    }

    /// What is different now, for people.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let mut notes = Vec::new();
        for (name, hash) in &now.used {
            if self.used.get(name).is_some_and(|before| before != hash) {
                notes.push(format!(
                    "the tool `{name}` takes other arguments than before; look whether the unit still fits"
                ));
            }
        }
        let gone = || self.names.iter().filter(|name| !now.names.contains(name));
        let new = || now.names.iter().filter(|name| !self.names.contains(name));
        if gone().next().is_some() {
            notes.push(format!("the server no longer has the tools {}", listed(gone())));
        }
        if new().next().is_some() {
            notes.push(format!("the server has new tools: {}", listed(new())));
        }
        notes
    }
}

/// Some names for a line.
fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&String> = names.collect();
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "none".to_owned(),
        count if count > SHOWN => format!("{shown} and {} more", count - SHOWN),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pins(tools: &[(&str, Value)]) -> Pins {
        let tools: Vec<Tool> = tools
            .iter()
            .filter_map(|(name, schema)| {
                Tool::of(&json!({ "name": name, "description": "any", "inputSchema": schema }))
            })
            .collect();
        Pins::of(&tools, &["list"]).unwrap()
    }

    #[test]
    fn changes_are_told() {
        let before = pins(&[("list", json!({ "a": 1, "b": 2 })), ("send", json!({}))]);
        assert_eq!(Pins::default().changes(&before), [""; 0]);
        // Another order is no change.
        assert_eq!(
            before.changes(&pins(&[("send", json!({})), ("list", json!({ "b": 2, "a": 1 }))])),
            [""; 0]
        );
        assert_eq!(
            before.changes(&pins(&[("list", json!({ "a": 2 })), ("drop_all", json!({}))])),
            [
                "the tool `list` takes other arguments than before; look whether the unit still fits",
                "the server no longer has the tools `send`",
                "the server has new tools: `drop_all`",
            ]
        );
    }

    #[test]
    fn a_missing_tool_is_named_with_what_there_is() {
        let tools: Vec<Tool> =
            (0..10).filter_map(|n| Tool::of(&json!({ "name": format!("t{n}") }))).collect();
        let error = Pins::of(&tools, &["list"]).unwrap_err();
        assert_eq!(
            error,
            "it has no tool `list`; it has `t0`, `t1`, `t2`, `t3`, `t4`, `t5`, `t6`, `t7` and 2 more"
        );
        assert_eq!(Pins::of(&[], &["list"]).unwrap_err(), "it has no tool `list`; it has none");
        assert!(Tool::of(&json!({})).is_none() && Tool::of(&json!({ "name": "" })).is_none());
    }
}
