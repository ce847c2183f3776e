//! What Linear sends, as far as it is read. Everything but the id may be missing.

use serde::Deserialize;
use serde_json::Value;

use crate::model::time::Timestamp;

/// A list's page; the nodes are decoded one by one, so that a bad one spoils nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Connection {
    /// `null` where a node could not be given.
    pub nodes: Vec<Value>,
    /// Where it goes on.
    #[serde(rename = "pageInfo")]
    pub page_info: Option<PageInfo>,
}

/// Where a list goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

/// The account that asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Viewer {
    pub id: Option<String>,
    pub name: Option<String>,
    pub organization: Option<Organization>,
}

/// Its workspace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Organization {
    pub url_key: Option<String>,
}

/// A member, a bot (without id and mail) or somebody outside.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Who {
    pub id: Option<String>,
    pub name: Option<String>,
    pub email: Option<String>,
}

/// Something with a name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Named {
    pub name: Option<String>,
    pub url: Option<String>,
}

/// An issue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Issue {
    pub id: Option<String>,
    pub identifier: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub url: Option<String>,
    pub archived_at: Option<String>,
    pub state: Option<Named>,
    pub assignee: Option<Named>,
    pub labels: Option<Labels>,
}

/// Its labels.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Labels {
    pub nodes: Vec<Named>,
}

/// A comment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Comment {
    pub id: Option<String>,
    pub body: Option<String>,
    pub quoted_text: Option<String>,
    pub created_at: Option<String>,
    pub edited_at: Option<String>,
    pub archived_at: Option<String>,
    pub updated_at: Option<String>,
    pub url: Option<String>,
    pub parent_id: Option<String>,
    pub issue_id: Option<String>,
    pub project_id: Option<String>,
    pub project_update_id: Option<String>,
    pub initiative_id: Option<String>,
    pub initiative_update_id: Option<String>,
    pub document_content_id: Option<String>,
    pub user: Option<Who>,
    pub bot_actor: Option<Who>,
    pub external_user: Option<Who>,
    pub issue: Option<Issue>,
    pub project: Option<Named>,
}

/// A notification of any kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Notification {
    #[serde(rename = "__typename")]
    pub typename: Option<String>,
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub read_at: Option<String>,
    pub snoozed_until_at: Option<String>,
    pub unsnoozed_at: Option<String>,
    pub actor: Option<Who>,
    pub bot_actor: Option<Who>,
    pub external_user_actor: Option<Who>,
    pub reaction_emoji: Option<String>,
    pub issue: Option<Issue>,
    pub project: Option<Named>,
    pub comment: Option<Comment>,
}

/// A moment as Linear writes it: RFC 3339 with milliseconds.
#[must_use]
pub fn at(text: Option<&String>) -> Option<Timestamp> {
    text.and_then(|text| Timestamp::from_rfc3339(text))
}
