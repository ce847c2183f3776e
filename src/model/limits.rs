//! Every bound in one file, each with its reason. Units stand last in the name.

mod data;
mod log;
mod secrets;
mod web;

mod channel;

use std::time::Duration;

pub use self::channel::*;

pub use self::data::*;
pub use self::log::*;
pub use self::secrets::*;
pub use self::web::*;

/// A server's clock further off than this is worth a word: its dates are compared with ours.
pub const CLOCK_SKEW_MAX: Duration = Duration::from_secs(60);

/// A place by time goes at most so far past the far side's clock: its `Date` is cut to the second and its machines differ a
/// little. Less than every overlap, so that what is stamped truly meanwhile is read all the same.
pub const PLACE_AHEAD_MAX: Duration = Duration::from_secs(30);

/// A cursor is a position, not a store: a program that returns more is at fault.
pub const CURSOR_BYTES_MAX: usize = 64 * 1024;

/// Text of one item kept for engines and review; what is beyond is said, never silently lost.
pub const ITEM_TEXT_BYTES_MAX: usize = 64 * 1024;

/// Hidden parts are for the reviewer's eye, not for reading novels.
pub const HIDDEN_TEXT_BYTES_MAX: usize = 4 * 1024;

/// Hidden parts, attachments, identities and thread names kept per item.
pub const ITEM_LIST_LEN_MAX: usize = 64;

/// A title is one line.
pub const TITLE_BYTES_MAX: usize = 512;

/// Items in one page: bounds memory and the length of one transaction.
pub const PAGE_ITEMS_MAX: usize = 200;

/// Items counted before a connector is switched on: beyond, the number itself says enough.
pub const PREVIEW_ITEMS_MAX: usize = 5_000;

/// Pages asked for while counting; a source of small pages must not be asked for hours.
pub const PREVIEW_PAGES_MAX: usize = 200;

/// Pages taken in one activation of a sync loop; the rest waits for the next, so a huge backlog starves nobody.
pub const PAGES_PER_CYCLE_MAX: usize = 50;

/// Items of a case handed to an engine, newest kept: a thread of thousands must not become one prompt.
pub const CASE_ITEMS_PROMPT_MAX: usize = 20;

/// The prompt text handed to an engine.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;

/// A route's prompt with its values: a quarter of what an engine is told.
pub const INSTRUCTION_BYTES_MAX: usize = PROMPT_BYTES_MAX / 4;

/// Prompts of runs are kept for so long: a month is as far back as anybody compares.
pub const PROMPTS_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// All kept prompts together: a few hundred of the longest, tens of thousands of usual ones.
pub const PROMPTS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Replays looked at in one pass of the worker.
pub const REPLAYS_LOOKED_AT_MAX: usize = 20;

/// A label that an engine proposes: a word or two.
pub const LABEL_BYTES_MAX: usize = 64;

/// Labels of one case.
pub const CASE_LABELS_MAX: usize = 16;

/// Of a receipt, each part: the far side's id, and its evidence.
pub const RECEIPT_BYTES_MAX: usize = 1024;

/// Effects of one draft beside its text: more, nobody looks at one by one.
pub const EFFECTS_MAX: usize = 16;

/// Effects read out of one answer: what is beyond [`EFFECTS_MAX`] is told, not done.
pub const EFFECTS_READ_MAX: usize = 64;

/// One effect as it is written: a verb and a name.
pub const EFFECT_BYTES_MAX: usize = 256;

/// A draft body; beyond this an engine is writing something else than a reply.
pub const DRAFT_BYTES_MAX: usize = 256 * 1024;

/// A person's answer to an engine's question. It goes into each later prompt of the case.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// A whole mail fetched into memory.
pub const MAIL_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A mail up to this size is fetched whole; text stands in front of attachments, so of a larger one the beginning does.
pub const MAIL_WHOLE_BYTES_MAX: u32 = 1024 * 1024;

/// The beginning of a larger mail: four times the text that is kept, for headers, encodings and HTML.
pub const MAIL_PART_BYTES: u32 = 256 * 1024;

/// Mail fetched for one page, as announced by the server: what a page may hold in memory.
pub const MAIL_PAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Mails in one Maildir: their names are held in memory.
pub const MAILDIR_MAILS_MAX: usize = 500_000;

