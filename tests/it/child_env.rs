//! What reaches a child through a whole run of the real daemon, however hostile its own environment is (S10).

use std::collections::BTreeSet;

use crate::support::binary::{House, wait_until};

/// What a daemon may find around it: keys that would be billed, marks of an agent that started it, sockets of the session
/// and of the service manager, and its own settings (`WORKAGENT_*` are set anyway).
const HOSTILE: [&str; 16] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "LISTEN_FDS",
    "WATCHDOG_USEC",
    "CREDENTIALS_DIRECTORY",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "MY_APP_SECRET",
];

fn house() -> House {
    let mut house = House::new();
    for name in HOSTILE.into_iter().filter(|name| *name != "LD_PRELOAD") {
        house.set(name, "canary-of-the-daemon");
    }
    // The loader complains on standard error about a library that is not there; an empty list is silent.
    house.set("LD_PRELOAD", " ");
    house.set("NOTIFY_SOCKET", &house.path("notify").display().to_string());
    house.set("LC_TIME", "de_DE.UTF-8");
    house.set("XDG_DATA_HOME", "/somewhere");
    house.write("notes/a.md", "What is still missing?\n");
    house.unit(
        "notes.connector.toml",
        "[connector]\nplatform = \"directory\"\nbacklog = \"all\"\n[directory]\npath = \"{root}/notes\"\nsettle = \"100ms\"\n\
         [install]\nenabled = true\n",
    );
    let items = house.script(
        "bin/items",
        "env > {root}/items.new; mv {root}/items.new {root}/items\necho '{\"type\":\"done\"}'\n",
    );
    let program = items.display();
    house.unit(
        "items.connector.toml",
        &format!(
            "[connector]\nplatform = \"command\"\n[command]\nprogram = \"{program}\"\n[install]\nenabled = true\n"
        ),
    );
    house
}

fn engine(house: &House, env: &str) {
    let script =
        house.script("bin/engine", "env > {root}/engine.new; mv {root}/engine.new {root}/engine\necho yes\n");
    let program = script.display();
    house.unit(
        "dump.engine.toml",
        &format!(
            "[engine]\nengine = \"command\"\n{env}\n[command]\nprogram = \"{program}\"\n[install]\nenabled = true\n"
        ),
    );
    house.unit("all.route.toml", "[route]\nengines = [\"dump\"]\n[install]\nenabled = true\n");
}

/// What the shell sets by itself is not what it was given.
fn names(house: &House, file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(house.path(file)).unwrap();
    let names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned());
    names.filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())).collect()
}

#[test]
fn what_is_told_of_it_beforehand_is_what_it_gets() {
    let house = house();
    house.unit(
        "work.env.toml",
        "[set]\nANTHROPIC_API_KEY = { secret = \"ai/key\" }\nEDITOR = \"ed\"\n[install]\nenabled = true\n",
    );
    engine(&house, "env = [\"work\"]");
    let told = house.ok(&["env", "show", "dump"]);
    assert!(!told.contains("canary") && !told.contains("ed\n"), "{told}");
    let names: Vec<&str> = told.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["ANTHROPIC_API_KEY", "EDITOR", "HOME", "LANG", "LC_TIME", "PATH", "XDG_DATA_HOME"]);
    assert!(told.contains("secret `ai/key`, set by `work.env`"), "{told}");
}

#[test]
fn nothing_reaches_a_child_that_was_not_given_it() {
    let house = house();
    engine(&house, "");
    let daemon = house.daemon(&[]);
    wait_until("both children to run", || house.path("items").exists() && house.path("engine").exists());
    let expected = ["HOME", "LANG", "LC_TIME", "PATH", "WORKAGENT_RUN", "XDG_DATA_HOME"];
    for file in ["items", "engine"] {
        assert_eq!(names(&house, file).iter().map(String::as_str).collect::<Vec<_>>(), expected, "{file}");
    }
    daemon.stop();
}

#[test]
fn a_declared_override_arrives_and_nothing_else() {
    let house = house();
    house.unit(
        "work.env.toml",
        "[set]\nANTHROPIC_API_KEY = { secret = \"ai/key\" }\nEDITOR = \"ed\"\n[install]\nenabled = true\n",
    );
    house.secret("ai/key", "the-key-that-was-meant");
    engine(&house, "env = [\"work\"]");
    let daemon = house.daemon(&[]);
    wait_until("both children to run", || house.path("items").exists() && house.path("engine").exists());
    let given = std::fs::read_to_string(house.path("engine")).unwrap();
    assert!(given.lines().any(|line| line == "ANTHROPIC_API_KEY=the-key-that-was-meant"), "{given}");
    assert!(!given.contains("canary-of-the-daemon"), "{given}");
    let extra = names(&house, "engine").difference(&names(&house, "items")).cloned().collect::<Vec<_>>();
    assert_eq!(extra, ["ANTHROPIC_API_KEY", "EDITOR"]);
    daemon.stop();
}
