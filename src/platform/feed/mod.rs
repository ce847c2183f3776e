//! RSS, Atom and JSON Feed, over HTTP(S) and from files.
//!
//! Read only. A poll is one conditional request; the validators of an answer are believed only once its document was
//! read whole. How entries are recognised over time is written down in [`identity`].

mod decode;
mod fetch;
pub mod identity;
mod map;
mod memory;
mod page;
mod parse;
mod recover;
mod repair;
mod spec;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use url::Url;

use self::fetch::{Fetched, Fresh};
use self::memory::Memory;
use self::page::Decided;
pub use self::spec::SPEC;
use super::{Connector, ConnectorContext};
use crate::http::{Credentials, Validators, masked};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::secret_ref::SecretRef;
use crate::model::text::digest;
use crate::model::time::Timestamp;
use crate::secret::SecretValue;

/// One feed.
struct FeedConnector {
    context: ConnectorContext,
    url: Url,
    new_max: usize,
    /// A document that does not fit one page, so that the next page need not fetch it again. Only a spare: after a
    /// restart it is fetched again.
    open: Mutex<Option<Arc<Decided>>>,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let config = |why: String| PortError::new(ErrorClass::Config, why);
    let text = context.settings.text("url").ok_or_else(|| config("`url` is missing".into()))?;
    let url = Url::parse(text).map_err(|error| config(format!("`url` is not a URL: {error}")))?;
    let new_max = context.settings.integer("max_items_new").and_then(|number| usize::try_from(number).ok());
    Ok(Arc::new(FeedConnector { url, new_max: new_max.unwrap_or(50), context, open: Mutex::new(None) }))
}

impl FeedConnector {
    async fn secret(&self, reference: &SecretRef) -> Result<SecretValue, PortError> {
        let read = self.context.secrets.read(reference).await;
        read.map_err(|error| {
            PortError::caused(error.class(), format!("read the secret of {}", masked(&self.url)), error)
        })
    }

    async fn credentials(&self) -> Result<Option<Credentials>, PortError> {
        let settings = &self.context.settings;
        if let Some(token) = settings.secret("token") {
            return Ok(Some(Credentials::Bearer(self.secret(token).await?)));
        }
        let (Some(user), Some(password)) = (settings.text("user"), settings.secret("password")) else {
            return Ok(None);
        };
        Ok(Some(Credentials::Basic { user: user.to_owned(), password: self.secret(password).await? }))
    }

    /// The URL with the key in its query, for the request and nothing else.
    async fn url_for_the_wire(&self) -> Result<Url, PortError> {
        let mut url = self.url.clone();
        if let Some(key) = self.context.settings.secret("key") {
            let value = self.secret(key).await?;
            let name = self.context.settings.text("key_param").unwrap_or("key");
            url.query_pairs_mut().append_pair(name, value.expose_to_the_wire());
        }
        Ok(url)
    }

    async fn fetch(&self, memory: &Memory, now: Timestamp) -> Result<Fetched, PortError> {
        if self.url.scheme() == "file" {
            return fetch::file(&self.url).await;
        }
        let url = self.url_for_the_wire().await?;
        fetch::web(&self.context.http, url, self.credentials().await?, memory, now).await
    }

    async fn take(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let memory = Memory::of(request.cursor, request.now);
        if let Some(decided) = self.kept(&memory) {
            return Ok(self.next_page(&memory, decided, request.items_max, None, Vec::new()));
        }
        let fresh = match self.fetch(&memory, request.now).await? {
            Fetched::NotModified { not_before } => return Ok(unchanged(&memory, None, not_before)),
            Fetched::Document(fresh) => fresh,
        };
        let body = digest(&[&fresh.bytes]);
        let mut notes = Vec::new();
        let moved = fresh.moved.clone().unwrap_or_default();
        if !moved.is_empty() && moved != memory.moved {
            notes.push(format!("the feed has moved for good to {moved}; change `url`"));
        }
        if body == memory.body && memory.taken.is_none() {
            let mut after = Memory { moved, ..memory.clone() };
            if !memory.partial {
                after.validators = fresh.validators.clone();
            }
            let mut page = unchanged(&memory, Some(after), fresh.not_before);
            page.notes.splice(0..0, notes);
            return Ok(page);
        }
        let not_before = fresh.not_before;
        let resumed = body == memory.body;
        let before = Memory { moved, taken: memory.taken.filter(|_| resumed), ..memory };
        let decided = self.read(before.clone(), fresh, body, &request).await?;
        notes.extend(decided.notes.iter().cloned());
        Ok(self.next_page(&before, Arc::new(decided), request.items_max, not_before, notes))
    }

