//! What a check comes to.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Well.
    Ok,
    /// Works, and will not for ever.
    Warning,
    /// Something does not work.
    Problem,
    /// There is nothing to look at here.
    NotApplicable,
}

/// What was looked at, what is wrong with it, and the one command that mends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How bad.
    pub level: Level,
    /// What was looked at.
    pub looked_at: String,
    /// What is wrong, a sentence each.
    pub wrong: Vec<String>,
    /// What to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Verdict {
    /// Well.
    pub fn ok(looked_at: impl Into<String>) -> Self {
        Self { level: Level::Ok, looked_at: looked_at.into(), wrong: Vec::new(), mend: None }
    }

    /// Nothing to look at, and why.
    pub fn none(why: impl Into<String>) -> Self {
        Self { level: Level::NotApplicable, ..Self::ok(why) }
    }

    /// Well where nothing is wrong, else this bad and mended by that.
    pub fn of(
        level: Level,
        looked_at: impl Into<String>,
        wrong: Vec<String>,
        mend: impl Into<String>,
    ) -> Self {
        if wrong.is_empty() {
            return Self::ok(looked_at);
        }
        Self { level, looked_at: looked_at.into(), wrong, mend: Some(mend.into()) }
    }
}
