//! The notifications inbox: what of it is still to be read, oldest first.
//!
//! The conditional request stands on one unchanging address, since GitHub's validators belong to it. The list comes
//! newest first and moves while it is read, so it is read as a whole before the first thread; the cursor follows the
//! threads. From time to time everything is asked for: the validators do not see each change, and a list that moves
//! can hide a thread between two of its pages.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::client::{Client, Listed};
use super::map::{self, OwnComments, Rules};
use super::memory::{First, Inbox, OVERLAP};
use super::notice::Notice;
use super::refusal::partial_note;
use crate::http::{HttpResponse, Validators, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Disposition, Item, PollRequest};
use crate::model::limits;
use crate::model::time::Timestamp;

/// What of the unit matters here.
#[derive(Clone, Debug)]
pub(super) struct InboxRules {
    /// Only threads that the user takes part in.
    pub participating: bool,
    /// Reasons that are work; empty: all.
    pub reasons: Vec<String>,
    /// Between two reads of everything.
    pub full_every: Duration,
    /// Which of the user's own comments are work.
    pub own: OwnComments,
}

/// What a look at the inbox came to.
pub(super) struct Look {
    /// Before its first thread.
    pub inbox: Inbox,
    /// Still to be read, oldest first.
    pub todo: VecDeque<Notice>,
    /// To be recorded as they are: what cannot be read, what was there before.
    pub items: Vec<Item>,
    /// Of the list, once it is dealt with.
    pub validators: Validators,
    /// When the list was asked for, by GitHub's clock.
    pub began: Timestamp,
    /// Everything was asked for.
    pub full: bool,
    /// Nothing changed, or nothing of it was new.
    pub unchanged: bool,
    /// GitHub asks not to be asked again before this.
    pub not_before: Option<Duration>,
    pub notes: Vec<String>,
}

/// One walk over the list.
struct Walked {
    notices: Vec<Notice>,
    odd: Vec<Item>,
    /// There is more than is ever read.
    cut: bool,
    /// The list goes on behind what was asked for.
    left: bool,
}

/// Looks at the inbox. `put_off`: threads that are left alone for now.
pub(super) async fn look(
    client: &Client,
    rules: &InboxRules,
    map_rules: &Rules,
    known: Option<&Inbox>,
    put_off: &HashSet<String>,
    request: &PollRequest<'_>,
) -> Result<Look, PortError> {
    let query = if rules.participating { "all=true&participating=true" } else { "all=true" };
    let mut at = client.at(&["notifications"], &[]);
    at.set_query(Some(&format!("{query}&per_page=50")));
    let its_now = client.on_its_clock(request.now);
    let full = known.is_none_or(|inbox| its_now.since(inbox.full_at) >= rules.full_every);
    let conditional = known.filter(|inbox| !full && inbox.query == query).map(|inbox| &inbox.validators);
    let page = client.list(at, conditional.unwrap_or(&Validators::default())).await.map_err(of_inbox)?;
    // The list is as old as the answer's date, and the first answer also tells how the clocks stand.
    let began = client.on_its_clock(request.now);
    let mut look = Look {
        inbox: known.cloned().unwrap_or_default(),
        todo: VecDeque::new(),
        items: Vec::new(),
        validators: page.answer.validators(),
        began,
        full,
        unchanged: page.answer.status == 304,
        not_before: poll_interval(&page.answer),
        notes: partial_note(&page.answer).into_iter().collect(),
    };
    if look.unchanged {
        return Ok(look);
    }
    let Some(known) = known else {
        return first_look(client, request, map_rules, query, page, look).await;
    };
    let horizon = if full { known.floor } else { known.upto.minus(OVERLAP).max(known.floor) };
    let walked = walk(client, page, horizon).await?;
    if walked.cut {
        look.notes.push(cut_note());
    }
    look.inbox.validators = Validators::default();
    query.clone_into(&mut look.inbox.query);
    look.items = walked.odd;
    let wanted = walked.notices.into_iter().filter(|notice| known.wants(notice));
    look.todo = oldest_first(wanted.filter(|notice| !put_off.contains(&notice.id)).collect());
    Ok(look)
}

