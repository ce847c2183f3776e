//! Any program as a connector: the door for everything that is not shipped.
//!
//! # Protocol
//!
//! The program is started for each request, gets it as one line of JSON on standard input (never in its arguments,
//! which everybody can read), answers with lines of JSON on standard output, and ends. Standard error is for people.
//! Its environment is empty but for an allowlist and the unit's `pass` and `set`.
//!
//! **Poll.** `{"op": "poll", "protocol": 1, "state": …, "backlog": "new" | "all" | {"since_s": 604800},
//! "now": "2026-11-30T08:00:00Z", "items_max": 1000}`; `state` is the last one it gave, `null` at first. Answer lines:
//!
//! - `{"type": "item", "id": …}` and as far as it knows: `title`, `body`, `body_format` (`text`, `html`, `markdown`),
//!   `author` (a text, or `{"name", "address"}`), `at` (RFC 3339 or seconds), `updated` (changes when the item does),
//!   `url`, `thread` (items with the same one are one case; may be the id of the first), `kind`, `labels`,
//!   `attachments` (`[{"name", "media_type", "size_bytes"}]`), `reply_handle` (anything; handed back for sending),
//!   `reply_place` (where a reply appears, for people), `offers` (what a reply can do besides: `"close"`, or `{"verb",
//!   "what"}` with `values`, one of which is taken, or `value`, which says what text it takes);
//! - `{"type": "state", "value": …}`: the position behind all items before it, at most 60 KB; both are committed
//!   together;
//! - `{"type": "log", "message": …}`;
//! - `{"type": "error", "class": "later" | "limited" | "credentials" | "permanent" | "config", "message": …,
//!   "retry_after_s": …}`;
//! - `{"type": "done", "more": false, "retry_after_s": …}`: the end. Without it, or with an exit status other than 0,
//!   the run failed: its items count, the position stays at the last state.
//!
//! Types are not case-sensitive; unknown ones are passed over, other lines are counted and shown.
//!
//! **Send** (`send = true`). `{"op": "send", "protocol": 1, "action_id": "wa-7-0123456789abcdef", "reply_handle": …,
//! "body": …, "effects": ["close", "label: bug"]}`; effects are there where some were chosen, then `body` may be empty;
//! bring them about before the text, and mind that they may be repeated. Answer: `{"type": "sent", "remote_id": …}` (the id under which a later poll will read it back),
//! `{"type": "not_sent", "class": …, "message": …}` only if it surely was not, else `{"type": "unknown"}`. A program
//! that ends without an answer may have sent. `action_id` is the same for every try of one approval.
//!
//! **Find**, asked after a send whose outcome is not known. `{"op": "find", "protocol": 1, "action_id": …,
//! "reply_handle": …, "body": …, "since": "2026-11-30T08:00:00Z"}`. Answer: `{"type": "found", "remote_id": …}`,
//! `{"type": "absent"}` or `{"type": "unsupported"}` (then the user is asked).
//!
//! # Other protocols
//!
//! `protocol = "singer"` runs the program as a Singer tap (`--config F [--state F] [--catalog F]`), `"airbyte"` as an
//! Airbyte source (`read --config F --catalog F [--state F]`); see `tap` for their lines and `record` for how a
//! record becomes an item. They only read.

mod collect;
mod run_files;
mod spec;
mod tap;
mod tap_run;
mod wire;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::collect::{Chunk, Collector};
pub use self::spec::SPEC;
use self::tap_run::Tap;
use self::wire::Line;
use super::record::item::{Rules, first_walk};
use super::{Connector, ConnectorContext};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Cursor, Page, PollRequest};
use crate::model::limits;
use crate::model::marker;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;
use crate::process::program::{Ask, Program, Ran};
use crate::process::{ChildEnd, lookup};

/// A program.
struct CommandConnector {
    unit: String,
    program: Program,
    rules: Rules,
    tap: Tap,
    mark: bool,
    find_delay: Duration,
    /// Pages of the last run that were not handed out yet. Lost with the process; then the run is repeated.
    left: Mutex<Option<Run>>,
}

/// What is left of a run.
struct Run {
    chunks: VecDeque<Chunk>,
    notes: Vec<String>,
    /// Position before the run.
    began_as: Memory,
    /// Position behind the chunks handed out so far.
    memory: Memory,
    end: RunEnd,
}

enum RunEnd {
    /// All was said; `whole` unless the run was ended before it said all.
    Well {
        more: bool,
        wait: Option<Duration>,
        whole: bool,
    },
    Badly(PortError),
}

