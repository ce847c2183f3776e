//! The screen by keys, without a terminal; and what it looks like.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::ask::{Looked, Request};
use super::model::{LINES_MAX, Model};
use super::sections::Section;
use crate::cli::screen::{Input, Look, Machine as _, Order, draw};
use crate::control::wire::cost::{BudgetView, CostBy, CostRow, CostView};
use crate::control::wire::{CountsView, ErrorView, Mode, RestView, StatusView, UnitView};
use crate::model::ids::CaseId;
use crate::model::time::Timestamp;
use crate::store::JournalLine;

const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn ago(seconds: u64) -> Option<Timestamp> {
    Some(NOW.minus(Duration::from_secs(seconds)))
}

fn status() -> StatusView {
    let polled = |name: &str| UnitView {
        last_try: ago(3),
        last_success: ago(3),
        last_new_item: ago(7200),
        next_due: Some(NOW.plus(Duration::from_secs(57))),
        every: Some(Duration::from_secs(60)),
        ..UnitView::active(name)
    };
    let failing = UnitView {
        failures_in_a_row: 4,
        last_success: None,
        last_error: Some(ErrorView {
            at: ago(3),
            class: "auth".into(),
            message: "401 \u{1b}[31mfor the token \u{202e}日本".into(),
        }),
        ..polled("github.connector")
    };
    let resting = UnitView {
        rest: Some(RestView {
            until: NOW.plus(Duration::from_secs(3600)),
            reason: "usage-limit: resets at 15:00".into(),
            account: None,
        }),
        last_success: ago(600),
        ..UnitView::active("claude.engine")
    };
    let budget = BudgetView {
        unit: "local.engine".into(),
        span: "today".into(),
        spent_micro_usd: 450_000,
        micro_usd_max: 500_000,
        until: None,
        near: true,
    };
    StatusView {
        api: 1,
        version: "0.1.0".into(),
        running: true,
        pid: Some(7),
        generation: 3,
        mode: Mode::Live,
        paused: false,
        pauses: Default::default(),
        started_at: ago(7200),
        now: NOW,
        units: vec![failing, polled("inbox.connector"), resting, UnitView::active("local.engine")],
        counts: CountsView {
            cases: [("queued".into(), 2), ("review".into(), 1)].into(),
            oldest_queued_at: ago(60),
            ..CountsView::default()
        },
        findings: 0,
        findings_since: None,
        pinned: None,
        target: None,
        secret_stores: Vec::new(),
        budgets: vec![budget],
        notes: vec!["1 send is held for you: workagent outbox list --state held".into()],
    }
}

fn cost() -> CostView {
    let row = CostRow { key: "local".into(), runs: 3, cost_micro_usd: 450_000, ..CostRow::default() };
    CostView {
        since: NOW,
        now: NOW,
        by: CostBy::Engine,
        rows: vec![row],
        total: CostRow::default(),
        months: Vec::new(),
        cut: false,
        budgets: Vec::new(),
    }
}

fn lines(from: i64, count: i64) -> Vec<JournalLine> {
    let line = |id| JournalLine {
        id,
        case: CaseId(id % 7),
        at: NOW,
        event: "sent".into(),
        detail: format!("line {id}"),
    };
    (from..from + count).map(line).collect()
}

fn looks(model: &mut Model, status: StatusView, journal: Vec<JournalLine>, now: Timestamp) {
    let looked = Looked { status, drafts: Vec::new(), cost: cost(), journal };
    model.update(Input::Answer(Ok(Box::new(looked))), now);
}

fn shown() -> Model {
    let mut model = Model::new(NOW);
    assert_eq!(model.update(Input::Tick, NOW), [Order::Ask(Request { after: 0, now: NOW })]);
    looks(&mut model, status(), lines(1, 50), NOW);
    model
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Order<Request>> {
    model.update(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)), NOW)
}

fn terminal(model: &mut Model, size: (u16, u16), now: Timestamp, colour: bool) -> Terminal<TestBackend> {
    model.update(Input::Size(size.0, size.1), now);
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let page = model.view(Look { colour }, now);
    terminal.draw(|frame| draw(&page, frame)).unwrap();
    terminal
}

