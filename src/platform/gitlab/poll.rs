//! A page of the to-do list, and what was said about what is on it.

use std::time::Duration;

use super::client::Client;
use super::map::{self, Reader, Talk};
use super::memory::{Memory, Need, Run, TODOS_MAX};
use super::wire::{Note, Place, Todo};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::item::{Backlog, Disposition, Item, Page, PollRequest};
use crate::model::time::Timestamp;
use crate::platform::horizon::Horizon;

/// Conversations read in one page: each costs one to five requests, and what was read is stored only with the page.
const TALKS_PER_PAGE_MAX: usize = 20;

/// Pages of the list in one way through it.
const PAGES_MAX: u32 = 12;

/// The newest notes that are looked at when a conversation went on.
const NOTES_MAX: usize = 100;

/// The clocks of a server's machines differ a little.
const OVERLAP: Duration = Duration::from_secs(60);

/// Looks at the next page.
pub async fn page(
    client: &Client,
    reader: &Reader,
    actions: &[String],
    request: PollRequest<'_>,
) -> Result<Page, PortError> {
    let mut memory = Memory::of(request.cursor, request.now);
    let mut run = memory.run.take().unwrap_or_default();
    let listing = client.todos(run.next.as_ref()).await?;
    if request.cursor.is_none() {
        // What comes from now on is told by the server's clock.
        memory.began = memory.began.map(|ours| listing.server_now.unwrap_or(ours));
    }
    let mut gathered = Gathered { client, reader, talks: Vec::new(), items: Vec::new(), notes: Vec::new() };
    gathered.notes.extend(listing.skew);
    let room = request.items_max.max(1);
    let mut whole = true;
    // The list comes newest first; the newest of a conversation is the one to be answered, and is read last.
    for value in listing.todos.iter().rev() {
        let Some(todo) = Todo::read(value) else {
            if gathered.items.len() >= room {
                whole = false;
                break;
            }
            let mut item = map::unreadable(value);
            if memory.began.is_some() && request.backlog != Backlog::All {
                item.disposition = Disposition::Baseline;
            }
            gathered.items.push(item);
            continue;
        };
        let changed_at = todo.target.as_ref().and_then(|target| target.updated_at);
        let need = memory.need(todo.id, todo.created_at, changed_at, request.backlog);
        let wanted = actions.is_empty() || actions.contains(&todo.action);
        let read_to = match need {
            Need::Nothing => None,
            Need::Fresh | Need::Changed(_) if wanted => {
                match gathered.read(&todo, need, room).await {
                    Ok(true) => {}
                    Ok(false) => {
                        whole = false;
                        break;
                    }
                    // What was read so far is worth keeping; the error comes again with the next page.
                    Err(_) if !gathered.items.is_empty() => {
                        whole = false;
                        break;
                    }
                    Err(error) => return Err(error),
                }
                let changed_at = changed_at.filter(|_| todo.place().is_some());
                Some(changed_at.map_or(0, |at| read_to(at, client.horizon())))
            }
            Need::Baseline if gathered.items.len() >= room => {
                whole = false;
                break;
            }
            Need::Baseline => {
                let mut item = map::todo(&todo, &Talk::default(), reader);
                item.disposition = Disposition::Baseline;
                gathered.items.push(item);
                Some(0)
            }
            Need::Fresh | Need::Changed(_) => Some(0),
        };
        if let Some(read_to) = read_to {
            memory.seen.insert(todo.id, read_to);
        }
        run.ids.insert(todo.id);
    }
    let Gathered { items, notes, .. } = gathered;
    let mut page = Page { items, notes, more: !whole, ..Page::default() };
    if whole {
        turn(&mut memory, &mut run, listing.next, &mut page);
    }
    if page.more {
        memory.run = Some(run);
    }
    page.cursor = Some(memory.cursor()).filter(|cursor| Some(cursor) != request.cursor);
    Ok(page)
}

/// Turns to the next page of the list, or ends the way through it, and tells in `page` which.
fn turn(memory: &mut Memory, run: &mut Run, next: Option<super::memory::Next>, page: &mut Page) {
    run.pages = run.pages.saturating_add(1);
    if next.is_some() && (run.ids.len() >= TODOS_MAX || run.pages >= PAGES_MAX) {
        page.cut_short = true;
        page.notes.push(format!("the to-do list is long; the {} newest are looked at", run.ids.len()));
    } else if next.is_some() && next != run.next {
        run.next = next;
        page.more = true;
        return;
    }
    match memory.finish(run) {
        0 => {}
        1 => page.notes.push("1 to-do item is done or gone".to_owned()),
        gone => page.notes.push(format!("{gone} to-do items are done or gone")),
    }
}