/// The cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// Set until one run came to a good end: when the first began.
    began: Option<Timestamp>,
    /// The program's own.
    state: Value,
    /// Pages of a run handed out so far, while there are more: makes each position another one, so that a page that
    /// was not committed is not taken for one that was.
    part: usize,
}

impl Memory {
    fn of(cursor: Option<&Cursor>, now: Timestamp) -> Self {
        match cursor {
            None => Self { began: Some(now), ..Self::default() },
            Some(cursor) => serde_json::from_str(&cursor.0).unwrap_or_default(),
        }
    }

    fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }
}

fn build(context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let settings = &context.settings;
    let program = settings.text("program").unwrap_or_default();
    if program.is_empty() {
        return Err(PortError::new(ErrorClass::Config, "`program` is missing"));
    }
    let rules = Rules {
        program: program.rsplit('/').next().unwrap_or_default().to_owned(),
        account: settings.text("account").map(str::to_owned),
        send: settings.flag("send"),
    };
    Ok(Arc::new(CommandConnector {
        unit: context.unit.clone(),
        rules,
        tap: Tap::of(settings)?,
        mark: settings.get("mark").is_none() || settings.flag("mark"),
        find_delay: settings.duration("find_delay").unwrap_or(Duration::from_secs(30)),
        program: Program::new(context.program()),
        left: Mutex::new(None),
    }))
}

impl CommandConnector {
    async fn run_poll(&self, request: &PollRequest<'_>) -> Result<Run, PortError> {
        // Whatever was left of an earlier run is gone.
        let memory = Memory { part: 0, ..Memory::of(request.cursor, request.now) };
        let backlog = match request.backlog {
            Backlog::New => json!("new"),
            Backlog::All => json!("all"),
            Backlog::Since(span) => json!({ "since_s": span.as_secs() }),
        };
        let ask = json!({
            "op": "poll", "protocol": 1, "state": memory.state, "backlog": backlog,
            "now": request.now.to_string(), "items_max": limits::COMMAND_ITEMS_MAX,
        });
        let (env, scrubber) = self.program.environment().await?;
        let begun = self.tap.begin(&self.program, &scrubber, &memory.state).await?;
        let caps = self.tap.caps();
        let ask = match &begun.files {
            None => Ask::line(line(&ask)),
            Some(files) => {
                Ask { stdin: Vec::new(), args: files.args().to_vec(), stdout_bytes_max: caps.stdout_bytes }
            }
        };
        let reader = self.tap.reader(&begun, &scrubber, &memory.state);
        let mut collector = Collector::new(&self.rules, &scrubber, reader, caps, request.items_max);
        let ran = self.program.run(env, &scrubber, ask, &mut |line| collector.take(line)).await?;
        drop(begun);
        collector.close();
        let mut notes = collector.notes(ran.report.lines_skipped);
        let end =
            self.end_of_poll(&collector, &ran, &memory, request.now, &|text| scrubber.scrub_owned(text));
        if matches!(end, RunEnd::Well { whole: false, .. }) {
            notes.push("it says more than one run may; the next goes on from its last state".to_owned());
        }
        let mut chunks = collector.chunks;
        if let Some(began) = memory.began {
            let items = chunks.iter_mut().flat_map(|chunk| &mut chunk.items);
            let (found, work) = first_walk(items, began, request);
            if found > 0 {
                notes.push(format!("first poll: {found} items found, {work} of them to be worked on"));
            }
        }
        Ok(Run { chunks, notes, began_as: memory.clone(), memory, end })
    }

    /// In the order of distrust: what we did ourselves, what the program says of its failure, how it ended.
    fn end_of_poll(
        &self,
        collector: &Collector<'_>,
        ran: &Ran,
        memory: &Memory,
        now: Timestamp,
        mask: &dyn Fn(String) -> String,
    ) -> RunEnd {
        let doing = format!("poll with {}", self.program.name());
        let fail = |class, why: String| RunEnd::Badly(PortError::caused(class, doing, with(&why, &ran.said)));
        let over = collector.full || ran.report.end == ChildEnd::OverCap;
        if self.tap.protocol.is_tap()
            && over
            && collector.last_state().is_some_and(|state| *state != memory.state)
        {
            return RunEnd::Well { more: true, wait: None, whole: false };
        }
        if let Some(why) = &collector.broken {
            let advice = match (collector.full, self.tap.protocol.is_tap()) {
                (true, true) => "; it should give a state earlier",
                (true, false) => "; it should stop earlier and say `\"more\": true`",
                (false, _) => "",
            };
            return fail(ErrorClass::NETWORK, format!("{why}{advice}"));
        }
        if let Some(fault) = &collector.fault {
            return fail(fault.class(now), mask(fault.message().to_owned()));
        }
        if let Some(how) = self.program.bad_end(ran.report.end) {
            return fail(ErrorClass::NETWORK, how);
        }
        match collector.done {
            Some((more, wait)) => RunEnd::Well { more, wait, whole: true },
            // Their end is the exit status.
            None if self.tap.protocol.is_tap() => RunEnd::Well { more: false, wait: None, whole: true },
            None => fail(ErrorClass::NETWORK, "it ended without saying `done`".to_owned()),
        }
    }

