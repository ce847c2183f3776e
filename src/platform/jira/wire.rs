//! What Jira answers, as far as it is used. Everything may be missing but the ids: an author that was deleted or wrote by
//! mail, the fields of an issue that may not be seen.

use serde_json::Value;

use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::json;

/// The name of the property by which our comments are known again.
pub const PROPERTY: &str = "workagent.action";

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The account id; on Data Center the key. Empty where there is none that means anything.
    pub id: String,
    /// The login name of Data Center.
    pub login: String,
    /// As shown.
    pub name: String,
    /// A program.
    pub app: bool,
}

/// One change of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Of the entry in the history.
    pub id: u64,
    /// When.
    pub at: Option<Timestamp>,
    /// By whom.
    pub author: Person,
    /// `assignee`, `status` …
    pub field: String,
    /// The id of what it is now.
    pub to: String,
}

/// An issue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issue {
    /// Stays when it moves.
    pub id: u64,
    /// `ABC-12`; changes when it moves.
    pub key: String,
    /// One line.
    pub summary: String,
    /// ADF, or wiki markup.
    pub description: Value,
    /// The name of its status.
    pub status: String,
    /// `Bug`.
    pub kind: String,
    /// It is a request of a service desk: comments are for its customer unless they say otherwise.
    pub service_desk: bool,
    /// Who is to do it.
    pub assignee: Person,
    /// Who wants it.
    pub reporter: Person,
    /// Who typed it.
    pub creator: Person,
    /// Labels.
    pub labels: Vec<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it last changed.
    pub updated: Option<Timestamp>,
    /// Name, media type, bytes.
    pub attachments: Vec<(String, String, u64)>,
    /// What happened to it, as far as it came along.
    pub changes: Vec<Change>,
}

/// A comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// Its id.
    pub id: u64,
    /// ADF, or wiki markup.
    pub body: Value,
    /// Who wrote it; nobody for some that came by mail.
    pub author: Person,
    /// When.
    pub created: Option<Timestamp>,
    /// When it last changed.
    pub updated: Option<Timestamp>,
    /// For the people of the service desk only.
    pub internal: bool,
    /// For a role or group only, as Jira says it.
    pub visibility: Option<Value>,
    /// The comment that it answers.
    pub parent: Option<u64>,
    /// The key of the action that wrote it, by its property or its anchor.
    pub mark: Option<String>,
}

impl Person {
    /// Nobody, where there is none.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let id = json::text(value, "/accountId").or(json::text(value, "/key"));
        Self {
            // What stands for accounts that cannot be told apart any more.
            id: id.filter(|id| *id != "unknown").unwrap_or_default().to_owned(),
            login: one_line(json::text_or_empty(value, "/name"), 256),
            name: one_line(json::text_or_empty(value, "/displayName"), 256),
            app: json::text(value, "/accountType") == Some("app"),
        }
    }

    /// The same account, if both are known.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        !self.id.is_empty() && self.id == other.id
    }

    fn at(value: &Value, pointer: &str) -> Self {
        value.pointer(pointer).map(Self::read).unwrap_or_default()
    }
}

impl Issue {
    /// `None` without an id.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let texts =
            |pointer: &str| json::list(value, pointer).iter().filter_map(Value::as_str).map(str::to_owned);
        let file = |file: &Value| {
            (
                one_line(json::text_or_empty(file, "/filename"), 255),
                one_line(json::text_or_empty(file, "/mimeType"), 128),
                json::number(file, "/size").unwrap_or(0),
            )
        };
        Some(Self {
            id: json::number(value, "/id")?,
            key: one_line(json::text_or_empty(value, "/key"), 128),
            summary: json::text_or_empty(value, "/fields/summary").to_owned(),
            description: value.pointer("/fields/description").cloned().unwrap_or_default(),
            status: one_line(json::text_or_empty(value, "/fields/status/name"), 128),
            kind: one_line(json::text_or_empty(value, "/fields/issuetype/name"), 128),
            service_desk: json::text(value, "/fields/project/projectTypeKey") == Some("service_desk"),
            assignee: Person::at(value, "/fields/assignee"),
            reporter: Person::at(value, "/fields/reporter"),
            creator: Person::at(value, "/fields/creator"),
            labels: texts("/fields/labels").collect(),
            created: json::time(value, "/fields/created"),
            updated: json::time(value, "/fields/updated"),
            attachments: json::list(value, "/fields/attachment").iter().map(file).collect(),
            changes: json::list(value, "/changelog/histories").iter().flat_map(changes).collect(),
        })
    }
}

