//! What needs the user, with the real binary: unit files that are wrong, cases that nobody takes.

use workagent::model::repair::{Repair, RepairKind};

use crate::support::binary::House;
use crate::support::way::{INBOX, POLITE, ROUTE, mail};

fn repairs(house: &House) -> Vec<Repair> {
    serde_json::from_str(&house.ok(&["repairs", "--json"])).unwrap()
}

fn house() -> House {
    let house = House::new();
    for folder in ["in/new", "in/cur", "in/tmp", "out/new", "out/cur", "out/tmp"] {
        std::fs::create_dir_all(house.path(folder)).unwrap();
    }
    house.unit("inbox.connector.toml", INBOX);
    house.unit("polite.engine.toml", POLITE);
    house.unit("answers.route.toml", ROUTE);
    house
}

#[test]
fn where_all_is_well_nothing_needs_you() {
    let house = house();
    house.ok(&["run", "--once"]);
    assert_eq!(house.ok(&["repairs"]), "nothing needs you\n");
}

#[test]
fn a_rehearsal_by_hand_sends_nothing_whatever_the_files_say() {
    let house = house();
    house.write("in/new/1", &mail("a", "the plan", ""));
    house.unit("inbox.connector.toml", &INBOX.replace("hold = \"0s\"", "hold = \"0s\"\noutbound = \"auto\""));
    house.ok(&["run", "--once", "--rehearse"]);
    house.ok(&["run", "--once", "--rehearse"]);
    let sent = || std::fs::read_dir(house.path("out/new")).unwrap().count();
    assert_eq!(sent(), 0);
    assert!(
        house.ok(&["outbox", "list", "--state", "held", "--json"]).contains("rehearsal: would have gone to")
    );
    assert_eq!(house.ok(&["repairs"]), "nothing needs you\n");
    // Released, and for real.
    house.ok(&["outbox", "release", "a1"]);
    house.ok(&["run", "--once"]);
    assert_eq!(sent(), 1);
}

#[test]
fn a_wrong_file_and_a_case_that_no_route_takes_are_listed_until_they_are_mended() {
    let house = house();
    house.write("in/new/1", &mail("a", "the plan", ""));
    house.unit("answers.route.toml", &ROUTE.replace("\"inbox\"", "\"other\""));
    house.unit("typo.connector.toml", &INBOX.replace("backlog", "baklog"));
    house.run(&["run", "--once"]);
    let all = repairs(&house);
    let kinds: Vec<RepairKind> = all.iter().map(|repair| repair.kind).collect();
    assert!(kinds.contains(&RepairKind::Reload) && kinds.contains(&RepairKind::Waiting), "{all:#?}");
    let left_out = all.iter().find(|repair| repair.kind == RepairKind::BadUnit).expect("the unit");
    assert_eq!(left_out.key, "bad-unit:typo.connector");
    assert_eq!(left_out.command, "workagent edit typo.connector");
    assert!(left_out.why.as_deref().is_some_and(|why| why.contains("typo.connector.toml")), "{left_out:?}");
    let waits = all.iter().find(|repair| repair.kind == RepairKind::Waiting).unwrap();
    assert_eq!((waits.key.as_str(), waits.command.as_str()), ("waiting:cases", "workagent case retry c1"));
    let text = house.ok(&["repairs"]);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    std::fs::remove_file(house.path("units/typo.connector.toml")).unwrap();
    house.unit("answers.route.toml", ROUTE);
    house.ok(&["case", "retry", "c1"]);
    house.ok(&["run", "--once"]);
    assert_eq!(repairs(&house), []);
}
