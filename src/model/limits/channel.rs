//! Bounds of channels and pairing.

use std::time::Duration;

/// Messages taken from a channel at one look: one person says less in a day.
pub const CHANNEL_MESSAGES_MAX: usize = 100;

/// A name or id that a channel tells of its user.
pub const CHANNEL_NAME_BYTES_MAX: usize = 256;

/// A message on a channel: a rejection in a few sentences, or an answer.
pub const CHANNEL_TEXT_BYTES_MAX: usize = 16 * 1024;

/// Things told in one notice; the rest is counted.
pub const CHANNEL_ENTRIES_MAX: usize = 10;

/// Of a draft, with `detail = "full"`: what a phone shows.
pub const CHANNEL_BODY_BYTES_MAX: usize = 2000;

/// How long one wait for messages lasts: below what proxies on the way close for being idle.
pub const CHANNEL_WAIT: Duration = Duration::from_secs(50);

/// A pairing code that nobody used ends after this.
pub const PAIRING_TIME: Duration = Duration::from_secs(10 * 60);

/// Wrong codes after which a pairing code ends.
pub const PAIRING_TRIES_MAX: u32 = 5;

/// A message that was sent so long ago decides nothing: what was true of it then may not be now.
pub const CHANNEL_MESSAGE_AGE_MAX: Duration = Duration::from_secs(12 * 3600);

/// Unknown references within an hour after which a channel takes no decision for the rest of it: nobody mistypes so often.
pub const CHANNEL_WRONG_MAX: u32 = 20;

/// Messages remembered of a channel, so that none is taken twice.
pub const CHANNEL_HEARD_MAX: usize = 1000;

/// References to what nobody decided end after this.
pub const CHANNEL_REFERENCE_AGE_MAX: Duration = Duration::from_secs(60 * 86_400);

/// A pass that was woken soon after it looked for messages does not look again.
pub const CHANNEL_LOOK_GAP: Duration = Duration::from_secs(5);

/// Drafts that a channel keeps count of: with more, one more says nothing new.
pub const DRAFTS_TOLD_MAX: usize = 1000;

/// What is written and might need the user is looked at together within this time.
pub const CHANNEL_NEWS_GAP: Duration = Duration::from_millis(500);