fn text(model: &mut Model, width: u16, height: u16, now: Timestamp) -> String {
    let terminal = terminal(model, (width, height), now, false);
    let buffer = terminal.backend().buffer();
    assert!(buffer.content().iter().all(|cell| cell.fg == ratatui::style::Color::Reset));
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn at_80_by_24() {
    insta::assert_snapshot!(text(&mut shown(), 80, 24, NOW));
}

#[test]
fn at_40_by_12() {
    insta::assert_snapshot!(text(&mut shown(), 40, 12, NOW));
}

#[test]
fn at_120_by_40_in_colour() {
    let terminal = terminal(&mut shown(), (120, 40), NOW, true);
    insta::assert_snapshot!(format!("{:#?}", terminal.backend().buffer()));
}

#[test]
fn ages_tick_without_asking() {
    let mut model = shown();
    assert!(text(&mut model, 80, 24, NOW).contains("in 57s"));
    let later = NOW.plus(Duration::from_secs(1));
    assert_eq!(model.update(Input::Tick, later), []);
    let screen = text(&mut model, 80, 24, later);
    assert!(screen.contains("in 56s") && screen.contains("  4s "), "{screen}");
}

#[test]
fn asked_for_what_is_new_and_never_twice_at_once() {
    let mut model = shown();
    let later = NOW.plus(Duration::from_secs(2));
    let asked = [Order::Ask(Request { after: 50, now: later })];
    assert_eq!(model.update(Input::Tick, later), asked);
    assert_eq!(model.update(Input::Tick, later.plus(Duration::from_secs(60))), []);
    // It took four seconds: the next one waits for ten times that.
    let answered = later.plus(Duration::from_secs(4));
    looks(&mut model, status(), Vec::new(), answered);
    assert_eq!(model.update(Input::Tick, answered.plus(Duration::from_secs(39))), []);
    assert_eq!(model.update(Input::Tick, answered.plus(Duration::from_secs(40))).len(), 1);
}

#[test]
fn memory_is_bounded() {
    let mut model = shown();
    for page in 0..50 {
        looks(&mut model, status(), lines(51 + page * 100, 100), NOW);
    }
    assert_eq!(model.journal.len(), LINES_MAX);
    assert_eq!(model.journal.back().map(|line| line.id), Some(5050));
    // A daemon that began anew may have another record, with smaller numbers.
    let begun = StatusView { started_at: ago(1), ..status() };
    looks(&mut model, begun, lines(1, 3), NOW);
    assert_eq!(model.journal.len(), 3);
}

#[test]
fn parts_are_chosen_and_moved_through() {
    let mut model = shown();
    for _ in 0..3 {
        press(&mut model, KeyCode::Char('j'));
    }
    let screen = text(&mut model, 80, 24, NOW);
    assert!(screen.contains("line 47") && !screen.contains("line 48"), "{screen}");
    // Not beyond the end.
    press(&mut model, KeyCode::Char('G'));
    let screen = text(&mut model, 80, 24, NOW);
    assert!(screen.contains("line 1\n") && screen.contains("of 50)"), "{screen}");
    press(&mut model, KeyCode::Tab);
    assert_eq!((model.chosen, model.scroll), (Section::Repairs, 0));
    press(&mut model, KeyCode::BackTab);
    assert_eq!(model.chosen, Section::Journal);
    press(&mut model, KeyCode::Char('3'));
    assert_eq!(model.chosen, Section::Engines);
}

#[test]
fn a_daemon_that_is_gone_leaves_what_was_there_and_an_age() {
    let mut model = shown();
    let later = NOW.plus(Duration::from_secs(30));
    model.update(Input::Answer(Err("nobody listens".into())), later);
    let screen = text(&mut model, 80, 24, later);
    assert!(screen.contains("NO ANSWER for 30s") && screen.contains("inbox"), "{screen}");
}

#[test]
fn keys_are_explained_and_the_screen_is_left() {
    let mut model = shown();
    press(&mut model, KeyCode::Char('?'));
    assert!(text(&mut model, 80, 24, NOW).contains("the next part"));
    assert_eq!(press(&mut model, KeyCode::Char('q')), []);
    assert_eq!(press(&mut model, KeyCode::Char('q')), [Order::Quit]);
}
