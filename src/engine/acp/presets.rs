//! What is known of each agent: how it is started, and what is set so that it writes a draft and does nothing else.
//!
//! Measured with the versions in the comments, on Linux. An agent that does not offer the mode any more is not run.

use std::path::PathBuf;

use super::locks::Lock;
use crate::process::{ChildEnv, EnvValue};

/// One agent.
#[derive(Debug)]
pub(super) struct Preset {
    /// The word in `preset`.
    pub(super) name: &'static str,
    /// Its program.
    pub(super) program: &'static str,
    /// Arguments that make it speak the protocol.
    pub(super) args: &'static [&'static str],
    /// Set unless an env unit says otherwise: trust in the (empty) run directory, no updates, no telemetry.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// The mode in which it asks before it does anything; empty: it has no modes.
    pub(super) mode: &'static str,
    /// How its own tools are taken away.
    pub(super) lock: Lock,
    /// Its own directories, which it must be able to write: the variable that moves one, and where it is without.
    pub(super) homes: &'static [Home],
    /// Choices of the session beside the mode.
    pub(super) config: &'static [(&'static str, &'static str)],
    /// What a person does when it is not logged in.
    pub(super) login: &'static str,
}

/// A directory of an agent: the variable, what is below it, and the place below `HOME` where the variable is not set.
pub(super) type Home = (&'static str, &'static str, &'static str);

/// The agents, and `custom` for any other.
pub(super) const PRESETS: [Preset; 8] = [
    // 0.61.0. In a folder that is not trusted it starts no MCP server, without a word. In the mode `default` it runs
    // commands that it thinks harmless without asking, so its tools are taken away.
    Preset {
        name: "gemini",
        program: "gemini",
        args: &["--acp"],
        env: &[
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
        ],
        mode: "default",
        lock: Lock::GeminiPolicy,
        homes: &[("GEMINI_CLI_HOME", ".gemini", ".gemini")],
        config: &[],
        login: "run `gemini` once in a terminal and log in",
    },
    // 1.18.33. Runs commands without asking by default, so its tools are taken away.
    Preset {
        name: "opencode",
        program: "opencode",
        args: &["acp"],
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        mode: "build",
        lock: Lock::OpencodePermission,
        homes: &[
            ("XDG_CONFIG_HOME", "opencode", ".config/opencode"),
            ("XDG_DATA_HOME", "opencode", ".local/share/opencode"),
            ("XDG_CACHE_HOME", "opencode", ".cache/opencode"),
            ("XDG_STATE_HOME", "opencode", ".local/state/opencode"),
        ],
        config: &[],
        login: "run `opencode auth login` in a terminal",
    },
    // 0.24.4.
    Preset {
        name: "qwen",
        program: "qwen",
        args: &["--acp"],
        env: &[],
        mode: "default",
        lock: Lock::Mode,
        homes: &[("QWEN_HOME", "", ".qwen")],
        config: &[],
        login: "run `qwen` once in a terminal and log in",
    },
    // 1.0.102. Its modes are URLs.
    Preset {
        name: "copilot",
        program: "copilot",
        args: &["--acp", "--no-auto-update"],
        env: &[],
        mode: "https://agentclientprotocol.com/protocol/session-modes#agent",
        lock: Lock::Mode,
        homes: &[("COPILOT_HOME", "", ".copilot")],
        config: &[("allow_all", "off")],
        login: "run `copilot login` in a terminal",
    },
    // Not run here: written from its documentation, which tells of no modes.
    Preset {
        name: "goose",
        program: "goose",
        args: &["acp"],
        env: &[("GOOSE_MODE", "approve")],
        mode: "",
        lock: Lock::Mode,
        homes: &[
            ("XDG_CONFIG_HOME", "goose", ".config/goose"),
            ("XDG_DATA_HOME", "goose", ".local/share/goose"),
            ("XDG_STATE_HOME", "goose", ".local/state/goose"),
        ],
        config: &[],
        login: "run `goose configure` in a terminal",
    },
    // 0.101.0 starts in `auto`, in which a model decides what may be done. Tools of MCP servers are hidden behind a
    // search unless that is off.
    Preset {
        name: "claude-agent-acp",
        program: "claude-agent-acp",
        args: &[],
        env: &[
            ("ENABLE_TOOL_SEARCH", "false"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ],
        mode: "default",
        lock: Lock::Mode,
        homes: &[("CLAUDE_CONFIG_DIR", "", ".claude")],
        config: &[],
        login: "run `claude` once in a terminal and log in",
    },
    // 2.6.0 starts in `agent`, which may write files.
    Preset {
        name: "codex-acp",
        program: "codex-acp",
        args: &[],
        env: &[],
        mode: "read-only",
        lock: Lock::Mode,
        homes: &[("CODEX_HOME", "", ".codex")],
        config: &[],
        login: "run `codex login` in a terminal, or name the way in auth_method",
    },
    ANY,
];

/// An agent that is not known.
pub(super) const ANY: Preset = Preset {
    name: CUSTOM,
    program: "",
    args: &[],
    env: &[],
    mode: "",
    lock: Lock::Mode,
    homes: &[],
    config: &[],
    login: "log in with its own program",
};

/// Everything is said by the unit.
pub(super) const CUSTOM: &str = "custom";

/// The words of `preset`.
pub(super) const NAMES: &[&str] =
    &["gemini", "opencode", "qwen", "copilot", "goose", "claude-agent-acp", "codex-acp", CUSTOM];

/// Where the agent's own directories are in this environment.
pub(super) fn homes(preset: &Preset, env: &ChildEnv) -> Vec<PathBuf> {
    let value = |name: &str| match env.0.get(name) {
        Some(EnvValue::Plain(value)) if !value.is_empty() => Some(PathBuf::from(value)),
        _ => None,
    };
    let home = |(variable, below, fallback): &Home| match value(variable) {
        Some(moved) => Some(moved.join(below)),
        None => Some(value("HOME")?.join(fallback)),
    };
    preset.homes.iter().filter_map(home).collect()
}

/// The preset with this word.
pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_table() {
        assert_eq!(PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>(), NAMES);
    }

    #[test]
    fn none_starts_in_a_mode_that_acts_by_itself() {
        let acting = [
            "yolo",
            "auto",
            "autoEdit",
            "auto-edit",
            "acceptEdits",
            "agent",
            "agent-full-access",
            "bypassPermissions",
        ];
        assert!(PRESETS.iter().all(|preset| !acting.contains(&preset.mode)));
    }
}
