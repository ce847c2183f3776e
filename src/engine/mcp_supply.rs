//! MCP servers handed to an engine that can use them: those that its unit names, and our own, through which it hands in
//! its draft. How an agent is told of them differs; what they are does not. Pure.

use serde_json::{Map, Value, json};

use crate::http::holds_login;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The name under which agents see our own server (`workagent mcp`).
pub const OWN_SERVER: &str = "workagent";

/// The key of an engine's own table that names servers.
pub const KEY: KeySpec = KeySpec::new(
    "mcp",
    ValueType::List,
    "MCP servers that the engine is given, each as \"NAME = PROGRAM ARGUMENTS\" or \"NAME = URL\"; words with blanks in \
     double quotes. They run with the engine's rights and environment. Never put a secret here: use an env unit",
)
.specifiers();

/// The key of an engine's own table that names the tools of servers.
pub const ALLOW: KeySpec = KeySpec::new(
    "allow",
    ValueType::List,
    "Tools of MCP servers that it may use without asking you, each as \"SERVER/TOOL\". What they do is done with no review",
);

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServer {
    /// Started by the engine, spoken to on its standard input and output.
    Program {
        /// As tools are prefixed with it.
        name: String,
        /// The program.
        command: String,
        /// Its arguments: never a secret.
        args: Vec<String>,
        /// Variables beside the engine's own: never a secret, engines write them into files and command lines.
        env: Vec<(String, String)>,
    },
    /// Spoken to over HTTP.
    Url {
        /// As tools are prefixed with it.
        name: String,
        /// Where it is.
        url: String,
    },
}

impl McpServer {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Program { name, .. } | Self::Url { name, .. } => name,
        }
    }
}

/// The servers that a checked engine table names.
#[must_use]
pub fn of(settings: &Settings) -> Vec<McpServer> {
    settings.list(KEY.name).iter().filter_map(|entry| parse(entry).ok()).collect()
}

/// What is wrong with the servers that a table names.
#[must_use]
pub fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut names: Vec<String> = vec![OWN_SERVER.to_owned()];
    let mut problems = Vec::new();
    // They go into command lines and rules: nothing but what names are made of.
    let is_tool = |entry: &String| {
        entry.split_once('/').is_some_and(|(server, tool)| {
            is_name(server) && !tool.is_empty() && tool.bytes().all(is_tool_byte)
        })
    };
    if !settings.list(ALLOW.name).iter().all(is_tool) {
        let message = "has an entry that is not \"SERVER/TOOL\", in letters, digits, hyphens and underscores";
        problems.push(KeyProblem { key: ALLOW.name, message: message.to_owned() });
    }
    for entry in settings.list(KEY.name) {
        let message = match parse(entry) {
            Err(message) => message.to_owned(),
            Ok(server) if server.name() == OWN_SERVER => {
                format!("names a server `{OWN_SERVER}`, which is the name of workagent's own")
            }
            Ok(server) if names.iter().any(|name| name == server.name()) => {
                format!("names the server `{}` twice", server.name())
            }
            Ok(server) => {
                names.push(server.name().to_owned());
                continue;
            }
        };
        problems.push(KeyProblem { key: KEY.name, message });
    }
    problems
}

/// `NAME = PROGRAM ARGUMENTS` or `NAME = URL`. Messages repeat nothing of the entry: it may hold what it should not.
fn parse(entry: &str) -> Result<McpServer, &'static str> {
    let (name, rest) = entry.split_once('=').ok_or("has an entry without `=`; write \"NAME = PROGRAM\"")?;
    let (name, rest) = (name.trim().to_owned(), rest.trim());
    // What all agents take in the name of a tool.
    if !is_name(&name) {
        return Err("has a server whose name is not made of letters, digits and hyphens");
    }
    if rest.starts_with("http://") || rest.starts_with("https://") {
        return match url::Url::parse(rest) {
            Ok(url) if !holds_login(&url) => Ok(McpServer::Url { name, url: rest.to_owned() }),
            Ok(_) => Err("has a URL with a login in it; use an env unit"),
            Err(_) => Err("has a URL that is not one"),
        };
    }
    let mut words = words(rest)?.into_iter();
    let command =
        words.next().filter(|command| !command.is_empty()).ok_or("has a server without a program")?;
    if command.contains('/') && !command.starts_with('/') {
        return Err("has a program that is neither an absolute path nor a name without `/`");
    }
    Ok(McpServer::Program { name, command, args: words.collect(), env: Vec::new() })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_tool_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Words between blanks; double quotes keep blanks, and nothing else is special.
fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if quoted {
        return Err("has a double quote that is not closed");
    }
    words.extend(word);
    Ok(words)
}

/// What `claude --mcp-config FILE --strict-mcp-config` reads: servers and nothing else.
#[must_use]
pub fn claude_config(servers: &[McpServer]) -> Value {
    let mut list = Map::new();
    for server in servers {
        let value = match server {
            McpServer::Program { command, args, env, .. } => {
                let env: Map<String, Value> =
                    env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                json!({ "type": "stdio", "command": command, "args": args, "env": env })
            }
            McpServer::Url { url, .. } => json!({ "type": "http", "url": url }),
        };
        list.insert(server.name().to_owned(), value);
    }
    json!({ "mcpServers": list })
}

