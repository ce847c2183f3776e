//! One page: a question or two, and what it means for the position.

use serde_json::{Value, json};

use super::graphql::{Answer, GraphError, ask};
use super::map::{self, View};
use super::position::{Position, Step, Stream, mark};
use super::wire::{Connection, Viewer, at};
use super::{LinearConnector, queries};
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Disposition, Item, Page, PollRequest};
use crate::model::time::{Timestamp, short_span};

/// Nodes asked for at once: Linear wants it small, and counts a question's cost by it.
const NODES_MAX: usize = 50;

/// A walk of more pages is a loop: 50,000 things.
const WALK_PAGES_MAX: u32 = 1000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inbox,
    Comments,
}

/// A page being made.
struct Making {
    position: Position,
    items: Vec<Item>,
    notes: Vec<String>,
    /// The very first one of this account.
    first: Option<Backlog>,
}

impl LinearConnector {
    /// A page of the inbox, then of the comments. A walk through many pages ends a page with "more".
    pub(super) async fn page(&self, request: PollRequest<'_>) -> Result<Page, PortError> {
        let stored = Position::of(request.cursor);
        let before = stored.clone();
        let first = stored.is_none().then_some(request.backlog);
        let position = stored.unwrap_or_else(|| self.beginning(&request));
        let mut making = Making { position, items: Vec::new(), notes: Vec::new(), first };
        let mut more = false;
        // A walk in the middle goes on; the other list had its turn, or gets it behind.
        let kinds: &[Kind] = match (&making.position.inbox.walk, &making.position.comments.walk) {
            (None, Some(_)) => &[Kind::Comments],
            _ => &[Kind::Inbox, Kind::Comments],
        };
        for kind in kinds {
            if *kind == Kind::Comments && self.comments.is_none() {
                continue;
            }
            let room = request.items_max.saturating_sub(making.items.len());
            if room < NODES_MAX.min(request.items_max) {
                more = true;
                break;
            }
            if self.take(*kind, &mut making, room, request.now).await? == Step::Goes {
                more = true;
                break;
            }
        }
        if let Some(backlog) = making.first {
            let work = making.items.iter().filter(|item| item.disposition == Disposition::Work).count();
            let rule = match backlog {
                Backlog::New => "new".to_owned(),
                Backlog::All => "all".to_owned(),
                Backlog::Since(span) => short_span(span),
            };
            making.notes.push(format!(
                "first poll: {} items found, {work} of them to be worked on (backlog = \"{rule}\")",
                making.items.len()
            ));
        }
        let cursor = (before.as_ref() != Some(&making.position)).then(|| making.position.cursor());
        Ok(Page { items: making.items, cursor, more, notes: making.notes, ..Page::default() })
    }

    fn beginning(&self, request: &PollRequest<'_>) -> Position {
        let history = match request.backlog {
            Backlog::New => request.now,
            Backlog::Since(span) => request.now.minus(span),
            Backlog::All => Timestamp(i64::MIN),
        };
        let floor = matches!(request.backlog, Backlog::Since(_)).then_some(history);
        let stream = || Stream { floor, ..Stream::default() };
        Position { viewer: String::new(), history: Some(history), inbox: stream(), comments: stream() }
    }