    /// Parses off the runtime's threads: a document of 8 MB takes its time, and a parser's panic stays here.
    async fn read(
        &self,
        before: Memory,
        fresh: Fresh,
        body: String,
        request: &PollRequest<'_>,
    ) -> Result<Decided, PortError> {
        let (backlog, now, new_max) = (request.backlog, request.now, self.new_max);
        let work = move || {
            let document = parse::document(&fresh.bytes, fresh.label.as_deref(), fresh.base.as_deref())?;
            let mut decided = page::decide(&before, &document, backlog, new_max, now);
            decided.after.body = body;
            decided.after.validators = if document.whole { fresh.validators } else { Validators::default() };
            Ok::<_, parse::Unreadable>(decided)
        };
        let doing = || format!("read the feed {}", masked(&self.url));
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(decided)) => Ok(decided),
            Ok(Err(error)) => Err(PortError::caused(ErrorClass::NETWORK, doing(), error)),
            Err(error) => Err(PortError::caused(ErrorClass::Bug, doing(), error)),
        }
    }

    fn kept(&self, memory: &Memory) -> Option<Arc<Decided>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().filter(|decided| memory.taken.is_some() && decided.after.body == memory.body)
    }

    fn next_page(
        &self,
        before: &Memory,
        decided: Arc<Decided>,
        items_max: usize,
        not_before: Option<Duration>,
        notes: Vec<String>,
    ) -> Page {
        let from = before.taken.unwrap_or(0);
        let items: Vec<_> = decided.items.iter().skip(from).take(items_max.max(1)).cloned().collect();
        let taken = from + items.len();
        let more = taken < decided.items.len();
        let cursor = if more {
            Memory { body: decided.after.body.clone(), taken: Some(taken), ..before.clone() }.cursor()
        } else {
            decided.after.cursor()
        };
        let not_before = not_before.max(fetch::wait(decided.after.ttl_s));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = more.then_some(decided);
        Page {
            items,
            cursor: Some(cursor),
            more,
            not_before: not_before.filter(|_| !more),
            notes,
            ..Page::default()
        }
    }
}

/// Nothing new. What is wrong with the document stays visible.
fn unchanged(before: &Memory, after: Option<Memory>, not_before: Option<Duration>) -> Page {
    Page {
        cursor: after.filter(|after| after != before).map(|after| after.cursor()),
        not_before: not_before.max(fetch::wait(before.ttl_s)),
        notes: Some(before.remark.clone()).filter(|remark| !remark.is_empty()).into_iter().collect(),
        ..Page::default()
    }
}

impl Connector for FeedConnector {
    /// Host, path and a digest of the query: http or https is no other feed, and a key given as a secret is no part.
    fn identity(&self) -> String {
        let query = match self.url.query() {
            Some(query) => format!("?{}", digest(&[query.as_bytes()]).get(..8).unwrap_or_default()),
            None => String::new(),
        };
        let mut place = self.url.clone();
        place.set_query(None);
        let scheme = if self.url.scheme() == "file" { "file:" } else { "" };
        format!("{scheme}{}{query}", identity::place(place.as_str()))
    }

    fn destination(&self) -> String {
        String::new()
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let now = self.context.clock.now();
            let Fetched::Document(fresh) = self.fetch(&Memory::default(), now).await? else {
                return Err(PortError::new(ErrorClass::Bug, "not modified, without having been asked"));
            };
            let request =
                PollRequest { cursor: None, backlog: crate::model::item::Backlog::New, now, items_max: 1 };
            let decided = self.read(Memory::default(), fresh, String::new(), &request).await?;
            Ok(format!("{} items at {}", decided.items.len(), masked(&self.url)))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.take(request))
    }

    fn prepare(&self, _action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        Err(no_replies())
    }

    fn deliver<'a>(
        &'a self,
        _action: &'a OutboundAction,
        _payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(async { Err(no_replies()) })
    }

    fn confirm<'a>(
        &'a self,
        _action: &'a OutboundAction,
        _payload: &'a Payload,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        // Nothing ever leaves through here.
        Box::pin(async { Ok(Confirmation::NotSent) })
    }
}

fn no_replies() -> PortError {
    PortError::new(ErrorClass::Permanent, "a feed takes no replies")
}
