//! Can each engine be started in the service's environment?

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::model::text::one_line;

/// Text of one engine.
const TEXT_BYTES_MAX: usize = 600;

pub fn check(facts: &Facts) -> Verdict {
    if facts.engines.is_empty() {
        return Verdict::none("no engine is on");
    }
    let count = crate::cli::look::count(facts.engines.len(), "engine");
    let looked_at = format!("{count} in the environment of {}", facts.environment_of);
    let (mut wrong, mut mend) = (Vec::new(), None);
    for seen in &facts.engines {
        let Err(text) = &seen.result else { continue };
        let is_found_here =
            facts.engines_here.iter().any(|here| here.unit == seen.unit && here.result.is_ok());
        let text = one_line(text, TEXT_BYTES_MAX);
        wrong.push(if is_found_here {
            format!("{}: {text}; in this shell it is well: the PATH of the service is another", seen.unit)
        } else {
            format!("{}: {text}", seen.unit)
        });
        let own = if is_found_here && facts.installed().is_some() {
            "workagent service install".to_owned()
        } else {
            format!("workagent edit {}", seen.unit)
        };
        mend.get_or_insert(own);
    }
    Verdict::of(Level::Problem, looked_at, wrong, mend.unwrap_or_default())
}
