//! What is wrong in a launchd agent: faults that launchd takes without a word, or refuses with "error 5".

use std::path::Path;

use super::Fault;
use super::plist::{SUPERVISOR_VARIABLE, Value, error_file, lone_ampersand, program, read};
use super::unit_file::is_versioned;

/// Keys that an agent of a user may have, after launchd.plist(5).
const KEYS: [&str; 42] = [
    "AbandonProcessGroup",
    "AssociatedBundleIdentifiers",
    "BundleProgram",
    "Disabled",
    "EnableGlobbing",
    "EnablePressuredExit",
    "EnableTransactions",
    "EnvironmentVariables",
    "ExitTimeOut",
    "GroupName",
    "HardResourceLimits",
    "InitGroups",
    "KeepAlive",
    "Label",
    "LaunchEvents",
    "LaunchOnlyOnce",
    "LegacyTimers",
    "LimitLoadFromHosts",
    "LimitLoadToHosts",
    "LimitLoadToSessionType",
    "LowPriorityBackgroundIO",
    "LowPriorityIO",
    "MachServices",
    "MaterializeDatalessFiles",
    "Nice",
    "ProcessType",
    "Program",
    "ProgramArguments",
    "QueueDirectories",
    "RunAtLoad",
    "SessionCreate",
    "Sockets",
    "SoftResourceLimits",
    "StandardErrorPath",
    "StandardInPath",
    "StandardOutPath",
    "StartCalendarInterval",
    "StartInterval",
    "StartOnMount",
    "ThrottleInterval",
    "Umask",
    "UserName",
];

/// Folders that are on every PATH of launchd's.
const BARE: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// Everything that is wrong in the text of an agent. `stop_s`: the longest that a stop takes.
#[must_use]
pub fn lint(text: &str, home: &Path, stop_s: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(line) = lone_ampersand(text) {
        faults.push(format!(
            "line {}: an ampersand must be written &amp;, or launchd refuses the file",
            line + 1
        ));
    }
    match read(text) {
        Ok(agent @ Value::Dict(_)) => faults.extend(of_agent(&agent, home, stop_s)),
        Ok(_) => faults.push("it holds no dictionary".to_owned()),
        Err(why) => faults.push(why),
    }
    faults
}

fn of_agent(agent: &Value, home: &Path, stop_s: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (key, _) in agent.members().iter().filter(|(key, _)| !KEYS.contains(&key.as_str())) {
        faults.push(format!("unknown key {key}: launchd ignores it without a word"));
    }
    if agent.get("Label").and_then(Value::text).is_none_or(str::is_empty) {
        faults.push("there is no Label".to_owned());
    }
    faults.extend(of_program(agent));
    faults.extend(of_environment(agent));
    match agent.get("KeepAlive") {
        Some(Value::Flag(true)) => faults.push(
            "KeepAlive is true: it is started again after an orderly end and after a configuration error too"
                .to_owned(),
        ),
        Some(Value::Dict(_)) => {}
        _ => faults.push("KeepAlive is off: a crash is the end of it".to_owned()),
    }
    match agent.get("ThrottleInterval") {
        Some(Value::Number(seconds)) if *seconds < 10 => {
            faults.push(format!("ThrottleInterval is {seconds}s: a crash loop takes the whole machine"));
        }
        _ => {}
    }
    if agent.get("ProcessType").and_then(Value::text) == Some("Background") {
        faults.push(
            "ProcessType is Background: timers and disk are throttled, and answers come late".to_owned(),
        );
    }
    let patience = match agent.get("ExitTimeOut") {
        Some(Value::Number(seconds)) => u64::try_from(*seconds).unwrap_or(0),
        // launchd's own.
        _ => 20,
    };
    // Zero is for ever.
    if patience != 0 && patience < stop_s {
        faults.push(format!(
            "ExitTimeOut is {patience}s, and an orderly stop may take {stop_s}s: what runs is cut"
        ));
    }
    for key in ["StandardOutPath", "StandardErrorPath"] {
        let Some(path) = agent.get(key).and_then(Value::text) else { continue };
        if path.starts_with('~') || path.contains('$') {
            faults.push(format!("{key} holds ~ or a variable, which launchd does not expand: {path}"));
        }
        // Ours is kept short by the daemon.
        if path != "/dev/null" && Path::new(path) != error_file(home) {
            faults.push(format!("{key} is a file that nobody bounds: {path}"));
        }
    }
    faults
}

