//! Reading what happened in one thread, one request a step, so that a page of items can end anywhere.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::client::{Client, Listed};
use super::map::{self, Rules, Thread};
use super::memory::OVERLAP;
use super::notice::Notice;
use crate::http::{Validators, is_too_big};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::item::{Disposition, Item};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::json;

/// Texts asked for at once: 50 of the longest that GitHub stores stay within what an answer may hold; then fewer.
const PER_PAGE: [&str; 3] = ["50", "5", "1"];

/// GitHub tells nobody of an edit: with each activity in a thread its texts of so long are read once more.
const EDITS_BACK: Duration = Duration::from_secs(6 * 3600);

/// A thread that is being read.
pub(super) struct Walk {
    pub notice: Notice,
    /// Older texts were there before.
    since: Option<Timestamp>,
    /// Texts touched since then are asked for.
    asked_from: Option<Timestamp>,
    thread: Option<Thread>,
    steps: VecDeque<Step>,
    /// Something that was read tells what the notification is about.
    told: bool,
    warning: String,
}

/// What is still to be asked for.
#[derive(Clone, Debug)]
enum Step {
    /// The issue, or the pull request as an issue.
    Subject(u64),
    /// A list of the thread.
    Texts { what: Texts, at: Url, page: usize, size: usize },
    /// Something that is neither issue nor pull request.
    Other(&'static str, Url),
    /// What is there to say if nothing new was read.
    Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texts {
    Comments,
    DiffComments,
    Reviews,
}

impl Walk {
    /// A thread that is not read yet.
    pub fn new(notice: Notice, since: Option<Timestamp>, client: &Client) -> Self {
        let mut steps = VecDeque::new();
        let path = |url: &Option<String>| client.path_of(url.as_deref()?);
        let (subject, latest) = (path(&notice.subject), path(&notice.latest));
        let at = |path: &[String]| client.at(&path.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        if let Some((number, _)) = subject.as_ref().and_then(|path| notice.numbered(path)) {
            steps.push_back(Step::Subject(number));
        } else {
            let subject = match notice.kind.as_str() {
                "Release" => subject.map(|path| ("release", at(&path))),
                "Discussion" => subject.map(|path| ("discussion", at(&path))),
                _ => None,
            };
            let latest = match notice.kind.as_str() {
                "Discussion" if notice.latest != notice.subject => {
                    latest.map(|path| ("discussion-comment", at(&path)))
                }
                "Commit" if notice.latest != notice.subject => {
                    latest.map(|path| ("commit-comment", at(&path)))
                }
                _ => None,
            };
            steps.extend(subject.into_iter().chain(latest).map(|(kind, at)| Step::Other(kind, at)));
        }
        steps.push_back(Step::Event);
        let asked_from = since.map(|since| since.min(notice.updated_at.minus(EDITS_BACK)));
        Self { asked_from, notice, since, thread: None, steps, told: false, warning: String::new() }
    }

    /// All was read.
    pub fn is_over(&self) -> bool {
        self.steps.is_empty()
    }

    /// No further request is needed.
    pub fn costs_nothing(&self) -> bool {
        matches!(self.steps.front(), None | Some(Step::Event))
    }

    /// What cannot be read is said in the thread's own item, and the walk goes on.
    pub fn give_up(&mut self, error: &PortError) {
        self.warn(format!("it could not be read: {}", one_line(&chain(error), 300)));
        self.steps.retain(|step| matches!(step, Step::Event));
    }

    /// Nothing of it is read now.
    pub fn put_off(&mut self) {
        self.steps.clear();
    }

    fn warn(&mut self, why: String) {
        if self.warning.is_empty() {
            self.warning = why;
        }
    }

    /// One request and what came of it. After an error the step is still to be done.
    ///
    /// # Errors
    /// Those that concern more than this thread, and those that may pass.
    pub async fn step(&mut self, client: &Client, rules: &Rules) -> Result<Vec<Item>, PortError> {
        let Some(step) = self.steps.front().cloned() else { return Ok(Vec::new()) };
        let done = match &step {
            Step::Subject(number) => self.subject(*number, client, rules).await,
            Step::Texts { what, at, page, size } => self.texts(*what, at, *page, *size, client, rules).await,
            Step::Other(kind, at) => self.other(kind, at, client, rules).await,
            Step::Event => {
                self.steps.pop_front();
                return Ok(self.event(rules));
            }
        };
        match done {
            Ok(items) => Ok(items),
            // Gone, moved elsewhere, not ours to see, or not what was expected: this thread's own matter.
            Err(error) if matches!(error.class, ErrorClass::Permanent | ErrorClass::Config) => {
                self.steps.pop_front();
                if matches!(step, Step::Subject(_)) {
                    self.steps.retain(|step| matches!(step, Step::Event));
                }
                // Discussions are named by addresses that GitHub does not answer at.
                if !matches!(step, Step::Other("discussion" | "discussion-comment", _)) {
                    self.told = false;
                    self.warn(format!("it could not be read whole: {}", one_line(&chain(&error), 300)));
                }
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    async fn subject(&mut self, number: u64, client: &Client, rules: &Rules) -> Result<Vec<Item>, PortError> {
        let Some((owner, name)) = super::spec::repository(&self.notice.repo) else {
            let why = format!("{:?} is no repository", self.notice.repo);
            return Err(PortError::caused(ErrorClass::Permanent, "read a thread", why));
        };
        let (owner, name) = (owner.to_owned(), name.to_owned());
        let digits = number.to_string();
        let issue = client.one(client.at(&["repos", &owner, &name, "issues", &digits], &[])).await?;
        let thread =
            Thread::of(&issue, &self.notice.repo, self.notice.repo_id, number, Some(&self.notice), &rules.me);
        let item = map::subject(&issue, &thread, rules, self.since);
        self.tells(item.at);
        self.steps.pop_front();
        for what in [Texts::Reviews, Texts::DiffComments, Texts::Comments] {
            if thread.pull || what == Texts::Comments {
                let at = list_url(client, [&owner, &name, &digits], what, self.asked_from, PER_PAGE[0]);
                self.steps.push_front(Step::Texts { what, at, page: 0, size: 0 });
            }
        }
        self.thread = Some(thread);
        Ok(vec![item])
    }

    async fn texts(
        &mut self,
        what: Texts,
        at: &Url,
        page: usize,
        size: usize,
        client: &Client,
        rules: &Rules,
    ) -> Result<Vec<Item>, PortError> {
        let listed = match client.list(at.clone(), &Validators::default()).await {
            Err(error) if is_too_big(&error) => return self.smaller(what, size, client, error),
            listed => listed?,
        };
        let Listed { values, next, .. } = listed;
        let Some(thread) = self.thread.clone() else { return Ok(Vec::new()) };
        self.steps.pop_front();
        match next.filter(|next| next != at && !values.is_empty()) {
            Some(_) if page + 1 >= limits::GITHUB_THREAD_PAGES_MAX => {
                self.warn("the thread is too long; the rest of it was not read".to_owned());
            }
            Some(at) => self.steps.push_front(Step::Texts { what, at, page: page + 1, size }),
            None => {}
        }
        let mut items = Vec::with_capacity(values.len());
        for value in &values {
            let item = match what {
                Texts::Comments => Some(map::comment(value, &thread, rules, self.since)),
                Texts::DiffComments => Some(map::diff_comment(value, &thread, rules, self.since)),
                Texts::Reviews => map::review(value, &thread, rules, self.since),
            };
            self.tells(latest_time(value));
            items.extend(item);
        }
        Ok(items)
    }

    /// Texts beyond measure: fewer at once, from the beginning; what was read already is known.
    fn smaller(
        &mut self,
        what: Texts,
        size: usize,
        client: &Client,
        error: PortError,
    ) -> Result<Vec<Item>, PortError> {
        let thread = self.thread.as_ref().map(|thread| (thread.repo.clone(), thread.number.to_string()));
        let (Some(per_page), Some((repo, number))) = (PER_PAGE.get(size + 1), thread) else {
            return Err(PortError { class: ErrorClass::Permanent, ..error });
        };
        let (owner, name) = repo.split_once('/').unwrap_or_default();
        let at = list_url(client, [owner, name, &number], what, self.asked_from, per_page);
        self.steps.pop_front();
        self.steps.push_front(Step::Texts { what, at, page: 0, size: size + 1 });
        Ok(Vec::new())
    }

    async fn other(
        &mut self,
        kind: &'static str,
        at: &Url,
        client: &Client,
        rules: &Rules,
    ) -> Result<Vec<Item>, PortError> {
        let value = client.one(at.clone()).await?;
        self.steps.pop_front();
        if !value.is_object() {
            return Ok(Vec::new());
        }
        self.told = true;
        Ok(vec![map::events::other(&value, kind, &self.notice, rules)])
    }

    /// Something of this time was read: if it is about as new as the notification, that is what it tells of.
    fn tells(&mut self, at: Option<Timestamp>) {
        self.told |= at.is_some_and(|at| at >= self.notice.updated_at.minus(OVERLAP));
    }

    fn event(&self, rules: &Rules) -> Vec<Item> {
        if self.told && self.warning.is_empty() {
            return Vec::new();
        }
        vec![map::events::event(&self.notice, self.thread.as_ref(), &rules.me, &self.warning)]
    }
}

/// The address of a list of texts. Reviews take no `since`: all of them come, oldest first.
fn list_url(
    client: &Client,
    [owner, name, number]: [&str; 3],
    what: Texts,
    since: Option<Timestamp>,
    per_page: &str,
) -> Url {
    let since = since.map(|since| since.to_string());
    let mut query = vec![("per_page", per_page)];
    let place = match what {
        Texts::Comments => ["issues", number, "comments"],
        Texts::DiffComments => {
            query.extend([("sort", "created"), ("direction", "asc")]);
            ["pulls", number, "comments"]
        }
        Texts::Reviews => ["pulls", number, "reviews"],
    };
    if let (Some(since), true) = (&since, what != Texts::Reviews) {
        query.push(("since", since));
    }
    let path: Vec<&str> = ["repos", owner, name].into_iter().chain(place).collect();
    client.at(&path, &query)
}

/// When a text was last touched.
fn latest_time(value: &Value) -> Option<Timestamp> {
    ["/created_at", "/updated_at", "/submitted_at"].iter().filter_map(|at| json::time(value, at)).max()
}

/// In the order in which they were said: context first, what happened last.
pub(super) fn in_order(items: &mut [Item]) {
    items.sort_by_key(|item| {
        let rank = match item.kind.as_str() {
            "issue" | "pull-request" if item.disposition != Disposition::Work => 0,
            "notification" => 2,
            _ => 1,
        };
        (rank, item.at)
    });
}