    /// One answer of a list, into the page.
    async fn take(
        &self,
        kind: Kind,
        making: &mut Making,
        room: usize,
        now: Timestamp,
    ) -> Result<Step, PortError> {
        let (doing, name) = match kind {
            Kind::Inbox => ("read the inbox of Linear", "notifications"),
            Kind::Comments => ("read the comments of Linear", "comments"),
        };
        let mark_of_key = self.api.token_mark().await?;
        let answer = match self.ask_list(kind, doing, &making.position, room).await {
            Err(error)
                if error.class == ErrorClass::Permanent
                    && stream(&mut making.position, kind).walk.is_some() =>
            {
                // The place where it went on may be forgotten there: from the top, down to the same floor.
                stream(&mut making.position, kind).walk = None;
                making
                    .notes
                    .push(format!("{doing}: begun again from the newest, after an error in the middle"));
                self.ask_list(kind, doing, &making.position, room).await?
            }
            other => other?,
        };
        let viewer: Viewer = answer.field("viewer", doing)?;
        if self.recognise(viewer, &mark_of_key, making, now)? {
            // Another person's inbox: asked again from its own beginning.
            return Ok(Step::Goes);
        }
        let list: Connection = answer.field(name, doing)?;
        transient(&answer.errors, doing)?;
        let view = View {
            viewer: making.position.viewer.clone(),
            name: self.name(),
            workspace: self.workspace.clone(),
            history: making.position.history.unwrap_or(now),
        };
        let mut taken = Vec::with_capacity(list.nodes.len());
        for (nth, node) in list.nodes.iter().enumerate() {
            let said: Vec<String> = answer
                .errors
                .iter()
                .filter(|error| error.node() == Some(nth))
                .map(GraphError::said)
                .collect();
            if node.is_null() {
                making.notes.push(format!("{doing}: one was not given: {}", said.join("; ")));
                continue;
            }
            let text = |name: &str| node.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (id, updated) = (text("id"), text("updatedAt"));
            let mark = mark(&id, &updated);
            if !stream(&mut making.position, kind).knows(&mark) {
                let mut item = match kind {
                    Kind::Inbox => map::notification(node, &view),
                    Kind::Comments => map::comment(node, &view),
                };
                item.warnings.extend(said.iter().map(|said| format!("Linear left a part out: {said}")));
                making.items.push(item);
            }
            taken.push((mark, at(Some(&updated))));
        }
        if let Some(error) = answer.errors.iter().find(|error| error.node().is_none()) {
            making.notes.push(format!("{doing}: {}", error.said()));
        }
        let place = list.page_info.unwrap_or_default();
        let next = place.end_cursor.filter(|_| place.has_next_page);
        let (stream, horizon) = (stream(&mut making.position, kind), self.api.horizon());
        let mut step = stream.take(&taken, next.as_deref(), WALK_PAGES_MAX, horizon);
        if making.first == Some(Backlog::New) && step == Step::Goes {
            stream.cut_short();
            step = Step::Ended;
        }
        if step == Step::Ended && stream.floor.is_none() {
            // Nothing there yet: what comes from now on, by the server's clock.
            stream.floor = Some(self.api.its_now());
        }
        Ok(step)
    }

    async fn ask_list(
        &self,
        kind: Kind,
        doing: &str,
        position: &Position,
        room: usize,
    ) -> Result<Answer, PortError> {
        let (document, stream) = match kind {
            Kind::Inbox => (queries::notifications(), &position.inbox),
            Kind::Comments => (queries::comments(), &position.comments),
        };
        let mut filter = serde_json::Map::new();
        if let Some(from) = stream.from().filter(|from| from.0 > 0) {
            filter.insert("updatedAt".into(), json!({ "gte": from.to_string() }));
        }
        if kind == Kind::Comments && self.comments == Some("mine") {
            let me = json!({ "isMe": { "eq": true } });
            let ways = json!([{ "assignee": me }, { "creator": me }, { "subscribers": { "some": me } }]);
            filter.insert("issue".into(), json!({ "or": ways }));
        }
        let first = room.clamp(1, NODES_MAX);
        let variables = json!({ "first": first, "after": stream.after(), "filter": filter });
        ask(&self.api, Effect::Read, doing, &document, variables).await
    }

    /// Notes whose key it is. `true`: it is somebody else's than before, and the position was begun anew.
    fn recognise(
        &self,
        viewer: Viewer,
        key: &str,
        making: &mut Making,
        now: Timestamp,
    ) -> Result<bool, PortError> {
        let doing = "see whose key it is";
        let (id, name) = self.known(viewer, doing)?;
        self.me.learn(key.to_owned(), (id.clone(), name.clone()));
        if making.position.viewer == id {
            return Ok(false);
        }
        if making.position.viewer.is_empty() {
            making.position.viewer = id;
            return Ok(false);
        }
        making.notes.push(format!("the key is {name}'s now: what was in that inbox before is left alone"));
        let stream = || Stream { floor: Some(now), ..Stream::default() };
        making.position = Position { viewer: id, history: Some(now), inbox: stream(), comments: stream() };
        making.items.clear();
        Ok(true)
    }
}

fn stream(position: &mut Position, kind: Kind) -> &mut Stream {
    match kind {
        Kind::Inbox => &mut position.inbox,
        Kind::Comments => &mut position.comments,
    }
}

/// Parts that are missing for a passing reason must come again: the page is not taken.
fn transient(errors: &[GraphError], doing: &str) -> Result<(), PortError> {
    let headers = reqwest::header::HeaderMap::new();
    let class = |error: &GraphError| error.class(Effect::Read, &headers, Timestamp(0));
    let passing = errors.iter().find(|error| matches!(class(error), ErrorClass::Network { .. }));
    match passing {
        Some(error) => {
            let why = format!("a part is missing: {}", error.said());
            Err(PortError::caused(ErrorClass::NETWORK, doing, why))
        }
        None => Ok(()),
    }
}
