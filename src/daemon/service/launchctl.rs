//! What launchd says of a job, as `launchctl print` and `print-disabled` write it.

/// A job that launchd has loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// `running`, `waiting`, `spawn scheduled`, …
    pub state: String,
    /// The process.
    pub pid: Option<u32>,
    /// The property list that it was loaded from.
    pub path: Option<String>,
    /// What it starts.
    pub program: Option<String>,
    /// How the last one ended; `None`: none ever did.
    pub last_exit: Option<i32>,
    /// Starts since it was loaded.
    pub runs: Option<u64>,
    /// Variables of the job itself, then those that every job gets; the first counts.
    pub environment: Vec<(String, String)>,
}

impl Job {
    /// Reads `launchctl print gui/UID/LABEL`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut job = Self::default();
        let mut inherited = Vec::new();
        let mut within: Vec<String> = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix(" = {") {
                within.push(name.to_owned());
            } else if line == "}" {
                within.pop();
            } else if let [_, block] = within.as_slice() {
                let Some((name, value)) = line.split_once(" => ") else { continue };
                let pair = (name.to_owned(), value.to_owned());
                match block.as_str() {
                    "environment" => job.environment.push(pair),
                    "default environment" | "inherited environment" => inherited.push(pair),
                    _ => {}
                }
            } else if let Some((name, value)) = line.split_once(" = ")
                && within.len() == 1
            {
                match name {
                    "state" => value.clone_into(&mut job.state),
                    "pid" => job.pid = value.parse().ok(),
                    "path" => job.path = Some(value.to_owned()),
                    "program" => job.program = Some(value.to_owned()),
                    "runs" => job.runs = value.parse().ok(),
                    // "78: EX_CONFIG", "(never exited)".
                    "last exit code" => {
                        job.last_exit = value.split(':').next().and_then(|code| code.parse().ok());
                    }
                    _ => {}
                }
            }
        }
        job.environment.extend(inherited);
        job
    }

    /// Its process runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == "running" && self.pid.is_some()
    }
}

/// Whether `launchctl print-disabled gui/UID` says that the label is switched off; that outlives the file.
#[must_use]
pub fn is_disabled(text: &str, label: &str) -> bool {
    let quoted = format!("\"{label}\"");
    text.lines().filter_map(|line| line.trim().split_once(" => ")).any(|(name, value)| {
        // "disabled" since macOS 11, "true" before.
        name == quoted && matches!(value.trim_end_matches(','), "disabled" | "true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_job() {
        let job = Job::parse(include_str!("../../../tests/fixtures/service/launchctl/print-running.txt"));
        assert!(job.is_running());
        assert_eq!((job.pid, job.runs, job.last_exit), (Some(4242), Some(1), None));
        assert_eq!(job.program.as_deref(), Some("/opt/homebrew/bin/workagent"));
        assert_eq!(job.path.as_deref(), Some("/Users/me/Library/LaunchAgents/local.workagent.plist"));
        let path = job.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
        assert_eq!(path, Some("/opt/homebrew/bin:/usr/bin:/bin"));
    }

    #[test]
    fn a_job_that_waits_after_an_exit() {
        let job = Job::parse(include_str!("../../../tests/fixtures/service/launchctl/print-waiting.txt"));
        assert_eq!(
            (job.is_running(), job.state.as_str(), job.last_exit),
            (false, "spawn scheduled", Some(78))
        );
    }

    #[test]
    fn the_override_database() {
        let new =
            "\tdisabled services = {\n\t\t\"com.x\" => enabled\n\t\t\"local.workagent\" => disabled\n\t}\n";
        assert!(is_disabled(new, "local.workagent") && !is_disabled(new, "com.x"));
        let old = "disabled services = {\n\t\"local.workagent\" => true\n\t\"com.x\" => false\n}";
        assert!(is_disabled(old, "local.workagent") && !is_disabled(old, "com.x"));
        assert!(!is_disabled("", "local.workagent"));
    }
}
