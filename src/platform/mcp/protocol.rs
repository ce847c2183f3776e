//! What a client of MCP says and hears, in both eras. Pure.

use serde_json::{Map, Value, json};

use crate::model::mcp::{
    CAPABILITIES_KEY, CLIENT_KEY, INVALID_PARAMS, INVALID_REQUEST, LEGACY, METHOD_NOT_FOUND, MODERN,
    PARSE_ERROR, SERVER_KEY, VERSION_KEY,
};
use crate::model::text::one_line;

/// A server's own words, for people.
const SAID_BYTES_MAX: usize = 300;

/// How a server is spoken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// Each request carries its revision; no handshake, no session.
    Modern,
    /// `initialize` first.
    Legacy,
}

/// A refusal by the protocol: surely before a tool acted, if the code says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The JSON-RPC code.
    pub code: i64,
    /// One line, the server's words.
    pub message: String,
}

impl Refusal {
    /// Nothing was done: the request was not understood, or does not fit.
    pub fn is_definite(&self) -> bool {
        matches!(self.code, PARSE_ERROR | INVALID_REQUEST | METHOD_NOT_FOUND | INVALID_PARAMS)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = if self.message.is_empty() { "it gives no reason" } else { &self.message };
        write!(f, "it refused ({}): {words}", self.code)
    }
}

impl std::error::Error for Refusal {}

/// What a message from the server is.
#[derive(Debug, PartialEq)]
pub enum Heard {
    /// The answer to the request with this number.
    Answer(Result<Value, Refusal>),
    /// It asks for something: say this.
    Reply(Value),
    /// A notification, the answer to something else, or nothing of the protocol.
    Other,
}

/// A request.
pub fn request(id: u64, method: &str, mut params: Map<String, Value>, era: Era) -> Value {
    if era == Era::Modern {
        params.insert("_meta".to_owned(), meta());
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The parameters of the handshake.
pub fn hello() -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("protocolVersion".to_owned(), json!(LEGACY.first()));
    params.insert("capabilities".to_owned(), json!({}));
    params.insert("clientInfo".to_owned(), client());
    params
}

/// Its end.
pub fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn client() -> Value {
    json!({ "name": "workagent", "title": "workagent", "version": env!("CARGO_PKG_VERSION") })
}

fn meta() -> Value {
    let mut meta = Map::new();
    meta.insert(VERSION_KEY.to_owned(), json!(MODERN));
    meta.insert(CLIENT_KEY.to_owned(), client());
    meta.insert(CAPABILITIES_KEY.to_owned(), json!({}));
    Value::Object(meta)
}

/// Reads a message while the answer to request `id` is waited for.
pub fn hear(text: &[u8], id: u64) -> Heard {
    let Ok(message) = serde_json::from_slice::<Value>(text) else { return Heard::Other };
    let given = message.get("id").filter(|given| !given.is_null());
    if let (Some(method), Some(theirs)) = (message.get("method").and_then(Value::as_str), given) {
        // We offer nothing, but a ping is answered.
        return Heard::Reply(if method == "ping" {
            json!({ "jsonrpc": "2.0", "id": theirs, "result": {} })
        } else {
            json!({ "jsonrpc": "2.0", "id": theirs,
                "error": { "code": METHOD_NOT_FOUND, "message": "this client offers nothing" } })
        });
    }
    let ours =
        given.is_some_and(|given| given.as_u64() == Some(id) || given.as_str() == Some(&id.to_string()));
    if let Some(error) = message.get("error").filter(|error| error.is_object()) {
        // An error about a request that could not be read has no number.
        if ours || given.is_none() {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let words = error.get("message").and_then(Value::as_str).unwrap_or_default();
            return Heard::Answer(Err(Refusal { code, message: one_line(words, SAID_BYTES_MAX) }));
        }
        return Heard::Other;
    }
    match message.get("result") {
        Some(result) if ours => Heard::Answer(Ok(result.clone())),
        _ => Heard::Other,
    }
}

/// The revision that a handshake came to, if we know it.
pub fn agreed(result: &Value) -> Result<&'static str, String> {
    let given = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    LEGACY.into_iter().find(|known| *known == given).ok_or_else(|| one_line(given, 40))
}

/// The modern revision is among those that a server told of.
pub fn speaks_modern(discovered: &Value) -> bool {
    let versions = discovered.get("supportedVersions").and_then(Value::as_array).into_iter().flatten();
    versions.filter_map(Value::as_str).any(|version| version == MODERN)
}

/// Name and version of a server, out of the answer of either era.
pub fn server_name(result: &Value) -> String {
    let info = result.get("serverInfo").or_else(|| result.get("_meta").and_then(|meta| meta.get(SERVER_KEY)));
    let text = |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default();
    one_line(&format!("{} {}", text("name"), text("version")), 80)
}

/// Why a result holds nothing to read.
#[derive(Debug, PartialEq)]
pub enum NoContent {
    /// `isError`: the tool failed, in its words.
    Failed(String),
    /// It wants to be asked again with something that nobody can give here.
    WantsInput,
    /// Text for people, which begins so.
    Prose(String),
}

/// What a tool answered, as data: its structured content, or the JSON in its text.
pub fn tool_content(result: &Value) -> Result<Value, NoContent> {
    let texts = texts(result.get("content"));
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(NoContent::Failed(one_line(&texts.join(" "), SAID_BYTES_MAX)));
    }
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return Err(NoContent::WantsInput);
    }
    if let Some(content) = result.get("structuredContent").filter(|content| !content.is_null()) {
        return Ok(content.clone());
    }
    json_in(&texts)
}

