//! The messages of the Agent Client Protocol, wire version 1, as far as a run needs them. Written by hand: what is not
//! known is left out without being kept, so a line costs its own size and no more. Pure.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::mcp_supply::McpServer;

/// The version of the wire that this speaks.
pub(super) const VERSION: u64 = 1;

/// JSON-RPC: there is no such method here.
const METHOD_NOT_FOUND: i64 = -32601;

/// The envelope of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Envelope {
    /// An answer to a request of ours.
    Answer(u64),
    /// An error to a request of ours.
    Error(u64, RpcError),
    /// A request to us.
    Request(Id, String),
    /// A notification.
    Notice(String),
    /// Anything else: log lines, half lines, other JSON.
    Noise,
}

/// The id of a request to us, given back as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

/// An error of the far side.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: ErrorData,
}

/// What agents hang on an error.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ErrorData {
    pub(super) message: String,
    /// claude-agent-acp.
    pub(super) error_kind: String,
    /// codex-acp.
    pub(super) codex_error_info: String,
    /// opencode.
    pub(super) error_name: String,
}

/// Reads the envelope of a line; what is in it is read by [`inside`], once its kind is known.
pub(super) fn envelope(line: &[u8]) -> Envelope {
    #[derive(Deserialize)]
    struct Head {
        id: Option<Id>,
        method: Option<String>,
        error: Option<IgnoredAny>,
    }
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return Envelope::Noise;
    }
    let Ok(head) = serde_json::from_slice::<Head>(line) else { return Envelope::Noise };
    match (head.method, head.id) {
        (Some(method), Some(id)) => Envelope::Request(id, method),
        (Some(method), None) => Envelope::Notice(method),
        (None, Some(id)) => {
            let number = match id {
                Id::Number(number) => u64::try_from(number).ok(),
                Id::Text(text) => text.parse().ok(),
            };
            match (number, head.error.is_some()) {
                (Some(number), false) => Envelope::Answer(number),
                (Some(number), true) => Envelope::Error(number, read_error(line)),
                (None, _) => Envelope::Noise,
            }
        }
        (None, None) => Envelope::Noise,
    }
}

/// An error of an odd shape is an error all the same.
fn read_error(line: &[u8]) -> RpcError {
    #[derive(Deserialize)]
    struct Whole {
        error: RpcError,
    }
    #[derive(Deserialize)]
    struct Head {
        error: HeadError,
    }
    #[derive(Deserialize)]
    struct HeadError {
        #[serde(default)]
        code: i64,
        #[serde(default)]
        message: String,
    }
    serde_json::from_slice::<Whole>(line)
        .map(|whole| whole.error)
        .or_else(|_| {
            serde_json::from_slice::<Head>(line).map(|Head { error: HeadError { code, message } }| RpcError {
                code,
                message,
                data: ErrorData::default(),
            })
        })
        .unwrap_or_default()
}

/// The `result` of an answer, or the `params` of a request or notice; `None` if it has another shape.
pub(super) fn inside<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    #[derive(Deserialize)]
    #[serde(bound = "T: DeserializeOwned")]
    struct Body<T> {
        #[serde(alias = "params")]
        result: T,
    }
    serde_json::from_slice::<Body<T>>(line.trim_ascii()).ok().map(|body| body.result)
}

/// A request of ours, as a line without its newline.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string().into_bytes()
}

/// A notification of ours.
pub(super) fn notice(method: &str, params: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
}

/// An answer of ours.
pub(super) fn answer(id: &Id, result: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().into_bytes()
}

/// A refusal of what was never offered.
pub(super) fn not_offered(id: &Id, method: &str) -> Vec<u8> {
    let method = crate::model::text::one_line(method, 80);
    let message = format!("{method} is not offered");
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": METHOD_NOT_FOUND, "message": message } })
        .to_string()
        .into_bytes()
}

/// What `initialize` says of us: nothing is offered.
pub(super) fn hello() -> Value {
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
        "clientInfo": { "name": "workagent", "title": "workagent", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Servers for `session/new`; those by URL only for an agent that takes them.
pub(super) fn servers(servers: &[McpServer], http: bool) -> Value {
    let list = servers.iter().filter_map(|server| match server {
        McpServer::Program { name, command, args, env } => {
            let env: Vec<Value> =
                env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
            Some(json!({ "name": name, "command": command, "args": args, "env": env }))
        }
        McpServer::Url { name, url } => {
            http.then(|| json!({ "type": "http", "name": name, "url": url, "headers": [] }))
        }
    });
    Value::Array(list.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes() {
        let check =
            |line: &str, expected: Envelope| assert_eq!(envelope(line.as_bytes()), expected, "{line}");
        check(r#"{"jsonrpc":"2.0","id":3,"result":null}"#, Envelope::Answer(3));
        check(r#" {"id":"3","result":{"a":[1,2]}} "#, Envelope::Answer(3));
        check(
            r#"{"id":0,"method":"fs/read_text_file"}"#,
            Envelope::Request(Id::Number(0), "fs/read_text_file".into()),
        );
        check(r#"{"id":"a","method":"_x","params":7}"#, Envelope::Request(Id::Text("a".into()), "_x".into()));
        check(r#"{"method":"session/update"}"#, Envelope::Notice("session/update".into()));
        for noise in [
            "",
            "Loading…",
            "[1]",
            "{",
            "{}",
            r#"{"id":null}"#,
            r#"{"id":-4}"#,
            r#"{"id":1.5}"#,
            "\u{feff}{}",
        ] {
            check(noise, Envelope::Noise);
        }
    }

    #[test]
    fn errors_of_any_shape_are_errors() {
        let error = |line: &str| match envelope(line.as_bytes()) {
            Envelope::Error(_, error) => {
                format!("{} {:?} {:?}", error.code, error.message, error.data.error_kind)
            }
            other => format!("{other:?}"),
        };
        assert_eq!(
            error(r#"{"id":3,"error":{"code":-32603,"message":"m","data":{"errorKind":"k","x":[]}}}"#),
            r#"-32603 "m" "k""#
        );
        assert_eq!(error(r#"{"id":3,"error":{"code":1,"message":"m","data":"text"}}"#), r#"1 "m" """#);
        assert_eq!(error(r#"{"id":3,"error":"text"}"#), r#"0 "" """#);
        assert_eq!(error(r#"{"id":3,"error":null,"result":{}}"#), "Answer(3)");
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        use super::super::messages::Session;
        let session: Session = inside(
            r#"{"id":2,"result":{"sessionId":"s","extra":{"deep":[1]},"configOptions":[
                {"id":"a","type":"select","currentValue":"x","options":[{"value":"x"},{"group":"g","options":[{"value":"y"}]}]},
                {"id":"b","type":"boolean","currentValue":true},{"id":"c","currentValue":7}]}}"#
                .as_bytes(),
        )
        .unwrap();
        let options = session.config_options.unwrap();
        assert_eq!(options[0].values().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(
            options.iter().map(|o| o.current_value.word()).collect::<Vec<_>>(),
            [Some("x"), Some("true"), None]
        );
    }
}
