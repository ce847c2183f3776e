//! State, assignee and labels of an issue: looked up by name, changed only where they differ.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::graphql::ask;
use super::place::Place;
use super::{LinearConnector, queries};
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::outbound::OutboundAction;
use crate::model::text::one_line;

const DOING: &str = "change the issue in Linear";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Issue {
    identifier: String,
    label_ids: Vec<String>,
    state: Option<Thing>,
    assignee: Option<Thing>,
    team: Option<Team>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Thing {
    id: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Team {
    id: String,
    states: Things,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Things {
    nodes: Vec<Thing>,
}

/// What is to be changed, and what it comes to for people.
struct Change {
    input: Map<String, Value>,
    wanted: String,
}

impl LinearConnector {
    /// Makes the chosen effects true; what is true already is left alone.
    pub(super) async fn bring_about(&self, action: &OutboundAction) -> Result<String, PortError> {
        let Some(issue) = issue_of(action) else { return Ok(String::new()) };
        let change = self.change(action, &issue).await?;
        if change.input.is_empty() {
            return Ok(change.wanted);
        }
        let variables = json!({ "issue": issue, "input": change.input });
        let answer = ask(&self.api, Effect::Write, DOING, queries::ISSUE_UPDATE, variables).await?;
        let done = answer.data.pointer("/issueUpdate/success").and_then(Value::as_bool);
        if done == Some(true) {
            return Ok(change.wanted);
        }
        Err(PortError::caused(ErrorClass::Uncertain, DOING, "Linear did not say that it took the change"))
    }

    /// What is true, if all that was chosen is.
    pub(super) async fn stands(&self, action: &OutboundAction) -> Result<Option<String>, PortError> {
        let Some(issue) = issue_of(action) else { return Ok(None) };
        let change = self.change(action, &issue).await?;
        Ok(change.input.is_empty().then_some(change.wanted))
    }

    async fn change(&self, action: &OutboundAction, issue: &str) -> Result<Change, PortError> {
        let answer =
            ask(&self.api, Effect::Read, DOING, queries::STANDING, json!({ "issue": issue })).await?;
        let standing: Issue = answer.field("issue", DOING)?;
        let me = answer.data.pointer("/viewer/id").and_then(Value::as_str).unwrap_or_default();
        let team = standing.team.unwrap_or_default();
        let is = |thing: &Option<Thing>, id: &str| thing.as_ref().is_some_and(|thing| thing.id == id);
        let mut input = Map::new();
        let mut labels = Vec::new();
        let mut wanted = Vec::new();
        for effect in &action.envelope.effects {
            let value = effect.value.trim();
            match effect.verb.as_str() {
                "state" => {
                    let state = only(&team.states.nodes, value, || {
                        let names: Vec<_> =
                            team.states.nodes.iter().map(|state| state.name.as_str()).collect();
                        format!("the team has no state {value:?}; it has {}", names.join(", "))
                    })?;
                    if !is(&standing.state, &state.id) {
                        input.insert("stateId".into(), json!(state.id));
                    }
                }
                "assign" => {
                    let id = if value.eq_ignore_ascii_case("me") {
                        me.to_owned()
                    } else {
                        self.person(value).await?
                    };
                    if !is(&standing.assignee, &id) {
                        input.insert("assigneeId".into(), json!(id));
                    }
                }
                "label" => {
                    let variables = json!({ "name": value, "team": team.id });
                    let found: Things = self.look_up(queries::LABELS, "issueLabels", variables).await?;
                    let label = only(&found.nodes, value, || format!("there is no label {value:?}"))?;
                    if !standing.label_ids.contains(&label.id) {
                        labels.push(label.id.clone());
                    }
                }
                other => return Err(refuse(&format!("{other:?} is nothing that can be done here"))),
            }
            wanted.push(effect.to_string());
        }
        if !labels.is_empty() {
            input.insert("addedLabelIds".into(), json!(labels));
        }
        let wanted = format!("{}: {}", one_line(&standing.identifier, 40), wanted.join(", "));
        Ok(Change { input, wanted })
    }

    async fn person(&self, name: &str) -> Result<String, PortError> {
        let found: Things = self.look_up(queries::PEOPLE, "users", json!({ "name": name })).await?;
        match found.nodes.as_slice() {
            [one] => Ok(one.id.clone()),
            [] => Err(refuse(&format!("there is no member {name:?}"))),
            _ => Err(refuse(&format!("{name:?} fits several members; use the mail address"))),
        }
    }

    async fn look_up<T: DeserializeOwned>(
        &self,
        query: &str,
        field: &str,
        variables: Value,
    ) -> Result<T, PortError> {
        ask(&self.api, Effect::Read, DOING, query, variables).await?.field(field, DOING)
    }
}

fn issue_of(action: &OutboundAction) -> Option<String> {
    if action.envelope.effects.is_empty() {
        return None;
    }
    Place::from_handle(&action.envelope.thread).and_then(|place| place.issue().map(str::to_owned))
}

/// By its exact name, else by its name in other letters.
fn only<'a>(things: &'a [Thing], name: &str, why: impl FnOnce() -> String) -> Result<&'a Thing, PortError> {
    let exact = things.iter().find(|thing| thing.name == name);
    exact
        .or_else(|| things.iter().find(|thing| thing.name.eq_ignore_ascii_case(name)))
        .ok_or_else(|| refuse(&why()))
}

fn refuse(why: &str) -> PortError {
    PortError::caused(ErrorClass::Permanent, DOING, one_line(why, 400))
}
