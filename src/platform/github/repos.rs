//! Named repositories, for tokens that cannot read the inbox: three lists each, oldest change first, from the last one
//! that was read.
//!
//! While nothing changes the address of a list stays the same, so its validators hold. Where a list is longer than a
//! page it goes on from its last change, not by page numbers: what changes meanwhile moves to the end, and would push
//! something over the border of a page unseen.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use url::Url;

use super::client::{Client, Listed};
use super::map::{self, OwnComments, Rules, Thread};
use super::memory::{Memory, OVERLAP, Repository, Stream};
use super::refusal::partial_note;
use crate::http::Validators;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::item::{Backlog, Cursor, Disposition, Item, Page, PollRequest};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::{Timestamp, short_span};
use crate::platform::json;

/// Changes asked for at once; each may cost a request for its thread or its reviews.
const PER_PAGE: &str = "20";

/// Pages of one list in one pass: ten thousand changes. A list without an end goes on at the next pass, from its last change.
const LIST_PAGES_MAX: usize = 500;

/// Threads remembered for one pass.
const THREADS_MAX: usize = 2000;

/// Pages of reviews of one pull request, 50 each.
const REVIEW_PAGES_MAX: usize = 10;

/// Repositories read one by one.
pub(super) struct RepoReader {
    names: Vec<String>,
    participating: bool,
    own: OwnComments,
    open: tokio::sync::Mutex<Option<Pass>>,
    /// What is known of them by their name in the unit.
    found: Mutex<BTreeMap<String, Found>>,
}

/// A repository as GitHub names it now.
#[derive(Clone)]
struct Found {
    name: String,
    id: u64,
}

/// One pass over all lists.
struct Pass {
    /// The repository and its list that come next.
    repo: usize,
    stream: usize,
    /// Where the list goes on although nothing moved: more changes in one second than a page holds.
    onward: Option<Url>,
    /// Of this list, in this pass.
    pages: usize,
    /// From where the list is read; set while it is.
    from: Option<Timestamp>,
    /// Of the list's first page, to be kept once it is read to its end.
    first: Option<(String, Validators)>,
    cursor: Option<Cursor>,
    threads: HashMap<(usize, u64), Thread>,
    failed: Vec<PortError>,
}

impl RepoReader {
    /// Over these repositories.
    pub fn new(names: &[String], participating: bool, own: OwnComments) -> Self {
        let (open, found) = (tokio::sync::Mutex::new(None), Mutex::default());
        Self { names: names.to_vec(), participating, own, open, found }
    }

    /// The next page of items.
    pub async fn page(&self, client: &Client, request: &PollRequest<'_>) -> Result<Page, PortError> {
        let rules = Rules { me: client.me().await?, own: self.own };
        let mut open = self.open.lock().await;
        let left = open.take().filter(|pass| pass.cursor.as_ref() == request.cursor);
        let mut pass = left.unwrap_or_else(|| Pass {
            repo: 0,
            stream: 0,
            onward: None,
            pages: 0,
            from: None,
            first: None,
            cursor: None,
            threads: HashMap::new(),
            failed: Vec::new(),
        });
        let mut memory = Memory::of(request.cursor);
        memory.repositories.retain(|name, _| self.names.contains(name));
        let mut page = Page::default();
        // All lists once, and some further pages.
        let requests_max = self.names.len() * 4 + limits::GITHUB_REQUESTS_PER_PAGE_MAX;
        let mut requests = 0;
        while let Some(name) = self.names.get(pass.repo) {
            // Lists that bring nothing to a page must not keep it from ending: the rest comes with the next.
            if requests >= requests_max {
                page.more = true;
                break;
            }
            requests += 1;
            if let Some(until) = client.spent_until() {
                let wait = until.since(client.now());
                page.not_before = Some(wait);
                page.notes.push(format!(
                    "the rest waits for {}: nine tenths of what GitHub grants in an hour are used",
                    short_span(wait)
                ));
                break;
            }
            match self.list(client, &rules, request, name, &mut memory, &mut pass, &mut page).await {
                Ok(()) => {}
                // One repository that is gone or closed to us must not silence the others.
                Err(error) if matches!(error.class, ErrorClass::Permanent | ErrorClass::Config) => {
                    page.notes.push(format!("{name} cannot be read: {}", one_line(&chain(&error), 300)));
                    pass.failed.push(error);
                    pass.next_repo();
                }
                Err(error) if page.items.is_empty() => return Err(error),
                // What was read is kept; the error is met again.
                Err(_) => {
                    page.more = true;
                    break;
                }
            }
            if !page.items.is_empty() {
                page.more = pass.repo < self.names.len();
                break;
            }
        }
        if pass.failed.len() == self.names.len()
            && let Some(error) = pass.failed.pop()
        {
            return Err(error);
        }
        let cursor = memory.cursor();
        pass.cursor = Some(cursor.clone());
        page.cursor = Some(cursor);
        *open = Some(pass).filter(|_| page.more);
        Ok(page)
    }

