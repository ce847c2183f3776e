//! What becomes of each thing on a page. Pure: known names in, rows out.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::state::joined;
use super::look::{Account, Found, Known, Unseen};
use crate::model::case::CaseState;
use crate::model::ids::ItemId;
use crate::model::item::AUTO_REPLY_SUSPECTED;
use crate::model::item::{Disposition, Item, Party};
use crate::store::types::PageReport;

/// An item, the page it is on, the generation it was read under.
pub(super) struct Entry<'a> {
    pub page: usize,
    pub item: &'a Item,
    pub generation: i64,
}

/// News of a case that is running or approved: the text of an item changed.
pub(super) const TEXT_CHANGED: i64 = 1;
/// News of a case that is running or approved: an item came.
pub(super) const ITEM_CAME: i64 = 2;

/// Everything to be written.
#[derive(Default)]
pub(super) struct Decided<'a> {
    /// Of ids that follow on `Account::last_item`.
    pub items: Vec<NewItem<'a>>,
    /// Of ids that follow on `Account::last_case`.
    pub cases: Vec<NewCase<'a>>,
    /// Other revisions of known items.
    pub updates: Vec<(i64, &'a Item)>,
    /// Known cases that something happened to.
    pub touched: BTreeMap<i64, Touched>,
    pub identities: Vec<(i64, &'a str)>,
    pub threads: Vec<(i64, &'a str)>,
    pub journal: Vec<(i64, &'static str, String)>,
    /// Messages of the account's own that we did not send, in the threads of known cases: the case, when, and the item.
    pub by_hand: Vec<(i64, i64, i64)>,
    pub baseline: u64,
    pub work: bool,
}

/// A row of the ledger.
pub(super) struct NewItem<'a> {
    pub item: &'a Item,
    pub case: Option<i64>,
    pub disposition: i64,
}

/// A case to be opened.
pub(super) struct NewCase<'a> {
    pub first: &'a Item,
    pub author: String,
    pub newest: i64,
    pub items: u64,
}

/// What happened to a known case.
pub(super) struct Touched {
    pub state: CaseState,
    pub added: u64,
    /// The newest item that wants work, and its author.
    pub newest: Option<(i64, String)>,
    pub news: i64,
    /// An open draft no longer answers what is there.
    pub stale: bool,
}

impl Touched {
    fn new(state: CaseState) -> Self {
        Self { state, added: 0, newest: None, news: 0, stale: false }
    }
}

/// The number of a disposition in the ledger.
fn number(disposition: &Disposition, labels: &[String]) -> i64 {
    match disposition {
        Disposition::Work if labels.iter().any(|label| label == AUTO_REPLY_SUSPECTED) => 5,
        Disposition::Work => 0,
        Disposition::NoReply { .. } => 1,
        Disposition::Own => 2,
        Disposition::Baseline => 3,
        Disposition::Quarantined { .. } => 4,
    }
}

struct Seen {
    id: i64,
    revision: String,
    case: Option<i64>,
}

/// Names as they stand while a page is gone through: an item may meet one that stands above it on the same page.
struct Names<'a> {
    by_key: HashMap<&'a str, usize>,
    by_identity: HashMap<&'a str, usize>,
    seen: Vec<Seen>,
    by_thread: HashMap<String, i64>,
    states: HashMap<i64, CaseState>,
    own: HashSet<usize>,
}

impl<'a> Names<'a> {
    fn from(found: Found, unseen: &[Unseen<'_, 'a>]) -> Self {
        let mut names = Self {
            by_key: HashMap::new(),
            by_identity: HashMap::new(),
            seen: Vec::new(),
            by_thread: HashMap::new(),
            states: HashMap::new(),
            own: found.own.into_iter().collect(),
        };
        for (owner, Known { by_key, id, revision, case }) in found.known {
            let Some(Unseen { entry, .. }) = unseen.get(owner) else { continue };
            if let Some((case, state)) = case {
                names.states.insert(case, state);
            }
            let position = names.seen.len();
            names.seen.push(Seen { id, revision, case: case.map(|(case, _)| case) });
            if by_key {
                names.by_key.insert(&entry.item.key, position);
            } else {
                for identity in &entry.item.identities {
                    names.by_identity.entry(identity).or_insert(position);
                }
            }
        }
        for (name, case, state) in found.threads {
            names.states.insert(case, state);
            names.by_thread.insert(name, case);
        }
        names
    }

    fn position(&self, item: &Item) -> Option<usize> {
        let by_identity =
            || item.identities.iter().find_map(|name| self.by_identity.get(name.as_str())).copied();
        self.by_key.get(item.key.as_str()).copied().or_else(by_identity)
    }

    fn remember(&mut self, item: &'a Item, id: i64, case: Option<i64>) {
        let position = self.seen.len();
        self.seen.push(Seen { id, revision: item.revision.clone(), case });
        self.by_key.insert(&item.key, position);
        for identity in &item.identities {
            self.by_identity.entry(identity).or_insert(position);
        }
    }
}

pub(super) fn decide<'a>(
    account: &Account,
    found: Found,
    unseen: &[Unseen<'_, 'a>],
    reports: &mut [PageReport],
) -> Decided<'a> {
    let mut names = Names::from(found, unseen);
    let mut decided = Decided::default();
    let mut nowhere = PageReport::default();
    for (position, Unseen { entry, .. }) in unseen.iter().enumerate() {
        let report = reports.get_mut(entry.page).unwrap_or(&mut nowhere);
        match names.position(entry.item) {
            Some(known) => again(&mut decided, &mut names, known, entry, account, report),
            None => {
                let own = names.own.contains(&position);
                first_time(&mut decided, &mut names, entry, own, account, report);
            }
        }
    }
    decided
}