fn of_program(agent: &Value) -> Vec<Fault> {
    let Some(program) = program(agent) else { return vec!["it names no program".to_owned()] };
    let mut faults = Vec::new();
    if !program.starts_with('/') || program.contains('$') {
        faults.push(format!("the program's path is not absolute: {program}"));
    }
    if is_versioned(Path::new(program)) {
        faults.push(format!(
            "the program's path is of one version, and gone after the next upgrade: {program}"
        ));
    }
    faults
}

fn of_environment(agent: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let variables = agent.get("EnvironmentVariables").map(Value::members).unwrap_or_default();
    for (name, value) in variables {
        let Some(text) = value.text() else {
            faults.push(format!("EnvironmentVariables: {name} is no string"));
            continue;
        };
        if text.contains("$HOME") || text.starts_with('~') || text.contains(":~/") {
            faults.push(format!(
                "EnvironmentVariables: {name} holds ~ or $HOME, which launchd does not expand"
            ));
        }
    }
    let path = variables.iter().find(|(name, _)| name == "PATH").and_then(|(_, value)| value.text());
    let is_bare = |path: &str| path.split(':').all(|dir| BARE.contains(&dir) || dir.contains(['$', '~']));
    if path.is_none_or(is_bare) {
        faults
            .push("PATH has the system's folders only: engines that you installed are not found".to_owned());
    }
    if !variables.iter().any(|(name, _)| name == SUPERVISOR_VARIABLE) {
        faults
            .push(format!("{SUPERVISOR_VARIABLE} is not set: launchd starts one that cannot start for ever"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::plist::PACKAGED;
    use super::*;

    #[test]
    fn each_fault_of_the_bad_one_is_found() {
        let text = include_str!("../../../tests/fixtures/service/bad.plist");
        insta::assert_snapshot!(lint(text, Path::new("/Users/me"), 200).join("\n"), @r#"
        line 8: an ampersand must be written &amp;, or launchd refuses the file
        the program's path is of one version, and gone after the next upgrade: /opt/homebrew/Cellar/example-agent/0.3.0/bin/example-agent
        EnvironmentVariables: PATH holds ~ or $HOME, which launchd does not expand
        PATH has the system's folders only: engines that you installed are not found
        WORKAGENT_SUPERVISOR is not set: launchd starts one that cannot start for ever
        KeepAlive is true: it is started again after an orderly end and after a configuration error too
        ExitTimeOut is 20s, and an orderly stop may take 200s: what runs is cut
        StandardErrorPath holds ~ or a variable, which launchd does not expand: ~/Library/Logs/example-agent.log
        StandardErrorPath is a file that nobody bounds: ~/Library/Logs/example-agent.log
        "#);
    }

    #[test]
    fn what_we_ship_is_well() {
        assert_eq!(lint(PACKAGED, Path::new("/Users/me"), 200), Vec::<Fault>::new());
    }

    #[test]
    fn small_faults() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(PACKAGED.contains(from));
            let faults = lint(&PACKAGED.replace(from, to), Path::new("/Users/me"), 200);
            assert!(faults.len() == 1 && faults[0].contains(expected), "{faults:?}");
        };
        check("<key>RunAtLoad<", "<key>RunAtLoads<", "unknown key RunAtLoads");
        check("<integer>30<", "<integer>1<", "ThrottleInterval is 1s");
        check("<integer>210<", "<integer>5<", "ExitTimeOut is 5s");
        check("<string>/usr/local/bin/workagent<", "<string>workagent<", "not absolute");
        check("/opt/homebrew/bin:/usr/local/bin:", "", "system's folders only");
        check(
            "<key>RunAtLoad</key>",
            "<key>ProcessType</key><string>Background</string><key>RunAtLoad</key>",
            "Background",
        );
        check("<true/>", "", "stands where none can");
    }
}
