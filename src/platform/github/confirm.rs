//! "Did it arrive?": looks for the mark under the account's own id, twice, before it says no.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::client::{Client, Listed};
use super::deliver::{Handle, Post, receipt};
use crate::http::Validators;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::marker;
use crate::model::outbound::{Confirmation, OutboundAction};
use crate::model::time::Timestamp;
use crate::platform::json;

/// So far before the first byte the search begins.
const MARGIN: Duration = Duration::from_secs(300);

/// Comments asked for at once.
const PAGE_LEN: usize = 50;

/// Between two looks that did not find it. GitHub's lists are behind what was written.
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);

/// More than this is not an error of rounding.
const SKEW_MATTERS: Duration = Duration::from_secs(60);

/// Actions of which a first look is remembered.
const LOOKS_LEN_MAX: usize = 1000;

/// First looks that found nothing. A restart forgets them, and looks twice again.
#[derive(Default)]
pub(super) struct Looks(Mutex<HashMap<String, Timestamp>>);

impl Looks {
    /// It was not found just now: whether that settles it.
    fn settles(&self, key: &str, now: Timestamp) -> bool {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= LOOKS_LEN_MAX && !looks.contains_key(key) {
            looks.clear();
        }
        let first = *looks.entry(key.to_owned()).or_insert(now);
        let settles = now.since(first) >= BETWEEN_LOOKS;
        if settles {
            looks.remove(key);
        }
        settles
    }
}

/// Asks GitHub for the comment of an action. `since`: when the first byte may have left, by our clock.
pub(super) async fn confirm(
    client: &Client,
    looks: &Looks,
    action: &OutboundAction,
    post: &Post,
    since: Timestamp,
) -> Result<Confirmation, PortError> {
    if post.text.is_none() {
        // Effects only: bringing them about once more does no harm.
        return Ok(Confirmation::NotSent);
    }
    let handle = Handle::of(action)?;
    let me = client.me().await?;
    // What GitHub calls "since" is a moment of its clock. The first answer tells how far that is from ours.
    let skew = client.skew();
    let mut found = search(client, &handle, &action.key, me.id, since).await;
    if matches!(found, Ok(None)) && client.skew().abs_diff(skew) > SKEW_MATTERS {
        found = search(client, &handle, &action.key, me.id, since).await;
    }
    match found {
        Ok(Some(found)) => Ok(found),
        Ok(None) if looks.settles(&action.key, client.now()) => Ok(Confirmation::NotSent),
        Ok(None) => Ok(Confirmation::AskAgain),
        // The thread is gone, or closed to us: nobody can tell any more.
        Err(error) if error.class == ErrorClass::Permanent => Ok(Confirmation::CannotTell),
        Err(error) => Err(error),
    }
}

async fn search(
    client: &Client,
    handle: &Handle,
    key: &str,
    me: u64,
    since: Timestamp,
) -> Result<Option<Confirmation>, PortError> {
    let (owner, name) = handle.repo.split_once('/').unwrap_or_default();
    let (number, since) = (handle.number.to_string(), client.on_its_clock(since).minus(MARGIN).to_string());
    let on_the_diff = handle.review_comment.is_some();
    let kind = if on_the_diff { "pulls" } else { "issues" };
    let query = [("per_page", "50"), ("since", since.as_str())];
    let mut at = client.at(&["repos", owner, name, kind, &number, "comments"], &query);
    for _ in 0..limits::GITHUB_THREAD_PAGES_MAX {
        let Listed { values, next, answer } = client.list(at.clone(), &Validators::default()).await?;
        // Nothing was asked for conditionally: somebody in between has answered.
        if answer.status == 304 {
            return Ok(Some(Confirmation::CannotTell));
        }
        for comment in &values {
            let ours = json::number(comment, "/user/id") == Some(me)
                && marker::own_key(json::text_or_empty(comment, "/body")) == Some(key);
            if let (true, Some(id)) = (ours, json::number(comment, "/id")) {
                return Ok(Some(Confirmation::Sent(receipt(comment, id, on_the_diff, "found"))));
            }
        }
        match next {
            Some(next) if next != at && !values.is_empty() => at = next,
            // A page that leads to itself, or a full one without a next: not read to its end.
            Some(_) => break,
            None if values.len() >= PAGE_LEN => break,
            None => return Ok(None),
        }
    }
    // Not read to its end: "absent" would be a guess.
    Ok(Some(Confirmation::CannotTell))
}
