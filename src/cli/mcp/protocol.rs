//! The Model Context Protocol, as far as a server of a few tools needs it, in both its eras: the handshake of
//! `initialize`, and requests that each carry the version (revision 2026-07-28, `server/discover`). Pure.

use serde_json::{Map, Value, json};

use crate::model::mcp::{
    INVALID_PARAMS, INVALID_REQUEST, LEGACY, METHOD_NOT_FOUND, MODERN, PARSE_ERROR, SERVER_KEY,
    UNSUPPORTED_VERSION, VERSION_KEY,
};

/// The list of tools does not change while a server lives.
const LIST_TTL_MS: u64 = 3_600_000;

/// What to do with a line.
pub(super) enum Reply {
    /// Say this.
    Say(Value),
    /// Call a tool, and say what comes of it.
    Call(Call),
    /// Nothing.
    Nothing,
}

/// A call of a tool that there is.
pub(super) struct Call {
    id: Value,
    modern: bool,
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What a tool says: its text, or what went wrong, for the model to read.
pub(super) type Outcome = Result<String, String>;

impl Call {
    /// The answer to it.
    pub(super) fn answer(&self, outcome: Outcome) -> Value {
        let failed = outcome.is_err();
        let text = outcome.unwrap_or_else(|error| error);
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": failed });
        answer(&self.id, finished(result, self.modern))
    }
}

/// A server of these tools.
pub(super) struct Server {
    tools: Vec<Value>,
}

impl Server {
    /// `tools` as `tools/list` gives them.
    pub(super) fn new(tools: Vec<Value>) -> Self {
        Self { tools }
    }

    /// Hears a line; `None` is one that was too long to be read.
    pub(super) fn hear(&self, line: Option<&[u8]>) -> Reply {
        let Some(line) = line else {
            return Reply::Say(error(&Value::Null, PARSE_ERROR, "the request is too long", None));
        };
        if line.trim_ascii().is_empty() {
            return Reply::Nothing;
        }
        let Ok(request) = serde_json::from_slice::<Value>(line) else {
            return Reply::Say(error(&Value::Null, PARSE_ERROR, "the request is not JSON", None));
        };
        let Some(method) = request.get("method").and_then(Value::as_str) else {
            // An answer to a request that was never made, or nothing at all.
            return match request.get("id") {
                Some(id) if request.get("result").is_none() && request.get("error").is_none() => {
                    Reply::Say(error(id, INVALID_REQUEST, "the request has no method", None))
                }
                _ => Reply::Nothing,
            };
        };
        match request.get("id").filter(|id| !id.is_null()) {
            Some(id) => self.request(id, method, request.get("params").unwrap_or(&Value::Null)),
            None => Reply::Nothing,
        }
    }

    fn request(&self, id: &Value, method: &str, params: &Value) -> Reply {
        let version = params.get("_meta").and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
        if let Some(other) = version.filter(|version| *version != MODERN) {
            let data = json!({ "supported": [MODERN], "requested": other });
            return Reply::Say(error(id, UNSUPPORTED_VERSION, "unsupported protocol version", Some(data)));
        }
        let modern = version.is_some() || method == "server/discover";
        let result = match method {
            "server/discover" => discovered(),
            "initialize" => initialized(params),
            "ping" => json!({}),
            "tools/list" => listed(&self.tools, modern),
            "tools/call" => return self.call(id, params, modern),
            other => {
                let message = format!("there is no method {}", crate::model::text::one_line(other, 80));
                return Reply::Say(error(id, METHOD_NOT_FOUND, &message, None));
            }
        };
        Reply::Say(answer(id, finished(result, modern)))
    }

    fn call(&self, id: &Value, params: &Value, modern: bool) -> Reply {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        if !self.tools.iter().any(|tool| tool["name"] == name) {
            let message = format!("there is no tool {}", crate::model::text::one_line(name, 80));
            return Reply::Say(error(id, INVALID_PARAMS, &message, None));
        }
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        Reply::Call(Call { id: id.clone(), modern, tool: name.to_owned(), arguments })
    }
}

fn server_info() -> Value {
    json!({ "name": "workagent", "title": "workagent", "version": env!("CARGO_PKG_VERSION") })
}

fn initialized(params: &Value) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let version = wanted.and_then(|wanted| LEGACY.iter().find(|known| **known == wanted));
    json!({
        "protocolVersion": version.unwrap_or(&LEGACY[0]),
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
    })
}

