//! Calendars over CalDAV (RFC 4791, RFC 6578): meetings that the user is asked to, changes of them, reminders.
//!
//! A look begins with one listing of the home, which tells for each calendar whether anything moved; only then is it
//! asked what. The first look, and every look after the server forgot our position, takes the meetings to come and
//! nothing else; the ledger of items keeps what is known from being news. Events that nobody asks the user to make
//! reminders only. Times without a zone are of the unit's.

mod client;
mod cursor;
mod deliver;
mod discover;
mod lines;
mod look;
mod map;
mod meeting;
mod parse_create;
mod spec;
mod xml;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use self::client::Client;
use self::cursor::Position;
use self::discover::{Calendar, Home};
use self::meeting::Lens;
pub use self::spec::SPEC;
use super::api::{ApiClient, Login};
use super::{Connector, ConnectorContext};
use crate::http::masked;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Item, Page, PollRequest};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::{Clock, Timestamp};

/// One account.
struct Caldav {
    client: Client,
    /// For people and for the cursor: host, path and user.
    identity: String,
    /// The allow-list; empty: all.
    calendars: Vec<String>,
    /// Addresses the unit names, lower case.
    addresses: Vec<String>,
    /// The user name, where it is an address.
    user: Option<String>,
    take: Vec<String>,
    remind_before: Option<Duration>,
    zone: TimeZone,
    clock: Clock,
    desk: Mutex<Desk>,
}

/// What is remembered between polls, beside the cursor; all of it can be asked for again.
#[derive(Default)]
struct Desk {
    home: Option<Home>,
    pass: Option<Pass>,
}

/// One pass over all calendars, page by page.
struct Pass {
    /// The position in the store.
    stored: Position,
    /// The position behind `items`.
    after: Position,
    /// Calendars not looked at yet.
    calendars: VecDeque<Calendar>,
    /// Calendars whose next meetings were not looked at for reminders yet.
    reminders: VecDeque<Calendar>,
    items: VecDeque<Item>,
    notes: Vec<String>,
    /// More came than the server told at once.
    again: bool,
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let config = |why: String| PortError::new(ErrorClass::Config, why);
    let settings = &context.settings;
    let url = settings.text("url").ok_or_else(|| config("`url` is missing".to_owned()))?;
    let user = settings.text("user").map(str::to_owned);
    let login = match (settings.secret("token"), settings.secret("password"), &user) {
        (Some(token), ..) => Login::Bearer(token.clone()),
        (None, Some(password), Some(user)) => Login::Basic { user: user.clone(), password: password.clone() },
        _ => Login::Nobody,
    };
    let client = Client::new(ApiClient::new(&context, url, login)?);
    let zone = match settings.text("time_zone") {
        Some(name) => TimeZone::get(name).map_err(|_| config(format!("there is no time zone {name}")))?,
        None => TimeZone::system(),
    };
    let take = match settings.list("take") {
        [] => vec!["invitation".to_owned(), "change".to_owned(), "cancellation".to_owned()],
        take => take.to_vec(),
    };
    let base = client.base();
    let place = format!("{}{}", base.host_str().unwrap_or_default(), base.path());
    let identity = match &user {
        Some(user) => format!("{user}@{place}"),
        None => place,
    };
    Ok(Arc::new(Caldav {
        identity,
        calendars: settings.list("calendars").to_vec(),
        addresses: settings.list("address").iter().map(|address| address.trim().to_lowercase()).collect(),
        user: user.map(|user| user.to_lowercase()).filter(|user| user.contains('@')),
        take,
        remind_before: settings.duration("remind_before"),
        zone,
        clock: context.clock.clone(),
        client,
        desk: Mutex::default(),
    }))
}

impl Caldav {
    /// The home, explored once in a daemon's life.
    async fn home(&self, desk: &mut Desk) -> Result<Home, PortError> {
        if let Some(home) = &desk.home {
            return Ok(home.clone());
        }
        let home = discover::home(&self.client).await?;
        desk.home = Some(home.clone());
        Ok(home)
    }