    /// The next page of a run; what is left of it afterwards goes back.
    fn next_page(&self, mut run: Run) -> Result<Page, PortError> {
        let before = run.memory.clone();
        let chunk = run.chunks.pop_front().unwrap_or_default();
        if let Some(state) = chunk.state {
            run.memory.state = state;
        }
        run.memory.part += 1;
        let notes = std::mem::take(&mut run.notes);
        let last = run.chunks.is_empty();
        let (more, not_before) = match &run.end {
            RunEnd::Well { more, wait, whole } if last => {
                run.memory.began = run.memory.began.filter(|_| !whole);
                run.memory.part = 0;
                (*more, *wait)
            }
            // What was good of a bad run is committed first.
            RunEnd::Badly(_) if last && chunk.items.is_empty() && run.memory.state == before.state => {
                let RunEnd::Badly(error) = run.end else { return Err(bug()) };
                return Err(with_notes(error, &notes));
            }
            _ => (true, None),
        };
        let cursor = (run.memory != run.began_as).then(|| run.memory.cursor());
        let page = Page { items: chunk.items, cursor, more, not_before, notes, ..Page::default() };
        let over = last && matches!(run.end, RunEnd::Well { .. });
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = (!over).then_some(run);
        Ok(page)
    }

    /// Asks one question; gives the one answer out of those that count, or none.
    async fn ask(&self, request: Vec<u8>, counts: fn(&Line) -> bool) -> Result<Answered, PortError> {
        let (env, scrubber) = self.program.environment().await?;
        let mut answers: Vec<Line> = Vec::new();
        let mut take = |line: &[u8]| {
            let text = String::from_utf8_lossy(line);
            let answer = wire::read(text.trim_start_matches('\u{feff}').trim()).filter(counts);
            if answers.len() < 2 {
                answers.extend(answer);
            }
            true
        };
        let ran = self.program.run(env, &scrubber, Ask::line(request), &mut take).await?;
        let end = self.program.bad_end(ran.report.end);
        let said = ran.said;
        // Two different answers are none.
        let answer = match answers.as_slice() {
            [_] => answers.pop(),
            [first, second] if first == second => answers.pop(),
            _ => None,
        };
        Ok(Answered { answer, end, said, scrubber })
    }
}

struct Answered {
    answer: Option<Line>,
    end: Option<String>,
    said: String,
    scrubber: crate::secret::Scrubber,
}

impl Answered {
    fn why_none(&self) -> String {
        let how = self.end.as_deref().unwrap_or("exit status 0");
        with(&format!("it ended without an answer ({how})"), &self.said)
    }
}