fn changes(history: &Value) -> Vec<Change> {
    let Some(id) = json::number(history, "/id") else { return Vec::new() };
    let change = |item: &Value| Change {
        id,
        at: json::time(history, "/created"),
        author: Person::at(history, "/author"),
        field: json::text_or_empty(item, "/field").to_owned(),
        to: json::text_or_empty(item, "/to").to_owned(),
    };
    json::list(history, "/items").iter().map(change).collect()
}

impl Comment {
    /// `None` without an id.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let properties = json::list(value, "/properties").iter();
        let mut ours = properties.filter(|property| json::text(property, "/key") == Some(PROPERTY));
        let mark = ours.find_map(|property| json::text(property, "/value/id")).map(str::to_owned);
        let body = value.pointer("/body").cloned().unwrap_or_default();
        let mark = mark.or_else(|| super::wiki::own_key(body.as_str()?).map(str::to_owned));
        Some(Self {
            id: json::number(value, "/id")?,
            author: Person::at(value, "/author"),
            created: json::time(value, "/created"),
            updated: json::time(value, "/updated"),
            internal: value.pointer("/jsdPublic").and_then(Value::as_bool) == Some(false),
            visibility: value.pointer("/visibility").filter(|value| value.is_object()).cloned(),
            parent: json::number(value, "/parentId"),
            mark,
            body,
        })
    }

    /// Who may see it, as a name: empty for all who see the issue.
    #[must_use]
    pub fn audience(&self) -> String {
        match &self.visibility {
            _ if self.internal => "internal".to_owned(),
            Some(to) => {
                let who = json::text(to, "/identifier").or(json::text(to, "/value")).unwrap_or("some");
                format!("{} {}", json::text(to, "/type").unwrap_or("group"), one_line(who, 128))
            }
            None => String::new(),
        }
    }
}

/// The server's own words in an error.
#[must_use]
pub fn said(body: &Value) -> Option<String> {
    let told = ["/errorMessages", "/errors", "/message", "/error"];
    told.into_iter().filter_map(|key| body.pointer(key)).find_map(json::words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_of_both_kinds_and_nobody() {
        let cloud = Person::read(&json!({"accountId": "5b:1", "displayName": "Kim", "accountType": "app"}));
        assert_eq!((cloud.id.as_str(), cloud.name.as_str(), cloud.app), ("5b:1", "Kim", true));
        assert_eq!(Person::read(&json!({"key": "JIRAUSER1", "name": "kim"})).login, "kim");
        let gone = Person::read(&json!({"accountId": "unknown", "displayName": "Former user"}));
        assert!(gone.id.is_empty() && !gone.is(&gone));
    }

    #[test]
    fn who_may_see_a_comment() {
        let audience = |value: Value| Comment::read(&value).unwrap().audience();
        assert_eq!(audience(json!({"id": "1", "jsdPublic": true})), "");
        assert_eq!(audience(json!({"id": "1", "jsdPublic": false})), "internal");
        let role = json!({"type": "role", "value": "Administrators", "identifier": "10002"});
        assert_eq!(audience(json!({"id": "1", "visibility": role})), "role 10002");
        assert_eq!(Comment::read(&json!({"body": "no id"})), None);
    }

    #[test]
    fn the_mark_is_a_property_or_an_anchor() {
        let key = "wa-7-0123456789abcdef";
        let mark = |value: Value| Comment::read(&value).unwrap().mark;
        let other = json!({"key": "sd.other", "value": {"id": "no"}});
        let ours = json!({"key": PROPERTY, "value": {"id": key}});
        assert_eq!(mark(json!({"id": 1, "properties": [other, ours]})).as_deref(), Some(key));
        assert_eq!(mark(json!({"id": 1, "body": format!("Yes.\r\n{{anchor:{key}}}")})).as_deref(), Some(key));
        assert_eq!(mark(json!({"id": 1, "body": {"type": "doc"}})), None);
    }

    #[test]
    fn words_of_errors() {
        let body = json!({"errorMessages": ["The value 'x' does not exist."], "errors": {}});
        assert_eq!(said(&body).as_deref(), Some("The value 'x' does not exist."));
        let body = json!({"errorMessages": [], "errors": {"comment": "Comment body can not be empty!"}});
        assert_eq!(said(&body).as_deref(), Some("comment Comment body can not be empty!"));
    }
}