/// What a sendmail-like program may print; it is not read.
pub const SENDMAIL_STDOUT_BYTES_MAX: usize = 1024 * 1024;

/// Mails asked for in one FETCH; servers with MESSAGELIMIT (RFC 9738) refuse more.
pub const IMAP_BATCH_LEN_MAX: usize = 50;

/// Message numbers listed at once far from the end of a mailbox; nearer, all new mail is listed in one answer.
pub const IMAP_WINDOW_LEN: u32 = 1000;

/// An answer of an IMAP server that holds no mail: 10,000 mailboxes in a list.
pub const IMAP_ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// A list of flags, dates and sizes: a window of 100,000 mails.
pub const IMAP_HEADS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// All that a submission server may say about one mail.
pub const SMTP_ANSWERS_BYTES_MAX: u64 = 256 * 1024;

/// A sent mail that is not in its mailbox after so long will hardly come; servers store copies with delay.
pub const SENT_COPY_DELAY: Duration = Duration::from_secs(120);

/// A file of extra CA certificates; the system's whole collection is a quarter of it.
pub const CA_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A feed document, after decompression.
pub const FEED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Items taken from one feed document, newest (first) kept: real feeds hold tens, archives some hundreds.
pub const FEED_ITEMS_MAX: usize = 5000;

/// Names of feed items remembered in the cursor to know a flood by; fits [`CURSOR_BYTES_MAX`] with room to spare.
pub const FEED_NAMES_MAX: usize = 4000;

/// Places of broken markup that are stepped over in one document; each may cost one reading of the rest.
pub const FEED_TEARS_MAX: usize = 100;

/// The root tag of a broken feed, repeated around each item that is read by itself.
pub const FEED_ROOT_BYTES_MAX: usize = 4 * 1024;

/// A JSON answer of an API, after decompression.
pub const JSON_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Headers of an HTTP/2 answer; HTTP/1 has the client's own bounds of 100 headers and about 400 KB.
pub const HTTP_HEADER_BYTES_MAX: u32 = 64 * 1024;

/// One message over a WebSocket: an event with a long message in it is some ten KB.
pub const SOCKET_MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Redirects followed for one read: more is a loop.
pub const HTTP_REDIRECTS_MAX: usize = 5;

/// Name, TCP and TLS together.
pub const HTTP_CONNECT: Duration = Duration::from_secs(10);

/// One request with all its redirects, to the last byte of the answer.
pub const HTTP_TOTAL: Duration = Duration::from_secs(60);

/// An unused connection is closed: the next poll is usually minutes away, and an idle daemon holds nothing.
pub const HTTP_POOL_IDLE: Duration = Duration::from_secs(30);

/// A wait longer than this is not believed.
pub const RETRY_HINT_MAX: Duration = Duration::from_secs(24 * 3600);

/// A shorter wait than this is taken for so long: a server that says "limited, come back in 0 seconds" must not be asked
/// without a pause.
pub const RETRY_HINT_MIN: Duration = Duration::from_secs(5);

/// What an absurd wait counts as.
pub const RETRY_HINT_ABSURD: Duration = Duration::from_secs(3600);

/// After "too many requests" without a time.
pub const RATE_LIMIT_WAIT: Duration = Duration::from_secs(60);

/// Elements of one WebDAV answer: a listing of some ten thousand events.
pub const DAV_ELEMENTS_MAX: usize = 200_000;

/// Elements inside one another in a WebDAV answer.
pub const DAV_DEPTH_MAX: usize = 32;

/// Redirects followed by hand while a calendar server is explored.
pub const DAV_REDIRECTS_MAX: usize = 3;

/// Events fetched from a calendar in one request.
pub const CALDAV_BATCH_LEN: usize = 50;

/// Answers with the events of one calendar: a year of a busy one.
pub const CALDAV_BYTES_MAX: usize = 32 * 1024 * 1024;

/// One event with all its exceptions; beyond this it is no event.
pub const CALDAV_EVENT_BYTES_MAX: usize = 1024 * 1024;

/// Occurrences of a recurring event gone through to find those near now: daily for fifty years.
pub const CALDAV_OCCURRENCES_MAX: usize = 20_000;

/// Exceptions of one recurring event that make items of their own.
pub const CALDAV_INSTANCES_MAX: usize = 16;

