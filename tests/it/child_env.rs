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

#[test]
fn a_route_adds_to_the_environment_of_its_cases() {
    let house = house();
    house.unit("work.env.toml", "[set]\nEDITOR = \"ed\"\nTONE = \"plain\"\n[install]\nenabled = true\n");
    house.unit("notes.env.toml", "[set]\nTONE = \"friendly\"\n[install]\nenabled = true\n");
    engine(&house, "env = [\"work\"]");
    house.unit(
        "all.route.toml",
        "[route]\nengines = [\"dump\"]\nenv = [\"notes\"]\n[install]\nenabled = true\n",
    );
    let told = house.ok(&["env", "show", "dump", "--route", "all"]);
    let from = |name: &str, told: &str| {
        told.lines()
            .find(|line| line.starts_with(name))
            .map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(from("TONE", &told).as_deref(), Some("set by `notes.env`"));
    assert_eq!(from("EDITOR", &told).as_deref(), Some("set by `work.env`"));
    assert_eq!(from("TONE", &house.ok(&["env", "show", "dump"])).as_deref(), Some("set by `work.env`"));
    let daemon = house.daemon(&[]);
    wait_until("the engine to run", || house.path("engine").exists());
    let given = std::fs::read_to_string(house.path("engine")).unwrap();
    assert!(given.lines().any(|line| line == "TONE=friendly") && given.contains("EDITOR=ed\n"), "{given}");
    daemon.stop();
}

#[test]
fn a_route_cannot_choose_who_pays() {
    let house = house();
    house.unit(
        "other.env.toml",
        "[set]\nANTHROPIC_API_KEY = { secret = \"ai/other\" }\n[install]\nenabled = true\n",
    );
    engine(&house, "");
    house.unit(
        "all.route.toml",
        "[route]\nengines = [\"dump\"]\nenv = [\"other\"]\n[install]\nenabled = true\n",
    );
    let refused = house.run(&["validate", "--format", "short"]);
    let told = refused.out;
    assert_eq!(refused.code, Some(1), "{told}");
    assert!(
        told.contains("route-chooses-login") && told.contains("`ANTHROPIC_API_KEY` of `other.env`"),
        "{told}"
    );
}

#[test]
fn a_changed_environment_counts_from_the_next_child_on() {
    let house = house();
    house.unit("work.env.toml", "[set]\nTONE = \"old\"\n[install]\nenabled = true\n");
    // Tells its environment at its start and, when it is let go, at its end.
    let script = house.script(
        "bin/engine",
        "n=$(ls {root}/began 2>/dev/null | wc -l); mkdir -p {root}/began {root}/ended; echo $TONE > {root}/began/$n\n\
         while [ ! -e {root}/go ]; do sleep 0.05; done\necho $TONE > {root}/ended/$n\necho yes\n",
    );
    house.unit(
        "dump.engine.toml",
        &format!(
            "[engine]\nengine = \"command\"\nenv = [\"work\"]\n[command]\nprogram = \"{}\"\n[install]\nenabled = true\n",
            script.display()
        ),
    );
    house.unit("all.route.toml", "[route]\nengines = [\"dump\"]\n[install]\nenabled = true\n");
    let daemon = house.daemon(&[]);
    let told = |place: &str| std::fs::read_to_string(house.path(place)).unwrap_or_default();
    wait_until("the first run to begin", || told("began/0") == "old\n");
    house.unit("work.env.toml", "[set]\nTONE = \"new\"\n[install]\nenabled = true\n");
    // 3: the watcher was quicker.
    let reload = house.run(&["reload"]);
    assert!([Some(0), Some(3)].contains(&reload.code), "{reload:?}");
    house.write("notes/b.md", "And what else?\n");
    house.write("go", "");
    wait_until("the second run to end", || told("ended/1") == "new\n");
    assert_eq!((told("began/0"), told("ended/0")), ("old\n".to_owned(), "old\n".to_owned()));
    daemon.stop();
}

#[test]
fn a_replaced_secret_reaches_the_next_child() {
    let house = house();
    house.unit(
        "work.env.toml",
        "[set]\nANTHROPIC_API_KEY = { secret = \"ai/key\" }\n[install]\nenabled = true\n",
    );
    house.secret("ai/key", "the-old-key-that-was-meant");
    engine(&house, "env = [\"work\"]");
    let daemon = house.daemon(&[]);
    let given = || std::fs::read_to_string(house.path("engine")).unwrap_or_default();
    wait_until("a child with the old value", || given().contains("=the-old-key-that-was-meant\n"));
    house.secret("ai/key", "the-new-key-that-was-meant");
    house.write("notes/b.md", "And what else?\n");
    wait_until("a child with the new value", || given().contains("=the-new-key-that-was-meant\n"));
    let log = daemon.stop();
    assert!(!log.contains("key-that-was-meant"), "{log}");
}
