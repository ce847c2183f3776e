//! With the real binary: pairing by commands, and what is told beside drafts.

use workagent::control::wire::StatusView;

use crate::support::binary::{House, unit, wait_until};

fn house() -> House {
    let house = House::new();
    let script = house.script("bin/tell", "cat >> {root}/told\n");
    house.unit(
        "desk.channel.toml",
        &format!(
            "[channel]\nchannel = \"command\"\nbatch = \"0s\"\n[command]\nprogram = \"{}\"\n[install]\nenabled = true\n",
            script.display()
        ),
    );
    house
}

fn told(house: &House) -> String {
    std::fs::read_to_string(house.path("told")).unwrap_or_default()
}

#[test]
fn a_channel_is_paired_by_commands_and_tells_of_unit_files_with_errors_once() {
    let house = house();
    assert!(house.ok(&["pair"]).contains("not paired: workagent pair desk"));
    let daemon = house.daemon(&[]);
    let shown = house.ok(&["pair", "desk"]);
    assert!(
        shown.contains("workagent pair desk CODE") && shown.contains("a code was told on desk.channel"),
        "{shown}"
    );
    let text = told(&house);
    let code = text.split_once("workagent pair desk ").unwrap().1.get(..9).unwrap().to_owned();
    let wrong = house.run(&["pair", "desk", "2222-2222"]);
    assert_eq!(wrong.code, Some(1), "{}", wrong.err);
    assert!(
        wrong.err.contains("that is not the code") && wrong.err.contains("tries left: 4"),
        "{}",
        wrong.err
    );
    assert_eq!(house.ok(&["pair", "desk", &code]), "desk.channel is paired\n");
    assert!(house.run(&["pair", "desk", &code]).err.contains("no code waits"));
    wait_until("the status", || {
        house.ok(&["status", "desk.channel"]).contains("paired with whoever reads it")
    });

    house.unit("typo.connector.toml", "[connector]\nplatfrom = \"imap\"\n[install]\nenabled = true\n");
    wait_until("the notice", || told(&house).contains("workagent validate"));
    std::fs::remove_file(house.path("units/typo.connector.toml")).unwrap();
    wait_until("the mended files", || house.ok(&["repairs"]).contains("nothing needs you"));
    // It has looked in between.
    let looked = || {
        let view: StatusView = serde_json::from_str(&house.run(&["status", "--json"]).out).unwrap();
        unit(&view, "desk.channel").last_success
    };
    let before = looked();
    house.ok(&["kick", "desk.channel"]);
    wait_until("a look", || looked() > before);
    assert_eq!(told(&house).matches("workagent validate").count(), 1);
    house.unit("typo.connector.toml", "[connector]\nplatfrom = \"imap\"\n[install]\nenabled = true\n");
    wait_until("another notice", || told(&house).matches("workagent validate").count() == 2);

    assert_eq!(house.ok(&["pair", "desk", "--remove"]), "desk.channel is not paired any more\n");
    assert_eq!(house.run(&["pair", "desk", "--remove"]).code, Some(1));
    assert!(house.run(&["pair", "nobody"]).err.contains("there is no unit nobody.channel"));
    drop(daemon);
}

#[test]
fn without_a_daemon_nobody_would_hear_a_code() {
    let house = house();
    house.unit("desk.channel.d/hears.toml", "[command]\nhear_every = \"1s\"\n");
    let ran = house.run(&["pair", "desk"]);
    assert!(ran.err.contains("the daemon is not running, so nobody would hear the code"), "{}", ran.err);
}
