//! Doubles of the outside world, and what tests of connectors need.

pub mod acp_agent;
pub mod again;
pub mod binary;
pub mod children;
pub mod connector;
pub mod contracts;
pub mod corpus;
pub mod desk;
pub mod engine;
pub mod github;
pub mod http;
pub mod imap;
pub mod lab;
pub mod lab_engines;
pub mod lab_github;
pub mod lab_script;
pub mod lab_systemd;
pub mod mail;
pub mod mailbox;
pub mod proof;
pub mod scene;
pub mod slack;
pub mod smtp;
pub mod tmux;
pub mod way;
