//! The one integration binary. Every file in this folder is listed here; `files` fails if one is not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails the test")]

mod command;
mod control;
mod directory;
mod feed;
mod http;
mod imap;
mod instance;
mod mail;
mod mail_answers;
mod maildir;
mod process;
mod real_mail;
mod redaction;
mod submission;
mod support;
mod units;
