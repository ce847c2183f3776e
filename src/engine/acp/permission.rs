//! Who answers an agent that asks for permission: the unit, never a person who happens to be at the screen. Pure.

use serde_json::{Value, json};

use super::messages::{PermissionRequest, ToolCall};
use crate::engine::mcp_supply::OWN_SERVER;
use crate::model::text::one_line;

/// What happens to a request that no rule allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// It is rejected, and the run goes on.
    Reject,
    /// The run ends, and the user is asked.
    Ask,
}

/// The rules of one engine.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// Tools that may be used, as `SERVER/TOOL`.
    pub(super) allow: Vec<String>,
    pub(super) otherwise: Otherwise,
}

/// Our own tools, which read the case and put a draft into a file that only we read.
pub(super) const OWN_TOOLS: [&str; 2] = ["submit_draft", "read_case"];

/// What comes of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Allowed this once; the answer.
    Allow(Value),
    /// Rejected; the answer, and what it was for people.
    Reject(Value, String),
    /// To be asked of the user: what it was.
    Ask(String),
}

/// The answer to a request that nobody decides any more.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// Decides.
pub(super) fn decide(request: &PermissionRequest, policy: &Policy) -> Verdict {
    let option = |kind: &str| request.options.iter().find(|option| option.kind == kind);
    let choose = |id: &str| json!({ "outcome": { "outcome": "selected", "optionId": id } });
    let allowed = is_of(&request.tool_call, OWN_SERVER, &OWN_TOOLS)
        || policy
            .allow
            .iter()
            .filter_map(|entry| entry.split_once('/'))
            .any(|(server, tool)| is_of(&request.tool_call, server, &[tool]));
    // What is allowed for good is not ours to answer: the next call may be another one.
    if let (true, Some(once)) = (allowed, option("allow_once")) {
        return Verdict::Allow(choose(&once.option_id));
    }
    let what = describe(&request.tool_call);
    if policy.otherwise == Otherwise::Ask {
        return Verdict::Ask(what);
    }
    let rejection = option("reject_once").or_else(|| option("reject_always"));
    let answer = rejection.map_or_else(cancelled, |option| choose(&option.option_id));
    Verdict::Reject(answer, what)
}

/// The forms in which agents name a tool of a server. Compared as a whole: the title of a shell command is the command
/// itself, so a part of a text proves nothing, and what carries a command is no tool of a server.
fn is_of(call: &ToolCall, server: &str, tools: &[&str]) -> bool {
    let kind = call.kind.as_deref().unwrap_or("other");
    if kind != "other" || call.raw_input.as_ref().is_some_and(|input| input.command.is_some()) {
        return false;
    }
    // The name is the program's own; where there is none, the title is.
    let Some(named) = call.name.as_deref().or(call.title.as_deref()) else { return false };
    tools.iter().any(|tool| {
        [
            format!("mcp__{server}__{tool}"),
            format!("{server}_{tool}"),
            format!("{tool} ({server} MCP Server)"),
            format!("{server}/{tool}"),
            format!("{server}.{tool}"),
            format!("{server}: {tool}"),
        ]
        .iter()
        .any(|form| form == named)
    })
}

/// "run a command: rm -rf x".
fn describe(call: &ToolCall) -> String {
    let title = one_line(call.title.as_deref().or(call.name.as_deref()).unwrap_or("a tool"), 200);
    match call.kind.as_deref() {
        Some("execute") => format!("run the command `{title}`"),
        Some(kind @ ("read" | "edit" | "delete" | "move" | "search" | "fetch")) => format!("{kind}: {title}"),
        _ => format!("use {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(call: Value, kinds: &[&str]) -> PermissionRequest {
        let options: Vec<Value> =
            kinds.iter().map(|kind| json!({ "optionId": format!("id-{kind}"), "kind": kind })).collect();
        serde_json::from_value(json!({ "toolCall": call, "options": options })).unwrap()
    }

    const ALL: [&str; 4] = ["allow_always", "allow_once", "reject_always", "reject_once"];

    fn check(call: Value, allow: &[&str], expected: &str) {
        let policy = Policy {
            allow: allow.iter().map(|entry| (*entry).into()).collect(),
            otherwise: Otherwise::Reject,
        };
        let shown = match decide(&request(call, &ALL), &policy) {
            Verdict::Allow(answer) => format!("allow {}", answer["outcome"]["optionId"]),
            Verdict::Reject(answer, what) => format!("reject {}: {what}", answer["outcome"]["optionId"]),
            Verdict::Ask(what) => format!("ask: {what}"),
        };
        assert_eq!(shown, expected);
    }

    const ONCE: &str = "allow \"id-allow_once\"";

    #[test]
    fn our_own_tools_in_every_agents_spelling() {
        for call in [
            json!({ "title": "submit_draft (workagent MCP Server)", "kind": "other" }),
            json!({ "title": "x", "name": "mcp__workagent__submit_draft", "kind": "other", "rawInput": { "text": "hi" } }),
            json!({ "title": "workagent_submit_draft", "kind": "other" }),
            json!({ "title": "workagent_read_case" }),
        ] {
            check(call, &[], ONCE);
        }
    }

    #[test]
    fn nothing_else_passes_for_them() {
        for (call, what) in [
            (
                json!({ "title": "workagent_submit_draft", "kind": "execute" }),
                "run the command `workagent_submit_draft`",
            ),
            (
                json!({ "title": "workagent_submit_draft", "rawInput": { "command": "x" } }),
                "use workagent_submit_draft",
            ),
            (
                json!({ "title": "workagent_submit_draft; rm -rf /", "kind": "other" }),
                "use workagent_submit_draft; rm -rf /",
            ),
            (json!({ "title": "submit_draft", "kind": "other" }), "use submit_draft"),
            (
                json!({ "title": "workagent_submit_draft", "name": "bash", "kind": "other" }),
                "use workagent_submit_draft",
            ),
            (json!({ "title": "/etc/passwd", "kind": "read" }), "read: /etc/passwd"),
            (json!({}), "use a tool"),
        ] {
            check(call, &[], &format!("reject \"id-reject_once\": {what}"));
        }
    }

    #[test]
    fn a_unit_may_allow_tools_by_name() {
        let call = || json!({ "title": "crm_find", "kind": "other" });
        check(call(), &["crm/find"], ONCE);
        check(call(), &["crm/delete"], "reject \"id-reject_once\": use crm_find");
    }

    #[test]
    fn what_can_only_be_allowed_for_good_is_rejected() {
        let policy = Policy { allow: Vec::new(), otherwise: Otherwise::Reject };
        let own = json!({ "title": "workagent_submit_draft" });
        let decided = decide(&request(own, &["allow_always", "reject_always"]), &policy);
        assert!(
            matches!(decided, Verdict::Reject(answer, _) if answer["outcome"]["optionId"] == "id-reject_always")
        );
        let decided = decide(&request(json!({}), &["allow_once"]), &policy);
        assert!(matches!(decided, Verdict::Reject(answer, _) if answer == cancelled()));
    }

    #[test]
    fn with_ask_the_user_is_asked() {
        let policy = Policy { allow: Vec::new(), otherwise: Otherwise::Ask };
        let call = json!({ "title": "make \u{1b}[31mtest", "kind": "execute" });
        assert_eq!(
            decide(&request(call, &ALL), &policy),
            Verdict::Ask("run the command `make [31mtest`".into())
        );
    }
}
