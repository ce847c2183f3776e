//! Who may see the page: single-use tokens handed out over the control socket, and the sessions made of them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::model::limits::{
    WEB_SESSION_LIFE_MAX, WEB_SESSION_REST_MAX, WEB_SESSIONS_MAX, WEB_TOKEN_LIFE, WEB_TOKENS_MAX,
};
use crate::model::time::{Clock, Timestamp};
use crate::secret::random::random_hex;

/// 256 bits, as hex digits.
const DIGITS: usize = 64;

/// Only digests are kept: what lies in memory, or in a core dump, opens nothing.
type Mark = [u8; 32];

/// Tokens and sessions, both bounded: the oldest goes when there are too many.
#[derive(Debug)]
pub struct Doors {
    clock: Clock,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tokens: VecDeque<(Mark, Timestamp)>,
    sessions: VecDeque<Kept>,
}

#[derive(Debug)]
struct Kept {
    mark: Mark,
    begun: Timestamp,
    seen: Timestamp,
    csrf: String,
}

/// A token and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// For the URL, once.
    pub token: String,
    /// Good until then.
    pub until: Timestamp,
}

/// A visitor who is let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Stands in every form; a form of another page cannot know it.
    pub csrf: String,
    /// What was seen before the view was put together, for the stream that tells of changes.
    pub news: u64,
}

impl Doors {
    /// Nobody is in.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, inner: Mutex::default() }
    }

    /// A new token.
    #[must_use]
    pub fn token(&self) -> Token {
        let token = random_hex(DIGITS);
        let until = self.clock.now().plus(WEB_TOKEN_LIFE);
        let mut inner = self.lock();
        if inner.tokens.len() >= WEB_TOKENS_MAX {
            inner.tokens.pop_front();
        }
        inner.tokens.push_back((mark(&token), until));
        Token { token, until }
    }

    /// Takes a token and gives the value of a session's cookie; the token is used up. `None`: it never was one, is late, or
    /// was used.
    #[must_use]
    pub fn enter(&self, token: &str) -> Option<String> {
        let now = self.clock.now();
        let wanted = mark(token);
        let mut inner = self.lock();
        inner.tokens.retain(|(_, until)| *until > now);
        let found = position(inner.tokens.iter().map(|(kept, _)| kept), &wanted)?;
        inner.tokens.remove(found);
        let cookie = random_hex(DIGITS);
        if inner.sessions.len() >= WEB_SESSIONS_MAX {
            inner.sessions.pop_front();
        }
        let csrf = random_hex(DIGITS);
        inner.sessions.push_back(Kept { mark: mark(&cookie), begun: now, seen: now, csrf });
        Some(cookie)
    }

    /// The session of a cookie, which is not left resting by that.
    #[must_use]
    pub fn session(&self, cookie: &str) -> Option<Session> {
        let now = self.clock.now();
        let wanted = mark(cookie);
        let mut inner = self.lock();
        inner.sessions.retain(|kept| kept.is_alive(now));
        let found = position(inner.sessions.iter().map(|kept| &kept.mark), &wanted)?;
        let kept = inner.sessions.get_mut(found)?;
        kept.seen = now;
        Some(Session { csrf: kept.csrf.clone(), news: 0 })
    }

    /// Ends a session.
    pub fn leave(&self, cookie: &str) {
        let wanted = mark(cookie);
        self.lock().sessions.retain(|kept| !same(&kept.mark, &wanted));
    }

    /// Somebody is in, or may still come in.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let now = self.clock.now();
        let inner = self.lock();
        inner.tokens.iter().any(|(_, until)| *until > now)
            || inner.sessions.iter().any(|kept| kept.is_alive(now))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_alive(&self, now: Timestamp) -> bool {
        now.since(self.begun) < WEB_SESSION_LIFE_MAX && now.since(self.seen) < WEB_SESSION_REST_MAX
    }
}

fn mark(text: &str) -> Mark {
    Sha256::digest(text.as_bytes()).into()
}

/// Takes as long wherever they differ.
fn same(one: &Mark, other: &Mark) -> bool {
    one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

/// Looks at all of them, wherever the right one stands.
fn position<'a>(marks: impl Iterator<Item = &'a Mark>, wanted: &Mark) -> Option<usize> {
    let mut found = None;
    for (at, kept) in marks.enumerate() {
        if same(kept, wanted) {
            found = Some(at);
        }
    }
    found
}

/// Two texts of a session are the same, told in a time that says nothing of where they differ.
#[must_use]
pub fn same_text(one: &str, other: &str) -> bool {
    same(&mark(one), &mark(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors() -> (Doors, Clock) {
        let clock = Clock::manual(Timestamp(1_000_000));
        (Doors::new(clock.clone()), clock)
    }

    #[test]
    fn a_token_opens_once() {
        let (doors, _) = doors();
        let token = doors.token().token;
        assert_eq!(doors.enter("guess"), None);
        let cookie = doors.enter(&token).unwrap();
        assert_eq!(doors.enter(&token), None);
        assert!(doors.session(&cookie).is_some());
        assert_eq!(doors.session(&token), None);
    }

    #[test]
    fn a_late_token_opens_nothing() {
        let (doors, clock) = doors();
        let token = doors.token().token;
        clock.advance(WEB_TOKEN_LIFE);
        assert_eq!(doors.enter(&token), None);
        assert!(!doors.is_awaited());
    }

    #[test]
    fn a_session_ends_by_rest_by_age_and_by_hand() {
        let (doors, clock) = doors();
        let enter = || doors.enter(&doors.token().token).unwrap();
        let resting = enter();
        clock.advance(WEB_SESSION_REST_MAX);
        assert_eq!(doors.session(&resting), None);
        let busy = enter();
        let steps = WEB_SESSION_LIFE_MAX.as_secs() / 3600;
        for _ in 1..steps {
            clock.advance(std::time::Duration::from_secs(3600));
            assert!(doors.session(&busy).is_some());
        }
        clock.advance(std::time::Duration::from_secs(3600));
        assert_eq!(doors.session(&busy), None);
        let left = enter();
        doors.leave(&left);
        assert_eq!(doors.session(&left), None);
    }

    #[test]
    fn neither_tokens_nor_sessions_pile_up() {
        let (doors, _) = doors();
        let first = doors.token().token;
        for _ in 0..WEB_TOKENS_MAX {
            let _ = doors.token();
        }
        assert_eq!(doors.enter(&first), None);
        let first = doors.enter(&doors.token().token).unwrap();
        for _ in 0..WEB_SESSIONS_MAX {
            let _ = doors.enter(&doors.token().token).unwrap();
        }
        assert_eq!(doors.session(&first), None);
    }
}
