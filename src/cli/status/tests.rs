use std::time::Duration;

use super::*;
use crate::control::health::Health;
use crate::control::wire::{
    API_VERSION, ActiveState, CountsView, ErrorView, LoadState, Mode, ProbeView, UnitView,
};
use crate::model::time::Timestamp;

const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn ago(seconds: u64) -> Option<Timestamp> {
    Some(NOW.minus(Duration::from_secs(seconds)))
}

fn ahead(seconds: u64) -> Option<Timestamp> {
    Some(NOW.plus(Duration::from_secs(seconds)))
}

fn view(units: Vec<UnitView>) -> StatusView {
    StatusView {
        secret_stores: Vec::new(),
        budgets: Vec::new(),
        api: API_VERSION,
        version: "0.1.0".to_owned(),
        running: true,
        pid: Some(4711),
        generation: 7,
        mode: Mode::Live,
        paused: false,
        pauses: Default::default(),
        started_at: Some(NOW.minus(Duration::from_secs(3 * 3600))),
        now: NOW,
        units,
        counts: CountsView::default(),
        pinned: None,
        target: None,
        findings: 0,
        findings_since: None,
        notes: Vec::new(),
    }
}

fn render(view: &StatusView, colour: bool, width: usize) -> String {
    Screen::new(view.now, colour, width).overview(view)
}

fn polled(name: &str) -> UnitView {
    UnitView {
        since: ago(3 * 3600),
        last_try: ago(48),
        last_success: ago(48),
        last_new_item: ago(5 * 3600),
        next_due: ahead(12),
        every: Some(Duration::from_secs(60)),
        ..UnitView::active(name)
    }
}

fn failed(name: &str, times: u32, class: &str, message: &str) -> UnitView {
    UnitView {
        last_success: ago(720),
        failures_in_a_row: times,
        last_error: Some(ErrorView { at: ago(2), class: class.to_owned(), message: message.to_owned() }),
        ..polled(name)
    }
}

