//! The service's commands without a service manager, and engines under a bare PATH.

use crate::support::binary::House;

const FAKE: &str = "[engine]\nengine = \"command\"\n{more}[command]\nprogram = \"fake-engine\"\noutput = \"text\"\n\
                    [install]\nenabled = true\n";

/// A house with an engine in one folder, and what its first line asks for in another.
fn house() -> House {
    let house = House::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/service/S09");
    for (folder, name) in [("engines", "fake-engine"), ("node", "wa-fake-node")] {
        let text = std::fs::read_to_string(fixtures.join(name)).unwrap();
        house.script(&format!("{folder}/{name}"), "");
        std::fs::write(house.path(&format!("{folder}/{name}")), text).unwrap();
    }
    house.unit("fake.engine.toml", &FAKE.replace("{more}", ""));
    house
}

fn engines(house: &House) -> serde_json::Value {
    let ran = house.run(&["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let rows = report.get("checks").and_then(serde_json::Value::as_array).unwrap();
    rows.iter().find(|row| row["check"] == "engines").unwrap().clone()
}

#[test]
fn doctor_names_the_engine_the_name_and_the_folders() {
    let mut house = house();
    house.set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    let row = engines(&house);
    let wrong = row["wrong"][0].as_str().unwrap();
    assert_eq!(row["level"], "problem");
    for part in ["fake.engine", "`fake-engine`", "`/usr/bin:/bin:/usr/sbin:/sbin`"] {
        assert!(wrong.contains(part), "{wrong}");
    }
    // The second layer: the engine is found, and what its first line asks for is not.
    let engines_dir = house.path("engines").display().to_string();
    house.set("PATH", &format!("{engines_dir}:/usr/bin:/bin"));
    let row = engines(&house);
    let wrong = row["wrong"][0].as_str().unwrap();
    assert!(wrong.contains("its interpreter `wa-fake-node` was not found"), "{wrong}");
    assert!(wrong.contains(&engines_dir), "{wrong}");
    assert_eq!(row["mend"], "workagent edit fake.engine");
}

#[test]
fn a_path_in_the_unit_mends_both_layers() {
    let mut house = house();
    house.set("PATH", "/usr/bin:/bin");
    let path =
        format!("path = [\"{}\", \"{}\"]\n", house.path("engines").display(), house.path("node").display());
    house.unit("fake.engine.toml", &FAKE.replace("{more}", &path));
    assert_eq!(engines(&house)["level"], "ok");
}

#[test]
fn what_would_be_written_is_printed_and_not_written() {
    let house = House::new();
    let unit =
        house.ok(&["service", "install", "--print", "--manager", "systemd", "--path", "/opt/my tools:/bin"]);
    assert!(unit.contains("Environment=\"PATH=/opt/my tools:/bin\"\n"), "{unit}");
    let state = format!("Environment=\"WORKAGENT_STATE_DIR={}\"\n", house.path("state").display());
    assert!(unit.contains(&state), "{unit}");
    assert!(unit.contains(&format!("ExecStart=\"{}\" run\n", env!("CARGO_BIN_EXE_workagent"))), "{unit}");
    let agent =
        house.ok(&["service", "install", "--print", "--manager", "launchd", "--path", "/opt/my tools:/bin"]);
    assert!(agent.contains("<string>/opt/my tools:/bin</string>"), "{agent}");
    assert!(std::fs::read_dir(house.path("home")).unwrap().next().is_none(), "nothing is written");
}

/// Under launchd, which starts a job for ever: what only a person can mend ends with 0, once told.
#[test]
fn under_launchd_a_configuration_error_is_the_end_of_it() {
    let mut house = House::new();
    house.unit("workagent.daemon.toml", "[daemon]\nworkers = \"many\"\n");
    let ran = house.run(&["run"]);
    assert_eq!(ran.code, Some(78), "{}", ran.err);
    house.set("WORKAGENT_SUPERVISOR", "launchd");
    let ran = house.run(&["run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("given up: ") && ran.err.contains("workagent service restart"), "{}", ran.err);
    let kept = std::fs::read_to_string(house.path("state/starts.json")).unwrap();
    assert!(kept.contains("given_up") && kept.contains("exit code 78"), "{kept}");
}

#[test]
fn under_launchd_the_sixth_start_in_a_row_is_none() {
    let mut house = House::new();
    house.set("WORKAGENT_SUPERVISOR", "launchd");
    for _ in 0..5 {
        house.daemon(&[]).kill();
    }
    let ran = house.run(&["run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("5 times in 10 minutes"), "{}", ran.err);
    // By hand, or at the next login, it is the first again; an orderly end counts for nothing.
    house.daemon(&[]).stop();
    house.daemon(&[]).kill();
}
