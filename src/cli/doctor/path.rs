//! The PATH that the service has: what its engines are found on.

use super::facts::Facts;
use super::verdict::{Level, Verdict};

/// On every PATH that nobody has set.
const BARE: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

pub fn check(facts: &Facts) -> Verdict {
    let Some(_) = facts.installed() else { return Verdict::none("not installed") };
    let path = facts.environment.get("PATH").unwrap_or_default();
    let looked_at = format!("of {}: {}", facts.environment_of, if path.is_empty() { "none" } else { path });
    let mut wrong = Vec::new();
    for dir in path.split(':').filter(|dir| dir.contains(['$', '~'])) {
        wrong.push(format!("`{dir}` is taken to the letter: nothing expands it there"));
    }
    let level = if wrong.is_empty() { Level::Warning } else { Level::Problem };
    if path.split(':').all(|dir| dir.is_empty() || BARE.contains(&dir)) {
        wrong.push(
            "only the system's folders: programs that you installed for yourself are not found".to_owned(),
        );
    }
    Verdict::of(level, looked_at, wrong, "workagent service install")
}
