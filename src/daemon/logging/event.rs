//! The one way from an event to what is written: levels, volume, form, mask, out.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::fields::Fields;
use super::journal::Journal;
use super::levels::WhatIsLogged;
use super::lines::Form;
use super::relay::{Lasting, Relay};
use super::volume::{LeftOut, Verdict, Volume};
use crate::control::manager::LogLevels;
use crate::control::wire::log::{LogLevelView, LogLevelsView};
use crate::model::limits::LOG_EVENT_BYTES_MAX;
use crate::model::live::Live;
use crate::model::log_filter::{LogFilter, LogLevel};
use crate::model::text::cut;
use crate::model::time::{Clock, Timestamp};
use crate::secret::Scrubber;

/// Time, level and the like, in bytes of a line; an estimate for the bound on volume.
const AROUND_BYTES: u64 = 80;

/// How many bytes of a text that was repeated are told again.
const REPEATED_BYTES_MAX: usize = 500;

/// An event on its way out.
pub struct Entry<'a> {
    /// When.
    pub at: Timestamp,
    /// How bad.
    pub level: LogLevel,
    /// The module path.
    pub target: &'a str,
    /// The message and the fields of the event and of the spans around it.
    pub fields: Cow<'a, Fields>,
}

/// What of the log changes while it is written. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct Log(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    levels: Live<WhatIsLogged>,
    volume: Mutex<Volume>,
    /// Something is to be looked at later that was not before.
    changed: Notify,
    /// The plan generation that runs; 0: none yet.
    generation: AtomicI64,
    /// The command line says what is logged, whatever unit files say.
    given: AtomicBool,
    /// What a collector is to hear.
    relay: Relay,
    clock: Clock,
}

impl Log {
    pub(super) fn new(filter: LogFilter, clock: Clock) -> Self {
        let levels = Live::new(WhatIsLogged { usual: filter, by_hand: Vec::new() });
        let (volume, changed, generation, given, relay) = Default::default();
        Self(Arc::new(Inner { levels, volume, changed, generation, given, relay, clock }))
    }

    /// For tests and benches that have no log: levels that nobody listens to.
    #[must_use]
    pub fn unheard(clock: Clock) -> Self {
        Self::new(LogFilter::default(), clock)
    }

    /// What is logged now.
    #[must_use]
    pub fn levels(&self) -> Arc<WhatIsLogged> {
        self.0.levels.get()
    }

    /// The usual filter was given by hand, and stays.
    pub fn stay(&self) {
        self.0.given.store(true, Ordering::Relaxed);
    }

    /// What unit files say is usual now.
    pub fn set_usual(&self, filter: &LogFilter) {
        if self.levels().usual != *filter && !self.0.given.load(Ordering::Relaxed) {
            self.change(|levels| levels.usual = filter.clone());
        }
    }

    /// Changes what is logged of a unit, or of all that has no level of its own, for a while. `None`: back to the usual.
    pub fn set_by_hand(&self, unit: Option<&str>, filter: Option<LogFilter>, span: Option<Duration>) {
        let until = span.map(|span| self.0.clock.now().plus(span.min(super::levels::FOR_MAX)));
        self.change(|levels| levels.set(unit, filter, until));
    }

    /// The plan generation that events belong to from now on, where they do not say otherwise.
    pub fn set_generation(&self, generation: i64) {
        self.0.generation.store(generation, Ordering::Relaxed);
    }

    /// What a collector is to hear.
    #[must_use]
    pub fn relay(&self) -> &Relay {
        &self.0.relay
    }

    fn change(&self, change: impl FnOnce(&mut WhatIsLogged)) {
        let mut levels = (*self.levels()).clone();
        change(&mut levels);
        self.0.levels.set(levels);
        // What was judged uninteresting once is asked about again.
        tracing::callsite::rebuild_interest_cache();
        self.0.changed.notify_one();
    }

    /// Takes changes by hand back when their time is over, and tells what was left out when an hour is. For ever; does
    /// nothing while there is nothing to wait for.
    pub async fn keep(&self) {
        loop {
            let now = self.0.clock.now();
            self.look(now);
            match self.next_due() {
                Some(at) => {
                    let wait = tokio::time::sleep(at.since(now).max(Duration::from_millis(100)));
                    tokio::select! {
                        () = wait => {}
                        () = self.0.changed.notified() => {}
                    }
                }
                None => self.0.changed.notified().await,
            }
        }
    }

    /// When something runs out.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        [self.levels().next_end(), self.volume().next_end()].into_iter().flatten().min()
    }

    /// One look at what has run out.
    pub fn look(&self, now: Timestamp) {
        if (*self.levels()).clone().expire(now) {
            self.change(|levels| {
                levels.expire(now);
            });
            tracing::info!("the log levels set by hand have run out");
        }
        let told = self.volume().left_out(now, false);
        told.iter().for_each(tell);
    }

    /// Tells what was left out so far: at the end.
    pub fn flush(&self) {
        let told = self.volume().left_out(self.0.clock.now(), true);
        told.iter().for_each(tell);
    }

    fn volume(&self) -> MutexGuard<'_, Volume> {
        self.0.volume.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogLevels for Log {
    fn shown(&self) -> LogLevelsView {
        let levels = self.levels();
        let by_hand = levels.by_hand.iter().map(|change| LogLevelView {
            unit: change.unit.clone(),
            level: change.filter.to_string(),
            until: change.until,
        });
        LogLevelsView { usual: levels.usual.to_string(), by_hand: by_hand.collect() }
    }

    fn set(&self, unit: Option<&str>, filter: Option<LogFilter>, span: Option<Duration>) {
        self.set_by_hand(unit, filter, span);
    }
}

