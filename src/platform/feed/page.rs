//! From a document and what is remembered to the items of a page: baseline, flood, and what to say about it. Pure.

use super::map::{self, Named};
use super::memory::{Memory, mark};
use super::parse::Document;
use crate::model::item::{Backlog, Disposition, Item};
use crate::model::time::{Timestamp, short_span};

/// A document's items, decided.
#[derive(Clone, Debug)]
pub struct Decided {
    /// All of them, in the order of the document.
    pub items: Vec<Item>,
    /// What is remembered once all of them are committed.
    pub after: Memory,
    /// For people.
    pub notes: Vec<String>,
}

/// Decides about the items of a document. `before` is what is remembered so far.
#[must_use]
pub fn decide(
    before: &Memory,
    document: &Document,
    backlog: Backlog,
    new_max: usize,
    now: Timestamp,
) -> Decided {
    let mut named = map::items(&document.feed, now);
    let mut notes = Vec::new();
    if let Some(began) = before.began {
        first_walk(&mut named, began, backlog, now);
        let work = named.iter().filter(|named| named.item.disposition == Disposition::Work).count();
        let rule = match backlog {
            Backlog::New => "new".to_owned(),
            Backlog::All => "all".to_owned(),
            Backlog::Since(span) => short_span(span),
        };
        notes.push(format!(
            "first poll: {} items found, {work} of them to be worked on (backlog = \"{rule}\")",
            named.len()
        ));
    } else {
        notes.extend(hold_back_flood(&mut named, before, new_max));
    }
    let mut after = Memory {
        began: None,
        taken: None,
        partial: !document.whole,
        ttl_s: u64::from(document.feed.ttl.unwrap_or(0)).saturating_mul(60),
        remark: if document.remarks.is_empty() {
            String::new()
        } else {
            format!("the feed was mended: {}", document.remarks.join("; "))
        },
        ..before.clone()
    };
    if !after.remark.is_empty() {
        notes.push(after.remark.clone());
    }
    after.learn(named.iter().flat_map(|named| &named.names));
    Decided { items: named.into_iter().map(|named| named.item).collect(), after, notes }
}

/// The first document: what was there before is not work unless the unit says so.
fn first_walk(named: &mut [Named], began: Timestamp, backlog: Backlog, now: Timestamp) {
    for Named { item, .. } in named {
        let work = match backlog {
            Backlog::All => true,
            Backlog::Since(span) => item.at.is_some_and(|at| at >= began.minus(span)),
            // A walk that was interrupted and goes on later: what has come meanwhile is new.
            Backlog::New => began < now && item.at.is_some_and(|at| at > began && at <= now),
        };
        if !work {
            item.disposition = Disposition::Baseline;
        }
    }
}

/// A site that gives all its entries new names would become a night of work: only the newest of too many are.
fn hold_back_flood(named: &mut [Named], before: &Memory, new_max: usize) -> Option<String> {
    let known = before.known();
    let mut fresh: Vec<(usize, Option<Timestamp>)> = named
        .iter()
        .enumerate()
        .filter(|(_, named)| !named.names.iter().any(|name| known.contains(mark(name).as_str())))
        .map(|(nth, named)| (nth, named.item.at))
        .collect();
    if fresh.len() <= new_max {
        return None;
    }
    // Newest first; without dates as the document has them.
    fresh.sort_by_key(|(nth, at)| (std::cmp::Reverse(*at), *nth));
    let held = fresh.split_off(new_max);
    for (nth, _) in &held {
        if let Some(named) = named.get_mut(*nth) {
            named.item.disposition = Disposition::Baseline;
        }
    }
    Some(format!(
        "{} new items at once: the newest {new_max} are worked on, {} are only recorded (max_items_new)",
        held.len() + new_max,
        held.len()
    ))
}