/// Meetings to come remembered in a cursor, over all calendars of an account.
pub const CALDAV_MEETINGS_MAX: usize = 400;

/// Versions of events remembered in a cursor, for servers without sync tokens.
pub const CALDAV_MARKS_MAX: usize = 3000;

/// How far ahead the first look at a calendar goes.
pub const CALDAV_AHEAD: Duration = Duration::from_secs(366 * 24 * 3600);

/// A wait on the far side may overrun what was agreed by so much before it counts as lost.
pub const LONG_POLL_GRACE: Duration = Duration::from_secs(15);

/// An answer of a Matrix homeserver to one look: a snapshot of some thousand rooms, or a week away from busy ones.
pub const MATRIX_SYNC_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Newest messages of each room in one look at a Matrix homeserver; what is left out is asked for room by room.
pub const MATRIX_TIMELINE_LEN: usize = 20;

/// Messages of a Matrix room asked for at once when a look left some out.
pub const MATRIX_GAP_PAGE_LEN: usize = 100;

/// Messages of one Matrix room that a look left out and that are still read: beyond this nobody answers them.
pub const MATRIX_GAP_EVENTS_MAX: usize = 1000;

/// The same in bytes: events are up to 64 KiB each.
pub const MATRIX_GAP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Questions about single messages and rooms in one page of a Matrix poll; the rest of the page waits for the next.
pub const MATRIX_LOOKUPS_MAX: usize = 50;

/// Pages of own messages in a Matrix room gone through to find one.
pub const MATRIX_CONFIRM_PAGES_MAX: usize = 10;

/// The content of a Matrix event we send: the whole event may have 65,536 bytes, and the server adds its own part.
pub const MATRIX_CONTENT_BYTES_MAX: usize = 60 * 1024;

/// Matrix rooms of two members remembered in a cursor.
pub const MATRIX_PAIRS_MAX: usize = 400;

/// Matrix rooms of which something was told once, remembered in a cursor.
pub const MATRIX_TOLD_MAX: usize = 1000;

/// Own messages remembered, to know replies to them without asking.
pub const MATRIX_OWN_KNOWN_MAX: usize = 2000;

/// Display names remembered of one Matrix room.
pub const MATRIX_MEMBERS_KNOWN_MAX: usize = 1000;

/// Items of one run of a command connector: with [`COMMAND_STDOUT_BYTES_MAX`] it bounds what is held in memory.
pub const COMMAND_ITEMS_MAX: usize = 1000;

/// One line of a command connector.
pub const COMMAND_LINE_BYTES_MAX: usize = 1024 * 1024;

/// All lines of one run of a command connector.
pub const COMMAND_STDOUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The state of a command connector; leaves room for our own part of the cursor.
pub const COMMAND_STATE_BYTES_MAX: usize = 60 * 1024;

/// What of a command connector's stderr goes into an error.
pub const COMMAND_STDERR_SHOWN_BYTES_MAX: usize = 600;

/// Records of one run of a tap, which cannot be told to stop early: with [`TAP_STDOUT_BYTES_MAX`] it bounds memory.
pub const TAP_ITEMS_MAX: usize = 20_000;

/// All lines of one run of a tap.
pub const TAP_STDOUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Log lines of a tap that are shown: the first say what is wrong.
pub const TAP_LOGS_MAX: usize = 5;

/// Streams whose keys are remembered in one run of a tap.
pub const TAP_STREAMS_MAX: usize = 1000;

/// A catalog of a tap: some kilobytes for each stream's schema.
pub const TAP_CATALOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A server that does not know the era it was asked in may say nothing; one that knows it answers in moments.
pub const MCP_PATIENCE: Duration = Duration::from_secs(5);

/// One talk with an MCP server, all its pages together.
pub const MCP_SESSION: Duration = Duration::from_secs(3600);

/// All that an MCP server says in one talk.
pub const MCP_STDOUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Pages walked through in one poll; the next goes on.
pub const MCP_PAGES_MAX: usize = 20;

/// Items after which no further page is asked for in one poll.
pub const MCP_ITEMS_MAX: usize = 2000;

/// A cursor of an MCP server; leaves room for our own part.
pub const MCP_CURSOR_BYTES_MAX: usize = 32 * 1024;

/// Tools of one server that are looked through.
pub const MCP_TOOLS_MAX: usize = 1000;

