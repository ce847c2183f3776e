use std::time::Duration;

use super::*;
use crate::control::wire::{ActiveState, CountsView, ErrorView, Mode, RestView};
use crate::model::case::{Case, CaseState};
use crate::model::ids::ActionId;
use crate::model::time::Timestamp;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn status(units: Vec<UnitView>) -> StatusView {
    StatusView {
        api: 1,
        version: "0".into(),
        running: true,
        pid: None,
        generation: 1,
        mode: Mode::Live,
        paused: false,
        pauses: crate::model::pause::Pauses::default(),
        started_at: None,
        now: NOW,
        units,
        counts: CountsView::default(),
        findings: 0,
        findings_since: None,
        pinned: None,
        target: None,
        secret_stores: Vec::new(),
        budgets: Vec::new(),
        notes: Vec::new(),
    }
}

fn parked(id: i64, waits: Waits, until: Option<Timestamp>) -> Parked {
    let case = Case { title: format!("title {id}"), until, ..Case::sample(id, CaseState::Parked) };
    let action = (waits == Waits::HeldSend).then_some(ActionId(4));
    Parked { case, waits, reason: "because".into(), until, since: NOW, draft: None, action }
}

fn shown(status: &StatusView, needs: &Needs) -> String {
    let all = repairs(status, needs);
    all.iter().map(|one| format!("{} | {} | {}\n", one.key, one.what, one.command)).collect()
}

/// A unit that failed so often, with an error of this class.
fn failing(unit: &str, class: &str, times: u32) -> UnitView {
    let message = "it said no".to_owned();
    UnitView {
        failures_in_a_row: times,
        last_error: Some(ErrorView { at: None, class: class.into(), message }),
        ..UnitView::active(unit)
    }
}

#[test]
fn nothing_to_mend_is_an_empty_list() {
    let well = status(vec![UnitView::active("inbox.connector"), failing("other.connector", "network", 9)]);
    assert_eq!(shown(&well, &Needs::default()), "");
}

#[test]
fn each_trouble_has_its_command() {
    let rest = |word: &str| {
        let reason = format!("{word}: resets at 15:00");
        Some(RestView { until: NOW.plus(Duration::from_secs(60)), reason, account: None })
    };
    let left_out = UnitView {
        load: LoadState::BadSetting,
        active: ActiveState::Inactive,
        reason: Some("unknown key".into()),
        place: Some("a.connector.toml:3:1".into()),
        ..UnitView::active("a.connector")
    };
    let mut status = status(vec![
        failing("inbox.connector", "auth", 1),
        failing("rooms.connector", "permanent", 4),
        UnitView { active: ActiveState::Failed, ..UnitView::active("worker.runtime") },
        UnitView { rest: rest("usage-limit"), ..UnitView::active("main.engine") },
        UnitView { rest: rest("auth"), ..UnitView::active("other.engine") },
        UnitView { kept: Some("a typo".into()), ..UnitView::active("kept.connector") },
        left_out,
    ]);
    status.findings = 2;
    status.counts.cases.insert("dead".into(), 3);
    status.counts.actions.insert("dead".into(), 1);
    let needs = Needs {
        parked: vec![
            parked(1, Waits::Question, None),
            parked(2, Waits::HeldSend, None),
            parked(3, Waits::Unrouted, None),
            parked(4, Waits::Failed, None),
            parked(5, Waits::Quota, Some(NOW)),
        ],
        engine_secrets: [("other.engine".to_owned(), "api/key".to_owned())].into(),
        needs_restart: vec!["[store] url".into()],
        backup_failed: Some("the disk is full".into()),
        secret: None,
    };
    insta::assert_snapshot!(shown(&status, &needs), @r#"
    auth:inbox.connector | inbox.connector is not let in with its login | workagent init inbox
    auth:other.engine | other.engine is not let in with its login | workagent secret set api/key
    reload:unit-files | 2 errors in unit files; what is not well is left as it was | workagent validate
    bad-unit:a.connector | a.connector is left out | workagent edit a.connector
    bad-unit:kept.connector | kept.connector runs its last good version | workagent edit kept.connector
    failed-unit:rooms.connector | rooms.connector fails | workagent reset-failed rooms.connector
    failed-unit:worker.runtime | worker.runtime gave up | workagent reset-failed worker.runtime
    held-send:a4 | a4 is held, it may have arrived: title 2 | workagent outbox release a4
    dead-send:all | 1 send was given up | workagent outbox list --state dead
    question:c1 | c1 has a question to you: title 1 | workagent case answer c1 TEXT
    waiting:cases | 2 cases wait for you | workagent case list --parked
    dead-case:all | 3 cases were given up | workagent case list --state dead
    quota:main.engine | main.engine is used up for now | workagent kick main.engine
    restart:daemon | changed, but only a restart applies it: [store] url | workagent service restart
    backup:backup | the disk is full | workagent backup
    "#);
}

#[test]
fn what_passes_by_itself_says_when() {
    let until = NOW.plus(Duration::from_secs(60));
    let rest = Some(RestView { until, reason: "usage-limit: later".into(), account: None });
    let all = repairs(&status(vec![UnitView { rest, ..UnitView::active("main.engine") }]), &Needs::default());
    assert_eq!(all.first().unwrap().until, Some(until));
}

#[test]
fn what_was_only_rehearsed_needs_nobody() {
    let mut held = parked(2, Waits::HeldSend, None);
    for how in ["rehearsal", "shadow"] {
        held.reason = format!("{how}: would have gone to pat@example.org");
        let needs = Needs { parked: vec![held.clone()], ..Needs::default() };
        assert_eq!(shown(&status(Vec::new()), &needs), "");
    }
}

#[test]
fn one_case_that_waits_is_named() {
    let needs = Needs { parked: vec![parked(3, Waits::Failed, None)], ..Needs::default() };
    assert_eq!(
        shown(&status(Vec::new()), &needs),
        "waiting:cases | c3 waits for you: title 3 | workagent case retry c3\n"
    );
}
