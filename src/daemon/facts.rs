//! What holds on this machine now: answers to the conditions of units.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::model::environment::Environment;
use crate::model::secret_ref::SecretRef;
use crate::secret::SecretStore;
use crate::unit::condition::Facts;
use crate::unit::plan::{ConditionTest, Plan};

/// The answers to the questions of one plan, asked at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<ConditionTest, bool>);

impl Answers {
    /// Asks this machine everything that the units of a plan want to know.
    pub async fn ask(plan: &Plan, environment: &Environment, secrets: &dyn SecretStore) -> Self {
        let mut answers = BTreeMap::new();
        for condition in plan.conditions.values().flatten() {
            if answers.contains_key(&condition.test) {
                continue;
            }
            let holds = match &condition.test {
                ConditionTest::PathExists(path) => path.exists(),
                ConditionTest::CommandExists(program) => command_exists(program, environment),
                ConditionTest::SecretExists(name) => {
                    secrets.read(&SecretRef::Stored(name.clone())).await.is_ok()
                }
                ConditionTest::EnvSet(name) => environment.get_os(name).is_some(),
                ConditionTest::Os(name) => std::env::consts::OS == name,
                ConditionTest::Host(pattern) => is_host(pattern),
                ConditionTest::Network(wanted) => has_way_out() == *wanted,
                // Answered by the plan itself.
                ConditionTest::Active(_) => continue,
            };
            answers.insert(condition.test.clone(), holds);
        }
        Self(answers)
    }
}

impl Facts for Answers {
    fn holds(&self, test: &ConditionTest) -> Result<bool, String> {
        self.0.get(test).copied().ok_or_else(|| "was not asked".to_owned())
    }
}

/// A program as a child would find it: by path, or under the service's PATH.
fn command_exists(program: &str, environment: &Environment) -> bool {
    let is_program = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    let path = environment.get_os("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|dir| is_program(&dir.join(program)))
}

fn is_host(pattern: &str) -> bool {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name.as_ref()))
}

/// A default route, or any address beyond this machine: a look at the kernel's table, nothing is sent.
fn has_way_out() -> bool {
    // Connecting a datagram socket only picks a route; documentation addresses (RFC 5737, RFC 3849) get no packet.
    let routed =
        |own: &str, far: &str| std::net::UdpSocket::bind(own).and_then(|socket| socket.connect(far)).is_ok();
    routed("0.0.0.0:0", "192.0.2.1:9") || routed("[::]:0", "[2001:db8::1]:9")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_child_finds_them() {
        let environment = Environment::of([("PATH", "/usr/bin:/bin")]);
        assert!(command_exists("sh", &environment) && command_exists("/bin/sh", &environment));
        assert!(!command_exists("no-such-program", &environment) && !command_exists("/etc", &environment));
        assert!(!command_exists("sh", &Environment::default()));
    }

    #[test]
    fn hosts_are_globs() {
        assert!(is_host("*") && !is_host("no-such-host-*"));
    }
}
