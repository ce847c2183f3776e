//! Where secrets are kept, and whether they can be read.

use super::facts::Facts;
use super::verdict::{Level, Verdict};

pub fn check(facts: &Facts) -> Verdict {
    match &facts.secrets {
        Ok(kept) => Verdict::ok(kept.clone()),
        Err(error) => {
            Verdict::of(Level::Problem, "the secret store", vec![error.clone()], "workagent secret list")
        }
    }
}
