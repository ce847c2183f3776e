//! One page of new mail.

use std::collections::BTreeMap;

use super::cursor::{Position, Wanted};
use super::name::WireName;
use super::session::{Head, Heads, Mailbox, Session};
use super::spec::Account;
use crate::model::class::PortError;
use crate::model::item::{Disposition, Item, Page, PollRequest};
use crate::model::limits::{
    IMAP_BATCH_LEN_MAX, IMAP_WINDOW_LEN, MAIL_PAGE_BYTES_MAX, MAIL_PART_BYTES, MAIL_WHOLE_BYTES_MAX,
    PAGE_ITEMS_MAX,
};
use crate::platform::mail::map::{self, MailContext};

/// Empty stretches of UIDs stepped over in one page; each is twice as long as the one before.
const EMPTY_WINDOWS_MAX: u32 = 32;

/// Reads one page. `careful` is for a server of which an answer could not be read: one mail at a time, so that the one
/// mail that cannot be fetched is found and set aside.
///
/// # Errors
/// As the session's commands.
pub async fn page(
    session: &mut Session,
    account: &Account,
    request: PollRequest<'_>,
    careful: bool,
) -> Result<Page, PortError> {
    let mailbox = session.examine(&WireName::from_person(&account.mailbox)).await?;
    let uid_next = match mailbox.uid_next {
        Some(uid_next) => uid_next,
        None => session.last_uid().await?.saturating_add(1),
    };
    let (at, note) = Position::resume(request.cursor, request.backlog, request.now, &mailbox, uid_next)?;
    let reader = Reader { session, account, mailbox, uid_next, careful };
    let (at, items, more) = if at.nothing_new(&mailbox, uid_next) {
        (at.drained(&mailbox, uid_next), Vec::new(), false)
    } else {
        reader.read(at, request.items_max.clamp(1, PAGE_ITEMS_MAX)).await?
    };
    let cursor = Some(at.to_cursor()?).filter(|cursor| request.cursor != Some(cursor));
    Ok(Page { items, cursor, more, notes: note.into_iter().collect(), ..Page::default() })
}

struct Reader<'a> {
    session: &'a mut Session,
    account: &'a Account,
    mailbox: Mailbox,
    uid_next: u32,
    careful: bool,
}

