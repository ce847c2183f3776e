//! Agents that speak the Agent Client Protocol, played by this test binary in a process of its own. The harness prints
//! lines of its own around them, which is as noisy as the real ones are.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a part that is played"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Which agent to play: `replay FILE`, or one of the words in [`act`].
pub const ROLE: &str = "WA_AGENT";

/// A file in the agent's directory, once it hangs.
pub const HANGING: &str = "hanging";

/// What a made-up model answers.
pub const REPLY: &str = "Dear Pat,\nyes.";

/// A role: `login FILE`, which is logged out while there is no such file.
pub const LOGIN: &str = "login ";

fn is_logged_out(role: &str) -> bool {
    role.strip_prefix(LOGIN).is_some_and(|file| !Path::new(file).exists())
}

/// Plays the agent that [`ROLE`] names until its input ends.
pub fn act() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let role = role.into_string().unwrap();
    let mut agent = Agent { input: BufReader::new(std::io::stdin()), server: Value::Null, fence: None };
    // Whatever the harness left on the line.
    println!();
    match role.split_once(' ') {
        Some(("replay", file)) => agent.replay(Path::new(file)),
        _ => agent.live(&role),
    }
}

struct Agent {
    input: BufReader<std::io::Stdin>,
    /// The last MCP server it was given.
    server: Value,
    /// The marks that the prompt asks for.
    fence: Option<(String, String)>,
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}

fn answer(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn chunk(text: &str) {
    let update =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    say(
        &json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } }),
    );
}

