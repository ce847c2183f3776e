//! The questions, written by hand. Tests hold them against Linear's own schema.

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("queries/", $name, ".graphql"))
    };
}

/// The fragments that the lists share.
const PARTS: &str = text!("parts");
/// Who asks.
pub const VIEWER: &str = text!("viewer");
/// A comment, if there is one with that id: a list, since a list without it is no error.
pub const COMMENT_BY_ID: &str = text!("comment_by_id");
/// A comment of ours.
pub const COMMENT_CREATE: &str = text!("comment_create");
/// How an issue stands, and what its team has.
pub const STANDING: &str = text!("standing");
/// Labels by name, of the workspace and of a team.
pub const LABELS: &str = text!("labels");
/// Members by mail address or name.
pub const PEOPLE: &str = text!("people");
/// Changes an issue.
pub const ISSUE_UPDATE: &str = text!("issue_update");

/// The inbox.
#[must_use]
pub fn notifications() -> String {
    format!("{}{PARTS}", text!("notifications"))
}

/// Comments.
#[must_use]
pub fn comments() -> String {
    format!("{}{PARTS}", text!("comments"))
}