    /// One page of the list that comes next.
    #[expect(clippy::too_many_arguments, reason = "the parts of one pass")]
    async fn list(
        &self,
        client: &Client,
        rules: &Rules,
        request: &PollRequest<'_>,
        name: &str,
        memory: &mut Memory,
        pass: &mut Pass,
        page: &mut Page,
    ) -> Result<(), PortError> {
        let found = self.found(client, name, memory, request, page).await?;
        let Some(known) = memory.repositories.get_mut(name) else { return Ok(()) };
        let began = known.began;
        let Some(stream) = known.streams.get_mut(pass.stream) else {
            pass.next_repo();
            return Ok(());
        };
        // A cursor of before may have been carried away by a time stamp.
        stream.upto = client.horizon().bound(stream.upto);
        let from = pass.from.unwrap_or_else(|| stream.upto.minus(OVERLAP).max(began));
        let (at, query) = list_at(client, &found.name, pass.stream, from);
        let same = pass.from.is_none() && stream.query == query;
        let validators = if same { stream.validators.clone() } else { Validators::default() };
        let at = pass.onward.take().unwrap_or(at);
        let listed = client.list(at, &validators).await?;
        page.notes.extend(partial_note(&listed.answer));
        if listed.answer.status == 304 {
            pass.next_stream();
            return Ok(());
        }
        if pass.from.is_none() {
            pass.first = Some((query, listed.answer.validators()));
        }
        let Listed { values, next, .. } = listed;
        let times = values.iter().filter_map(|value| json::time(value, "/updated_at"));
        let newest = client.horizon().newest(times);
        for value in &values {
            let taken = self.items(client, rules, &found, pass, value, from.min(stream.upto)).await?;
            page.items.extend(taken);
        }
        if request.backlog == Backlog::New {
            // In the second in which the connector was switched on.
            for item in &mut page.items {
                if item.at.is_some_and(|at| at < began) && item.disposition == Disposition::Work {
                    item.disposition = Disposition::Baseline;
                }
            }
        }
        let upto = newest.map_or(stream.upto, |newest| newest.max(stream.upto));
        pass.pages += 1;
        let mut next = next;
        if next.is_some() && pass.pages >= LIST_PAGES_MAX {
            page.notes.push(format!("a list of {} has no end; it goes on at the next look", found.name));
            // Not read to its end: its validators are those of nothing.
            (next, pass.first) = (None, None);
        }
        match next {
            Some(_) if newest.is_some_and(|newest| newest > from) => {
                stream.upto = upto;
                pass.from = newest;
            }
            // The whole page is of one second: only the list's own link leads on.
            Some(link) if !values.is_empty() => {
                pass.from = Some(from);
                pass.onward = Some(link);
            }
            _ => {
                stream.upto = upto;
                if let Some((query, validators)) = pass.first.take() {
                    *stream = Stream { upto, query, validators };
                }
                pass.next_stream();
            }
        }
        Ok(())
    }