fn discovered() -> Value {
    json!({
        "supportedVersions": [MODERN],
        "capabilities": { "tools": {} },
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "private",
        "_meta": { SERVER_KEY: server_info() },
    })
}

fn listed(tools: &[Value], modern: bool) -> Value {
    let mut list = json!({ "tools": tools });
    if let (true, Some(fields)) = (modern, list.as_object_mut()) {
        fields.insert("ttlMs".into(), json!(LIST_TTL_MS));
        fields.insert("cacheScope".into(), json!("private"));
    }
    list
}

/// Results of the new era say that they are whole.
fn finished(mut result: Value, modern: bool) -> Value {
    if let (true, Some(fields)) = (modern, result.as_object_mut()) {
        fields.insert("resultType".into(), json!("complete"));
    }
    result
}

fn answer(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> Value {
    let mut error = Map::new();
    error.insert("code".into(), json!(code));
    error.insert("message".into(), json!(message));
    if let Some(data) = data {
        error.insert("data".into(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let server = Server::new(vec![json!({ "name": "hello" })]);
        let shown = match server.hear(Some(line.as_bytes())) {
            Reply::Say(answer) => {
                answer.to_string().replace(env!("CARGO_PKG_VERSION"), "V").replace("\"jsonrpc\":\"2.0\",", "")
            }
            Reply::Call(call) => {
                let answer = call.answer(Ok("hi".into())).to_string().replace("\"jsonrpc\":\"2.0\",", "");
                format!("{}({}) {answer}", call.tool, call.arguments)
            }
            Reply::Nothing => "nothing".to_owned(),
        };
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn the_era_of_the_handshake() {
        check(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
            r#"{"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"workagent","title":"workagent","version":"V"}}}"#,
        );
        check(
            r#"{"id":0,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}"#,
            r#"{"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"workagent","title":"workagent","version":"V"}}}"#,
        );
        check(r#"{"method":"notifications/initialized"}"#, "nothing");
        check(r#"{"id":"a","method":"ping"}"#, r#"{"id":"a","result":{}}"#);
        check(r#"{"id":1,"method":"tools/list"}"#, r#"{"id":1,"result":{"tools":[{"name":"hello"}]}}"#);
        check(
            r#"{"id":2,"method":"tools/call","params":{"name":"hello","arguments":{"a":1}}}"#,
            r#"hello({"a":1}) {"id":2,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}"#,
        );
    }

    #[test]
    fn the_era_without() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        check(
            &format!(r#"{{"id":1,"method":"server/discover","params":{{{meta}}}}}"#),
            r#"{"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":3600000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"workagent","title":"workagent","version":"V"}},"resultType":"complete"}}"#,
        );
        check(
            &format!(r#"{{"id":2,"method":"tools/list","params":{{{meta}}}}}"#),
            r#"{"id":2,"result":{"tools":[{"name":"hello"}],"ttlMs":3600000,"cacheScope":"private","resultType":"complete"}}"#,
        );
        check(
            &format!(r#"{{"id":3,"method":"tools/call","params":{{"name":"hello",{meta}}}}}"#),
            r#"hello({}) {"id":3,"result":{"content":[{"type":"text","text":"hi"}],"isError":false,"resultType":"complete"}}"#,
        );
        check(
            r#"{"id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}"#,
            r#"{"id":4,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2031-01-01"}}}"#,
        );
    }

    #[test]
    fn what_makes_no_sense() {
        check("", "nothing");
        check("{", r#"{"id":null,"error":{"code":-32700,"message":"the request is not JSON"}}"#);
        check("[]", "nothing");
        check(r#"{"id":1}"#, r#"{"id":1,"error":{"code":-32600,"message":"the request has no method"}}"#);
        check(r#"{"id":1,"result":{}}"#, "nothing");
        check(
            r#"{"id":1,"method":"resources/list"}"#,
            r#"{"id":1,"error":{"code":-32601,"message":"there is no method resources/list"}}"#,
        );
        check(
            r#"{"id":1,"method":"tools/call","params":{"name":"send"}}"#,
            r#"{"id":1,"error":{"code":-32602,"message":"there is no tool send"}}"#,
        );
        check(
            r#"{"id":1,"method":"tools/call"}"#,
            r#"{"id":1,"error":{"code":-32602,"message":"there is no tool "}}"#,
        );
    }
}