struct Gathered<'a> {
    client: &'a Client,
    reader: &'a Reader,
    /// Read for this page already: several to-do items may speak of the same thing.
    talks: Vec<(Place, Talk)>,
    items: Vec<Item>,
    notes: Vec<String>,
}

impl Gathered<'_> {
    /// Reads what is new about a to-do item. `false`: there is no room for it on this page.
    async fn read(&mut self, todo: &Todo, need: Need, room: usize) -> Result<bool, PortError> {
        if self.items.len() >= room || self.talks.len() >= TALKS_PER_PAGE_MAX {
            return Ok(false);
        }
        let Some(place) = todo.place() else {
            self.items.push(map::todo(todo, &Talk::default(), self.reader));
            return Ok(true);
        };
        let known = self.talks.iter().find(|(known, _)| *known == place);
        let talk = match known {
            Some((_, talk)) => talk.clone(),
            None => {
                let talk = talk_at(self.client, todo, place).await?;
                self.talks.push((place, talk.clone()));
                talk
            }
        };
        let mut fresh = match need {
            Need::Changed(read_to) => fresh(&talk, todo, read_to),
            _ => Vec::new(),
        };
        if fresh.len() >= room {
            let left_out = fresh.len() + 1 - room;
            self.notes.push(format!("{left_out} older comments of one thread were not read"));
            fresh.drain(..left_out);
        }
        if self.items.len() + 1 + fresh.len() > room && !self.items.is_empty() {
            return Ok(false);
        }
        if let Need::Changed(read_to) = need
            && talk.notes.len() >= NOTES_MAX
            && talk.notes.iter().all(|note| note.updated_at.is_some_and(|at| at > read_to))
        {
            self.notes.push(format!("more than {NOTES_MAX} comments came at once; the newest were read"));
        }
        self.items.push(map::todo(todo, &talk, self.reader));
        self.items.extend(fresh.iter().map(|note| map::note(todo, note, &talk, self.reader)));
        Ok(true)
    }
}

/// Comments by people that came or changed since, oldest first.
fn fresh(talk: &Talk, todo: &Todo, read_to: Timestamp) -> Vec<Note> {
    let since = read_to.minus(OVERLAP);
    let changed = |note: &&Note| note.updated_at.or(note.created_at).is_some_and(|at| at > since);
    let others = talk.notes.iter().filter(|note| !note.system && Some(note.id) != todo.note);
    let mut fresh: Vec<Note> = others.filter(changed).cloned().collect();
    fresh.sort_by_key(|note| (note.created_at, note.id));
    fresh
}

/// The newest notes, and the threads of those in threads.
async fn talk_at(client: &Client, todo: &Todo, place: Place) -> Result<Talk, PortError> {
    let mut talk = match client.notes(place, "updated_at", NOTES_MAX, 1).await {
        Ok(notes) => Talk { notes: notes.notes, ..Talk::default() },
        // Moved, made confidential, or the token may not.
        Err(error) if error.class == ErrorClass::Permanent => {
            return Ok(Talk { unreadable: Some(cause(&error)), ..Talk::default() });
        }
        Err(error) => return Err(error),
    };
    if let Some(id) = todo.note
        && !talk.notes.iter().any(|note| note.id == id)
    {
        match client.note(place, id).await {
            Ok(note) => talk.notes.extend(note),
            // Deleted meanwhile.
            Err(error) if error.class == ErrorClass::Permanent => {}
            Err(error) => return Err(error),
        }
    }
    let in_threads: Vec<u64> = talk.notes.iter().filter(|note| note.threaded).map(|note| note.id).collect();
    if in_threads.is_empty() {
        return Ok(talk);
    }
    // Threads come oldest first and by pages; new comments are mostly in the last ones.
    let mut pages = vec![1];
    let mut asked = 0;
    while let Some(page) = pages.pop() {
        let (threads, total) = match client.threads(place, page).await {
            Ok(found) => found,
            Err(error) if error.class == ErrorClass::Permanent => break,
            Err(error) => return Err(error),
        };
        talk.threads.extend(threads);
        if in_threads.iter().all(|id| talk.threads.contains_key(id)) {
            break;
        }
        asked += 1;
        if let (1, Some(total @ 2..)) = (asked, total) {
            // The last one is asked for first.
            pages.extend((total - 1).max(2)..=total);
        }
    }
    Ok(talk)
}

/// What is kept of a conversation that was read at this change of it. Read up to a moment in the future, nothing that is
/// said until then would count: it is read each time instead, and what is kept is when.
fn read_to(changed_at: Timestamp, horizon: Horizon) -> i64 {
    let bound = horizon.bound(changed_at);
    if bound == changed_at { changed_at.0 } else { -bound.0 }
}

fn cause(error: &PortError) -> String {
    error.source.as_ref().map_or_else(|| chain(error), |source| source.to_string())
}
