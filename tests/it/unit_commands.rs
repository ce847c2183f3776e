//! The commands about unit files, with the real binary in a house of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::binary::{House, Ran, unit as unit_of};

const INBOX: &str = "# My mail\n[unit]\ndescription = \"News\" # keep me\n\n[connector]\nplatform = \"feed\"\n\n\
     [feed]\nurl = \"file:///dev/null\"\n\n[install]\nenabled = false   # not yet\n";

/// A house whose own units lie in `units`, above `vendor`.
fn house() -> House {
    let mut house = House::new();
    fs::create_dir(house.path("vendor")).unwrap();
    let at = |name: &str| house.path(name).display().to_string();
    let path = format!("{}:{}", at("units"), at("vendor"));
    house.set("WORKAGENT_UNIT_PATH", &path);
    house.set("TMPDIR", &house.root().display().to_string());
    house
}

fn read(house: &House, name: &str) -> String {
    fs::read_to_string(house.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Everything below a folder, for "nothing was left behind".
fn files(house: &House, name: &str) -> Vec<String> {
    fn walk(dir: &std::path::Path, root: &std::path::Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    let mut found = Vec::new();
    walk(&house.path(name), &house.path(name), &mut found);
    found.sort();
    found
}

fn failed(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    words.iter().for_each(|word| assert!(ran.err.contains(word), "no {word:?} in {ran:?}"));
}

#[test]
fn enable_changes_the_key_where_it_stands_and_nothing_else() {
    let house = house();
    house.unit("inbox.connector.toml", INBOX);
    let path = house.path("units/inbox.connector.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let said = house.ok(&["enable", "inbox"]);
    assert!(
        said.starts_with("inbox.connector is enabled now\n  wrote ")
            && said.contains("/units/inbox.connector.toml\n"),
        "{said}"
    );
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX.replace("false", "true"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(files(&house, "units"), ["inbox.connector.toml"]);

    let before = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(house.ok(&["enable", "inbox.connector"]), "inbox.connector is enabled already\n");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before, "a second time writes nothing");
    house.ok(&["disable", "inbox"]);
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX);
}

#[test]
fn a_unit_of_somebody_else_gets_a_drop_in() {
    let house = house();
    house.write("vendor/inbox.connector.toml", INBOX);
    house.ok(&["enable", "inbox"]);
    assert_eq!(read(&house, "units/inbox.connector.d/enabled.toml"), "[install]\nenabled = true\n");
    assert_eq!(read(&house, "vendor/inbox.connector.toml"), INBOX);
    assert_eq!(house.ok(&["is-enabled", "inbox"]), "enabled\n");
    house.ok(&["disable", "inbox"]);
    assert_eq!(read(&house, "units/inbox.connector.d/enabled.toml"), "[install]\nenabled = false\n");
    let ran = house.run(&["is-enabled", "inbox"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "disabled\n"));
}

#[test]
fn a_link_is_written_through() {
    let house = house();
    house.write("dotfiles/inbox.connector.toml", INBOX);
    symlink("../dotfiles/inbox.connector.toml", house.path("units/inbox.connector.toml")).unwrap();
    house.ok(&["enable", "inbox"]);
    assert!(house.path("units/inbox.connector.toml").is_symlink());
    assert_eq!(read(&house, "dotfiles/inbox.connector.toml"), INBOX.replace("false", "true"));
    assert_eq!(files(&house, "dotfiles"), ["inbox.connector.toml"]);
}

#[test]
fn what_counts_more_is_told_instead_of_writing_in_vain() {
    let house = house();
    house.unit("inbox.connector.toml", INBOX);
    house.write("vendor/inbox.connector.d/zz.toml", "[install]\nenabled = false\n");
    failed(
        &house.run(&["enable", "inbox"]),
        1,
        &["vendor/inbox.connector.d/zz.toml counts more", "hint: change it there"],
    );
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX);
    assert_eq!(files(&house, "units"), ["inbox.connector.toml"]);
}

#[test]
fn names_that_do_not_exist_change_nothing_at_all() {
    let house = house();
    house.unit("inbox.connector.toml", INBOX);
    failed(
        &house.run(&["enable", "inbox", "inbxo"]),
        2,
        &["no unit `inbxo`", "did you mean inbox.connector?"],
    );
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX);
    house.unit("inbox.env.toml", "[set]\nA = \"1\"\n");
    failed(
        &house.run(&["mask", "inbox"]),
        2,
        &["several units are called `inbox`", "inbox.connector, inbox.env"],
    );
}

#[test]
fn mask_and_unmask_leave_no_trace() {
    let house = house();
    house.unit("inbox.connector.toml", &INBOX.replace("false", "true"));
    house.ok(&["mask", "inbox"]);
    assert_eq!(house.ok(&["mask", "inbox"]), "inbox.connector is masked already\n");
    assert_eq!(files(&house, "units"), ["inbox.connector.d/masked.toml", "inbox.connector.toml"]);
    let ran = house.run(&["is-enabled", "inbox"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "masked\n"));
    failed(
        &house.run(&["enable", "inbox"]),
        1,
        &["is masked and stays off", "workagent unmask inbox.connector"],
    );
    house.ok(&["unmask", "inbox"]);
    assert_eq!(files(&house, "units"), ["inbox.connector.toml"]);
    assert_eq!(house.ok(&["unmask", "inbox"]), "inbox.connector is not masked\n");
}

#[test]
fn a_link_to_null_is_taken_away_and_never_written_through() {
    let house = house();
    house.write("vendor/inbox.connector.toml", &INBOX.replace("false", "true"));
    symlink("/dev/null", house.path("units/inbox.connector.toml")).unwrap();
    assert_eq!(house.ok(&["mask", "inbox"]), "inbox.connector is masked already\n");
    assert!(house.ok(&["cat", "inbox"]).contains("a link to /dev/null"));
    failed(&house.run(&["edit", "--full", "inbox"]), 1, &["is masked by a link", "unmask inbox.connector"]);
    assert!(house.ok(&["unmask", "inbox"]).contains("  removed "));
    assert_eq!(files(&house, "units"), [""; 0]);
    assert_eq!(house.ok(&["is-enabled", "inbox"]), "enabled\n");
}

#[test]
fn enabling_what_is_broken_says_so() {
    let house = house();
    house.unit("inbox.connector.toml", &INBOX.replace("url =", "urll ="));
    let ran = house.run(&["enable", "inbox"]);
    failed(&ran, 1, &["unknown key", "urll"]);
    assert!(ran.out.starts_with("inbox.connector is enabled now\n"), "{ran:?}");
    let json: serde_json::Value =
        serde_json::from_str(&house.run(&["enable", "inbox", "--json"]).out).unwrap();
    assert_eq!((&json[0]["unit"], &json[0]["changed"]), (&"inbox.connector".into(), &false.into()));
    assert!(json[0]["errors"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn cat_shows_each_layer_and_no_token() {
    let house = house();
    let token = "ghp_0123456789abcdefghij0123456789abcdef";
    house.write("vendor/inbox.connector.toml", INBOX);
    house.unit("inbox.connector.d/a.toml", &format!("# {token}\n[install]\nenabled = true\n"));
    let text = house.ok(&["cat", "inbox"]);
    let root = house.root().display().to_string();
    let expected = format!(
        "# {root}/vendor/inbox.connector.toml\n{INBOX}\n# {root}/units/inbox.connector.d/a.toml\n# …\n[install]\nenabled = true\n"
    );
    assert_eq!(text, expected);
    assert!(!house.ok(&["cat", "inbox", "--json"]).contains(token));
}

#[test]
fn lists_of_files_and_places() {
    let house = house();
    house.write("vendor/inbox.connector.toml", INBOX);
    house.write("vendor/work.engine.toml", "[engine]\nengine = \"template\"\n");
    house.ok(&["enable", "inbox"]);
    assert_eq!(
        house.ok(&["list-unit-files"]),
        "UNIT FILE        STATE    PRESET    DROP-INS\n\
         inbox.connector  enabled  disabled  1\n\
         work.engine      static   static    -\n\n2 unit files listed.\n"
    );
    assert!(
        house.ok(&["list-unit-files", "--state", "static", "-t", "engine"]).contains("1 unit file listed.")
    );
    let json: serde_json::Value =
        serde_json::from_str(&house.ok(&["list-unit-files", "--json", "in*"])).unwrap();
    assert_eq!(json[0]["preset"], "disabled");
    assert!(json[0]["drop_ins"][0].as_str().unwrap().ends_with("/units/inbox.connector.d/enabled.toml"));
    let places: serde_json::Value = serde_json::from_str(&house.ok(&["paths", "--json"])).unwrap();
    assert_eq!(
        (&places[0]["own"], &places[0]["files"], &places[1]["files"]),
        (&true.into(), &1.into(), &2.into())
    );
    assert!(house.ok(&["paths"]).contains("yours: changes go here"));
}

#[test]
fn lists_of_units_and_timers_without_a_daemon() {
    let house = house();
    house.unit("inbox.connector.toml", &INBOX.replace("false", "true"));
    house.unit("off.connector.toml", INBOX);
    let units = house.ok(&["list-units", "-t", "connector"]);
    assert!(
        units.contains("○  inbox.connector  loaded  inactive  stopped") && units.contains("off.connector"),
        "{units}"
    );
    let units = house.ok(&["list-units"]);
    assert!(units.contains("pass --all to see") && !units.contains("off.connector"), "{units}");
    assert!(units.ends_with("The daemon is not running.\n"), "{units}");
    let timers = house.ok(&["list-timers"]);
    assert!(timers.contains("inbox.connector") && !timers.contains("off.connector"), "{timers}");
    assert!(house.ok(&["list-timers", "--all", "--json"]).contains("off.connector"));
    for (command, code, word) in [("is-active", 3, "inactive\n"), ("is-failed", 1, "inactive\n")] {
        let ran = house.run(&[command, "inbox"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), word), "{command}");
    }
    failed(&house.run(&["is-active", "inbxo"]), 4, &["did you mean inbox.connector?"]);
    failed(&house.run(&["is-healthy"]), 1, &["the daemon is not running"]);
    for order in [vec!["reload"], vec!["stop", "inbox"], vec!["isolate", "safe"], vec!["reset-failed"]] {
        failed(&house.run(&order), 69, &["error: the daemon is not running", "hint: start it"]);
    }
    failed(&house.run(&["enable", "off", "--now"]), 69, &["the daemon is not running"]);
}

#[test]
fn the_states_of_a_running_daemon() {
    let house = house();
    let feed = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title></channel></rss>";
    house.write("news.xml", feed);
    let unit = INBOX.replace("false", "true").replace("file:///dev/null", "file://{root}/news.xml");
    house.unit("inbox.connector.toml", &unit);
    let daemon = house.daemon(&[]);
    house.status_when("the first poll", |view| unit_of(view, "inbox.connector").last_success.is_some());
    assert_eq!(house.ok(&["is-active", "inbox"]), "active\n");
    assert_eq!(house.run(&["is-failed", "inbox"]).out, "active\n");
    let timers = house.ok(&["list-timers"]);
    assert!(timers.contains("●  ") && timers.contains("inbox.connector\n"), "{timers}");
    failed(&house.run(&["kick", "inbxo"]), 2, &["did you mean inbox.connector?"]);
    assert_eq!(house.ok(&["kick", "inbox"]), "inbox.connector runs now\n");
    let status = house.run(&["status", "inbox"]).out;
    assert!(status.contains("units/inbox.connector.toml (enabled, preset enabled)"), "{status}");
    let log = house.run(&["logs"]);
    failed(&log, 1, &["the log goes to a pipe"]);
    daemon.stop();
}

/// An editor that does the next of its lines each time it is opened: `N` for the n-th.
fn editor(house: &mut House, steps: &[&str]) {
    let mut script = String::from(
        "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0)\nn=$((n+1))\necho $n > \"$HOME/n\"\ncase $n in\n",
    );
    for (index, step) in steps.iter().enumerate() {
        script.push_str(&format!("{}) {step} ;;\n", index + 1));
    }
    script.push_str("*) exit 9 ;;\nesac\n");
    let path = house.script("editor.sh", &script);
    house.set("VISUAL", &path.display().to_string());
}

const GOOD: &str = "printf '[schedule]\\nevery = \"9m\"\\n' > \"$1\"";
const BAD: &str = "printf '[schedule]\\nevry = \"9m\"\\n' > \"$1\"";

#[test]
fn edit_writes_a_drop_in_that_compiles() {
    let mut house = house();
    house.write("vendor/inbox.connector.toml", INBOX);
    editor(&mut house, &[GOOD, "cp \"$1\" \"$HOME/seen\"", "printf '' > \"$1\""]);
    let said = house.ok(&["edit", "inbox"]);
    assert!(
        said.starts_with("wrote ") && said.ends_with("/units/inbox.connector.d/override.toml\n"),
        "{said}"
    );
    assert_eq!(read(&house, "units/inbox.connector.d/override.toml"), "[schedule]\nevery = \"9m\"\n");

    assert_eq!(house.ok(&["edit", "inbox"]), "nothing was changed\n");
    let seen = read(&house, "home/seen");
    assert!(seen.starts_with("### inbox.connector: keys written here"), "{seen}");
    assert!(
        seen.contains("\nevery = \"9m\"\n") && seen.contains("\n# url = \"file:///dev/null\"\n"),
        "{seen}"
    );

    assert!(house.ok(&["edit", "inbox"]).starts_with("removed "));
    assert_eq!(files(&house, "units"), [""; 0]);
}

#[test]
fn an_edit_with_errors_goes_round_again_or_is_kept_aside() {
    let mut house = house();
    house.write("vendor/inbox.connector.toml", &INBOX.replace("false", "true"));
    editor(&mut house, &[BAD, GOOD, BAD, BAD, BAD]);
    let ran = house.run_with(&["edit", "inbox"], "e\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("unknown key") && ran.err.contains("[e]dit again  [d]iscard:"), "{ran:?}");
    assert_eq!(read(&house, "units/inbox.connector.d/override.toml"), "[schedule]\nevery = \"9m\"\n");

    let ran = house.run_with(&["edit", "inbox"], "s\nd\n");
    failed(&ran, 1, &["your text is kept in "]);
    assert_eq!(read(&house, "units/inbox.connector.d/override.toml"), "[schedule]\nevery = \"9m\"\n");
    let kept = ran.err.split("kept in ").nth(1).unwrap().trim();
    assert!(fs::read_to_string(kept).unwrap().contains("evry"), "{kept}");

    failed(&house.run_with(&["edit", "inbox"], ""), 1, &["your text is kept in "]);
    let ran = house.run_with(&["edit", "inbox", "--force"], "s\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(read(&house, "units/inbox.connector.d/override.toml").contains("evry"));
}

#[test]
fn an_editor_that_fails_loses_nothing() {
    let mut house = house();
    house.unit("inbox.connector.toml", INBOX);
    editor(&mut house, &["echo '# half' >> \"$1\"; exit 3", "exit 3"]);
    let ran = house.run(&["edit", "--full", "inbox"]);
    failed(&ran, 1, &["exit status: 3", "your text is kept in "]);
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX);
    let ran = house.run(&["edit", "--full", "inbox"]);
    assert!(ran.code == Some(1) && !ran.err.contains("is kept in"), "{ran:?}");
}

#[test]
fn a_full_copy_is_edited_and_reverted() {
    let mut house = house();
    house.write("vendor/inbox.connector.toml", INBOX);
    editor(&mut house, &["sed -i 's/News/Other/' \"$1\""]);
    house.ok(&["edit", "--full", "inbox"]);
    assert_eq!(read(&house, "units/inbox.connector.toml"), INBOX.replace("News", "Other"));
    house.ok(&["enable", "inbox"]);
    house.ok(&["mask", "inbox"]);

    let ran = house.run(&["revert", "inbox"]);
    assert!(ran.code == Some(1) && ran.out.contains("nothing was removed"), "{ran:?}");
    assert_eq!(files(&house, "units").len(), 2);
    let said = house.ok(&["revert", "--yes", "inbox"]);
    assert!(said.contains("/units/inbox.connector.d/masked.toml\n"), "{said}");
    assert!(said.ends_with("inbox.connector is reverted: disabled\n"), "{said}");
    assert_eq!(files(&house, "units"), [""; 0]);
    assert_eq!(house.ok(&["revert", "--yes", "inbox"]), "inbox.connector: nothing of yours changes it\n");
}

#[test]
fn revert_leaves_a_unit_that_is_only_yours() {
    let house = house();
    house.unit("mine.connector.toml", INBOX);
    house.unit("mine.connector.d/a.toml", "[install]\nenabled = true\n");
    house.ok(&["revert", "-y", "mine"]);
    assert_eq!(files(&house, "units"), ["mine.connector.toml"]);
}

#[test]
fn validate_without_files_says_where_it_looked() {
    let house = house();
    let text = house.ok(&["validate"]);
    assert!(text.starts_with("0 files, no errors\n") && text.contains("/units\n"), "{text}");
}

#[test]
fn empty_lists_say_what_they_looked_for() {
    let house = house();
    assert_eq!(house.ok(&["outbox", "list", "--state", "held"]), "no send is in the state `held`\n");
    assert_eq!(house.ok(&["outbox", "list"]), "nothing was approved yet\n");
    assert_eq!(house.ok(&["secret", "list", "--json"]), "[]\n");
    house.secret("mail/me", "hunter2-and-more");
    let listed = house.ok(&["secret", "list", "--json"]);
    assert!(listed.contains("\"name\": \"mail/me\"") && !listed.contains("hunter2"), "{listed}");
}