/// The target under which the log speaks of itself; not bounded, since it says that something was.
const OWN: &str = "workagent::log";

/// The target under which is told how the collector is doing; not for its own ears, since each failure would make another.
pub const OF_RELAY: &str = "workagent::otlp";

fn tell(left_out: &LeftOut) {
    let LeftOut { unit, times, message, level } = left_out;
    match message {
        Some(message) => {
            let message = cut(message, REPEATED_BYTES_MAX);
            if *level == LogLevel::Error {
                tracing::error!(target: OWN, unit, times, "repeated {times} times within an hour: {message}");
            } else {
                tracing::warn!(target: OWN, unit, times, "repeated {times} times within an hour: {message}");
            }
        }
        None => {
            tracing::warn!(target: OWN, unit, times, "{times} lines were left out of the log within an hour");
        }
    }
}

/// Takes one whole line.
type Write = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Where lines go.
pub enum Way {
    /// journald.
    Journal(Journal),
    /// Lines.
    Lines(Form, Write),
}

impl Way {
    /// Lines of this form, one a call.
    pub fn lines(form: Form, write: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self::Lines(form, Box::new(write))
    }
}

/// The layer that all events pass.
pub struct Outlet {
    log: Log,
    way: Way,
    scrubber: Scrubber,
}

impl Outlet {
    pub fn new(log: Log, way: Way, scrubber: Scrubber) -> Self {
        Self { log, way, scrubber }
    }

    fn write(&self, entry: &Entry<'_>) {
        match &self.way {
            Way::Journal(journal) => journal.send(entry, &self.scrubber),
            Way::Lines(form, write) => write(form.line(entry, &self.scrubber).as_bytes()),
        }
    }

    fn interests(&self, meta: &Metadata<'_>) -> bool {
        // Spans carry the fields that the levels of units go by.
        let ours = meta.is_span() && meta.target().starts_with("workagent") && *meta.level() <= Level::INFO;
        ours || self.log.levels().may_count(level_of(*meta.level()), meta.target())
    }
}

/// About what the fields take in a line, cut as they will be.
fn shown_bytes(fields: &Fields) -> u64 {
    let each = fields.0.iter().map(|(name, text)| name.len() + text.len() + 2);
    each.sum::<usize>().min(LOG_EVENT_BYTES_MAX) as u64
}

fn level_of(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG => LogLevel::Debug,
        Level::TRACE => LogLevel::Trace,
    }
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for Outlet {
    fn register_callsite(&self, meta: &'static Metadata<'static>) -> Interest {
        // Asked each time it may count: which unit it belongs to is known only then.
        if self.interests(meta) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, meta: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.interests(meta)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.log.levels().most() {
            LogLevel::Off | LogLevel::Error | LogLevel::Warn | LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        })
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            if self.log.relay().is_on() && attributes.metadata().target().starts_with("workagent") {
                let lasting = self.log.relay().begin(span.name(), &fields, self.log.0.clock.now());
                span.extensions_mut().insert(lasting);
            }
            span.extensions_mut().insert(fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id) {
            let extensions = span.extensions();
            if let (Some(lasting), Some(fields)) = (extensions.get::<Lasting>(), extensions.get::<Fields>()) {
                let now = self.log.0.clock.now();
                self.log.relay().end(span.name(), lasting, fields, now, &self.scrubber);
            }
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flatten().collect::<Vec<_>>().into_iter().rev() {
            if let Some(outer) = span.extensions().get::<Fields>() {
                outer.0.iter().for_each(|(name, text)| fields.put(name, text.clone()));
            }
        }
        event.record(&mut fields);
        let (level, target) = (level_of(*event.metadata().level()), event.metadata().target());
        if !self.log.levels().counts(level, target, fields.get("unit")) {
            return;
        }
        let at = self.log.0.clock.now();
        if target != OWN {
            let bytes = shown_bytes(&fields) + AROUND_BYTES;
            let (verdict, was_quiet) = {
                let mut volume = self.log.volume();
                let was_quiet = volume.next_end().is_none();
                (volume.judge(level, target, &fields, bytes, at), was_quiet)
            };
            match verdict {
                Verdict::Count => {
                    if was_quiet {
                        self.log.0.changed.notify_one();
                    }
                    return;
                }
                Verdict::Write => {}
                Verdict::WriteAfter(times) => {
                    fields.put("repeated", format!("{times} times since the last line"));
                }
                Verdict::WriteAsLast => {
                    fields.put(
                        "log",
                        "this unit wrote too much: the rest of the hour is only counted".to_owned(),
                    );
                }
            }
        }
        let generation = self.log.0.generation.load(Ordering::Relaxed);
        if generation > 0 && fields.get("generation").is_none() {
            fields.put("generation", generation.to_string());
        }
        let entry = Entry { at, level, target, fields: Cow::Owned(fields) };
        self.write(&entry);
        // What the connection to the collector itself has to say comes from other crates.
        if self.log.relay().is_on() && target.starts_with("workagent") && target != OF_RELAY {
            let mut within = None;
            if let Some(span) = context.event_span(event)
                && let Some(lasting) = span.extensions_mut().get_mut::<Lasting>()
            {
                lasting.saw(level);
                within = Some(lasting.id().to_owned());
            }
            self.log.relay().log(&entry, within.as_deref(), &self.scrubber);
        }
    }
}
