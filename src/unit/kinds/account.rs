//! Whose login and quota an engine uses, where its unit does not say.

use std::path::Path;
use std::sync::Arc;

use crate::unit::plan::EnvUnit;
use crate::unit::value::{Setting, Settings, Value};

/// Keys of own tables that choose a login: one that is not there says nothing. The program by its name: the same one
/// under another path has the same login.
const KEYS: [&str; 8] = ["preset", "agent", "home", "config_dir", "profile", "base_url", "key", "program"];

/// Variables that choose a login, by what their names end in.
const VARIABLES: [&str; 5] = ["HOME", "_CONFIG_DIR", "_API_KEY", "_TOKEN", "_BASE_URL"];

/// `claude`, `claude, home /srv/work`, `openai-chat, base_url http://127.0.0.1:11434`. Never a secret. An engine that
/// can be anything, or that needs no account, has one of its own.
pub(super) fn derived(word: &str, unit: &str, settings: &Settings, envs: &[Arc<EnvUnit>]) -> String {
    if matches!(word, "command" | "template") {
        return format!("{unit}.engine");
    }
    let mut account = word.to_owned();
    for key in KEYS {
        let value = match settings.get(key) {
            Some(Value::Text(text)) if key == "program" => {
                let name = Path::new(text).file_name().map(|name| name.to_string_lossy().into_owned());
                name.filter(|name| name != word)
            }
            Some(Value::Text(text)) => Some(text.clone()),
            Some(Value::Path(path)) => Some(path.display().to_string()),
            Some(Value::Secret(reference)) => Some(reference.to_string()),
            _ => None,
        };
        if let Some(value) = value {
            account += &format!(", {key} {value}");
        }
    }
    with_login(account, envs)
}

/// With what env units say about logins; the later one counts.
fn with_login(mut account: String, envs: &[Arc<EnvUnit>]) -> String {
    let chooses = |name: &str| VARIABLES.iter().any(|end| name.ends_with(end));
    let mut found = std::collections::BTreeMap::new();
    for env in envs {
        for name in env.pass.iter().filter(|name| chooses(name)) {
            found.insert(name.as_str(), "passed".to_owned());
        }
        for (name, setting) in env.set.iter().filter(|(name, _)| chooses(name)) {
            let is_key = name.ends_with("_KEY") || name.ends_with("_TOKEN");
            let value = match setting {
                Setting::Secret(reference) => reference.to_string(),
                // Somebody may have written it down all the same.
                Setting::Text(_) if is_key => format!("of {}.env", env.name),
                Setting::Text(text) => text.clone(),
            };
            found.insert(name.as_str(), value);
        }
    }
    for (name, value) in found {
        account += &format!(", {name} {value}");
    }
    account
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_ref::SecretRef;

    fn check(word: &str, keys: &[(&str, &str)], variables: &[(&str, &str)], expected: &str) {
        let value = |key: &str, text: &str| match key {
            "key" => Value::Secret(SecretRef::Stored(text.to_owned())),
            "home" => Value::Path(text.into()),
            _ => Value::Text(text.to_owned()),
        };
        let settings =
            Settings(keys.iter().map(|(key, text)| ((*key).to_owned(), value(key, text))).collect());
        let set =
            variables.iter().map(|(name, text)| ((*name).to_owned(), Setting::Text((*text).to_owned())));
        let env = EnvUnit { name: "work".into(), set: set.collect(), ..EnvUnit::default() };
        assert_eq!(derived(word, "mine", &settings, &[Arc::new(env)]), expected);
    }

    #[test]
    fn what_chooses_a_login_tells_accounts_apart() {
        check("claude", &[("program", "/opt/bin/claude")], &[], "claude");
        check("claude", &[("program", "claude"), ("home", "/srv/w")], &[], "claude, home /srv/w");
        check("claude", &[], &[("CLAUDE_CONFIG_DIR", "/w"), ("COLOUR", "1")], "claude, CLAUDE_CONFIG_DIR /w");
        check("codex", &[], &[("OPENAI_API_KEY", "sk-canary")], "codex, OPENAI_API_KEY of work.env");
        check(
            "openai-chat",
            &[("base_url", "https://ai.example"), ("key", "ai/key"), ("max_tokens", "9")],
            &[],
            "openai-chat, base_url https://ai.example, key ai/key",
        );
    }

    #[test]
    fn what_can_be_anything_is_its_own() {
        check("command", &[("program", "/bin/sh")], &[], "mine.engine");
        check("template", &[], &[], "mine.engine");
    }
}
