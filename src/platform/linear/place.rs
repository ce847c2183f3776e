//! Where a comment of ours stands: on which thing, in which thread.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::wire::Comment;

/// A place for a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The field of `CommentCreateInput` that names the thing.
    pub on: String,
    /// The thing.
    pub id: String,
    /// The first comment of the thread; a comment of its own without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// The fields of `CommentCreateInput` that name a thing.
const FIELDS: [&str; 6] =
    ["issueId", "projectUpdateId", "initiativeUpdateId", "documentContentId", "projectId", "initiativeId"];

impl Place {
    /// Where an answer to this comment stands. Threads are one level deep: an answer to an answer has the same parent.
    #[must_use]
    pub fn of(comment: &Comment) -> Option<Self> {
        let ids = [
            &comment.issue_id,
            &comment.project_update_id,
            &comment.initiative_update_id,
            &comment.document_content_id,
            &comment.project_id,
            &comment.initiative_id,
        ];
        let (on, id) = FIELDS.into_iter().zip(ids).find_map(|(on, id)| Some((on, id.clone()?)))?;
        let parent = comment.parent_id.clone().or_else(|| comment.id.clone());
        Some(Self { on: on.to_owned(), id, parent })
    }

    /// The name by which items about the same thing find each other: `issue:<id>`.
    #[must_use]
    pub fn thread(&self) -> String {
        format!("{}:{}", self.on.trim_end_matches("Id"), self.id)
    }

    /// As it is kept in an envelope.
    #[must_use]
    pub fn handle(&self) -> Value {
        json!(self)
    }

    /// From an envelope.
    #[must_use]
    pub fn from_handle(handle: &Value) -> Option<Self> {
        let place: Self = serde_json::from_value(handle.clone()).ok()?;
        FIELDS.contains(&place.on.as_str()).then_some(place)
    }

    /// The issue, if it is one.
    #[must_use]
    pub fn issue(&self) -> Option<&str> {
        (self.on == "issueId").then_some(self.id.as_str())
    }
}
