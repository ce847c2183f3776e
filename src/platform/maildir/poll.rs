//! One page of new mail.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::known::Known;
use super::listing::{self, Listing};
use super::spec::{Account, Exit};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Cursor, Disposition, Item, Page, ReplyWay};
use crate::model::limits;
use crate::model::text::digest;
use crate::model::time::Timestamp;
use crate::platform::mail::map::{self, MailContext};

/// What the cursor holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// Which file of known mails this belongs to.
    history: String,
    /// The page in it.
    page: u64,
    /// Mail older than this was there before the connector was switched on; `None`: all mail is wanted.
    since: Option<Timestamp>,
    /// What was there at the beginning is still being read; only in it does `since` count.
    draining: bool,
}

/// What a poll may take, without borrows: it runs on a thread for blocking work.
pub struct Wanted {
    /// The stored position.
    pub cursor: Option<Cursor>,
    /// What to do with what is there on the first poll.
    pub backlog: Backlog,
    /// Now.
    pub now: Timestamp,
    /// Most items.
    pub items_max: usize,
}

/// Reads one page. `file` holds the known keys, `kept` what was loaded from it by the poll before.
///
/// # Errors
/// `Network` if a folder or the file of known keys cannot be used now, `Bug` if the cursor is not one of ours.
pub fn page(
    account: &Account,
    file: &Path,
    kept: &mut Option<Known>,
    wanted: &Wanted,
) -> Result<Page, PortError> {
    let listing = listing::list(&account.path)?;
    let state = |error: io::Error| {
        let doing = format!("keep the list of known mails in {}", file.display());
        PortError::caused(ErrorClass::NETWORK, doing, error)
    };
    let (mut at, mut known, notes) = resume(account, file, kept.take(), wanted, &listing)?;

    let candidates = listing.iter().filter(|(key, _)| !known.contains(key));
    let room = wanted.items_max.clamp(1, limits::PAGE_ITEMS_MAX);
    let (mut items, mut keys, mut more, mut bytes_read) = (Vec::new(), Vec::new(), false, 0);
    for (key, path) in candidates {
        if items.len() >= room || bytes_read >= limits::MAIL_PAGE_BYTES_MAX {
            more = true;
            break;
        }
        // A mail that was moved or deleted since it was listed is left to the next poll.
        let Some((item, bytes)) = item(account, key, path) else { continue };
        bytes_read += bytes;
        keys.push(key.clone());
        items.push(item);
    }
    if at.draining {
        items.iter_mut().for_each(|item| mark_baseline(item, at.since));
    }
    at.draining &= more;
    if !keys.is_empty() {
        known.add_page(keys, |key| listing.contains_key(key)).map_err(state)?;
        at.page += 1;
    }
    *kept = Some(known);
    let cursor = at.to_cursor()?;
    let cursor = Some(cursor).filter(|cursor| wanted.cursor.as_ref() != Some(cursor));
    Ok(Page { items, cursor, more, notes, ..Page::default() })
}

/// The position to go on from, with the keys that count for it, and what is to be told about that.
fn resume(
    account: &Account,
    file: &Path,
    kept: Option<Known>,
    wanted: &Wanted,
    listing: &Listing,
) -> Result<(Position, Known, Vec<String>), PortError> {
    let state = |error: io::Error| {
        let doing = format!("read the list of known mails in {}", file.display());
        PortError::caused(ErrorClass::NETWORK, doing, error)
    };
    let history = || {
        let now = wanted.now.0.to_le_bytes();
        digest(&[account.path.as_os_str().as_encoded_bytes(), &now, &std::process::id().to_le_bytes()])
    };
    let Some(cursor) = &wanted.cursor else {
        let since = match wanted.backlog {
            Backlog::New => Some(wanted.now),
            Backlog::Since(span) => Some(wanted.now.minus(span)),
            Backlog::All => None,
        };
        let old = listing.iter().filter(|(_, path)| match wanted.backlog {
            Backlog::New => true,
            Backlog::Since(_) => is_older(path, since),
            Backlog::All => false,
        });
        let old = old.map(|(key, _)| key.clone()).collect();
        let known = Known::begin(file, history(), old).map_err(state)?;
        let at = Position { history: known.history().to_owned(), page: 0, since, draining: true };
        return Ok((at, known, Vec::new()));
    };
    let at = serde_json::from_str::<Position>(&cursor.0)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "read the position in the Maildir", error))?;
    let known = match kept.filter(|known| known.is_of(&at.history, at.page)) {
        Some(known) => Some(known),
        None => Known::load(file, &at.history, at.page).map_err(state)?,
    };
    if let Some(known) = known {
        return Ok((at, known, Vec::new()));
    }
    let known = Known::begin(file, history(), HashSet::new()).map_err(state)?;
    let at = Position { history: known.history().to_owned(), page: 0, draining: true, ..at };
    Ok((at, known, vec!["the list of known mails was lost; all mail is looked at again".into()]))
}

impl Position {
    fn to_cursor(&self) -> Result<Cursor, PortError> {
        let text = serde_json::to_string(self).map_err(|error| {
            PortError::caused(ErrorClass::Bug, "write down the position in the Maildir", error)
        })?;
        Ok(Cursor(text))
    }
}

fn is_older(path: &Path, since: Option<Timestamp>) -> bool {
    let written_at = fs::metadata(path).ok().and_then(|about| listing::written_at(&about));
    written_at.is_some_and(|at| Some(at) < since)
}

/// Sync tools give all files the time of the first sync, so the date in the mail counts too.
fn mark_baseline(item: &mut Item, since: Option<Timestamp>) {
    if item.disposition != Disposition::Own && item.at.is_some_and(|at| Some(at) < since) {
        item.disposition = Disposition::Baseline;
    }
}

/// A mail as an item, and the bytes that were read for it; `None` if it is not there any more.
fn item(account: &Account, key: &str, path: &Path) -> Option<(Item, u64)> {
    let content = match listing::open(path) {
        Ok(None) => return None,
        Ok(Some(file)) => listing::read(file),
        Err(error) => Err(error),
    };
    let place = match &account.exit {
        Exit::Out(out) => format!("mail file in {}", out.display()),
        Exit::Sendmail { .. } | Exit::None => "mail".to_owned(),
    };
    let (bytes, total_bytes, received_at, problem) = match content {
        Ok(content) => (content.bytes, Some(content.total_bytes), content.written_at, None),
        Err(error) => (Vec::new(), None, None, Some(error)),
    };
    let context = MailContext {
        key: key.to_owned(),
        own: &account.own,
        from: &account.from,
        received_at,
        place: &place,
        total_bytes,
        labels: listing::labels(path),
    };
    let mut item = map::to_item(&bytes, context);
    if let Some(error) = problem {
        let reason = format!("the file {} cannot be read: {error}", path.display());
        item.disposition = Disposition::Quarantined { reason };
    }
    if account.exit == Exit::None {
        item.reply = ReplyWay::Nowhere { reason: "the unit names neither `out` nor `sendmail`".into() };
    }
    Some((item, bytes.len() as u64))
}