impl Reader<'_> {
    /// The new position, the items, and whether there is more.
    async fn read(
        mut self,
        mut at: Position,
        count_max: usize,
    ) -> Result<(Position, Vec<Item>, bool), PortError> {
        let count_max = if self.careful { 1 } else { count_max };
        let (heads, window) = self.list(&mut at, count_max).await?;
        let chosen = choose(&heads, &at);
        let all_chosen = chosen.len() == heads.found.len() && !heads.left_out;
        let items = self.fetch(&at, &heads, &chosen).await?;
        at.last_uid = match window {
            Some(end) if all_chosen => end,
            _ => chosen.last().copied().unwrap_or(at.last_uid),
        };
        if all_chosen && window.is_none() {
            let drained = at.drained(&self.mailbox, self.uid_next);
            return Ok((drained, items, false));
        }
        Ok((at, items, true))
    }

    /// The next heads and the end of the window they were looked for in. Steps over stretches without mail, moving the
    /// position along.
    async fn list(&mut self, at: &mut Position, count_max: usize) -> Result<(Heads, Option<u32>), PortError> {
        let mut width = IMAP_WINDOW_LEN;
        for _ in 0..EMPTY_WINDOWS_MAX {
            let far = self.uid_next.saturating_sub(at.last_uid) > width;
            let window = far.then(|| at.last_uid.saturating_add(width));
            let heads =
                self.session.heads(at.last_uid.saturating_add(1), window, count_max, self.careful).await?;
            match window {
                Some(end) if heads.found.is_empty() => at.last_uid = end,
                _ => return Ok((heads, window)),
            }
            width = width.saturating_mul(2);
        }
        Ok((Heads::default(), Some(at.last_uid)))
    }

    async fn fetch(&mut self, at: &Position, heads: &Heads, chosen: &[u32]) -> Result<Vec<Item>, PortError> {
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for (&uid, head) in chosen.iter().filter_map(|uid| heads.found.get_key_value(uid)) {
            if at.wanted(uid, head.received_at) == Wanted::No {
                continue;
            }
            if head.size_bytes > MAIL_WHOLE_BYTES_MAX { parts.push(uid) } else { whole.push(uid) }
        }
        let mut items = BTreeMap::new();
        for batch in whole.chunks(IMAP_BATCH_LEN_MAX) {
            self.fetch_batch(at, heads, batch, None, &mut items).await?;
        }
        for batch in parts.chunks(IMAP_BATCH_LEN_MAX) {
            self.fetch_batch(at, heads, batch, Some(MAIL_PART_BYTES), &mut items).await?;
        }
        Ok(items.into_values().collect())
    }

    async fn fetch_batch(
        &mut self,
        at: &Position,
        heads: &Heads,
        batch: &[u32],
        part: Option<u32>,
        items: &mut BTreeMap<u32, Item>,
    ) -> Result<(), PortError> {
        let announced: u64 = batch.iter().filter_map(|uid| heads.found.get(uid)).map(cost_bytes).sum();
        // Some servers announce sizes that are a little off.
        let bytes_max = announced.saturating_mul(2).saturating_add(MAIL_WHOLE_BYTES_MAX.into());
        let account = self.account;
        let fetched = self
            .session
            .bodies(batch, part, bytes_max, |uid, raw| {
                let Some(head) = heads.found.get(&uid) else { return };
                let mut item = map::to_item(raw, context(account, at, uid, head, part));
                if let Wanted::YesIfSince(baseline_at) = at.wanted(uid, head.received_at)
                    && item.at.is_some_and(|written_at| written_at < baseline_at)
                    && item.disposition != Disposition::Own
                {
                    item.disposition = Disposition::Baseline;
                }
                items.insert(uid, item);
            })
            .await;
        match (fetched, batch) {
            (Err(_), &[uid]) if self.careful && self.session.wire.is_garbled() => {
                let head = heads.found.get(&uid).cloned().unwrap_or_default();
                items.insert(uid, unreadable(context(account, at, uid, &head, None)));
                Ok(())
            }
            (fetched, _) => fetched,
        }
    }
}

fn context<'a>(
    account: &'a Account,
    at: &Position,
    uid: u32,
    head: &Head,
    part: Option<u32>,
) -> MailContext<'a> {
    MailContext {
        key: at.key(uid),
        own: &account.own,
        from: &account.from,
        received_at: head.received_at,
        place: "mail",
        total_bytes: part.map(|_| u64::from(head.size_bytes)),
        labels: head.flags.clone(),
    }
}

/// A mail that the server cannot hand out in a form that can be read. Nothing but its key tells it from another such.
fn unreadable(context: MailContext<'_>) -> Item {
    let key = context.key.clone();
    let mut item = map::to_item(b"", context);
    item.revision = String::new();
    item.identities.clear();
    item.threads = vec![key];
    item.disposition =
        Disposition::Quarantined { reason: "the server's answer for this mail cannot be read".into() };
    item
}

/// What a mail takes of a page.
fn cost_bytes(head: &Head) -> u64 {
    if head.size_bytes > MAIL_WHOLE_BYTES_MAX { MAIL_PART_BYTES.into() } else { head.size_bytes.into() }
}

/// The lowest UIDs that fit into a page; at least one where there is one.
fn choose(heads: &Heads, at: &Position) -> Vec<u32> {
    let mut left = MAIL_PAGE_BYTES_MAX;
    let mut chosen = Vec::new();
    for (&uid, head) in &heads.found {
        let cost = if at.wanted(uid, head.received_at) == Wanted::No { 0 } else { cost_bytes(head) };
        if cost > left && !chosen.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        chosen.push(uid);
    }
    chosen
}
