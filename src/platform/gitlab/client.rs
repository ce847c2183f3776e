//! The endpoints that are used. Each call is one request, tried once.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::memory::Next;
use super::spec::server;
use super::wire::{Note, Person, Place, said};
use crate::http::{HttpRequest, HttpResponse, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::time::Timestamp;
use crate::platform::api::{ApiClient, Known, Login, skew_note};
use crate::platform::horizon::Horizon;
use crate::platform::{ConnectorContext, json as look};

/// Servers take one note a second of a user by default.
const WRITE_GAP: Duration = Duration::from_secs(1);

/// GitLab gives no more on one page.
const PAGE_LEN: usize = 100;

/// Longest address of a next page that is kept in the cursor.
const LINK_BYTES_MAX: usize = 2048;

/// One account.
pub struct Client {
    api: ApiClient,
    host: String,
    user: Option<String>,
    /// Who the token belongs to, once the server said so.
    me: Known<Person>,
}

/// One page of the to-do list.
pub struct Listing {
    /// As they came.
    pub todos: Vec<Value>,
    /// There is more.
    pub next: Option<Next>,
    /// The server's clock.
    pub server_now: Option<Timestamp>,
    /// That it goes wrong, or ours does.
    pub skew: Option<String>,
}

/// One page of notes, and the server's clock.
pub struct Notes {
    /// Newest first.
    pub notes: Vec<Note>,
    /// There may be older ones.
    pub full: bool,
    /// The server's clock.
    pub server_now: Option<Timestamp>,
}

impl Client {
    /// Opens nothing.
    pub fn new(context: &ConnectorContext) -> Result<Self, PortError> {
        let settings = &context.settings;
        let config = |why: &str| PortError::new(ErrorClass::Config, why);
        let server = server(settings.text("url").unwrap_or("https://gitlab.com"));
        let token = settings.secret("token").ok_or_else(|| config("`token` is missing"))?;
        let api = ApiClient::new(context, &format!("{server}/api/v4"), Login::Bearer(token.clone()))?;
        let host = server.split_once("://").map_or(server, |(_, host)| host).to_owned();
        let user = settings.text("user").map(|user| user.trim_start_matches('@').to_owned());
        Ok(Self { api: api.write_gap(WRITE_GAP), host, user, me: Known::default() })
    }

    /// `gitlab.example.org/gitlab as pat`.
    pub fn account(&self) -> String {
        match &self.user {
            Some(user) => format!("{} as {user}", self.host),
            None => self.host.clone(),
        }
    }

    /// `gitlab.example.org/gitlab`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.api.now()
    }

    /// How far a place by time may go now.
    pub fn horizon(&self) -> Horizon {
        self.api.horizon()
    }

    async fn get(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<HttpResponse, PortError> {
        let answer = self.api.get(self.api.query(segments, query), said).await;
        if answer.as_ref().is_err_and(|error| error.class == ErrorClass::Auth) {
            // The next token may be somebody else's.
            self.me.forget();
        }
        answer
    }

    /// Who the token belongs to; asked once.
    ///
    /// # Errors
    /// `Config` if that is not the user of the unit.
    pub async fn me(&self) -> Result<Person, PortError> {
        let mark = self.api.token_mark().await?;
        if let Some(me) = self.me.under(&mark) {
            return Ok(me);
        }
        let me = Person::read(&self.get(&["user"], &[]).await?.json::<Value>()?);
        if let Some(user) = &self.user
            && !user.eq_ignore_ascii_case(&me.username)
        {
            let why = format!("the token belongs to {}, and `user` says {user}", me.username);
            return Err(PortError::caused(ErrorClass::Config, format!("log in to {}", self.host), why));
        }
        self.me.learn(mark, me.clone());
        Ok(me)
    }

    /// A page of the pending to-do items, newest first.
    pub async fn todos(&self, next: Option<&Next>) -> Result<Listing, PortError> {
        let page = match next {
            Some(Next::Page(page)) => *page,
            _ => 1,
        };
        let answer = match next {
            Some(Next::Link(link)) => self.api.get(self.api.pinned(link)?, said).await?,
            _ => {
                let (page, len) = (page.to_string(), PAGE_LEN.to_string());
                self.get(&["todos"], &[("state", "pending"), ("per_page", &len), ("page", &page)]).await?
            }
        };
        let todos: Vec<Value> = answer.json()?;
        let next = self.next(&answer, page, todos.len())?;
        Ok(Listing { next, server_now: server_now(&answer), skew: skew_note(&answer, self.now()), todos })
    }

    /// The next page. Its number is believed first: behind a proxy the addresses that GitLab makes of itself often name
    /// another scheme or host.
    fn next(&self, answer: &HttpResponse, page: u32, len: usize) -> Result<Option<Next>, PortError> {
        if len == 0 {
            return Ok(None);
        }
        if let Some(number) = header(&answer.headers, "x-next-page") {
            return Ok(number.trim().parse().ok().filter(|next| *next > page).map(Next::Page));
        }
        let link = self.api.next_link(answer)?.map(|url| url.to_string());
        if let Some(link) = link.filter(|link| link.len() <= LINK_BYTES_MAX) {
            return Ok(Some(Next::Link(link)));
        }
        Ok((len >= PAGE_LEN).then(|| Next::Page(page.saturating_add(1))))
    }

    /// Notes of an issue or merge request, newest first by `order` (`created_at`, `updated_at`).
    pub async fn notes(&self, place: Place, order: &str, len: usize, page: u32) -> Result<Notes, PortError> {
        let (len_text, page) = (len.min(PAGE_LEN).to_string(), page.to_string());
        let query = [("sort", "desc"), ("order_by", order), ("per_page", len_text.as_str()), ("page", &page)];
        let answer = self.get(&path(&ids(place), place, &["notes"]), &query).await?;
        let values: Vec<Value> = answer.json()?;
        Ok(Notes {
            notes: values.iter().filter_map(Note::read).collect(),
            full: values.len() >= len.min(PAGE_LEN),
            server_now: server_now(&answer),
        })
    }

    /// One note.
    pub async fn note(&self, place: Place, id: u64) -> Result<Option<Note>, PortError> {
        let answer = self.get(&path(&ids(place), place, &["notes", &id.to_string()]), &[]).await?;
        Ok(Note::read(&answer.json::<Value>()?))
    }

    /// The threads of notes: the id of the thread by the id of the note, and how many pages there are, if it is said.
    pub async fn threads(
        &self,
        place: Place,
        page: u32,
    ) -> Result<(BTreeMap<u64, String>, Option<u32>), PortError> {
        let (len, page) = (PAGE_LEN.to_string(), page.to_string());
        let query = [("per_page", len.as_str()), ("page", &page)];
        let answer = self.get(&path(&ids(place), place, &["discussions"]), &query).await?;
        let pages = header(&answer.headers, "x-total-pages").and_then(|pages| pages.trim().parse().ok());
        let threads: Vec<Value> = answer.json()?;
        let mut found = BTreeMap::new();
        for thread in &threads {
            let Some(id) = look::text(thread, "/id") else { continue };
            let notes = look::list(thread, "/notes").iter().filter_map(|note| look::number(note, "/id"));
            found.extend(notes.map(|note| (note, id.to_owned())));
        }
        Ok((found, pages))
    }

    /// The issue or merge request as it is now.
    pub async fn target(&self, place: Place) -> Result<Value, PortError> {
        self.get(&path(&ids(place), place, &[]), &[]).await?.json()
    }

    /// A user by name.
    pub async fn user(&self, name: &str) -> Result<Option<Person>, PortError> {
        let users: Vec<Value> = self.get(&["users"], &[("username", name)]).await?.json()?;
        let mut people = users.iter().map(Person::read);
        Ok(people.find(|person| person.username.eq_ignore_ascii_case(name) && person.id.is_some()))
    }

    /// Changes an issue or merge request to what may also be so already: a lost answer is no harm.
    pub async fn change(&self, place: Place, changes: &Value) -> Result<(), PortError> {
        let url = self.api.at(&path(&ids(place), place, &[]));
        let answer = self.api.send(HttpRequest::writing(Method::PUT, url).json(changes).reading()).await?;
        self.api.checked(answer, said)?;
        Ok(())
    }

    /// Writes a note, in a thread or by itself; the bytes are those of `prepare`. Gives the id of the note.
    pub async fn write(
        &self,
        place: Place,
        thread: Option<&str>,
        bytes: &[u8],
    ) -> Result<Option<u64>, PortError> {
        let ids = ids(place);
        let url = match thread {
            Some(thread) => self.api.at(&path(&ids, place, &["discussions", thread, "notes"])),
            None => self.api.at(&path(&ids, place, &["notes"])),
        };
        let request = HttpRequest::writing(Method::POST, url).body("application/json", bytes.to_vec());
        let answer = self.api.send(request).await?;
        let answer: Value = self.api.checked(answer, said)?.json()?;
        Ok(look::number(&answer, "/id"))
    }

    /// Marks a to-do item done.
    pub async fn mark_done(&self, todo: u64) -> Result<(), PortError> {
        let url = self.api.at(&["todos", &todo.to_string(), "mark_as_done"]);
        let request = HttpRequest::writing(Method::POST, url).json(&json!({})).reading();
        self.api.checked(self.api.send(request).await?, said)?;
        Ok(())
    }
}

fn server_now(answer: &HttpResponse) -> Option<Timestamp> {
    header(&answer.headers, "date").and_then(Timestamp::from_http_date)
}

fn ids(place: Place) -> (String, String) {
    (place.project.to_string(), place.iid.to_string())
}

fn path<'a>((project, iid): &'a (String, String), place: Place, rest: &[&'a str]) -> Vec<&'a str> {
    let mut path = vec!["projects", project, place.sort.path(), iid];
    path.extend_from_slice(rest);
    path
}