/// A known item: perhaps another revision, never a second case.
fn again<'a>(
    decided: &mut Decided<'a>,
    names: &mut Names<'a>,
    known: usize,
    entry: &Entry<'a>,
    account: &Account,
    report: &mut PageReport,
) {
    let Some(seen) = names.seen.get_mut(known) else { return };
    if seen.revision == entry.item.revision {
        report.seen_items += 1;
        return;
    }
    report.updated_items += 1;
    seen.revision.clone_from(&entry.item.revision);
    decided.updates.push((seen.id, entry.item));
    let Some(case) = seen.case else { return };
    decided.journal.push((case, "item", format!("{} changed at its source", ItemId(seen.id))));
    if case > account.last_case {
        return;
    }
    let state = names.states.get(&case).copied().unwrap_or(CaseState::New);
    let touched = decided.touched.entry(case).or_insert_with(|| Touched::new(state));
    touched.stale = true;
    touched.news = touched.news.max(TEXT_CHANGED);
}

/// An item never seen before.
fn first_time<'a>(
    decided: &mut Decided<'a>,
    names: &mut Names<'a>,
    entry: &Entry<'a>,
    own: bool,
    account: &Account,
    report: &mut PageReport,
) {
    let item = entry.item;
    let id = account.last_item + 1 + i64::try_from(decided.items.len()).unwrap_or(i64::MAX);
    // The oldest case of the thread takes it, should several share its names.
    let thread = item.threads.iter().filter_map(|name| names.by_thread.get(name)).min().copied();
    let disposition = if own { Disposition::Own } else { item.disposition.clone() };
    match &disposition {
        Disposition::Own => report.own_items += 1,
        Disposition::Baseline => {
            report.baseline_items += 1;
            decided.baseline += 1;
        }
        Disposition::Quarantined { .. } => report.quarantined_items += 1,
        Disposition::Work | Disposition::NoReply { .. } => report.new_items += 1,
    }
    if let (Disposition::Own, false, Some(case), Some(at)) = (&disposition, own, thread, item.at) {
        decided.by_hand.push((case, at.0, id));
    }
    let ledger_only = matches!(disposition, Disposition::Own | Disposition::Baseline);
    let case = if ledger_only {
        None
    } else {
        decided.work = true;
        Some(match thread {
            Some(case) => {
                report.cases_joined += 1;
                join(decided, names, case, entry, id, account);
                case
            }
            None => {
                report.cases_made += 1;
                make(decided, names, entry, id, account)
            }
        })
    };
    // Our own answer, read back, makes answers to it find the case.
    if let Some(case) = case.or(thread) {
        for name in &item.threads {
            if names.by_thread.insert(name.clone(), case).is_none() {
                decided.threads.push((case, name));
            }
        }
    }
    decided.identities.extend(item.identities.iter().map(|name| (id, name.as_str())));
    decided.items.push(NewItem { item, case, disposition: number(&disposition, &item.labels) });
    names.remember(item, id, case);
}

fn make<'a>(
    decided: &mut Decided<'a>,
    names: &mut Names<'a>,
    entry: &Entry<'a>,
    id: i64,
    account: &Account,
) -> i64 {
    let case = account.last_case + 1 + i64::try_from(decided.cases.len()).unwrap_or(i64::MAX);
    let author = author(entry.item.author.as_ref());
    decided.cases.push(NewCase { first: entry.item, author, newest: id, items: 1 });
    decided.journal.push((
        case,
        "item",
        format!("{} read under generation {}", ItemId(id), entry.generation),
    ));
    names.states.insert(case, CaseState::New);
    case
}

fn join<'a>(
    decided: &mut Decided<'a>,
    names: &mut Names<'a>,
    case: i64,
    entry: &Entry<'a>,
    id: i64,
    account: &Account,
) {
    let item = entry.item;
    let was = names.states.get(&case).copied().unwrap_or(CaseState::New);
    // An out-of-office or a newsletter in the thread is recorded; it neither answers nor undoes anything.
    let no_reply = matches!(item.disposition, Disposition::NoReply { .. });
    let what = if no_reply { "no reply wanted, joined" } else { "joined" };
    let line =
        format!("{} read under generation {}, {what} while {}", ItemId(id), entry.generation, was.word());
    decided.journal.push((case, "item", line));
    let made = usize::try_from(case - account.last_case - 1).ok();
    if let Some(new) = made.and_then(|position| decided.cases.get_mut(position)) {
        new.items += 1;
        let only_no_reply = matches!(new.first.disposition, Disposition::NoReply { .. });
        if !no_reply || only_no_reply {
            new.newest = id;
            new.author = author(item.author.as_ref());
        }
        return;
    }
    let touched = decided.touched.entry(case).or_insert_with(|| Touched::new(was));
    touched.added += 1;
    if !no_reply {
        touched.state = joined(was);
        names.states.insert(case, touched.state);
        touched.newest = Some((id, author(item.author.as_ref())));
        touched.news = ITEM_CAME;
        touched.stale = true;
    }
}

/// For people: `Pat <pat@example.org>`.
fn author(party: Option<&Party>) -> String {
    match party {
        None => String::new(),
        Some(Party { name, address }) if name.is_empty() => address.clone(),
        Some(Party { name, address }) if address.is_empty() => name.clone(),
        Some(Party { name, address }) => format!("{name} <{address}>"),
    }
}