/// Names of tools kept to tell changes; 128 bytes each at most.
pub const MCP_TOOLS_KEPT_MAX: usize = 100;

/// An answer about a token; those that are signed statements are some kilobytes.
pub const OAUTH_ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A token's life as it is believed: what lasts longer is looked at again by then.
pub const OAUTH_LIFE_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// A token is renewed so long before it ends: clocks differ, and requests take their time.
pub const OAUTH_EARLY: Duration = Duration::from_secs(60);

/// How long a login waits for the person.
pub const OAUTH_WAIT: Duration = Duration::from_secs(15 * 60);

/// Between two questions whether a code was typed, where the server says nothing (RFC 8628); also what "slower" adds.
pub const OAUTH_INTERVAL: Duration = Duration::from_secs(5);

/// The longest such pause: a person waits at the other end.
pub const OAUTH_INTERVAL_MAX: Duration = Duration::from_secs(60);

/// Visitors of the port that waits for a browser: its icon, a few others.
pub const OAUTH_VISITORS_MAX: usize = 16;

/// One visitor, from connecting to our answer.
pub const OAUTH_VISIT: Duration = Duration::from_secs(10);

/// What a visitor may say: an address with a code, and a browser's headers.
pub const OAUTH_HEAD_BYTES_MAX: usize = 32 * 1024;

/// A program's reply handle: it is stored with every draft and action.
pub const REPLY_HANDLE_BYTES_MAX: usize = 16 * 1024;

/// Files of a drop-box that are looked at in one poll.
pub const DIRECTORY_FILES_MAX: usize = 20_000;

/// Files of a drop-box remembered as half written; the rest is met again by the next poll.
pub const DIRECTORY_RESTLESS_MAX: usize = 50;

/// Files remembered as there before the connector; 12 letters each in the cursor.
pub const DIRECTORY_BASELINE_MAX: usize = 3000;

/// A dropped file.
pub const FILE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One line from a child process: a 1 MiB answer is a line of 1 MiB, twice.
pub const CHILD_LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// All of a child's standard output.
pub const CHILD_STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The tail of a child's standard error that is kept.
pub const CHILD_STDERR_BYTES_MAX: usize = 64 * 1024;

/// After the leader of a child tree ended, the pipes are read this much longer.
pub const CHILD_DRAIN: Duration = Duration::from_secs(2);

/// Between TERM and KILL.
pub const CHILD_TERM_GRACE: Duration = Duration::from_secs(5);

/// From a limit or a cancel to the close of the input of a child that is talked with: agents that know how to stop did so
/// at once. This, the next two and the sweep make less than the three seconds that a cancel may take.
pub const DIALOGUE_ASKED_GRACE: Duration = Duration::from_millis(1000);

/// From that close to TERM.
pub const DIALOGUE_CLOSING_GRACE: Duration = Duration::from_millis(500);

/// From TERM to KILL, in a dialogue.
pub const DIALOGUE_TERM_GRACE: Duration = Duration::from_millis(700);

/// After a talk that came to its end, the child has this long to write its session down before it is asked by a signal.
pub const DIALOGUE_PATIENCE: Duration = Duration::from_secs(3);

/// An agent that gives signs of life and gets nowhere: retries of a far side that is down, mostly.
pub const ENGINE_NO_PROGRESS: Duration = Duration::from_secs(300);

/// What may wait to be read by a child that is talked with: a prompt in which each byte is escaped, twice over.
pub const DIALOGUE_OUT_BYTES_MAX: usize = 16 * PROMPT_BYTES_MAX;

/// A lease on a case; extended while the worker lives.
pub const LEASE: Duration = Duration::from_secs(120);

/// Tries of one case before it is parked for the user, counted over restarts. One that was only ever interrupted is
/// parked for a while first.
pub const CASE_ATTEMPTS_MAX: u32 = 4;

/// Tries of one outbound action on transient errors before it is held for the user.
pub const SEND_ATTEMPTS_MAX: u32 = 12;

/// How long the platform is asked "did it arrive?" before the user is.
pub const CONFIRM_WINDOW: Duration = Duration::from_secs(15 * 60);

/// Messages waiting for the store's writer; senders wait, memory does not grow.
pub const WRITER_QUEUE_LEN_MAX: usize = 1024;

/// Operations in one transaction of the store's writer.
pub const WRITER_BATCH_LEN_MAX: usize = 256;