/// What was there before the connector: only as much of it becomes work as the unit says.
async fn first_look(
    client: &Client,
    request: &PollRequest<'_>,
    rules: &Rules,
    query: &str,
    page: Listed,
    mut look: Look,
) -> Result<Look, PortError> {
    let about = last_page(&page.answer);
    let newest =
        page.values.iter().find_map(|value| Notice::read(value).ok()).map(|notice| notice.updated_at);
    let border = newest.unwrap_or(look.began).min(look.began);
    let since = match request.backlog {
        // Siblings of the newest one that come late are news: what is there of its time must be known.
        Backlog::New => border.minus(OVERLAP),
        Backlog::Since(span) => look.began.minus(span),
        Backlog::All => Timestamp(0),
    };
    let walked = walk(client, page, since).await?;
    let found = walked.notices.len() + walked.odd.len();
    let (work, before): (Vec<Notice>, Vec<Notice>) = walked
        .notices
        .into_iter()
        .partition(|notice| request.backlog != Backlog::New && notice.updated_at >= since);
    let mut inbox = Inbox { query: query.to_owned(), floor: since, upto: since, ..Inbox::default() };
    for notice in &before {
        if notice.updated_at >= since {
            inbox.mark(notice);
        }
        look.items.push(Item {
            disposition: Disposition::Baseline,
            ..map::events::event(notice, None, &rules.me, "")
        });
    }
    if request.backlog == Backlog::All {
        look.items.extend(walked.odd);
    }
    if let Backlog::Since(_) | Backlog::All = request.backlog {
        let since = (request.backlog != Backlog::All).then_some(since);
        inbox.first = Some(First { since, until: look.began });
    }
    let more = match about.filter(|_| walked.left) {
        Some(pages) => format!("about {}", pages.saturating_mul(50)),
        None => found.to_string(),
    };
    look.notes.push(format!(
        "first poll: {more} notifications found, {} of them to be worked on (backlog = \"{}\")",
        work.len(),
        match request.backlog {
            Backlog::New => "new".to_owned(),
            Backlog::All => "all".to_owned(),
            Backlog::Since(span) => crate::model::time::short_span(span),
        },
    ));
    if walked.cut {
        look.notes.push(cut_note());
    }
    look.inbox = inbox;
    look.todo = oldest_first(work);
    Ok(look)
}

fn cut_note() -> String {
    let most = limits::GITHUB_INBOX_PAGES_MAX * 50;
    format!("the inbox holds more than {most} notifications since the last look; the oldest were not read")
}

/// Follows the list until everything on a page is older than `horizon`.
async fn walk(client: &Client, first: Listed, horizon: Timestamp) -> Result<Walked, PortError> {
    let mut walked = Walked { notices: Vec::new(), odd: Vec::new(), cut: false, left: false };
    let mut known = HashSet::new();
    let mut asked = HashSet::new();
    let mut page = first;
    for number in 1.. {
        let (mut young, mut any) = (false, false);
        for value in &page.values {
            any = true;
            match Notice::read(value) {
                Ok(notice) => {
                    // Newest first: the last one speaks for what lies behind it.
                    young = notice.updated_at >= horizon;
                    // A list that moves shows a thread again on its next page.
                    if known.insert(notice.id.clone()) {
                        walked.notices.push(notice);
                    }
                }
                Err(why) => walked.odd.push(map::events::odd_notice(value, why)),
            }
        }
        let Some(next) = page.next.take() else { break };
        walked.cut = any && young && number >= limits::GITHUB_INBOX_PAGES_MAX;
        walked.left = walked.cut || !young;
        if walked.left || !any {
            break;
        }
        // A server that repeats itself is not followed for ever.
        if !asked.insert(next.clone()) {
            break;
        }
        page = client.list(next, &Validators::default()).await.map_err(of_inbox)?;
    }
    Ok(walked)
}

fn oldest_first(mut notices: Vec<Notice>) -> VecDeque<Notice> {
    notices.sort_by(|a, b| (a.updated_at, &a.id).cmp(&(b.updated_at, &b.id)));
    notices.into()
}

/// A plain refusal of the inbox is the token's kind or its scopes: it waits for another token.
fn of_inbox(error: PortError) -> PortError {
    if error.class != ErrorClass::Permanent {
        return error;
    }
    let cause = error.source.as_ref().map(ToString::to_string).unwrap_or_default();
    let hint = "the inbox takes a classic token with the scope `notifications`; with a fine-grained one name \
                `repositories`";
    PortError::caused(ErrorClass::Auth, error.doing, format!("{cause}; {hint}"))
}

/// `X-Poll-Interval`, seconds; an hour at most.
fn poll_interval(answer: &HttpResponse) -> Option<Duration> {
    let seconds = header(&answer.headers, "x-poll-interval")?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds).min(limits::RETRY_HINT_ABSURD))
}

/// The number of pages, as the link to the last one says.
fn last_page(answer: &HttpResponse) -> Option<usize> {
    let links = header(&answer.headers, "link")?;
    let last = links.split(',').find(|link| link.contains("rel=\"last\""))?;
    let query = last.split_once('?')?.1.split_once('>')?.0;
    query.split('&').find_map(|pair| pair.strip_prefix("page="))?.parse().ok()
}
