//! Doubles of the outside world.

pub mod http;
pub mod imap;
pub mod mailbox;
pub mod smtp;
