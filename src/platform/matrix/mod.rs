//! Matrix: rooms without encryption, by plain HTTP.
//!
//! A poll is one `/sync` behind the stored position, and as many questions as it leaves open: stretches of history it
//! left out, messages that are edited or answered. The position moves only when everything behind it was handed over;
//! until then the rest waits in memory, and after a restart the same look is made again. Encrypted rooms cannot be
//! read, which is said once. Nothing is marked as read, and nobody sees us online.

mod batch;
mod client;
mod cursor;
mod deliver;
mod event;
mod judge;
mod map;
mod room;
mod spec;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Mutex;

use self::batch::{Batch, Wanted, Who};
use self::client::{Client, MessagesAsk, SyncAsk, gap_filter, look_filter, wait_filter};
use self::cursor::Position;
use self::judge::Taste;
use self::room::Rooms;
pub use self::spec::SPEC;
use super::api::{ApiClient, Known, Login};
use super::{Connector, ConnectorContext};
use crate::http::masked;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Cursor, Page, PollRequest};
use crate::model::limits;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;

/// One account.
struct Matrix {
    client: Client,
    who: Who,
    taste: Taste,
    /// How long one wait lasts; `None`: the schedule alone looks.
    live: Option<Duration>,
    desk: Mutex<Desk>,
    /// The device of the token, once it was found to be ours.
    device: Known<String>,
}

/// What is remembered between polls, beside the cursor; all of it can be asked for again.
#[derive(Default)]
struct Desk {
    rooms: Rooms,
    /// What we are called; known once the token was found to be ours, and as long as it is the same.
    names: Known<Vec<String>>,
    batch: Option<Batch>,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let missing = |key: &str| PortError::new(ErrorClass::Config, format!("`{key}` is missing"));
    let settings = &context.settings;
    let homeserver = settings.text("homeserver").ok_or_else(|| missing("homeserver"))?;
    let me = settings.text("user").ok_or_else(|| missing("user"))?.to_owned();
    let token = settings.secret("token").ok_or_else(|| missing("token"))?.clone();
    let client = Client::new(ApiClient::new(&context, homeserver, Login::Bearer(token))?);
    let take = match settings.list("take") {
        [] => vec!["direct".to_owned(), "mention".to_owned(), "reply".to_owned()],
        take => take.to_vec(),
    };
    let mut names: Vec<String> =
        settings.list("names").iter().map(|name| name.trim().to_lowercase()).collect();
    let local = me.trim_start_matches('@').split(':').next().unwrap_or_default();
    names.push(local.to_lowercase());
    names.retain(|name| name.chars().count() > 1);
    let live = settings.get("live").is_none_or(|_| settings.flag("live"));
    let wait = settings.duration("live_timeout").unwrap_or(Duration::from_secs(30));
    Ok(Arc::new(Matrix {
        client,
        who: Who { me: me.clone(), rooms: settings.list("rooms").to_vec() },
        taste: Taste { me, take, names },
        live: live.then_some(wait),
        desk: Mutex::default(),
        device: Known::default(),
    }))
}

impl Matrix {
    /// Asks whose token it is, once for each token, and refuses somebody else's: nothing is read or written in a name
    /// that the unit does not say.
    async fn own(&self) -> Result<(), PortError> {
        if self.device.under(&self.client.token_mark().await?).is_some() {
            return Ok(());
        }
        self.device().await.map(drop)
    }

    async fn device(&self) -> Result<String, PortError> {
        let mark = self.client.token_mark().await?;
        let (user, device) = self.client.whoami().await?;
        if user == self.who.me {
            self.device.learn(mark, device.clone());
            return Ok(device);
        }
        let why = format!("it belongs to {user}, and the unit says {}", self.who.me);
        Err(PortError::caused(ErrorClass::Config, "use the token", why))
    }

    /// Once for each token: who we are, what we are called, which rooms are direct.
    async fn introduce(&self, desk: &mut Desk) -> Result<(), PortError> {
        let mark = self.client.token_mark().await?;
        if desk.names.under(&mark).is_some() {
            return Ok(());
        }
        self.device().await?;
        let name = self.client.displayname(&self.who.me).await?.unwrap_or_default().trim().to_lowercase();
        desk.rooms.mark_direct(&self.client.direct(&self.who.me).await?);
        desk.names.learn(mark, Some(name).filter(|name| name.chars().count() > 1).into_iter().collect());
        Ok(())
    }

    async fn page(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let mut desk = self.desk.lock().await;
        let page = self.page_of(&mut desk, request).await;
        if page.as_ref().is_err_and(|error| error.class == ErrorClass::Auth) {
            desk.names.forget();
            self.device.forget();
        }
        page
    }