/// The same tools in the spelling of `claude --allowedTools`.
#[must_use]
pub fn claude_tools(allow: &[String]) -> Vec<String> {
    let named = allow.iter().filter_map(|entry| entry.split_once('/'));
    named.map(|(server, tool)| format!("mcp__{server}__{tool}")).collect()
}

/// What `codex -c …` reads, one text for each `-c`: servers, each with the tools that may be used of it and no others. The
/// values are TOML.
#[must_use]
pub fn codex_overrides(servers: &[McpServer], allow: &[String]) -> Vec<String> {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let one = |server: &McpServer| {
        let of_it =
            allow.iter().filter_map(|entry| entry.split_once('/')).filter(|(of, _)| *of == server.name());
        let tools: Vec<String> = of_it.map(|(_, tool)| text(tool)).collect();
        let tools = tools.join(", ");
        let value = match server {
            McpServer::Program { command, args, env, .. } => {
                let args: Vec<String> = args.iter().map(|arg| text(arg)).collect();
                let env: Vec<String> =
                    env.iter().map(|(name, value)| format!("{} = {}", text(name), text(value))).collect();
                format!(
                    "{{ command = {}, args = [{}], env = {{ {} }}, enabled_tools = [{tools}] }}",
                    text(command),
                    args.join(", "),
                    env.join(", ")
                )
            }
            McpServer::Url { url, .. } => format!("{{ url = {}, enabled_tools = [{tools}] }}", text(url)),
        };
        format!("mcp_servers.{}={value}", server.name())
    };
    servers.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value as Setting;

    fn settings(entries: &[&str]) -> Settings {
        let list = entries.iter().map(|entry| (*entry).to_owned()).collect();
        Settings([("mcp".to_owned(), Setting::List(list))].into())
    }

    fn program(name: &str, command: &str, args: &[&str]) -> McpServer {
        McpServer::Program {
            name: name.into(),
            command: command.into(),
            args: args.iter().map(|arg| (*arg).into()).collect(),
            env: Vec::new(),
        }
    }

    #[test]
    fn programs_and_urls() {
        let given =
            settings(&["crm = /opt/crm --read \"two words\" \"\"", "docs=https://docs.example.org/mcp?a=b"]);
        assert_eq!(check(&given), []);
        assert_eq!(
            of(&given),
            [
                program("crm", "/opt/crm", &["--read", "two words", ""]),
                McpServer::Url { name: "docs".into(), url: "https://docs.example.org/mcp?a=b".into() }
            ]
        );
    }

    #[test]
    fn what_cannot_be_meant_is_said_without_repeating_it() {
        for (entry, message) in [
            ("crm", "has an entry without `=`; write \"NAME = PROGRAM\""),
            ("c r m = x", "has a server whose name is not made of letters, digits and hyphens"),
            ("crm =", "has a server without a program"),
            ("crm = ./x", "has a program that is neither an absolute path nor a name without `/`"),
            ("crm = x \"y", "has a double quote that is not closed"),
            ("crm = https://me:canary@example.org", "has a URL with a login in it; use an env unit"),
            ("workagent = x", "names a server `workagent`, which is the name of workagent's own"),
        ] {
            let problems = check(&settings(&[entry]));
            assert_eq!(
                problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>(),
                [message]
            );
        }
        assert_eq!(check(&settings(&["a = x", "a = y"]))[0].message, "names the server `a` twice");
        for (entry, right) in
            [("crm/find", true), ("crm", false), ("crm/", false), ("crm/a,b", false), ("a b/c", false)]
        {
            let allow = Settings([("allow".to_owned(), Setting::List(vec![entry.into()]))].into());
            assert_eq!(check(&allow).is_empty(), right, "{entry}");
        }
    }

    #[test]
    fn as_claude_and_codex_want_them() {
        let servers = [
            McpServer::Program {
                name: "crm".into(),
                command: "/opt/crm".into(),
                args: vec!["say \"hi\"".into()],
                env: vec![("A".into(), "b".into())],
            },
            McpServer::Url { name: "docs".into(), url: "https://x.example/mcp".into() },
        ];
        assert_eq!(
            claude_config(&servers).to_string(),
            r#"{"mcpServers":{"crm":{"type":"stdio","command":"/opt/crm","args":["say \"hi\""],"env":{"A":"b"}},"docs":{"type":"http","url":"https://x.example/mcp"}}}"#
        );
        let overrides = codex_overrides(&servers, &["crm/find".into()]);
        assert_eq!(claude_tools(&["crm/find".into()]), ["mcp__crm__find"]);
        assert_eq!(
            overrides,
            [
                r#"mcp_servers.crm={ command = "/opt/crm", args = ['say "hi"'], env = { "A" = "b" }, enabled_tools = ["find"] }"#,
                r#"mcp_servers.docs={ url = "https://x.example/mcp", enabled_tools = [] }"#,
            ]
        );
        for line in overrides {
            toml::from_str::<toml::Table>(&line).unwrap();
        }
    }
}
