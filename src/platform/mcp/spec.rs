//! The keys of `[mcp]`.

use serde_json::Value;

use crate::platform::record::FIELDS;
use crate::platform::{Guarantee, PlatformSpec, address_problems, fill};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::{Setting, Settings};

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "mcp",
    summary: "An MCP server: one of its tools, or a resource, is asked for items, another tool may send replies",
    keys: &[
        KeySpec::new(
            "command",
            ValueType::Text,
            "The server's program: an absolute path, or a name that is looked up on the PATH of the child",
        )
        .specifiers(),
        KeySpec::new("args", ValueType::List, "Its arguments. Never a secret: command lines are visible to everybody")
            .specifiers(),
        KeySpec::new("set", ValueType::EnvMap, "Environment variables of the program, texts or secrets"),
        KeySpec::new(
            "pass",
            ValueType::List,
            "Environment variables handed through to the program from the daemon's environment",
        ),
        KeySpec::new("url", ValueType::Url, "Instead of a program: where the server is reached over HTTP"),
        KeySpec::new("token", ValueType::Secret, "Sent to the URL as `Authorization: Bearer`"),
        KeySpec::new(
            "revision",
            ValueType::Choice(&["auto", "2026-07-28", "2025-11-25"]),
            "The protocol's revision: without a handshake (2026-07-28) or with one (2025-11-25 and older). `auto` finds \
             out",
        )
        .default("\"auto\""),
        KeySpec::new("tool", ValueType::Text, "The tool that gives items"),
        KeySpec::new(
            "arguments",
            ValueType::Text,
            "Its arguments, a JSON object. A text that is one of `{cursor}`, `{since}` (time of the newest item, less \
             `overlap`), `{now}`, `{limit}` stands for that value, and is left out while there is none",
        ),
        KeySpec::new("resource", ValueType::Text, "Instead of a tool: the URI of a resource that holds items"),
        KeySpec::new(
            "items",
            ValueType::Text,
            "JSON pointer to the list of items in what is answered; empty for the answer itself",
        )
        .default("\"\""),
        KeySpec::new("next", ValueType::Text, "JSON pointer to the cursor of the next page"),
        KeySpec::new(
            "resume",
            ValueType::Bool,
            "The last cursor goes on where the last look ended; without it each look begins at the first page",
        )
        .default("false"),
        KeySpec::new(
            "overlap",
            ValueType::Duration { min_s: 0, max_s: 7 * 24 * 3600 },
            "How far before the newest item `{since}` lies: servers list late",
        )
        .default("\"5m\""),
        KeySpec::new("limit", ValueType::Integer { min: 1, max: 1000 }, "The value of `{limit}`").default("100"),
        KeySpec::new(
            "fields",
            ValueType::EnvMap,
            "Which field of an item is `id`, `updated` (changes when the item does; absent: any change counts), `title`, \
             `body`, `author`, `url`, `at`, `thread` or `labels`; `outer/inner` for one inside another. Absent: by their \
             usual names",
        ),
        KeySpec::new("ignore", ValueType::List, "Fields that may change without the item being taken for changed"),
        KeySpec::new("body_format", ValueType::Choice(&["text", "html", "markdown"]), "How bodies are written")
            .default("\"text\""),
        KeySpec::new("kind", ValueType::Text, "The kind of the items, for routes").default("\"item\""),
        KeySpec::new(
            "account",
            ValueType::Text,
            "Whom the server reads and writes as. It names the cursor, and only texts by this author can be known as our \
             own by their mark; without it the mark alone counts",
        )
        .specifiers(),
        KeySpec::new("send_tool", ValueType::Text, "The tool that sends a reply; without it items take none"),
        KeySpec::new(
            "send_arguments",
            ValueType::Text,
            "Its arguments, a JSON object with `{body}`, `{action}` (the same for each try of one approval) and the names \
             of `handle`",
        ),
        KeySpec::new(
            "handle",
            ValueType::EnvMap,
            "Fields of an item that are kept to answer it with, by the names under which the templates know them",
        ),
        KeySpec::new(
            "mark",
            ValueType::Bool,
            "Put an invisible mark, an HTML comment, under each text that is sent, to know it again",
        )
        .default("true"),
        KeySpec::new(
            "find_tool",
            ValueType::Text,
            "The tool that lists what was sent, asked after a send whose answer was lost. It must list everything since \
             then: what it does not list is sent again",
        ),
        KeySpec::new(
            "find_arguments",
            ValueType::Text,
            "Its arguments, a JSON object with `{since}`, `{cursor}`, `{limit}`, `{action}` and the names of `handle`",
        ),
        KeySpec::new("find_items", ValueType::Text, "JSON pointer to the list in its answer").default("\"\""),
        KeySpec::new(
            "find_delay",
            ValueType::Duration { min_s: 0, max_s: 3600 },
            "How long after a send it is not yet believed that it is not there",
        )
        .default("\"30s\""),
        KeySpec::new("timeout", ValueType::Duration { min_s: 1, max_s: 3600 }, "Longest wait for one answer")
            .default("\"60s\""),
    ],
    every_min_s: 1,
    every_default_s: 5 * 60,
    guarantee: Guarantee::Depends("the tool `find_tool` is asked; without one: held for you if unknown"),
    check,
    build: super::build,
};

