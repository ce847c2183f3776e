//! What GitLab answers, as far as it is used. All of it may be missing but the ids: a to-do item of an epic has no
//! project, one of something removed no target, and new kinds of everything come with every release.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::json;

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// The only thing that stays the same.
    pub id: Option<u64>,
    /// As in `@name`.
    pub username: String,
    /// As shown.
    pub name: String,
}

/// What can be talked about: an issue or a merge request of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// Also tasks and other work items of a project.
    Issue,
    /// A merge request.
    MergeRequest,
}

/// Where a conversation takes place, by the numbers of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The project's id.
    pub project: u64,
    /// Of what sort the thing is.
    pub sort: Sort,
    /// Its number in the project.
    pub iid: u64,
}

/// The thing a to-do item speaks of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Unique on the server.
    pub id: Option<u64>,
    /// Its number in the project.
    pub iid: Option<u64>,
    /// One line.
    pub title: String,
    /// Markdown.
    pub description: String,
    /// `opened`, `closed`, `merged`, `locked`; empty if it has none.
    pub state: String,
    /// Names.
    pub labels: Vec<String>,
    /// Who opened it.
    pub author: Person,
    /// Who is to do it, and who is to review it.
    pub people: Vec<Person>,
    /// Changes with every comment.
    pub updated_at: Option<Timestamp>,
}

/// A to-do item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Todo {
    /// Its id.
    pub id: u64,
    /// Why it is there: `mentioned`, `assigned` …
    pub action: String,
    /// `Issue`, `MergeRequest`, `WorkItem`, `Epic`, `Commit` …
    pub target_type: String,
    /// The project's id and path, if it is of one.
    pub project: Option<(u64, String)>,
    /// The group's path, if it is of one.
    pub group: Option<String>,
    /// Who caused it.
    pub author: Person,
    /// The comment that caused it, else the title of the target.
    pub body: String,
    /// The page.
    pub url: Option<String>,
    /// The id of the comment that caused it.
    pub note: Option<u64>,
    /// `None` where it was removed or cannot be seen.
    pub target: Option<Target>,
    /// When it came.
    pub created_at: Option<Timestamp>,
}

/// A comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Unique on the server.
    pub id: u64,
    /// Markdown.
    pub body: String,
    /// Who wrote it.
    pub author: Person,
    /// When.
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Written by GitLab: "changed the milestone".
    pub system: bool,
    /// Seen by members of the project only.
    pub internal: bool,
    /// Part of a thread, whose id has to be looked for.
    pub threaded: bool,
    /// The file and line it is about.
    pub position: Option<String>,
}

impl Sort {
    /// The part of the path in the API.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Issue => "issues",
            Self::MergeRequest => "merge_requests",
        }
    }

    /// For people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::MergeRequest => "merge request",
        }
    }

    /// What stands before its number.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Issue => '#',
            Self::MergeRequest => '!',
        }
    }
}

impl Person {
    /// Nobody, where there is none.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        Self {
            id: json::number(value, "/id"),
            username: one_line(json::text_or_empty(value, "/username"), 256),
            name: one_line(json::text_or_empty(value, "/name"), 256),
        }
    }

    fn at(value: &Value, pointer: &str) -> Self {
        value.pointer(pointer).map(Self::read).unwrap_or_default()
    }
}

impl Target {
    fn read(value: &Value) -> Self {
        let people = ["/assignees", "/reviewers"].iter().flat_map(|pointer| json::list(value, pointer));
        // Names, or with some parameters tables.
        let label = |value: &Value| Some(value.as_str().or_else(|| json::text(value, "/name"))?.to_owned());
        Self {
            id: json::number(value, "/id"),
            iid: json::number(value, "/iid"),
            title: json::text_or_empty(value, "/title").to_owned(),
            description: json::text_or_empty(value, "/description").to_owned(),
            state: json::text_or_empty(value, "/state").to_owned(),
            labels: json::list(value, "/labels").iter().filter_map(label).collect(),
            author: Person::at(value, "/author"),
            people: people.map(Person::read).collect(),
            updated_at: json::time(value, "/updated_at"),
        }
    }
}