#[test]
fn a_house_in_order() {
    let mut view = view(vec![
        polled("inbox.connector"),
        UnitView {
            enabled: false,
            active: ActiveState::Inactive,
            reason: Some("[install] enabled = false".to_owned()),
            place: Some("/home/me/.config/workagent/units/news.connector.toml:8:1".to_owned()),
            ..UnitView::active("news.connector")
        },
        UnitView { details: vec!["3 runs today of 20".to_owned()], ..UnitView::active("local.engine") },
    ]);
    view.counts.cases =
        [("queued".to_owned(), 2), ("closed".to_owned(), 12), ("review".to_owned(), 3)].into();
    view.counts.actions = [("sent".to_owned(), 12), ("held".to_owned(), 1), ("dead".to_owned(), 0)].into();
    (view.counts.drafts_open, view.counts.oldest_draft_at) = (3, ago(7200));
    view.counts.oldest_queued_at = ago(60);
    assert_eq!(exit_code(&view), exit::OK);
    insta::assert_snapshot!(render(&view, false, 120), @r"
    workagent 0.1.0, up 3h, live (process 4711, generation 7)

    ● inbox.connector  ok        polled 48s ago, next in 12s, new item 5h ago
    ○ news.connector   off       [install] enabled = false
        /home/me/.config/workagent/units/news.connector.toml:8:1

    ● local.engine     ok        no run yet
        3 runs today of 20

    cases   2 queued, 3 review, 12 closed, the oldest is queued for 1m
    outbox  12 sent, 1 held
    review  3 drafts wait, the oldest waits for 2h
    ");
}

#[test]
fn a_house_in_trouble() {
    let mut view = view(vec![
        failed("down.connector", 2, "network", "fetch the feed: connect to 127.0.0.1:9: connection refused"),
        failed("mail.connector", 1, "auth", "log in to imap.example.org as me: NO [AUTHENTICATIONFAILED]"),
        UnitView {
            next_due: ago(35 * 3600),
            last_try: ago(35 * 3600),
            last_success: ago(35 * 3600),
            ..polled("stuck.connector")
        },
        UnitView {
            load: LoadState::BadSetting,
            active: ActiveState::Inactive,
            reason: Some("unknown key `poll_intervall`".to_owned()),
            place: Some("units/typo.connector.toml:3:1".to_owned()),
            ..UnitView::active("typo.connector")
        },
        UnitView {
            last_success: None,
            last_try: None,
            last_new_item: None,
            restarts: 918,
            last_probe: Some(ProbeView { at: NOW, ok: false, text: "no route".to_owned() }),
            ..failed("looping.connector", 4, "bug", "a fault of workagent")
        },
    ]);
    (view.findings, view.findings_since, view.paused, view.mode) = (2, ago(720), true, Mode::Rehearsal);
    assert_eq!(exit_code(&view), exit::NOT_WELL);
    insta::assert_snapshot!(render(&view, false, 100), @r"
    workagent 0.1.0, up 3h, rehearsal: nothing is really sent (process 4711, generation 7)
    ! paused, no engine runs and nothing is sent: workagent resume
    ! 2 errors in unit files for 12m: workagent validate

    ▲ down.connector     retrying  2 times in a row for 3h, next try in 12s, last success 12m ago
        network: fetch the feed: connect to 127.0.0.1:9: connection refused
    × mail.connector     failing   once, 2s ago, next try in 12s, last success 12m ago
        auth: log in to imap.example.org as me: NO [AUTHENTICATIONFAILED]
    ▲ stuck.connector    late      overdue by 35h, last success 35h ago
    × typo.connector     broken    unknown key `poll_intervall`
        units/typo.connector.toml:3:1
    × looping.connector  failing   4 times in a row for 3h, next try in 12s, no success since start
        bug: a fault of workagent
        connection test failed just now: no route
        its loop was begun again 918 times after a fault of workagent itself

    cases   none
    outbox  none
    review  nothing waits
    ");
}

#[test]
fn foreign_text_moves_no_cursor_and_breaks_no_line() {
    let shown = render(&view(vec![failed("a.connector", 3, "network", "x\u{1b}[2J\r\ny\u{7}z")]), false, 200);
    assert!(shown.contains("network: x[2J yz\n"), "{shown}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let view = view(vec![polled("a.connector"), failed("b.connector", 3, "network", "no")]);
    let coloured = render(&view, true, 100);
    assert!(coloured.contains("\u{1b}[32m●"));
    let mut plain = coloured;
    for code in ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[31m", "\u{1b}[0m"] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, render(&view, false, 100));
}

#[test]
fn lines_keep_to_the_width() {
    let shown = render(&view(vec![failed("a.connector", 3, "network", &"ü".repeat(500))]), false, 80);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn without_a_daemon_the_first_line_says_so() {
    let mut view = view(vec![UnitView {
        active: ActiveState::Inactive,
        health: Some(Health::Stopped),
        last_new_item: ago(300),
        ..UnitView::active("inbox.connector")
    }]);
    (view.running, view.pid, view.started_at) = (false, None, None);
    assert_eq!(exit_code(&view), exit::NOT_RUNNING);
    insta::assert_snapshot!(render(&view, false, 80), @r"
    the daemon is not running: start it with `workagent run`
    below is what unit files and record say by themselves

    ○ inbox.connector  stopped   new item 5m ago

    cases   none
    outbox  none
    review  nothing waits
    ");
}

#[test]
fn one_unit_closely() {
    let unit = UnitView { description: "my mailbox".to_owned(), ..failed("a.connector", 3, "network", "no") };
    let view = view(vec![unit]);
    insta::assert_snapshot!(Screen::new(NOW, false, 80).closely(&view, &[]), @r"
    × a.connector  failing   3 times in a row for 3h, next try in 12s, last success
                             12m ago
        network: no
        my mailbox
        so for 3h
        polled every 1m
    ");
}

#[test]
fn runtimes_that_do_what_they_should_share_a_line() {
    let ran = |name: &str| UnitView { last_try: ago(5), last_success: ago(5), ..UnitView::active(name) };
    let odd = UnitView { details: vec!["bug: sending a1 panicked".to_owned()], ..ran("outbound.runtime") };
    let off =
        UnitView { enabled: false, active: ActiveState::Inactive, ..UnitView::active("scheduler.runtime") };
    let view = view(vec![ran("ingest.runtime"), odd, off, ran("worker.runtime")]);
    insta::assert_snapshot!(render(&view, false, 80), @r"
    workagent 0.1.0, up 3h, live (process 4711, generation 7)

    ● outbound.runtime  ok        ran 5s ago
        bug: sending a1 panicked
    ● runtimes          ok        ingest, worker
    ○ runtimes          off       scheduler

    cases   none
    outbox  none
    review  nothing waits
    ");
}