/// What templates of arguments may name: for reading, and beside the handle for sending and finding.
const READING: [&str; 4] = ["cursor", "since", "now", "limit"];
const SENDING: [&str; 2] = ["body", "action"];
const FINDING: [&str; 4] = ["cursor", "since", "limit", "action"];

/// Members of an item that `fields` may name.
const OWN_FIELDS: [&str; 2] = ["id", "updated"];

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    let mut say =
        |key: &'static str, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    let has = |key: &str| settings.text(key).is_some_and(|text| !text.is_empty());
    match (has("command"), has("url")) {
        (false, false) => say("command", "is missing, and `url` too: the server is one of them"),
        (true, true) => say("url", "stands beside `command`: the server is one of them"),
        _ => {}
    }
    match (has("tool"), has("resource")) {
        (false, false) => say("tool", "is missing, and `resource` too: items come from one of them"),
        (true, true) => say("resource", "stands beside `tool`: items come from one of them"),
        _ => {}
    }
    let command = settings.text("command").unwrap_or_default();
    if command.contains('/') && !command.starts_with('/') {
        say("command", "is an absolute path or a name without `/`; relative paths mean nothing to a daemon");
    }
    // A path may hold blanks, a name on the PATH hardly.
    if command.trim().contains(' ') && (!command.starts_with('/') || command.contains(" -")) {
        say("command", "is the program alone; what it is started with goes into `args`");
    }
    for problem in address_problems(settings, "url", "`token`") {
        say("url", &problem.message);
    }
    if settings.secret("token").is_some() && !has("url") {
        say("token", "is for `url`; a program gets its secrets by `set`");
    }
    if has("send_tool") != has("send_arguments") {
        say("send_arguments", "and `send_tool` need each other");
    }
    if has("find_tool") && !has("send_tool") {
        say("find_tool", "finds what `send_tool` sent, and there is none");
    }
    let marked = settings.get("mark").is_none() || settings.flag("mark");
    if has("find_tool") && !marked {
        say("find_tool", "knows our text by its mark, and `mark` is false");
    }
    for key in ["items", "next", "find_items"] {
        if settings.text(key).is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
            say(key, "is no JSON pointer, which begins with `/`");
        }
    }
    let handle: Vec<&str> =
        settings.map("handle").into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let with_handle = |words: &[&'static str]| [words, handle.as_slice()].concat();
    check_template("arguments", settings, &READING, &mut problems);
    check_template("send_arguments", settings, &with_handle(&SENDING), &mut problems);
    check_template("find_arguments", settings, &with_handle(&FINDING), &mut problems);
    check_names(settings, &mut problems);
    problems
}

fn check_template(key: &'static str, settings: &Settings, known: &[&str], problems: &mut Vec<KeyProblem>) {
    let Some(text) = settings.text(key) else { return };
    let mut say = |message: String| problems.push(KeyProblem { key, message });
    match template(text) {
        Err(why) => say(why),
        Ok(template) => {
            for name in fill::names(&template).into_iter().filter(|name| !known.contains(&name.as_str())) {
                say(format!("names `{{{name}}}`; it can have `{{{}}}`", known.join("}`, `{")));
            }
        }
    }
}

fn check_names(settings: &Settings, problems: &mut Vec<KeyProblem>) {
    for key in ["fields", "handle"] {
        for (name, setting) in settings.map(key).into_iter().flatten() {
            if matches!(setting, Setting::Secret(_)) {
                let message = format!("has a secret as `{name}`, where the name of a field belongs");
                problems.push(KeyProblem { key, message });
            }
        }
    }
    let known = |name: &str| OWN_FIELDS.contains(&name) || FIELDS.iter().any(|(known, _)| *known == name);
    for (name, _) in settings.map("fields").into_iter().flatten().filter(|(name, _)| !known(name)) {
        let usual = FIELDS.map(|(known, _)| known).join("`, `");
        let message = format!("has `{name}`; it can have `id`, `updated`, `{usual}`");
        problems.push(KeyProblem { key: "fields", message });
    }
}

/// A template of arguments. The text is not repeated.
pub fn template(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(error) => Err(format!("is not JSON (line {}, column {})", error.line(), error.column())),
    }
}
