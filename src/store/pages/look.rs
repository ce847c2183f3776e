//! What is known of the things on a page.

use super::super::rows::{Columns, json};
use super::super::writer::Tx;
use super::super::{Result, StoreError};
use super::decide::Entry;
use crate::model::case::CaseState;

const LOOKING: &str = "look up the items of a page";

/// The ledger of one connector's account.
pub(super) struct Account {
    pub id: i64,
    pub cursor: Option<String>,
    /// The largest ids given out so far.
    pub last_item: i64,
    pub last_case: i64,
    /// Something of ours may be read back.
    has_marks: bool,
}

/// What the database knows of the names on a page.
#[derive(Default)]
pub(super) struct Found {
    /// Known by key or identity: position among the unseen, by key or not, and the item.
    pub known: Vec<(usize, Known)>,
    /// Position among the unseen, thread name, case and its state.
    pub threads: Vec<(String, i64, CaseState)>,
    /// Positions of items that are our own.
    pub own: Vec<usize>,
}

/// A known item.
pub(super) struct Known {
    pub by_key: bool,
    pub id: i64,
    pub revision: String,
    pub case: Option<(i64, CaseState)>,
}

const ACCOUNT: &str = "SELECT l.id, l.cursor, l.since = (SELECT max(since) FROM connectors WHERE name = ?1), \
     coalesce((SELECT max(id) FROM items), 0), coalesce((SELECT max(id) FROM cases), 0), \
     EXISTS (SELECT 1 FROM own_marks WHERE connector = ?1) \
     FROM (SELECT 1) LEFT JOIN connectors l ON l.name = ?1 AND l.identity = ?2";

const PRESENT: &str = "INSERT INTO connectors (name, identity, since) \
     VALUES (?1, ?2, max(?3, 1 + coalesce((SELECT max(since) FROM connectors WHERE name = ?1), 0))) \
     ON CONFLICT (name, identity) DO UPDATE SET since = excluded.since RETURNING id";

/// The account's ledger, made or made the present one of its connector if need be.
pub(super) async fn account(tx: &mut Tx, connector: &str, identity: &str) -> Result<Account> {
    let query = sqlx::query(ACCOUNT).bind(connector.to_owned()).bind(identity.to_owned());
    let row = tx.first(LOOKING, query).await?;
    let Some(row) = row else {
        return Err(StoreError::unreadable(LOOKING, "no answer"));
    };
    let mut columns = Columns::of(&row);
    let id: Option<i64> = columns.take()?;
    let cursor = columns.take()?;
    let present: Option<bool> = columns.take()?;
    let (last_item, last_case, has_marks) = (columns.take()?, columns.take()?, columns.take()?);
    let id = match id.filter(|_| present == Some(true)) {
        Some(id) => id,
        None => {
            let query =
                sqlx::query(PRESENT).bind(connector.to_owned()).bind(identity.to_owned()).bind(tx.now.0);
            let row = tx.first(LOOKING, query).await?;
            let row = row.ok_or_else(|| StoreError::unreadable(LOOKING, "no answer"))?;
            Columns::of(&row).take()?
        }
    };
    Ok(Account { id, cursor, last_item, last_case, has_marks })
}

pub(in crate::store) const FRESH: &str = "SELECT json_group_array(json_array(j.key, i.id IS NOT NULL)) FROM json_each(?2) j \
     LEFT JOIN items i ON i.connector = ?1 AND i.key = j.value ->> 0 WHERE i.revision IS NOT j.value ->> 1";

/// What is not known under this key with this revision, in order.
pub(super) async fn fresh<'e, 'a>(
    tx: &mut Tx,
    account: i64,
    entries: &'e [Entry<'a>],
) -> Result<Vec<Unseen<'e, 'a>>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let pairs: Vec<(&str, &str)> =
        entries.iter().map(|entry| (entry.item.key.as_str(), entry.item.revision.as_str())).collect();
    let rows: Vec<(usize, u8)> =
        tx.list(LOOKING, sqlx::query(FRESH).bind(account).bind(json(&pairs))).await?;
    let mut fresh = Vec::with_capacity(rows.len());
    for (position, known) in rows {
        if let Some(entry) = entries.get(position) {
            fresh.push((position, Unseen { entry, key_known: known != 0 }));
        }
    }
    fresh.sort_unstable_by_key(|&(position, _)| position);
    Ok(fresh.into_iter().map(|(_, unseen)| unseen).collect())
}

