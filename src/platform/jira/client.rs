//! The endpoints that are used, of Cloud (version 3) and Data Center (version 2). Each call is one request, tried once.

use reqwest::Method;
use serde_json::{Value, json};

use super::memory::Next;
use super::wire::{Comment, Person, said};
use crate::http::{HttpRequest, HttpResponse, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::time::Timestamp;
use crate::platform::api::{ApiClient, Known, Login, skew_note};
use crate::platform::{ConnectorContext, json as look};

/// What is read of an issue; without this list a search gives ids alone.
const FIELDS: &str = "summary,description,status,issuetype,project,assignee,reporter,creator,labels,created,updated,attachment";

/// Issues on a page of a search.
const ISSUES_LEN: u64 = 25;

/// A page of Data Center is counted from the start, and an issue that changes meanwhile leaves its place to the next: so
/// many are read twice.
const SHIFT: u64 = 5;

/// One account.
pub struct Client {
    api: ApiClient,
    host: String,
    email: Option<String>,
    /// Version 3 and documents, or version 2 and wiki markup.
    pub cloud: bool,
    me: Known<Me>,
}

/// Who we are.
#[derive(Clone, Debug, Default)]
pub struct Me {
    /// The account.
    pub person: Person,
    /// Where people look at issues.
    pub site: String,
    /// That one of the clocks goes wrong.
    pub skew: Option<String>,
}

/// A page of a search.
pub struct Found {
    /// As they came.
    pub issues: Vec<Value>,
    /// There is more.
    pub next: Option<Next>,
}

impl Client {
    /// Opens nothing.
    pub fn new(context: &ConnectorContext) -> Result<Self, PortError> {
        let settings = &context.settings;
        let config = |why: &str| PortError::new(ErrorClass::Config, why);
        let url = settings.text("url").ok_or_else(|| config("`url` is missing"))?.trim_end_matches('/');
        let token = settings.secret("token").ok_or_else(|| config("`token` is missing"))?.clone();
        let email = settings.text("email").map(str::to_owned);
        let login = match &email {
            Some(user) => Login::Basic { user: user.clone(), password: token },
            None => Login::Bearer(token),
        };
        let cloud = settings.text("deployment") != Some("data-center");
        let api = ApiClient::new(context, url, login)?;
        let host = url.split_once("://").map_or(url, |(_, host)| host).to_owned();
        Ok(Self { api, host, email, cloud, me: Known::default() })
    }

    /// `example.atlassian.net as me@example.org`.
    pub fn account(&self) -> String {
        match &self.email {
            Some(email) => format!("{} as {email}", self.host),
            None => self.host.clone(),
        }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.api.now()
    }

    /// A moment of ours as the server's clock shows it.
    pub fn on_its_clock(&self, at: Timestamp) -> Timestamp {
        self.api.on_its_clock(at)
    }

    /// Now by the server's clock.
    pub fn its_now(&self) -> Timestamp {
        self.api.its_now()
    }

    fn path<'a>(&self, rest: &[&'a str]) -> Vec<&'a str> {
        let mut path = vec!["rest", "api", if self.cloud { "3" } else { "2" }];
        path.extend_from_slice(rest);
        path
    }

    async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<HttpResponse, PortError> {
        let request = HttpRequest::get(self.api.query(&self.path(path), query))
            .header(reqwest::header::ACCEPT, "application/json");
        self.checked(self.api.send(request).await?)
    }

    async fn write(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        self.checked(self.api.send(request).await?)
    }

    /// A change to what may also be so already: a lost answer is no harm.
    async fn put(&self, method: Method, path: &[&str], body: &Value) -> Result<(), PortError> {
        let url = self.api.at(&self.path(path));
        self.write(HttpRequest::writing(method, url).json(body).reading()).await?;
        Ok(())
    }

    fn checked(&self, answer: HttpResponse) -> Result<HttpResponse, PortError> {
        let status = answer.status;
        let reason = header(&answer.headers, "ratelimit-reason").map(str::to_owned);
        self.api.checked(answer, said).map_err(|mut error| {
            let cause = error.source.take().map(|source| source.to_string()).unwrap_or_default();
            let more = match (status, reason) {
                (_, Some(reason)) => format!("{cause} ({reason})"),
                (410, _) => {
                    error.class = ErrorClass::Config;
                    format!("{cause}; this is Jira Cloud: set `deployment = \"cloud\"`")
                }
                _ => cause,
            };
            if error.class == ErrorClass::Auth {
                // The next token may be somebody else's.
                self.me.forget();
            }
            error.source = Some(more.into());
            error
        })
    }

    /// Who the token belongs to; asked once.
    pub async fn me(&self) -> Result<Me, PortError> {
        let mark = self.api.token_mark().await?;
        if let Some(me) = self.me.under(&mark) {
            return Ok(me);
        }
        let answer = self.get(&["myself"], &[]).await?;
        let now = self.now();
        let me = Me {
            person: Person::read(&answer.json::<Value>()?),
            site: self.site().await?,
            skew: skew_note(&answer, now),
        };
        self.me.learn(mark, me.clone());
        Ok(me)
    }

    /// The address that people use, where the API lies elsewhere.
    async fn site(&self) -> Result<String, PortError> {
        let base = self.api.base().as_str().trim_end_matches('/').to_owned();
        if !self.api.base().path().starts_with("/ex/jira/") {
            return Ok(base);
        }
        match self.get(&["serverInfo"], &[]).await {
            Ok(answer) => Ok(look::text_or_empty(&answer.json::<Value>()?, "/baseUrl").to_owned()),
            // Not allowed by every token, and only for links.
            Err(error) if error.class == ErrorClass::Permanent => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// A page of a search, oldest change first.
    pub async fn search(&self, jql: &str, next: Option<&Next>) -> Result<Found, PortError> {
        let len = ISSUES_LEN.to_string();
        let mut query =
            vec![("jql", jql), ("maxResults", len.as_str()), ("fields", FIELDS), ("expand", "changelog")];
        if self.cloud {
            if let Some(Next::Token(token)) = next {
                query.push(("nextPageToken", token));
            }
            let found: Value = self.get(&["search", "jql"], &query).await?.json()?;
            let issues = issues(&found)?;
            let last = look::flag(&found, "/isLast");
            let token = look::text(&found, "/nextPageToken").filter(|token| !token.is_empty() && !last);
            return Ok(Found { issues, next: token.map(|token| Next::Token(token.to_owned())) });
        }
        let at = match next {
            Some(Next::At(at)) => *at,
            _ => 0,
        };
        let start = at.to_string();
        query.push(("startAt", &start));
        let found: Value = self.get(&["search"], &query).await?.json()?;
        let issues = issues(&found)?;
        let end = at + u64::try_from(issues.len()).unwrap_or(0);
        let more = !issues.is_empty() && look::number(&found, "/total").is_some_and(|total| end < total);
        let next = more.then(|| Next::At(end.saturating_sub(SHIFT).max(at + 1)));
        Ok(Found { issues, next })
    }

    /// The newest comments of an issue, newest first, and whether there are older ones.
    pub async fn comments(
        &self,
        issue: u64,
        len: usize,
        at: usize,
    ) -> Result<(Vec<Comment>, bool), PortError> {
        let (issue, len_text, at) = (issue.to_string(), len.to_string(), at.to_string());
        let query = [
            ("startAt", at.as_str()),
            ("maxResults", &len_text),
            ("orderBy", "-created"),
            ("expand", "properties"),
        ];
        let found: Value = self.get(&["issue", &issue, "comment"], &query).await?.json()?;
        let comments = look::list(&found, "/comments");
        Ok((comments.iter().filter_map(Comment::read).collect(), comments.len() >= len))
    }

    /// The issue with what happened to it.
    pub async fn issue(&self, issue: u64) -> Result<Value, PortError> {
        let query = [("fields", "status,labels,assignee"), ("expand", "changelog")];
        self.get(&["issue", &issue.to_string()], &query).await?.json()
    }

    /// What can be done with the issue now: id, name, name of the status it leads to.
    pub async fn transitions(&self, issue: u64) -> Result<Vec<(String, String, String)>, PortError> {
        let found: Value = self.get(&["issue", &issue.to_string(), "transitions"], &[]).await?.json()?;
        let transition = |value: &Value| {
            let text = |pointer| look::text_or_empty(value, pointer).to_owned();
            (text("/id"), text("/name"), text("/to/name"))
        };
        Ok(look::list(&found, "/transitions").iter().map(transition).collect())
    }

    /// Goes through a transition.
    pub async fn transition(&self, issue: u64, transition: &str) -> Result<(), PortError> {
        let body = json!({ "transition": { "id": transition } });
        self.put(Method::POST, &["issue", &issue.to_string(), "transitions"], &body).await
    }

    /// Changes labels.
    pub async fn labels(&self, issue: u64, changes: &[Value]) -> Result<(), PortError> {
        let body = json!({ "update": { "labels": changes } });
        self.put(Method::PUT, &["issue", &issue.to_string()], &body).await
    }

    /// People to whom the issue can be assigned, found by a name or address.
    pub async fn assignable(&self, key: &str, name: &str) -> Result<Vec<(Person, String)>, PortError> {
        let by = if self.cloud { "query" } else { "username" };
        let query = [("issueKey", key), (by, name)];
        let found: Vec<Value> = self.get(&["user", "assignable", "search"], &query).await?.json()?;
        let person =
            |value: &Value| (Person::read(value), look::text_or_empty(value, "/emailAddress").to_owned());
        Ok(found.iter().map(person).collect())
    }

    /// Assigns the issue.
    pub async fn assign(&self, issue: u64, person: &Person) -> Result<(), PortError> {
        let body =
            if self.cloud { json!({ "accountId": person.id }) } else { json!({ "name": person.login }) };
        self.put(Method::PUT, &["issue", &issue.to_string(), "assignee"], &body).await
    }

    /// Writes a comment; the bytes are those of `prepare`. Gives its id.
    pub async fn comment(&self, issue: u64, bytes: &[u8]) -> Result<Option<u64>, PortError> {
        let url = self.api.at(&self.path(&["issue", &issue.to_string(), "comment"]));
        let request = HttpRequest::writing(Method::POST, url)
            .body("application/json", bytes.to_vec())
            .header(reqwest::header::ACCEPT, "application/json");
        let answer: Value = self.write(request).await?.json()?;
        Ok(look::number(&answer, "/id"))
    }
}

/// The list of a search; an answer without one is none.
fn issues(found: &Value) -> Result<Vec<Value>, PortError> {
    found.pointer("/issues").and_then(Value::as_array).cloned().ok_or_else(|| {
        PortError::caused(ErrorClass::NETWORK, "search for issues", "the answer has no list of issues")
    })
}