    /// What GitHub calls the repository; asked once. A new one begins with what its backlog says.
    async fn found(
        &self,
        client: &Client,
        name: &str,
        memory: &mut Memory,
        request: &PollRequest<'_>,
        page: &mut Page,
    ) -> Result<Found, PortError> {
        let kept = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let (Some(found), true) = (&kept, memory.repositories.contains_key(name)) {
            return Ok(found.clone());
        }
        let Some((owner, short)) = super::spec::repository(name) else {
            let why = format!("{name} is no repository");
            return Err(PortError::caused(ErrorClass::Config, "read `repositories`", why));
        };
        let value = client.one(client.at(&["repos", owner, short], &[])).await?;
        let full = json::text(&value, "/full_name").filter(|full| super::spec::repository(full).is_some());
        let found =
            Found { name: full.unwrap_or(name).to_owned(), id: json::number(&value, "/id").unwrap_or(0) };
        if !found.name.eq_ignore_ascii_case(name) {
            page.notes.push(format!("{name} is now {}; change `repositories`", found.name));
        }
        if !memory.repositories.contains_key(name) {
            let now = client.on_its_clock(request.now);
            let began = match request.backlog {
                Backlog::New => now,
                Backlog::Since(span) => now.minus(span),
                Backlog::All => Timestamp(0),
            };
            let open = json::number(&value, "/open_issues_count").unwrap_or(0);
            let what = match request.backlog {
                Backlog::New => "none of them".to_owned(),
                Backlog::All => "all".to_owned(),
                Backlog::Since(span) => format!("those of the last {}", short_span(span)),
            };
            page.notes.push(format!(
                "first poll of {}: {open} open issues and pull requests, {what} to be worked on",
                found.name
            ));
            let stream = Stream { upto: began, ..Stream::default() };
            let streams = [stream.clone(), stream.clone(), stream];
            memory.repositories.insert(name.to_owned(), Repository { began, streams });
        }
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The items of one member of a list.
    async fn items(
        &self,
        client: &Client,
        rules: &Rules,
        found: &Found,
        pass: &mut Pass,
        value: &Value,
        since: Timestamp,
    ) -> Result<Vec<Item>, PortError> {
        let (pointer, since) = match pass.stream {
            0 => ("/number", Some(since)),
            1 => ("/issue_url", Some(since)),
            _ => ("/pull_request_url", Some(since)),
        };
        let number = match json::number(value, pointer) {
            Some(number) => Some(number),
            None => json::text_or_empty(value, pointer).rsplit('/').next().and_then(|last| last.parse().ok()),
        };
        let Some(number) = number else {
            return Ok(vec![map::events::odd_notice(value, "a text of no thread")]);
        };
        if pass.stream == 0 {
            let thread = Thread::of(value, &found.name, found.id, number, None, &rules.me);
            pass.remember(number, &thread);
            if !self.takes(&thread, value, rules) {
                return Ok(Vec::new());
            }
            let mut items = vec![map::subject(value, &thread, rules, since)];
            if thread.pull {
                items.extend(reviews(client, rules, &thread, since).await?);
            }
            return Ok(items);
        }
        let thread = match pass.threads.get(&(pass.repo, number)) {
            Some(thread) => thread.clone(),
            None => {
                let (owner, name) = found.name.split_once('/').unwrap_or_default();
                let at = client.at(&["repos", owner, name, "issues", &number.to_string()], &[]);
                match client.one(at).await {
                    Ok(issue) => {
                        let thread = Thread::of(&issue, &found.name, found.id, number, None, &rules.me);
                        pass.remember(number, &thread);
                        thread
                    }
                    // Deleted since, or moved to another repository: the comment goes with it.
                    Err(error) if error.class == ErrorClass::Permanent => return Ok(Vec::new()),
                    Err(error) => return Err(error),
                }
            }
        };
        if !self.takes(&thread, value, rules) {
            return Ok(Vec::new());
        }
        Ok(vec![match pass.stream {
            1 => map::comment(value, &thread, rules, since),
            _ => map::diff_comment(value, &thread, rules, since),
        }])
    }

    fn takes(&self, thread: &Thread, value: &Value, rules: &Rules) -> bool {
        !self.participating
            || thread.involved
            || map::mentions(json::text_or_empty(value, "/body"), &rules.me.login)
    }
}

impl Pass {
    fn next_stream(&mut self) {
        (self.onward, self.from, self.first, self.pages) = (None, None, None, 0);
        self.stream += 1;
    }

    fn next_repo(&mut self) {
        (self.onward, self.from, self.first, self.pages) = (None, None, None, 0);
        self.stream = 0;
        self.repo += 1;
    }

    fn remember(&mut self, number: u64, thread: &Thread) {
        if self.threads.len() >= THREADS_MAX {
            self.threads.clear();
        }
        self.threads.insert((self.repo, number), thread.clone());
    }
}

/// The address of a list and its query.
fn list_at(client: &Client, name: &str, stream: usize, from: Timestamp) -> (Url, String) {
    let (owner, short) = name.split_once('/').unwrap_or_default();
    let list: &[&str] = match stream {
        0 => &["issues"],
        1 => &["issues", "comments"],
        _ => &["pulls", "comments"],
    };
    let from = from.to_string();
    let mut query =
        vec![("sort", "updated"), ("direction", "asc"), ("per_page", PER_PAGE), ("since", from.as_str())];
    if stream == 0 {
        query.push(("state", "all"));
    }
    let path: Vec<&str> = ["repos", owner, short].into_iter().chain(list.iter().copied()).collect();
    let at = client.at(&path, &query);
    let query = at.query().unwrap_or_default().to_owned();
    (at, query)
}

/// There is no list of the reviews of a repository; those of a pull request that changed are asked for. Only new ones.
async fn reviews(
    client: &Client,
    rules: &Rules,
    thread: &Thread,
    since: Option<Timestamp>,
) -> Result<Vec<Item>, PortError> {
    let (owner, name) = thread.repo.split_once('/').unwrap_or_default();
    let path = ["repos", owner, name, "pulls", &thread.number.to_string(), "reviews"];
    let mut at = Some(client.at(&path, &[("per_page", "50")]));
    let mut items = Vec::new();
    for _ in 0..REVIEW_PAGES_MAX {
        let Some(url) = at.take() else { break };
        let listed = match client.list(url.clone(), &Validators::default()).await {
            Ok(listed) => listed,
            Err(error) if error.class == ErrorClass::Permanent => break,
            Err(error) => return Err(error),
        };
        let found = listed.values.iter().filter_map(|value| map::review(value, thread, rules, since));
        items.extend(found.filter(|item| item.at >= since));
        at = listed.next.filter(|next| *next != url);
    }
    Ok(items)
}
