//! The one integration binary. Every file in this folder is listed here; `files` fails if one is not.

#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod http;
mod mail;
mod process;
mod support;
