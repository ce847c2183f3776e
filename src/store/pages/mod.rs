//! Pages of connectors: items, cursor and cases in one transaction.
//!
//! Pages that wait together are one set of statements for each connector, whatever their number. What is already
//! known with the same revision is sorted out first, so a page without news costs one statement and writes nothing.

mod decide;
pub(super) mod look;
pub(super) mod write;

use futures_util::future::BoxFuture;

use super::group::Batched;
use super::types::{PageCommit, PageReport};
use super::writer::{Op, Tx};
use super::{Result, Store};

impl Store {
    /// Items, cursor and cases in one transaction. Writes nothing if there is nothing new and the cursor is the same.
    pub async fn commit_page(&self, commit: PageCommit) -> Result<PageReport> {
        self.grouped(commit, Op::Page).await
    }
}

impl Batched<PageReport> for PageCommit {
    const DOING: &'static str = "commit a page";

    fn run<'a>(tx: &'a mut Tx, inputs: &'a [&'a Self]) -> BoxFuture<'a, Result<Vec<Result<PageReport>>>> {
        Box::pin(async move {
            let mut reports = vec![PageReport::default(); inputs.len()];
            for pages in by_account(inputs) {
                commit(tx, inputs, &pages, &mut reports).await?;
            }
            Ok(reports.into_iter().map(Ok).collect())
        })
    }
}

/// Positions of the pages of each account, in the order of their coming.
fn by_account(inputs: &[&PageCommit]) -> Vec<Vec<usize>> {
    let mut accounts: Vec<(&PageCommit, Vec<usize>)> = Vec::new();
    for (position, &page) in inputs.iter().enumerate() {
        let same = |(first, _): &&mut (&PageCommit, Vec<usize>)| {
            first.connector == page.connector && first.identity == page.identity
        };
        match accounts.iter_mut().find(same) {
            Some((_, pages)) => pages.push(position),
            None => accounts.push((page, vec![position])),
        }
    }
    accounts.into_iter().map(|(_, pages)| pages).collect()
}

async fn commit(
    tx: &mut Tx,
    inputs: &[&PageCommit],
    pages: &[usize],
    reports: &mut [PageReport],
) -> Result<()> {
    let pages: Vec<(usize, &PageCommit)> =
        pages.iter().filter_map(|&position| Some((position, *inputs.get(position)?))).collect();
    let Some(&(_, first)) = pages.first() else { return Ok(()) };
    let account = look::account(tx, &first.connector, &first.identity).await?;
    let cursor =
        pages.iter().rev().find_map(|(_, page)| page.cursor.as_ref()).map(|cursor| cursor.0.as_str());
    let cursor = cursor.filter(|cursor| account.cursor.as_deref() != Some(cursor));

    let entries: Vec<decide::Entry<'_>> = pages
        .iter()
        .flat_map(|&(page, commit)| {
            commit.items.iter().map(move |item| decide::Entry { page, item, generation: commit.generation })
        })
        .collect();
    for entry in &entries {
        if let Some(report) = reports.get_mut(entry.page) {
            report.seen_items += 1;
        }
    }
    let unseen = look::fresh(tx, account.id, &entries).await?;
    for unseen in &unseen {
        if let Some(report) = reports.get_mut(unseen.entry.page) {
            report.seen_items -= 1;
        }
    }
    if unseen.is_empty() {
        if let Some(cursor) = cursor {
            write::cursor(tx, account.id, cursor).await?;
        }
        return Ok(());
    }
    let found = look::names(tx, &account, &first.connector, &unseen).await?;
    let decided = decide::decide(&account, found, &unseen, reports);
    write::all(tx, &account, cursor, &decided).await
}