/// Unit files read from one directory.
pub const UNIT_FILES_MAX: usize = 20_000;

/// One unit file.
pub const UNIT_FILE_BYTES_MAX: u64 = 256 * 1024;

/// Instances of templates that exist because a unit names them: one that names two longer ones doubles at each step.
pub const INSTANCES_NAMED_MAX: usize = 1000;

/// Elements of one list in a unit file; each may be looked up among all units.
pub const UNIT_LIST_LEN_MAX: usize = 1000;

/// Findings shown for one file; cascades beyond help nobody.
pub const FINDINGS_PER_FILE_MAX: usize = 20;

/// Earlier routes that a route is compared with when shadowed ones are looked for: keeps ten thousand routes cheap.
pub const ROUTES_COMPARED_MAX: usize = 200;

/// Who wrote a proposed draft, in the record.
pub const JOURNAL_BY_BYTES_MAX: usize = 120;

/// Things that wait, of each kind, among what needs the user; whoever has more is helped by none of the rest.
pub const PARKED_SHOWN_MAX: usize = 500;

/// A request to the control socket.
pub const CONTROL_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Runs that a report of costs goes over, the newest: some hundred a day for most of a year.
pub const COST_RUNS_MAX: usize = 100_000;

/// Lines of the journal that the report of a day goes over: a thousand cases with ten each, and as much again.
pub const DIGEST_LINES_MAX: usize = 20_000;

/// Journal rows shown for one case.
pub const JOURNAL_ROWS_SHOWN_MAX: usize = 1000;

/// Control connections at once; a terminal, a page and a few scripts.
pub const CONTROL_CONNECTIONS_MAX: usize = 64;

/// An answer over the control socket as a client takes it: a whole case record.
pub const CONTROL_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long a client of the control socket waits for an answer.
pub const CONTROL_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a client waits to hear that somebody is there at all: a stopped or stuck daemon is told of, not waited for.
pub const CONTROL_HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// At stop, requests on the control socket may take this much longer.
pub const CONTROL_DRAIN: Duration = Duration::from_secs(2);

/// Rows moved by one transaction of start-up, the reaper and the alarm clock: others get their turn between.
pub const SWEEP_ROWS_MAX: usize = 500;

/// Plans kept on disk, besides the pinned one: enough to find the last good one after a day of editing.
pub const PLANS_KEPT_MAX: usize = 20;

/// A kept plan: ten thousand units in their whole form, with a place for each key, and as much again.
pub const PLAN_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Without another event for so long, a save is done: editors take some milliseconds for theirs.
pub const WATCH_QUIET: Duration = Duration::from_millis(50);

/// Under events without end unit files are looked at anyway.
pub const WATCH_CAP: Duration = Duration::from_secs(2);

/// Unit files are looked at even if nothing was told: no notification is certain (network file systems, bind mounts).
pub const WATCH_RESCAN: Duration = Duration::from_secs(60);

/// Between two looks at directories that cannot be watched.
pub const WATCH_POLL: Duration = Duration::from_secs(2);

/// A broken or empty file of this age may still be in the making.
pub const WATCH_YOUNG: Duration = Duration::from_secs(1);

/// Directories watched; many systems give a user 8192 for all programs together.
pub const WATCHES_MAX: usize = 2048;

/// Threads of a GitHub inbox remembered in the cursor, 25 letters each; more than an hour of the busiest inbox.
pub const GITHUB_SEEN_MAX: usize = 1500;

/// Pages of notifications read in one look: 5,000, more than waits after any holiday; what is older is said and left.
pub const GITHUB_INBOX_PAGES_MAX: usize = 100;

/// Requests of one page of items: bounds what a crash repeats and how long others wait for their turn.
pub const GITHUB_REQUESTS_PER_PAGE_MAX: usize = 25;

/// Pages of one list in one thread: 50 comments each.
pub const GITHUB_THREAD_PAGES_MAX: usize = 100;

/// A reply: GitHub's own words name 65,536 characters; the mark and what is made harmless take some.
pub const GITHUB_REPLY_CHARS_MAX: usize = 60_000;

/// Decisions of a person that say how far a connector is trusted to send by itself: what is older tells less of the engine
/// and the work as they are now.
pub const DECISIONS_LEN_MAX: usize = 200;