impl Todo {
    /// `None` without an id.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let url = json::text(value, "/target_url").map(str::to_owned);
        let note = url.as_deref().and_then(|url| url.rsplit_once("#note_")?.1.parse().ok());
        let project = json::number(value, "/project/id");
        Some(Self {
            id: json::number(value, "/id")?,
            action: one_line(json::text_or_empty(value, "/action_name"), 64),
            target_type: one_line(json::text_or_empty(value, "/target_type"), 64),
            project: project
                .map(|id| (id, one_line(json::text_or_empty(value, "/project/path_with_namespace"), 512))),
            group: json::text(value, "/group/full_path").map(|path| one_line(path, 512)),
            author: Person::at(value, "/author"),
            body: json::text_or_empty(value, "/body").to_owned(),
            url,
            note,
            target: value.pointer("/target").filter(|target| target.is_object()).map(Target::read),
            created_at: json::time(value, "/created_at"),
        })
    }

    /// Where one talks about it, if it is of a sort that we answer in.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        let (project, _) = self.project.as_ref()?;
        let sort = match self.target_type.as_str() {
            "Issue" | "WorkItem" => Sort::Issue,
            "MergeRequest" => Sort::MergeRequest,
            _ => return None,
        };
        Some(Place { project: *project, sort, iid: self.target.as_ref()?.iid? })
    }
}

impl Note {
    /// `None` without an id.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let position = json::text(value, "/position/new_path").map(|path| {
            let line = json::number(value, "/position/new_line");
            one_line(&line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}")), 512)
        });
        Some(Self {
            id: json::number(value, "/id")?,
            body: json::text_or_empty(value, "/body").to_owned(),
            author: Person::at(value, "/author"),
            created_at: json::time(value, "/created_at"),
            updated_at: json::time(value, "/updated_at"),
            system: json::flag(value, "/system"),
            internal: json::flag(value, "/internal") || json::flag(value, "/confidential"),
            threaded: json::text(value, "/type").is_some_and(|kind| kind.ends_with("Note")),
            position,
        })
    }
}

/// The server's own words in an error: `message` may be a text, a list or a table; some errors say `error` instead.
#[must_use]
pub fn said(body: &Value) -> Option<String> {
    let told = ["/message", "/error_description", "/error"].into_iter().filter_map(|key| body.pointer(key));
    told.filter_map(json::words).next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_todo_may_lack_anything_but_its_id() {
        assert_eq!(Todo::read(&json!({"action_name": "mentioned"})), None);
        assert_eq!(Todo::read(&json!(7)), None);
        let bare = Todo::read(&json!({"id": 7, "project": null, "target": null, "author": null})).unwrap();
        assert_eq!((bare.place(), bare.note, bare.author), (None, None, Person::default()));
    }

    #[test]
    fn only_issues_and_merge_requests_of_a_project_are_places() {
        let place = |kind: &str, project: Value| {
            let value = json!({"id": 1, "target_type": kind, "project": project, "target": {"iid": 4}});
            Todo::read(&value).unwrap().place().map(|place| (place.sort.path(), place.iid))
        };
        assert_eq!(place("Issue", json!({"id": 2})), Some(("issues", 4)));
        assert_eq!(place("WorkItem", json!({"id": 2})), Some(("issues", 4)));
        assert_eq!(place("MergeRequest", json!({"id": 2})), Some(("merge_requests", 4)));
        assert_eq!(place("Issue", json!(null)), None);
        assert_eq!(place("DesignManagement::Design", json!({"id": 2})), None);
    }

    #[test]
    fn words_of_errors_in_every_shape() {
        let check =
            |value: Value, expected: Option<&str>| assert_eq!(said(&value).as_deref(), expected, "{value}");
        check(json!({"message": "401 Unauthorized"}), Some("401 Unauthorized"));
        check(json!({"message": {"note": ["can't be blank"]}}), Some("note can't be blank"));
        check(json!({"message": ["a", "b"]}), Some("a; b"));
        check(
            json!({"error": "invalid_token", "error_description": "Token is expired."}),
            Some("Token is expired."),
        );
        check(json!({"error": "insufficient_scope"}), Some("insufficient_scope"));
        check(json!("Retry later"), None);
        check(json!({"message": {}}), None);
    }
}
