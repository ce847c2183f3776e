//! What stands inside the messages, as far as a run needs it. Nothing is required that an agent might leave out.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Initialized {
    pub(super) protocol_version: u64,
    pub(super) agent_info: Option<AgentInfo>,
    pub(super) agent_capabilities: Capabilities,
    pub(super) auth_methods: Vec<AuthMethod>,
}

/// Who answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentInfo {
    pub(super) name: String,
    pub(super) version: String,
}

/// What the agent can do.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Capabilities {
    pub(super) load_session: bool,
    pub(super) session_capabilities: SessionCapabilities,
    pub(super) mcp_capabilities: McpCapabilities,
}

/// Present is yes; what it holds is for later versions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionCapabilities {
    pub(super) resume: Option<IgnoredAny>,
}

/// Which MCP servers it takes besides programs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct McpCapabilities {
    pub(super) http: bool,
}

/// A way to log in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthMethod {
    pub(super) id: String,
}

/// The answer to `session/new`, `session/load` and `session/resume`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Session {
    pub(super) session_id: Option<String>,
    pub(super) modes: Option<Modes>,
    pub(super) models: Option<Models>,
    pub(super) config_options: Option<Vec<ConfigOption>>,
}

/// The modes offered.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Modes {
    pub(super) current_mode_id: String,
    pub(super) available_modes: Vec<Mode>,
}

/// One of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mode {
    pub(super) id: String,
}

/// The models offered.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Models {
    pub(super) current_model_id: String,
    pub(super) available_models: Vec<Model>,
}

/// One of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Model {
    pub(super) model_id: String,
}

/// A choice of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ConfigOption {
    pub(super) id: String,
    pub(super) category: Option<String>,
    pub(super) current_value: Scalar,
    pub(super) options: Vec<ConfigValue>,
}

/// A value of a choice, or a group of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfigValue {
    pub(super) value: Scalar,
    pub(super) options: Vec<ConfigValue>,
}

/// A text or a switch.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Scalar {
    Text(String),
    Switch(bool),
    #[default]
    None,
    Other(IgnoredAny),
}

impl Scalar {
    /// As it is written in a unit.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Switch(true) => Some("true"),
            Self::Switch(false) => Some("false"),
            Self::None | Self::Other(_) => None,
        }
    }
}

impl ConfigOption {
    /// All its values, groups flattened one level.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.options
            .iter()
            .flat_map(|value| std::iter::once(value).chain(&value.options))
            .filter_map(|value| value.value.word())
    }
}

/// The kind of an update.
#[derive(Debug, Deserialize)]
pub(super) struct UpdateHead {
    pub(super) update: UpdateKind,
}

/// Its word.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateKind {
    pub(super) session_update: String,
}

/// A piece of the answer.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    pub(super) update: ChunkBody,
}

/// Its text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChunkBody {
    pub(super) content: TextBlock,
    #[serde(default)]
    pub(super) message_id: Option<String>,
}

/// Text; other kinds of content have none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextBlock {
    pub(super) text: String,
}

/// `usage_update`.
#[derive(Debug, Deserialize)]
pub(super) struct UsageUpdate {
    pub(super) update: UsageBody,
}

/// Its cost.
#[derive(Debug, Deserialize)]
pub(super) struct UsageBody {
    pub(super) cost: Cost,
}

/// What the session cost so far.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    pub(super) currency: String,
}

/// `current_mode_update`.
#[derive(Debug, Deserialize)]
pub(super) struct ModeUpdate {
    pub(super) update: ModeBody,
}

/// The mode it is in now.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModeBody {
    pub(super) current_mode_id: String,
}

/// `session/request_permission`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PermissionRequest {
    pub(super) tool_call: ToolCall,
    pub(super) options: Vec<PermissionOption>,
}

/// What it would do.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolCall {
    pub(super) title: Option<String>,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) raw_input: Option<RawInput>,
}

/// Of a tool's input only whether it is a command.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawInput {
    pub(super) command: Option<IgnoredAny>,
}

/// An answer that may be chosen.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub(super) option_id: String,
    pub(super) kind: String,
}

/// The end of a turn.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptEnd {
    pub(super) stop_reason: String,
}

/// Tokens, wherever the agent puts them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptUsage {
    pub(super) usage: Option<Tokens>,
    #[serde(rename = "_meta")]
    pub(super) meta: Option<Meta>,
}

/// Extensions of the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta {
    pub(super) quota: Option<Quota>,
}

/// As gemini, claude and codex tell it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Quota {
    pub(super) token_count: Option<Tokens>,
    pub(super) model_usage: Vec<ModelUsage>,
}

/// The model that was asked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelUsage {
    pub(super) model: String,
}

/// Both spellings are met.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(alias = "inputTokens")]
    pub(super) input_tokens: Option<u64>,
    #[serde(alias = "outputTokens")]
    pub(super) output_tokens: Option<u64>,
}
