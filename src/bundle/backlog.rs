//! What is there already at a connector's source: counted before it is switched on, so that nobody hands a thousand old
//! mails to an engine by surprise. Reads as a first poll would, keeps nothing.

use std::collections::HashSet;
use std::time::Duration;

use crate::model::class::PortError;
use crate::model::item::{Backlog, Cursor, Disposition, Item, PollRequest};
use crate::model::limits;
use crate::model::time::Timestamp;
use crate::platform::Connector;

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Items that would be worked on.
    pub items: u64,
    /// Of them, those younger than each of the given ages.
    pub younger: Vec<u64>,
    /// Of the items, those without a date: they count as old.
    pub undated: u64,
    /// Cases they would make: items of one thread are one case.
    pub cases: u64,
    /// Items that are recorded and given to no engine: bulk mail, automatic answers, one's own.
    pub passed_over: u64,
    /// All was seen. Else there is more than was counted.
    pub whole: bool,
}

/// Counts what `backlog = "all"` would find, and how much of it each of `ages` would leave.
///
/// Stops at [`limits::PREVIEW_ITEMS_MAX`] items or [`limits::PREVIEW_PAGES_MAX`] pages.
///
/// # Errors
/// As a poll.
pub async fn count(
    connector: &dyn Connector,
    now: Timestamp,
    ages: &[Duration],
) -> Result<Counted, PortError> {
    let mut counted = Counted { younger: vec![0; ages.len()], ..Counted::default() };
    let (mut threads, mut keys) = (HashSet::new(), HashSet::new());
    let mut cursor: Option<Cursor> = None;
    for _ in 0..limits::PREVIEW_PAGES_MAX {
        let (backlog, items_max) = (Backlog::All, limits::PAGE_ITEMS_MAX);
        let request = PollRequest { cursor: cursor.as_ref(), backlog, now, items_max };
        let page = connector.poll(request).await?;
        for item in page.items.iter().filter(|item| keys.insert(item.key.clone())) {
            take(&mut counted, item, now, ages, &mut threads);
        }
        if !page.more {
            counted.whole = !page.cut_short;
            break;
        }
        if keys.len() >= limits::PREVIEW_ITEMS_MAX {
            break;
        }
        cursor = page.cursor.or(cursor);
    }
    Ok(counted)
}

fn take(
    counted: &mut Counted,
    item: &Item,
    now: Timestamp,
    ages: &[Duration],
    threads: &mut HashSet<String>,
) {
    if item.disposition != Disposition::Work {
        counted.passed_over += 1;
        return;
    }
    counted.items += 1;
    match item.at {
        Some(at) => {
            for (count, age) in counted.younger.iter_mut().zip(ages) {
                *count += u64::from(at >= now.minus(*age));
            }
        }
        None => counted.undated += 1,
    }
    let joins = item.threads.iter().any(|name| threads.contains(name));
    threads.extend(item.threads.iter().cloned());
    counted.cases += u64::from(!joins);
}