    /// The calendars that the unit wants.
    async fn listed(&self, home: &Home) -> Result<Vec<Calendar>, PortError> {
        let mut calendars = discover::calendars(&self.client, home).await?;
        if !self.calendars.is_empty() {
            let wanted = |calendar: &Calendar| {
                self.calendars.iter().any(|wanted| {
                    *wanted == calendar.name
                        || discover::plain(wanted).trim_matches('/') == calendar.path.trim_matches('/')
                })
            };
            calendars.retain(wanted);
        }
        Ok(calendars)
    }

    /// Through what events are looked at. The unit's word on our addresses counts before the server's.
    fn lens(&self, home: &Home, now: Timestamp) -> Lens {
        let me = if self.addresses.is_empty() {
            home.addresses.iter().chain(&self.user).cloned().collect()
        } else {
            self.addresses.clone()
        };
        Lens { me, zone: self.zone.clone(), now }
    }

    async fn page(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let mut desk = self.desk.lock().await;
        let page = self.page_of(&mut desk, request).await;
        if page.is_err() {
            // Whatever was explored may be the reason.
            *desk = Desk::default();
        }
        page
    }

    async fn page_of(&self, desk: &mut Desk, request: PollRequest<'_>) -> Result<Page, PortError> {
        let home = self.home(desk).await?;
        let position = Position::of(request.cursor);
        let kept = desk.pass.take().filter(|pass| pass.stored == position);
        let mut pass = match kept {
            Some(pass) => pass,
            None => self.begin(&home, position).await?,
        };
        let lens = self.lens(&home, request.now);
        while pass.items.is_empty() {
            if let Some(calendar) = pass.calendars.pop_front() {
                self.look(&mut pass, &calendar, &lens, request.backlog).await?;
            } else if let Some(calendar) = pass.reminders.pop_front() {
                self.remind(&mut pass, &calendar, &lens).await?;
            } else {
                break;
            }
        }
        let count = pass.items.len().min(request.items_max);
        let items: Vec<Item> = pass.items.drain(..count).collect();
        // The position moves when all that is behind it was handed over.
        let moved = pass.items.is_empty() && pass.after != pass.stored;
        let cursor = moved.then(|| pass.after.cursor());
        let notes = std::mem::take(&mut pass.notes);
        let rest = !pass.items.is_empty() || !pass.calendars.is_empty() || !pass.reminders.is_empty();
        let more = rest || pass.again;
        if moved {
            pass.stored = pass.after.clone();
        }
        if rest {
            desk.pass = Some(pass);
        }
        Ok(Page { items, cursor, more, notes, ..Page::default() })
    }

    async fn begin(&self, home: &Home, position: Position) -> Result<Pass, PortError> {
        let calendars = self.listed(home).await?;
        let mut notes = Vec::new();
        if calendars.is_empty() {
            notes.push(
                "no calendar with events was found, or none of those that `calendars` names".to_owned(),
            );
        }
        let mut after = position.clone();
        after.0.retain(|path, _| calendars.iter().any(|calendar| calendar.path == *path));
        let reminders = self.remind_before.map(|_| calendars.clone().into()).unwrap_or_default();
        let calendars = calendars.into();
        Ok(Pass {
            stored: position,
            after,
            calendars,
            reminders,
            items: VecDeque::new(),
            notes,
            again: false,
        })
    }

    async fn probe_now(&self) -> Result<String, PortError> {
        let home = discover::home(&self.client).await?;
        let calendars = self.listed(&home).await?;
        let names: Vec<&str> = calendars.iter().map(|calendar| calendar.name.as_str()).take(10).collect();
        let me = self.lens(&home, self.clock.now()).me;
        let known = if me.is_empty() { "no address (set `address`)".to_owned() } else { me.join(", ") };
        Ok(format!(
            "{} calendars at {}: {}; asked as {known}",
            calendars.len(),
            masked(&home.url),
            names.join(", ")
        ))
    }
}

impl Connector for Caldav {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn destination(&self) -> String {
        format!("the calendars of {}", self.identity)
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(self.probe_now())
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(self.page(request))
    }

    fn prepare(&self, action: &OutboundAction, now: Timestamp) -> Result<Payload, PortError> {
        deliver::prepare(action, &self.zone, now)
    }

    fn deliver<'a>(
        &'a self,
        _action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(deliver::deliver(&self.client, payload))
    }

    fn confirm<'a>(
        &'a self,
        _action: &'a OutboundAction,
        payload: &'a Payload,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(deliver::confirm(&self.client, payload))
    }
}
