//! The record: can it be used, and does it lie where a database may lie?

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::daemon::place;

pub fn check(facts: &Facts) -> Verdict {
    let looked_at = facts.short(&facts.database);
    match &facts.record {
        Err(why) => Verdict::of(Level::Problem, looked_at, vec![why.clone()], "workagent status"),
        Ok(false) => Verdict::none(format!("{looked_at} is made at the first start")),
        Ok(true) => Verdict::ok(looked_at),
    }
}

/// Works, until one day it does not.
pub fn place(facts: &Facts) -> Verdict {
    let folder = facts.database.parent().unwrap_or(&facts.database);
    let wrong = place::warning(folder).into_iter().collect();
    Verdict::of(Level::Warning, facts.short(folder), wrong, "workagent edit workagent.daemon")
}
