//! The one integration binary. Every file in this folder is listed here; `files` fails if one is not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails the test")]

mod canary;
mod child_env;
mod command;
mod command_taps;
mod control;
// Crash points are compiled into debug builds only.
#[cfg(debug_assertions)]
mod crash;
mod desk_door;
mod dialogue;
mod directory;
mod engine_acp;
mod engine_agents;
mod engine_apis;
mod engine_command;
mod engine_dialects;
mod engine_openai_chat;
mod engine_places;
mod engine_rests;
mod feed;
mod files;
mod gitlab;
mod http;
mod imap;
mod imap_servers;
mod imap_wait;
mod instance;
mod jira;
mod kills;
mod layers;
mod linear;
mod mail;
mod mail_answers;
mod maildir;
mod matrix;
mod mcp;
mod packaging;
mod process;
mod real_agents;
mod real_contracts;
mod real_engines;
mod real_jira;
mod real_mail;
mod real_matrix;
mod real_way;
mod redaction;
mod reload;
mod reload_live;
mod reload_storm;
mod replay;
mod routing;
mod sandbox;
mod slack;
mod slack_socket;
mod status_truth;
mod stop;
mod submission;
mod support;
mod timers;
mod unit_commands;
mod units;
mod watch;
mod way;
