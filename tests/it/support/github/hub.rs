//! What the fake keeps, and what people do there.

use std::collections::BTreeMap;
use std::time::Duration;

use workagent::model::time::{Clock, Timestamp};

use super::super::http::Answer;

/// The account that asks: id and login.
pub const ME: (u64, &str) = (1, "pat");

pub struct Hub {
    pub clock: Clock,
    pub base: String,
    pub issues: BTreeMap<(String, u64), Issue>,
    pub threads: BTreeMap<u64, Thread>,
    pub labels: Vec<String>,
    pub outages: Vec<Outage>,
    /// Requests that count in an hour.
    pub limit: u64,
    pub used: u64,
    pub hour: i64,
    /// When the list of notifications last changed.
    pub changed_at: Timestamp,
    pub poll_interval: u64,
    pub log: Vec<Asked>,
    pub once: Vec<(String, String, Answer)>,
    pub told: usize,
    /// Comments that are posted and of which no answer comes.
    pub lose_answers: usize,
    next_id: u64,
}

/// A request that came in, and what it was met with.
#[derive(Clone, Debug)]
pub struct Asked {
    pub at: Timestamp,
    pub method: String,
    pub target: String,
    pub body: String,
    pub status: u16,
    pub conditional: bool,
    pub headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct Issue {
    pub id: u64,
    pub pull: bool,
    pub title: String,
    pub body: String,
    pub user: (u64, String),
    pub state: &'static str,
    pub labels: Vec<String>,
    pub assignees: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub comments: Vec<Comment>,
    pub diff: Vec<Comment>,
    pub reviews: Vec<Review>,
}

#[derive(Clone, Debug)]
pub struct Comment {
    pub id: u64,
    pub user: (u64, String),
    pub body: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub in_reply_to: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Review {
    pub id: u64,
    pub user: (u64, String),
    pub body: String,
    pub state: &'static str,
    pub submitted_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub reason: String,
    pub kind: &'static str,
    pub title: String,
    pub repo: String,
    pub number: Option<u64>,
    pub updated_at: Timestamp,
    pub last_read_at: Option<Timestamp>,
    pub latest: Option<String>,
}

/// What goes wrong, and when.
#[derive(Clone, Debug)]
pub struct Outage {
    pub from: Timestamp,
    pub until: Timestamp,
    pub trouble: Trouble,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// 502 with a page of HTML.
    BadGateway,
    /// The connection is cut.
    Cut,
    /// 403 about a secondary limit, with a time.
    SecondaryWithTime,
    /// The same without one.
    Secondary,
    /// The hour is used up.
    Primary,
    /// Threads answer 500, the inbox is well.
    ThreadsFail,
}

impl Hub {
    pub fn new(clock: Clock) -> Self {
        let changed_at = clock.now();
        Self {
            clock,
            base: String::new(),
            issues: BTreeMap::new(),
            threads: BTreeMap::new(),
            labels: vec!["bug".into(), "question".into()],
            outages: Vec::new(),
            limit: 5000,
            used: 0,
            hour: 0,
            changed_at,
            poll_interval: 60,
            log: Vec::new(),
            once: Vec::new(),
            told: 0,
            lose_answers: 0,
            next_id: 5000,
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.clock.now().0 / 1000 * 1000)
    }

    pub fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Somebody opens an issue or a pull request.
    pub fn open(&mut self, repo: &str, number: u64, pull: bool, login: &str, title: &str, body: &str) {
        let now = self.now();
        let issue = Issue {
            id: self.id(),
            pull,
            title: title.into(),
            body: body.into(),
            user: user(login),
            state: "open",
            labels: Vec::new(),
            assignees: Vec::new(),
            created_at: now,
            updated_at: now,
            comments: Vec::new(),
            diff: Vec::new(),
            reviews: Vec::new(),
        };
        self.issues.insert((repo.into(), number), issue);
    }

    /// Somebody comments; nobody is told yet.
    pub fn comment(&mut self, repo: &str, number: u64, login: &str, body: &str) -> u64 {
        let (id, now) = (self.id(), self.now());
        let comment = Comment {
            id,
            user: user(login),
            body: body.into(),
            created_at: now,
            updated_at: now,
            in_reply_to: None,
        };
        let issue = self.issue(repo, number);
        issue.comments.push(comment);
        issue.updated_at = now;
        id
    }

    /// Somebody comments on the diff.
    pub fn diff_comment(
        &mut self,
        repo: &str,
        number: u64,
        login: &str,
        body: &str,
        below: Option<u64>,
    ) -> u64 {
        let (id, now) = (self.id(), self.now());
        let comment = Comment {
            id,
            user: user(login),
            body: body.into(),
            created_at: now,
            updated_at: now,
            in_reply_to: below,
        };
        let issue = self.issue(repo, number);
        issue.diff.push(comment);
        issue.updated_at = now;
        id
    }

    pub fn review(&mut self, repo: &str, number: u64, login: &str, state: &'static str, body: &str) -> u64 {
        let (id, now) = (self.id(), self.now());
        let submitted_at = (state != "PENDING").then_some(now);
        let issue = self.issue(repo, number);
        issue.reviews.push(Review { id, user: user(login), body: body.into(), state, submitted_at });
        issue.updated_at = now;
        id
    }

    /// The author edits a comment: no notification comes of it.
    pub fn edit(&mut self, repo: &str, number: u64, id: u64, body: &str) {
        let now = self.now();
        let issue = self.issue(repo, number);
        let comment =
            issue.comments.iter_mut().chain(&mut issue.diff).find(|comment| comment.id == id).unwrap();
        comment.body = body.into();
        comment.updated_at = now;
    }

    pub fn issue(&mut self, repo: &str, number: u64) -> &mut Issue {
        self.issues.get_mut(&(repo.to_owned(), number)).unwrap()
    }

    /// The user is told of a thread, as of now.
    pub fn notify(&mut self, thread: u64, repo: &str, number: u64, reason: &str) {
        let now = self.now();
        let issue = self.issues.get(&(repo.to_owned(), number)).unwrap();
        let last =
            issue.comments.last().map(|comment| format!("/repos/{repo}/issues/comments/{}", comment.id));
        let told = Thread {
            reason: reason.into(),
            kind: if issue.pull { "PullRequest" } else { "Issue" },
            title: issue.title.clone(),
            repo: repo.into(),
            number: Some(number),
            updated_at: now,
            last_read_at: self.threads.get(&thread).and_then(|thread| thread.last_read_at),
            latest: last,
        };
        self.threads.insert(thread, told);
        self.changed_at = now;
    }

    /// The user is told of something that is no issue.
    pub fn notify_other(&mut self, thread: u64, repo: &str, kind: &'static str, title: &str, reason: &str) {
        let now = self.now();
        let told = Thread {
            reason: reason.into(),
            kind,
            title: title.into(),
            repo: repo.into(),
            number: None,
            updated_at: now,
            last_read_at: None,
            latest: None,
        };
        self.threads.insert(thread, told);
        self.changed_at = now;
    }

    pub fn trouble(&self) -> Option<(Trouble, Duration)> {
        let now = self.clock.now();
        let outage = self.outages.iter().find(|outage| outage.from <= now && now < outage.until)?;
        Some((outage.trouble, outage.until.since(now)))
    }
}

/// Ids by name: the account that asks has its own.
pub fn user(login: &str) -> (u64, String) {
    let id = if login == ME.1 { ME.0 } else { 100 + login.bytes().map(u64::from).sum::<u64>() };
    (id, login.into())
}
