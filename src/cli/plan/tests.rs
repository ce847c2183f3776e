use std::collections::BTreeMap;

use super::diff::{DiffView, units};
use super::list::ListView;
use super::{diff, list, show};
use crate::cli::look::Paint;
use crate::daemon::plans::{FORMAT, KeptPlan, KeptUnit};
use crate::model::time::Timestamp;

const PLAIN: Paint = Paint { colour: false };
const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn on(text: &str, origins: &[(&str, &str)]) -> KeptUnit {
    let origins = origins.iter().map(|(key, place)| ((*key).to_owned(), (*place).to_owned())).collect();
    KeptUnit::On { text: text.into(), origins }
}

fn off(state: &str, reason: &str) -> KeptUnit {
    KeptUnit::Off {
        state: state.to_owned(),
        reason: reason.to_owned(),
        place: Some("/u/x.toml:1:1".to_owned()),
    }
}

fn plan(generation: i64, units: &[(&str, KeptUnit)]) -> KeptPlan {
    KeptPlan {
        format: FORMAT,
        generation,
        hash: "0123456789abcdef".to_owned(),
        applied_at: Timestamp(NOW.0 - 3_600_000 / generation),
        files: Vec::new(),
        units: units.iter().map(|(name, unit)| ((*name).to_owned(), unit.clone())).collect(),
    }
}

const INBOX: &str = "[connector]\nplatform = \"maildir\"\n\n[schedule]\nevery = \"1m\"\n";

fn two() -> (KeptPlan, KeptPlan) {
    let before = plan(
        6,
        &[
            ("inbox.connector", on(INBOX, &[])),
            ("old.route", on("[route]\n", &[])),
            ("work.env", off("disabled", "`[install] enabled` is not true")),
        ],
    );
    let after = plan(
        12,
        &[
            ("inbox.connector", on(&INBOX.replace("1m", "5m"), &[])),
            ("old.route", off("bad-setting", "unknown engine `comand`")),
            ("work.env", on("[set]\nA = \"b\"\n", &[])),
        ],
    );
    (before, after)
}

#[test]
fn a_list_says_what_each_plan_changed() {
    let (before, after) = two();
    let plans = vec![after.head(Some(&before)), before.head(None)];
    let mut view = ListView { current: Some(12), pinned: None, plans, damaged: Vec::new() };
    assert_eq!(
        list::shown(&view, NOW, PLAIN, 80),
        "   GENERATION  APPLIED  ON  OFF  CHANGES\n\
         ●  12          5m ago   2   1    ~inbox.connector -old.route +work.env\n   \
            6           10m ago  2   1    (the oldest that is kept)\n"
    );
    (view.current, view.pinned) = (Some(6), Some(6));
    let shown = list::shown(&view, NOW, PLAIN, 80);
    assert!(shown.contains("●  6 pinned    10m ago"), "{shown}");
    assert!(shown.contains("not followed while generation 6 is pinned: workagent plan unpin"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_plan_shows_its_units() {
    let (_, after) = two();
    assert_eq!(
        show::overview(&after, NOW, PLAIN, 80),
        "generation 12  applied 2026-11-30T07:55:00Z (5m ago), hash 0123456789ab\n\
         2 on, 1 off, from 0 files\n\
         \n   \
            UNIT             STATE        REASON\n\
         ●  inbox.connector  on\n\
         ○  old.route        bad-setting  unknown engine `comand`\n\
         ●  work.env         on\n"
    );
}

#[test]
fn a_unit_shows_where_its_keys_come_from() {
    let unit = on(INBOX, &[("schedule.every", "/u/inbox.connector.toml:9:9")]);
    assert_eq!(
        show::closely("inbox.connector", &unit, PLAIN, 80),
        "# inbox.connector\n[connector]\nplatform = \"maildir\"\n\n[schedule]\n\
         every = \"1m\"  # /u/inbox.connector.toml:9:9\n"
    );
    assert_eq!(
        show::closely("x.env", &off("masked", "masked = true"), PLAIN, 80),
        "x.env is off (masked): masked = true\n  /u/x.toml:1:1\n"
    );
}

#[test]
fn a_diff_goes_unit_by_unit() {
    let (before, after) = two();
    let view = DiffView { from: 6, to: Some(12), units: units(&before, &after) };
    assert_eq!(
        diff::shown(&view, PLAIN),
        "inbox.connector changed\n\
         @@ -2,4 +2,4 @@\n platform = \"maildir\"\n \n [schedule]\n-every = \"1m\"\n+every = \"5m\"\n\n\
         old.route off\n  bad-setting: unknown engine `comand`\n@@ -1 +0,0 @@\n-[route]\n\n\
         work.env on\n@@ -0,0 +1,2 @@\n+[set]\n+A = \"b\"\n\n\
         3 units differ between generation 6 and generation 12: 1 changed, 1 off, 1 on\n"
    );
    let same = DiffView { from: 6, to: None, units: units(&before, &before) };
    assert_eq!(diff::shown(&same, PLAIN), "generation 6 and the unit files now mean the same\n");
}

#[test]
fn json_is_stable() {
    let (before, after) = two();
    let diff = DiffView { from: 6, to: None, units: units(&before, &after) };
    let value = serde_json::to_value(&diff).unwrap();
    assert_eq!(value["units"][1]["change"], "off");
    assert_eq!(value["units"][1]["reason"], "bad-setting: unknown engine `comand`");
    let head = serde_json::to_value(after.head(Some(&before))).unwrap();
    let keys: Vec<&String> = head.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["generation", "hash", "applied_at", "on", "off", "changes"]);
    let changes: BTreeMap<String, String> = serde_json::from_value(head["changes"].clone()).unwrap();
    assert_eq!(changes["work.env"], "on");
}