/// Something to be looked at more closely.
pub(super) struct Unseen<'e, 'a> {
    pub entry: &'e Entry<'a>,
    /// Its key is in the ledger, with another revision.
    key_known: bool,
}

pub(in crate::store) const NAMES: &str = "SELECT json_group_array(json_array(kind, key, id, revision, case_id, state)) FROM ( \
     SELECT 0 AS kind, j.key, i.id, i.revision, i.case_id, c.state FROM json_each(?2) j \
     CROSS JOIN items i ON i.connector = ?1 AND i.key = j.value LEFT JOIN cases c ON c.id = i.case_id \
     UNION ALL SELECT 1, j.key, i.id, i.revision, i.case_id, c.state FROM json_each(?3) j \
     CROSS JOIN item_identities d ON d.connector = ?1 AND d.identity = j.value \
     CROSS JOIN items i ON i.id = d.item_id LEFT JOIN cases c ON c.id = i.case_id \
     UNION ALL SELECT 2, j.key, 0, '', t.case_id, c.state FROM json_each(?4) j \
     CROSS JOIN case_threads t ON t.connector = ?1 AND t.thread = j.value CROSS JOIN cases c ON c.id = t.case_id \
     UNION ALL SELECT 3, j.key, m.action_id, '', NULL, NULL FROM json_each(?5) j \
     CROSS JOIN own_marks m ON m.connector = ?6 AND m.mark = j.value)";

/// Names in one flat list, each with the position of its item.
#[derive(Default)]
struct Names<'a> {
    names: Vec<&'a str>,
    owners: Vec<usize>,
}

impl<'a> Names<'a> {
    fn push(&mut self, owner: usize, name: &'a str) {
        self.names.push(name);
        self.owners.push(owner);
    }
}

pub(super) async fn names(
    tx: &mut Tx,
    account: &Account,
    connector: &str,
    unseen: &[Unseen<'_, '_>],
) -> Result<Found> {
    let mut keys = Names::default();
    let mut identities = Names::default();
    let mut threads = Names::default();
    let mut marks = Names::default();
    for (owner, unseen) in unseen.iter().enumerate() {
        let item = unseen.entry.item;
        if unseen.key_known {
            keys.push(owner, &item.key);
        }
        for identity in &item.identities {
            identities.push(owner, identity);
        }
        for thread in &item.threads {
            threads.push(owner, thread);
        }
        if account.has_marks {
            let own = item.threads.first();
            for name in std::iter::once(&item.key).chain(&item.identities).chain(own) {
                marks.push(owner, name);
            }
        }
    }
    let query = sqlx::query(NAMES)
        .bind(account.id)
        .bind(json(&keys.names))
        .bind(json(&identities.names))
        .bind(json(&threads.names))
        .bind(json(&marks.names))
        .bind(connector.to_owned());
    let mut found = Found::default();
    let rows: Vec<NameRow> = tx.list(LOOKING, query).await?;
    for (kind, at, id, revision, case, state) in rows {
        let case = case.zip(state);
        match kind {
            0 | 1 => {
                let owners = if kind == 0 { &keys.owners } else { &identities.owners };
                let Some(&owner) = owners.get(at) else { continue };
                found.known.push((owner, Known { by_key: kind == 0, id, revision, case }));
            }
            2 => {
                if let (Some(&name), Some((case, state))) = (threads.names.get(at), case) {
                    found.threads.push((name.to_owned(), case, state));
                }
            }
            _ => found.own.extend(marks.owners.get(at)),
        }
    }
    Ok(found)
}

/// What was found under a name: its sort, position, item, revision, case and the case's state.
type NameRow = (u8, usize, i64, String, Option<i64>, Option<CaseState>);
