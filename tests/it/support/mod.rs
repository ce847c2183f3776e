//! Doubles of the outside world, and what tests of connectors need.

pub mod connector;
pub mod http;
pub mod imap;
pub mod lab;
pub mod mailbox;
pub mod smtp;
