//! Agents that would do things without asking: their tools are taken away, but for those that they may ask for. Pure.

use std::fmt::Write as _;

use crate::engine::mcp_supply::OWN_SERVER;

/// How an agent is told which tools it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// In its mode it asks before it does anything.
    Mode,
    /// Rules in a file; the highest priority wins.
    GeminiPolicy,
    /// A variable that goes over all its files.
    OpencodePermission,
}

/// What a lock adds to the start of an agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Locked {
    /// The text of a file, given to it behind this argument.
    pub(super) file: Option<(&'static str, String)>,
    /// A variable.
    pub(super) env: Option<(&'static str, String)>,
}

impl Lock {
    /// With the tools that it may ask for: our own, and those that the unit allows, as `SERVER/TOOL`.
    pub(super) fn of(self, allow: &[String]) -> Locked {
        let own = super::permission::OWN_TOOLS.iter().map(|tool| (OWN_SERVER, *tool));
        let allowed = own.chain(allow.iter().filter_map(|entry| entry.split_once('/')));
        match self {
            Self::Mode => Locked::default(),
            Self::GeminiPolicy => {
                // Patterns are looked at in two places, and match in one of them only: names are written out.
                let names: Vec<String> =
                    allowed.map(|(server, tool)| quoted(&format!("mcp_{server}_{tool}"))).collect();
                let mut text = String::new();
                for (names, decision, priority) in
                    [("\"*\"".to_owned(), "deny", 900), (format!("[{}]", names.join(", ")), "ask_user", 950)]
                {
                    let _ = writeln!(
                        text,
                        "[[rule]]\ntoolName = {names}\ndecision = \"{decision}\"\npriority = {priority}\n"
                    );
                }
                Locked { file: Some(("--policy", text)), env: None }
            }
            Self::OpencodePermission => {
                let mut rules = serde_json::Map::new();
                rules.insert("*".into(), "deny".into());
                for (server, tool) in allowed {
                    rules.insert(format!("{server}_{tool}"), "ask".into());
                }
                let rules = serde_json::Value::Object(rules).to_string();
                Locked { file: None, env: Some(("OPENCODE_PERMISSION", rules)) }
            }
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_denied_but_what_may_be_asked_for() {
        let allow = ["crm/find".to_owned(), "no slash".to_owned()];
        let (_, policy) = Lock::GeminiPolicy.of(&allow).file.unwrap();
        insta::assert_snapshot!(policy, @r#"
        [[rule]]
        toolName = "*"
        decision = "deny"
        priority = 900

        [[rule]]
        toolName = ["mcp_workagent_submit_draft", "mcp_workagent_read_case", "mcp_crm_find"]
        decision = "ask_user"
        priority = 950
        "#);
        toml::from_str::<toml::Table>(&policy).unwrap();
        assert_eq!(
            Lock::OpencodePermission.of(&allow).env.unwrap().1,
            r#"{"*":"deny","workagent_submit_draft":"ask","workagent_read_case":"ask","crm_find":"ask"}"#
        );
        assert_eq!(Lock::Mode.of(&allow), Locked::default());
    }
}