fn line(request: &Value) -> Vec<u8> {
    let mut line = request.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn with(why: &str, said: &str) -> String {
    if said.is_empty() { why.to_owned() } else { format!("{why}; it said: {said}") }
}

/// A page that is only an error has no room for notes.
fn with_notes(error: PortError, notes: &[String]) -> PortError {
    match notes.first() {
        Some(note) if error.source.is_some() => {
            let cause = error.source.map(|cause| cause.to_string()).unwrap_or_default();
            PortError::caused(error.class, error.doing, format!("{cause}; {note}"))
        }
        _ => error,
    }
}

fn bug() -> PortError {
    PortError::new(ErrorClass::Bug, "a run of a program came to two ends")
}

impl Connector for CommandConnector {
    /// The account, or the unit: a program that moves to another path is the same source.
    fn identity(&self) -> String {
        self.rules.account.clone().unwrap_or_else(|| self.unit.clone())
    }

    fn destination(&self) -> String {
        let account =
            self.rules.account.as_ref().map(|account| format!(" for {account}")).unwrap_or_default();
        format!("the program {}{account}", self.program.command_line())
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, PortError>> {
        Box::pin(async {
            let (env, _) = self.program.environment().await?;
            let program = lookup::find(OsStr::new(self.program.name()), &env)?;
            lookup::check(&program, &env)?;
            Ok(format!("{} can be started", program.display()))
        })
    }

    fn poll<'a>(&'a self, request: PollRequest<'a>) -> BoxFuture<'a, Result<Page, PortError>> {
        Box::pin(async move {
            let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Left over from a page that was not committed: the position is not what it was taken to be.
            let fits = |run: &Run| request.cursor.is_some_and(|cursor| *cursor == run.memory.cursor());
            let run = match left.filter(fits) {
                Some(run) => run,
                None => self.run_poll(&request).await?,
            };
            self.next_page(run)
        })
    }

    fn prepare(&self, action: &OutboundAction, _now: Timestamp) -> Result<Payload, PortError> {
        if !self.rules.send {
            return Err(PortError::new(ErrorClass::Config, "the unit does not send (`send = false`)"));
        }
        let body = if self.mark && !action.body.is_empty() {
            marker::stamp(&action.body, &action.key)
        } else {
            action.body.clone()
        };
        let mut request = json!({
            "op": "send", "protocol": 1, "action_id": action.key, "reply_handle": action.envelope.thread, "body": body,
        });
        if let (Some(fields), false) = (request.as_object_mut(), action.envelope.effects.is_empty()) {
            let effects: Vec<String> = action.envelope.effects.iter().map(ToString::to_string).collect();
            fields.insert("effects".to_owned(), effects.into());
        }
        Ok(Payload { marker: action.key.clone(), bytes: line(&request) })
    }

    fn deliver<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
    ) -> BoxFuture<'a, Result<Receipt, PortError>> {
        Box::pin(async {
            let counts =
                |line: &Line| matches!(line, Line::Sent { .. } | Line::NotSent(_) | Line::Unknown(_));
            let doing = || format!("send with {}", self.program.name());
            let answered = self.ask(payload.bytes.clone(), counts).await?;
            match &answered.answer {
                Some(Line::Sent { remote_id }) => Ok(receipt(action, remote_id, self.program.name(), "sent")),
                Some(Line::NotSent(fault)) => {
                    let now = self.program.now();
                    let why = answered.scrubber.scrub_owned(fault.message().to_owned());
                    Err(PortError::caused(fault.class(now), doing(), format!("it was not sent: {why}")))
                }
                Some(Line::Unknown(why)) => {
                    let why = answered.scrubber.scrub_owned(why.clone());
                    Err(PortError::caused(
                        ErrorClass::Uncertain,
                        doing(),
                        format!("it may have been sent: {why}"),
                    ))
                }
                _ => Err(PortError::caused(ErrorClass::Uncertain, doing(), answered.why_none())),
            }
        })
    }

    fn confirm<'a>(
        &'a self,
        action: &'a OutboundAction,
        payload: &'a Payload,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Confirmation, PortError>> {
        Box::pin(async move {
            let sent: Value = serde_json::from_slice(&payload.bytes).unwrap_or_default();
            let request = json!({
                "op": "find", "protocol": 1, "action_id": action.key, "reply_handle": action.envelope.thread,
                "body": sent.get("body"), "since": since.to_string(),
            });
            let counts = |line: &Line| matches!(line, Line::Found { .. } | Line::Absent | Line::Unsupported);
            let answered = self.ask(line(&request), counts).await?;
            match &answered.answer {
                Some(Line::Found { remote_id }) => {
                    Ok(Confirmation::Sent(receipt(action, remote_id, self.program.name(), "found")))
                }
                Some(Line::Absent) if self.program.now().since(since) < self.find_delay => {
                    Ok(Confirmation::AskAgain)
                }
                Some(Line::Absent) => Ok(Confirmation::NotSent),
                Some(_) => Ok(Confirmation::CannotTell),
                None => {
                    let doing = format!("look for a reply with {}", self.program.name());
                    Err(PortError::caused(ErrorClass::NETWORK, doing, answered.why_none()))
                }
            }
        })
    }
}

fn receipt(action: &OutboundAction, remote_id: &str, program: &str, how: &str) -> Receipt {
    let remote_id = if remote_id.is_empty() { &action.key } else { remote_id };
    Receipt { remote_id: remote_id.to_owned(), evidence: format!("{how} by {program}, {remote_id}") }
}