    async fn page_of(&self, desk: &mut Desk, request: PollRequest<'_>) -> Result<Page, PortError> {
        self.introduce(desk).await?;
        let position = Position::of(request.cursor);
        let kept = desk.batch.take().filter(|batch| batch.before == position.since);
        let mut batch = match kept {
            Some(batch) => batch,
            None => self.look(desk, position, &request).await?,
        };
        while let Some(gap) = batch.gap() {
            let filter = gap_filter();
            let ask = MessagesAsk {
                room: &gap.room,
                from: Some(&gap.from),
                to: gap.to.as_deref(),
                filter: &filter,
            };
            match self.client.messages(ask).await {
                Ok(page) => batch.fill(&page, &self.who, &mut desk.rooms),
                // We left, or the room is gone: there is nothing more to be had from it.
                Err(error) if error.class == ErrorClass::Permanent => {
                    batch.fill(&Value::Null, &self.who, &mut desk.rooms);
                }
                Err(error) => {
                    // What was read so far is not asked for again.
                    desk.batch = Some(batch);
                    return Err(error);
                }
            }
        }
        let mut items = Vec::new();
        let mut lookups = 0;
        while let Some((room, event)) = batch.events.pop_front() {
            match self.turn(desk, &mut batch, &room, &event, &mut lookups).await {
                Ok(item) => items.extend(item),
                Err(error) => {
                    batch.events.push_front((room, event));
                    desk.batch = Some(batch);
                    // What was understood goes out first; the next page meets the error again, or not.
                    if items.is_empty() {
                        return Err(error);
                    }
                    return Ok(Page { items, more: true, ..Page::default() });
                }
            }
            let tired = lookups >= limits::MATRIX_LOOKUPS_MAX && !items.is_empty()
                || lookups >= 10 * limits::MATRIX_LOOKUPS_MAX;
            if (items.len() >= request.items_max || tired) && !batch.events.is_empty() {
                let notes = std::mem::take(&mut batch.notes);
                desk.batch = Some(batch);
                return Ok(Page { items, cursor: None, more: true, notes, ..Page::default() });
            }
        }
        let Batch { after, notes, .. } = batch;
        Ok(Page { items, cursor: Some(after.cursor()), more: false, notes, ..Page::default() })
    }

    /// One look behind a position, or the first one.
    async fn look(
        &self,
        desk: &mut Desk,
        position: Position,
        request: &PollRequest<'_>,
    ) -> Result<Batch, PortError> {
        let first = position.since.is_empty();
        let wanted = match request.backlog {
            _ if !first => Wanted::News,
            Backlog::New => Wanted::Nothing,
            Backlog::Since(span) => Wanted::Since(request.now.minus(span)),
            Backlog::All => Wanted::Since(Timestamp(i64::MIN)),
        };
        let garbled =
            || PortError::new(ErrorClass::Permanent, "the homeserver's answer has no position in it");
        if let Some(answer) = self.sync(&position.since, first).await? {
            return Batch::read(&answer, position, wanted, &self.who, &mut desk.rooms).ok_or_else(garbled);
        }
        // The server was set up anew or forgot. What was there before must not become work.
        let before = Position { since: position.since.clone(), ..position };
        let answer = self.sync("", true).await?.ok_or_else(garbled)?;
        let mut batch =
            Batch::read(&answer, before, Wanted::Nothing, &self.who, &mut desk.rooms).ok_or_else(garbled)?;
        let note = "the homeserver no longer knows where we were; what came since then was not read";
        batch.notes.push(note.to_owned());
        Ok(batch)
    }

    async fn sync(&self, since: &str, snapshot: bool) -> Result<Option<Value>, PortError> {
        let filter = look_filter(&self.who.rooms, if snapshot { 1 } else { limits::MATRIX_TIMELINE_LEN });
        self.client.sync(SyncAsk { since, filter: &filter, wait: Duration::ZERO }).await
    }

    /// Waits on the server until somebody else says something. Moves nothing: a look behind a position leaves the
    /// stream as it is.
    async fn wait(&self, cursor: Option<&Cursor>, span: Duration) -> Result<(), PortError> {
        let mut since = Position::of(cursor).since;
        if since.is_empty() {
            return std::future::pending().await;
        }
        let filter = wait_filter(&self.who.rooms, &self.who.me);
        loop {
            let asked = self.client.sync(SyncAsk { since: &since, filter: &filter, wait: span }).await?;
            let Some(answer) = asked else { return Ok(()) };
            let told = |section: &str, what: &str| {
                let rooms =
                    answer.get("rooms").and_then(|rooms| rooms.get(section)).and_then(Value::as_object);
                rooms.into_iter().flatten().any(|(_, room)| {
                    let events = room.get(what).and_then(|part| part.get("events")).and_then(Value::as_array);
                    events.is_some_and(|events| !events.is_empty())
                })
            };
            if told("join", "timeline") || told("invite", "invite_state") {
                return Ok(());
            }
            match answer.get("next_batch").and_then(Value::as_str) {
                // A server that answers at once with nothing new would be asked without end.
                Some(next) if next != since => next.clone_into(&mut since),
                _ => tokio::time::sleep(span.min(Duration::from_secs(5))).await,
            }
        }
    }
}

impl Connector for Matrix {
    fn identity(&self) -> String {
        self.who.me.clone()
    }

    fn destination(&self) -> String {
        format!("{} as {}", masked(self.client.base()), self.who.me)
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let device = self.device().await?;
            Ok(format!("logged in to {} as {}, device {device}", masked(self.client.base()), self.who.me))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.page(request))
    }

    fn changed<'a>(&'a self, cursor: Option<&'a Cursor>) -> Option<BoxFuture<'a, Result<(), PortError>>> {
        let span = self.live?;
        Some(Box::pin(self.wait(cursor, span)))
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action)
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(async {
            self.own().await?;
            deliver::deliver(&self.client, action, payload).await
        })
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(deliver::confirm(&self.client, &self.who.me, action, payload, since))
    }
}
