//! A page of a search, and what was said in the issues on it.

use super::client::Client;
use super::map::{self, Reader};
use super::memory::{Memory, Run};
use super::wire::{Comment, Issue};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Disposition, Item, Page, PollRequest};
use crate::model::time::Timestamp;

/// Comments of one issue that are looked at.
const COMMENTS_MAX: usize = 50;

/// Looks at the next page.
pub async fn page(
    client: &Client,
    reader: &Reader,
    jql: &str,
    request: PollRequest<'_>,
) -> Result<Page, PortError> {
    let server_now = client.its_now();
    let mut memory = Memory::of(request.cursor, began(request.backlog, server_now));
    let run = memory.take_run(server_now);
    let found = match client.search(&query(jql, &run), run.next.as_ref()).await {
        Ok(found) => found,
        // Positions run out after some days.
        Err(error) if error.class == ErrorClass::Permanent && run.next.is_some() && !run.again => {
            memory.run = Some(Run { next: None, asked: Vec::new(), again: true, ..run });
            let notes = vec!["the position in the search is no longer known; it begins anew".to_owned()];
            let cursor = Some(memory.cursor());
            return Ok(Page { cursor, more: true, notes, ..Page::default() });
        }
        Err(error) => return Err(error),
    };
    let (mut run, mut items, mut notes) = (run, Vec::new(), Vec::new());
    let room = request.items_max.max(1);
    let mut whole = true;
    for value in &found.issues {
        match read(client, reader, &memory, value, room, &mut notes).await {
            Ok(None) => continue,
            Ok(Some((issue, fresh))) => {
                if items.len() + fresh.len() > room && !items.is_empty() {
                    whole = false;
                    break;
                }
                items.extend(fresh);
                if let Some(issue) = issue {
                    memory.learn(issue.id, issue.updated);
                    run.newest = run.newest.max(issue.updated.unwrap_or_default());
                }
            }
            // What was read so far is worth keeping; the error comes again with the next page.
            Err(_) if !items.is_empty() => {
                whole = false;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let mut page = Page { items, notes, more: !whole, ..Page::default() };
    if whole {
        memory.turn(run, found.next, server_now, &mut page);
    } else {
        memory.run = Some(run);
    }
    page.cursor = Some(memory.cursor()).filter(|cursor| Some(cursor) != request.cursor);
    Ok(page)
}

fn began(backlog: Backlog, server_now: Timestamp) -> Timestamp {
    match backlog {
        Backlog::New => server_now,
        Backlog::Since(span) => server_now.minus(span),
        Backlog::All => Timestamp(0),
    }
}

/// Never with a date, see [`Memory`].
fn query(jql: &str, run: &Run) -> String {
    match run.minutes {
        Some(minutes) => format!("({jql}) AND updated >= \"-{minutes}m\" ORDER BY updated ASC"),
        None => format!("({jql}) ORDER BY updated ASC"),
    }
}

/// What is new about one issue; `None` if it is known as it is.
async fn read(
    client: &Client,
    reader: &Reader,
    memory: &Memory,
    value: &serde_json::Value,
    room: usize,
    notes: &mut Vec<String>,
) -> Result<Option<(Option<Issue>, Vec<Item>)>, PortError> {
    let Some(issue) = Issue::read(value) else {
        let mut item = map::unreadable(value, reader);
        if memory.known.is_empty() && memory.began.0 > 0 && memory.newest == memory.began {
            item.disposition = Disposition::Baseline;
        }
        return Ok(Some((None, vec![item])));
    };
    if memory.knows(issue.id, issue.updated) {
        return Ok(None);
    }
    // Nothing can have been said that counts.
    if issue.updated.is_some_and(|at| at <= memory.began) {
        return Ok(Some((Some(issue), Vec::new())));
    }
    let (comments, older) = match client.comments(issue.id, COMMENTS_MAX, 0).await {
        Ok(found) => found,
        // Moved or closed to us since the search; the index is late.
        Err(error) if error.class == ErrorClass::Permanent => {
            notes.push(format!("the comments of {} cannot be read", issue.key));
            (Vec::new(), false)
        }
        Err(error) => return Err(error),
    };
    if older && comments.iter().all(|comment: &Comment| comment.created.is_some_and(|at| at > memory.began)) {
        notes.push(format!("{} has many comments; the {COMMENTS_MAX} newest are read", issue.key));
    }
    let mut items = map::news(&issue, &comments, memory.began, reader);
    if items.len() > room {
        items.drain(..items.len() - room);
    }
    Ok(Some((Some(issue), items)))
}