/// What a resource holds: the JSON of its one text, or its texts as a list of `{uri, text, …}`.
pub fn resource_content(result: &Value) -> Result<Value, NoContent> {
    let contents = result.get("contents").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |content: &Value| content.get("text").and_then(Value::as_str).map(str::to_owned);
    if let [one] = contents.as_slice() {
        let parsed = text(one).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if let Some(value) = parsed.filter(|value| value.is_object() || value.is_array()) {
            return Ok(value);
        }
    }
    Ok(Value::Array(contents))
}

fn texts(content: Option<&Value>) -> Vec<String> {
    let blocks = content.and_then(Value::as_array).into_iter().flatten();
    blocks.filter_map(|block| block.get("text").and_then(Value::as_str)).map(str::to_owned).collect()
}

/// One text of JSON is it; several are a list of them.
fn json_in(texts: &[String]) -> Result<Value, NoContent> {
    let parsed: Option<Vec<Value>> = texts.iter().map(|text| serde_json::from_str(text).ok()).collect();
    match parsed {
        Some(mut values) if values.len() == 1 => Ok(values.remove(0)),
        Some(values) if !values.is_empty() => Ok(Value::Array(values)),
        // A tool that found nothing may say nothing.
        Some(_) => Ok(Value::Null),
        None => Err(NoContent::Prose(one_line(&texts.join(" "), 80))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_both_eras() {
        let params = || json!({ "name": "list" }).as_object().unwrap().clone();
        assert_eq!(
            request(1, "tools/call", params(), Era::Legacy).to_string(),
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list"}}"#
        );
        let modern = request(2, "tools/call", params(), Era::Modern);
        assert_eq!(modern["params"]["_meta"][VERSION_KEY], MODERN);
        assert_eq!(modern["params"]["_meta"][CAPABILITIES_KEY], json!({}));
    }

    #[test]
    fn only_the_answer_asked_for_counts() {
        let check = |text: &str, expected: Heard| assert_eq!(hear(text.as_bytes(), 7), expected, "{text}");
        check(r#"{"id":7,"result":{"a":1}}"#, Heard::Answer(Ok(json!({ "a": 1 }))));
        check(r#"{"id":"7","result":1}"#, Heard::Answer(Ok(json!(1))));
        check(r#"{"id":6,"result":1}"#, Heard::Other);
        check(r#"{"id":6,"error":{"code":1}}"#, Heard::Other);
        let refusal = Refusal { code: -32601, message: "no such".into() };
        check(
            "{\"id\":7,\"error\":{\"code\":-32601,\"message\":\"no\\u0000 such\"}}",
            Heard::Answer(Err(refusal)),
        );
        let nameless = Refusal { code: 0, message: String::new() };
        check(r#"{"id":null,"error":{}}"#, Heard::Answer(Err(nameless)));
        check(r#"{"method":"notifications/message","params":{}}"#, Heard::Other);
        check(
            r#"{"id":7,"method":"ping"}"#,
            Heard::Reply(json!({ "jsonrpc": "2.0", "id": 7, "result": {} })),
        );
        assert!(matches!(hear(br#"{"id":1,"method":"sampling/createMessage"}"#, 7), Heard::Reply(_)));
        for odd in ["", "hello", "[]", "7", "{}", r#"{"id":7}"#] {
            check(odd, Heard::Other);
        }
    }

    #[test]
    fn structured_content_comes_first() {
        let both =
            json!({ "content": [{ "type": "text", "text": "{\"a\":1}" }], "structuredContent": { "a": 2 } });
        assert_eq!(tool_content(&both), Ok(json!({ "a": 2 })));
        let text =
            json!({ "content": [{ "type": "text", "text": "[1]" }, { "type": "image", "data": "x" }] });
        assert_eq!(tool_content(&text), Ok(json!([1])));
        let two = json!({ "content": [{ "type": "text", "text": "1" }, { "type": "text", "text": "2" }] });
        assert_eq!(tool_content(&two), Ok(json!([1, 2])));
        assert_eq!(tool_content(&json!({ "content": [] })), Ok(Value::Null));
        assert_eq!(tool_content(&json!({})), Ok(Value::Null));
    }

    #[test]
    fn what_is_no_content_says_why() {
        let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "no\nnet" }] });
        assert_eq!(tool_content(&failed), Err(NoContent::Failed("no net".into())));
        let prose = json!({ "content": [{ "type": "text", "text": "There are 3 issues" }] });
        assert_eq!(tool_content(&prose), Err(NoContent::Prose("There are 3 issues".into())));
        assert_eq!(tool_content(&json!({ "resultType": "input_required" })), Err(NoContent::WantsInput));
    }

    #[test]
    fn resources_are_their_json_or_their_texts() {
        let one = |text: &str| json!({ "contents": [{ "uri": "x://1", "text": text }] });
        assert_eq!(resource_content(&one("{\"a\":1}")), Ok(json!({ "a": 1 })));
        assert_eq!(resource_content(&one("prose")), Ok(json!([{ "uri": "x://1", "text": "prose" }])));
        assert_eq!(resource_content(&one("7")), Ok(json!([{ "uri": "x://1", "text": "7" }])));
    }

    #[test]
    fn names_of_servers_and_revisions() {
        let info = json!({ "name": "crm", "version": "1.2" });
        assert_eq!(server_name(&json!({ "serverInfo": info })), "crm 1.2");
        assert_eq!(server_name(&json!({ "_meta": { SERVER_KEY: info } })), "crm 1.2");
        assert_eq!(agreed(&json!({ "protocolVersion": "2025-06-18" })), Ok("2025-06-18"));
        assert_eq!(agreed(&json!({ "protocolVersion": "1999" })), Err("1999".to_owned()));
        assert!(speaks_modern(&json!({ "supportedVersions": ["x", MODERN] })) && !speaks_modern(&json!({})));
    }
}