impl Agent {
    /// The next message; the end of the input ends the process.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        if self.input.read_line(&mut line).unwrap() == 0 {
            std::process::exit(0);
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["method"].as_str() {
            Some("session/new") => {
                let servers = message["params"]["mcpServers"].as_array().unwrap();
                self.server = servers.last().cloned().unwrap_or_default();
            }
            Some("session/prompt") => {
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap();
                let line =
                    |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
                self.fence = Some((line("<<<draft-"), line("draft-")));
            }
            _ => {}
        }
        message
    }

    fn marked(&self, text: &str) -> String {
        let (open, close) = self.fence.as_ref().unwrap();
        format!("{open}\n{text}\n{close}")
    }

    /// What was recorded after a request of the same method; what was never asked for is granted.
    fn replay(&mut self, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap();
        let recorded: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut at = 0;
        loop {
            let request = self.hear();
            let (Some(method), Some(id)) = (request["method"].as_str(), request.get("id")) else { continue };
            let is = |line: &&Value| line["dir"] == "client->agent" && line["msg"]["method"] == method;
            let Some(found) = recorded[at..].iter().position(|line| is(&line)) else {
                answer(id, &json!({}));
                continue;
            };
            let number = recorded[at + found]["msg"]["id"].clone();
            at += found + 1;
            while let Some(line) = recorded.get(at) {
                let message = &line["msg"];
                let is_request = message.get("method").is_some() && message.get("id").is_some();
                if line["dir"] == "client->agent" {
                    match message["method"].as_str() {
                        // It hangs until it is told to stop.
                        Some("session/cancel") => while self.hear()["method"] != "session/cancel" {},
                        Some(_) if is_request => break,
                        _ => {}
                    }
                } else {
                    let mut message = message.clone();
                    if !is_request && message["id"] == number {
                        message["id"] = id.clone();
                    }
                    say(&serde_json::from_str(&self.with_marks(&message.to_string())).unwrap());
                    if is_request {
                        self.hear();
                    }
                }
                at += 1;
            }
        }
    }

    /// The recorded model did not know of the marks.
    fn with_marks(&self, line: &str) -> String {
        match &self.fence {
            Some((open, close)) => line
                .replace("\"text\":\"Stub answer", &format!("\"text\":\"{open}\\nStub answer"))
                .replace("\"text\":\"ood.\"", &format!("\"text\":\"ood.\\n{close}\"")),
            None => line.to_owned(),
        }
    }

    fn live(&mut self, role: &str) {
        if role == "dies" {
            eprintln!("cannot reach my own settings");
            std::process::exit(7);
        }
        loop {
            let request = self.hear();
            let id = request["id"].clone();
            match request["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    let info = json!({ "name": "double", "version": "1.0" });
                    answer(&id, &json!({ "protocolVersion": 1, "agentInfo": info }));
                }
                "session/new" if is_logged_out(role) => {
                    let error = json!({ "code": -32000, "message": "Authentication required" });
                    say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                }
                "session/new" => answer(&id, &json!({ "sessionId": "s-1" })),
                "session/prompt" => {
                    self.turn(role);
                    answer(&id, &json!({ "stopReason": "end_turn" }));
                }
                _ => {}
            }
        }
    }

    fn turn(&mut self, role: &str) {
        match role {
            role if role == "marks" || role.starts_with(LOGIN) => chunk(&self.marked(REPLY)),
            "prints" => chunk("Dear Pat, this stands in no marks."),
            "noisy" => {
                let mut out = std::io::stdout().lock();
                out.write_all(b"\x1b[32mready\x1b[0m\n\xff\xfe broken\n{\"half\": \n[]\n{}\n").unwrap();
                drop(out);
                chunk(&self.marked("a\u{2028}b"));
            }
            "giant" => {
                println!("{}", "x".repeat(5 << 20));
                chunk(&self.marked(REPLY));
            }
            "submits" => {
                chunk("API Error: 529 overloaded");
                let allowed = self.ask(json!({ "title": "workagent_submit_draft", "kind": "other" }));
                assert!(allowed, "refused");
                self.submit(
                    &json!({ "outcome": "reply", "text": REPLY, "labels": ["vip"], "remarks": ["ask Kim"] }),
                );
                chunk(&self.marked("not this one"));
            }
            "asks" => {
                let allowed = self.ask(json!({ "title": "rm -rf /", "kind": "execute" }));
                chunk(&self.marked(&format!("allowed: {allowed}")));
            }
            "reads" => {
                let mut refused = 0;
                for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create"] {
                    say(
                        &json!({ "jsonrpc": "2.0", "id": 70, "method": method, "params": { "path": "/etc/passwd" } }),
                    );
                    refused += usize::from(self.hear()["error"]["code"] == -32601);
                }
                chunk(&self.marked(&format!("refused {refused} of 3")));
            }
            "kind" => {
                // Hangs, and stops when it is told to.
                std::fs::write(HANGING, "").unwrap();
                while self.hear()["method"] != "session/cancel" {}
            }
            "deaf" => {
                // Hangs, hears neither the protocol nor the end of its input, and has a helper that hears no signal.
                #[expect(clippy::disallowed_methods, reason = "an agent's helper")]
                let mut helper = Command::new("/bin/sh")
                    .args([
                        "-c",
                        "setsid sh -c 'trap \"\" TERM HUP; echo >hanging; sleep 600; sleep 600' & wait",
                    ])
                    .spawn()
                    .unwrap();
                helper.wait().unwrap();
            }
            "environment" => {
                let mut names: Vec<String> =
                    std::env::vars_os().map(|(name, _)| name.into_string().unwrap()).collect();
                names.sort();
                let here = std::fs::read_dir(".").unwrap().count();
                chunk(&self.marked(&format!("{} in a directory of {here}", names.join(" "))));
            }
            other => panic!("{other} is no role"),
        }
    }

    /// Asks for permission.
    fn ask(&mut self, call: Value) -> bool {
        let options = json!([
            { "optionId": "always", "kind": "allow_always" }, { "optionId": "once", "kind": "allow_once" },
            { "optionId": "no", "kind": "reject_once" },
        ]);
        let params = json!({ "sessionId": "s-1", "toolCall": call, "options": options });
        say(&json!({ "jsonrpc": "2.0", "id": 9, "method": "session/request_permission", "params": params }));
        self.hear()["result"]["outcome"]["optionId"] == "once"
    }

    /// Starts the server that it was given, and calls its tool.
    fn submit(&self, arguments: &Value) {
        let args = self.server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
        #[expect(clippy::disallowed_methods, reason = "agents start MCP servers")]
        let mut server = Command::new(self.server["command"].as_str().unwrap())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = server.stdin.take().unwrap();
        let mut from = BufReader::new(server.stdout.take().unwrap());
        let mut call = |message: Value| {
            writeln!(to, "{message}").unwrap();
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            serde_json::from_str::<Value>(&line).unwrap()
        };
        call(json!({ "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } }));
        let case = call(json!({ "id": 2, "method": "tools/call", "params": { "name": "read_case" } }));
        assert!(case["result"]["content"][0]["text"].as_str().unwrap().contains("CANARY-body"));
        let params = json!({ "name": "submit_draft", "arguments": arguments });
        let taken = call(json!({ "id": 3, "method": "tools/call", "params": params }));
        assert_eq!(taken["result"]["isError"], false, "{taken}");
        drop(to);
        assert!(server.wait().unwrap().success());
    }
}
