//! `[sandbox]`: what the programs of an engine may touch.

use std::path::{Path, PathBuf};

use crate::unit::plan::{FilesRule, SandboxRule};
use crate::unit::schema::{KeySpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// The table's name.
pub(crate) const NAME: &str = "sandbox";

/// The table.
pub(crate) const TABLE: TableSpec = TableSpec::new(
    NAME,
    &[
        // Codex confines its commands itself, and cannot inside another sandbox.
        KeySpec::new(
            "files",
            ValueType::Choice(&["all", "read-only", "named"]),
            "What its programs and all that they start may do with files: all that you may; read all and change only the \
             run's own directory, the program's home and `write`; or read no more than these, `read` and the system's \
             programs. Left out it is read-only for claude and acp, and all for the others: codex confines its commands \
             itself. Needs a kernel with Landlock",
        ),
        KeySpec::new("read", ValueType::List, "With files = \"named\", absolute paths that may be read too").specifiers(),
        KeySpec::new("write", ValueType::List, "Absolute paths that may be changed too").specifiers(),
        KeySpec::new(
            "network",
            ValueType::Bool,
            "May reach the network, this machine's own addresses included. Without it no cloud engine works; for a program \
             of yours that needs none",
        )
        .default("true"),
        KeySpec::new(
            "required",
            ValueType::Bool,
            "Rather not run at all on a machine that cannot take these rights away; otherwise it runs with more, and each \
             draft says so",
        )
        .default("false"),
    ],
    "What its programs may touch.",
);

/// Engines whose tools are steered by foreign text, and that do not confine them.
const READ_ONLY: [&str; 2] = ["claude", "acp"];

/// The rule of a unit of this engine.
pub(crate) fn build(settings: &Settings, engine: &str) -> SandboxRule {
    let paths = |key| settings.list(key).iter().map(PathBuf::from).collect();
    SandboxRule {
        files: match settings.text("files") {
            Some("read-only") => FilesRule::ReadOnly,
            Some("named") => FilesRule::Named,
            None if READ_ONLY.contains(&engine) => FilesRule::ReadOnly,
            Some(_) | None => FilesRule::All,
        },
        read: paths("read"),
        write: paths("write"),
        network: settings.get("network").is_none() || settings.flag("network"),
        required: settings.flag("required"),
    }
}

/// The key of a list that holds what is no absolute path, and what is wrong.
pub(crate) fn problem(typed: &Typed) -> Option<(&'static str, String)> {
    let settings = typed.settings(NAME);
    ["read", "write"].into_iter().find_map(|key| {
        let relative = settings.list(key).iter().find(|path| !Path::new(path.as_str()).is_absolute())?;
        Some((key, format!("`{relative}` is no absolute path; `%h` stands for your home directory")))
    })
}
