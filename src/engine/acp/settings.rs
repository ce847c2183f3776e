//! The mode, the model and the other choices of a session: set in words before the first prompt, and nothing is run
//! where they are not offered. Pure.

use serde_json::{Value, json};

use super::messages::{ConfigOption, Session};
use crate::model::text::one_line;

/// What a unit wants of a session. Empty means as the agent likes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) mode: String,
    pub(super) model: String,
    pub(super) config: Vec<(String, String)>,
}

/// A request that sets one thing; the session's id is put in by the caller.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) method: &'static str,
    pub(super) params: Value,
}

/// Names listed in an error.
const OFFERED_MAX: usize = 12;

/// What has to be set, in order.
///
/// # Errors
/// A sentence for people: it is not offered, and what is.
pub(super) fn needed(session: &Session, wanted: &Wanted) -> Result<Vec<Setting>, String> {
    let mut settings = Vec::new();
    if !wanted.mode.is_empty() {
        settings.extend(mode(session, &wanted.mode)?);
    }
    if !wanted.model.is_empty() {
        settings.extend(model(session, &wanted.model)?);
    }
    for (id, value) in &wanted.config {
        let option = options(session).find(|option| option.id == *id);
        settings.extend(config(option, value).map_err(|offered| {
            not_offered(&format!("`{value}` for the choice `{}`", one_line(id, 60)), &offered)
        })?);
    }
    Ok(settings)
}

fn options(session: &Session) -> impl Iterator<Item = &ConfigOption> {
    session.config_options.iter().flatten()
}

/// The choice of this category, or of this name where categories are not told.
fn of_category<'a>(session: &'a Session, word: &str) -> Option<&'a ConfigOption> {
    let is = |option: &&ConfigOption| option.category.as_deref() == Some(word);
    options(session).find(is).or_else(|| options(session).find(|option| option.id == word))
}

fn mode(session: &Session, mode: &str) -> Result<Option<Setting>, String> {
    if let Some(modes) = &session.modes
        && modes.available_modes.iter().any(|offered| offered.id == mode)
    {
        let set = Setting { method: "session/set_mode", params: json!({ "modeId": mode }) };
        return Ok((modes.current_mode_id != mode).then_some(set));
    }
    config(of_category(session, "mode"), mode).map_err(|mut offered| {
        let modes = session.modes.iter().flat_map(|modes| &modes.available_modes);
        offered.extend(modes.map(|mode| mode.id.clone()));
        not_offered(&format!("the mode `{mode}`"), &offered)
    })
}

fn model(session: &Session, model: &str) -> Result<Option<Setting>, String> {
    let offered = match config(of_category(session, "model"), model) {
        Ok(setting) => return Ok(setting),
        Err(offered) => offered,
    };
    let Some(models) = &session.models else {
        return Err(not_offered(&format!("the model `{}`", one_line(model, 80)), &offered));
    };
    if models.current_model_id == model {
        return Ok(None);
    }
    if models.available_models.iter().any(|offered| offered.model_id == model) {
        let set = Setting { method: "session/set_model", params: json!({ "modelId": model }) };
        return Ok(Some(set));
    }
    let ids: Vec<String> = models.available_models.iter().map(|model| model.model_id.clone()).collect();
    Err(not_offered(&format!("the model `{}`", one_line(model, 80)), &ids))
}

/// Sets a choice to a value that it offers; otherwise what it offers.
fn config(option: Option<&ConfigOption>, value: &str) -> Result<Option<Setting>, Vec<String>> {
    let Some(option) = option else { return Err(Vec::new()) };
    if option.current_value.word() == Some(value) {
        return Ok(None);
    }
    let switch = option.values().next().is_none() && matches!(value, "true" | "false");
    if !switch && !option.values().any(|offered| offered == value) {
        return Err(option.values().map(str::to_owned).collect());
    }
    let value = if switch { json!(value == "true") } else { json!(value) };
    let params = json!({ "configId": option.id, "value": value });
    Ok(Some(Setting { method: "session/set_config_option", params }))
}

fn not_offered(what: &str, offered: &[String]) -> String {
    if offered.is_empty() {
        return format!("the agent offers no choice, so not {what}");
    }
    let mut names: Vec<String> = offered.iter().map(|name| one_line(name, 80)).collect();
    names.dedup();
    let more = if names.len() > OFFERED_MAX { ", …" } else { "" };
    names.truncate(OFFERED_MAX);
    format!("the agent does not offer {what}; it offers {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(text: &str) -> Session {
        serde_json::from_str(text).unwrap()
    }

    fn check(session_text: &str, mode: &str, model: &str, config: &[(&str, &str)], expected: &str) {
        let config = config.iter().map(|(id, value)| ((*id).into(), (*value).into())).collect();
        let wanted = Wanted { mode: mode.into(), model: model.into(), config };
        let shown = match needed(&session(session_text), &wanted) {
            Ok(settings) => settings
                .iter()
                .map(|setting| format!("{} {}", setting.method, setting.params))
                .collect::<Vec<_>>()
                .join("; "),
            Err(message) => format!("error: {message}"),
        };
        assert_eq!(shown, expected);
    }

    const CLAUDE: &str = r#"{"sessionId":"s","modes":{"currentModeId":"auto","availableModes":[{"id":"default"},{"id":"auto"}]},
        "configOptions":[{"id":"mode","category":"mode","currentValue":"auto","options":[{"value":"default"}]},
        {"id":"model","category":"model","currentValue":"default","options":[{"value":"default"},{"value":"opus"}]},
        {"id":"fast","currentValue":false}]}"#;
    const OPENCODE: &str = r#"{"sessionId":"s","configOptions":[{"id":"m","category":"mode","currentValue":"build",
        "options":[{"value":"build"},{"value":"plan"}]}]}"#;
    const GEMINI: &str = r#"{"sessionId":"s","modes":{"currentModeId":"default","availableModes":[{"id":"default"}]},
        "models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}"#;

    #[test]
    fn modes() {
        check(CLAUDE, "default", "", &[], r#"session/set_mode {"modeId":"default"}"#);
        check(CLAUDE, "auto", "", &[], "");
        check(OPENCODE, "plan", "", &[], r#"session/set_config_option {"configId":"m","value":"plan"}"#);
        check(OPENCODE, "build", "", &[], "");
        check("{}", "", "", &[], "");
    }

    #[test]
    fn models_and_other_choices() {
        check(CLAUDE, "", "opus", &[], r#"session/set_config_option {"configId":"model","value":"opus"}"#);
        check(GEMINI, "", "b", &[], r#"session/set_model {"modelId":"b"}"#);
        check(GEMINI, "", "a", &[], "");
        check(
            CLAUDE,
            "",
            "",
            &[("fast", "true")],
            r#"session/set_config_option {"configId":"fast","value":true}"#,
        );
        check(CLAUDE, "", "", &[("fast", "false")], "");
    }

    #[test]
    fn what_is_not_offered_is_not_run() {
        check(
            CLAUDE,
            "plan",
            "",
            &[],
            "error: the agent does not offer the mode `plan`; it offers default, auto",
        );
        check("{}", "plan", "", &[], "error: the agent offers no choice, so not the mode `plan`");
        check(GEMINI, "", "c", &[], "error: the agent does not offer the model `c`; it offers a, b");
        check(
            OPENCODE,
            "",
            "",
            &[("effort", "low")],
            "error: the agent offers no choice, so not `low` for the choice `effort`",
        );
    }
}
