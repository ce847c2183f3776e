//! The screen by keys, without a terminal; and what it looks like on terminals of several sizes.

mod person;

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::deeds::{Answer, Deed, Done, Request};
use super::model::{Mode, SETTLES_AFTER, Typed};
use crate::cli::screen::{Input, Order};
use crate::control::wire::Approved;
use crate::model::draft::DraftState;
use crate::model::effect::{Effect, Offer};
use crate::model::ids::{ActionId, CaseId, DraftId};
use crate::model::item::HiddenPart;
use crate::model::outbound::ActionState;
use crate::model::time::Timestamp;
use person::{NOW, Person, card, send};

fn approval(id: i64) -> Deed {
    Deed::Approve { draft: DraftId(id), hash: format!("{id:064}"), stale_ok: false }
}

fn ask(deed: Deed) -> Vec<Order<Request>> {
    vec![Order::Ask(Request::Do(deed))]
}

#[test]
fn a_plain_draft_takes_one_key() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No.")]);
    assert_eq!(person.types("a"), ask(approval(1)));
    let approved = Approved { action: ActionId(7), paused: false };
    person.done(approval(1), Done::Approved(approved));
    assert_eq!((person.said(), person.shows()), ("d1 is approved: a7, leaves in 30s", Some(2)));
}

#[test]
fn a_key_meant_for_one_draft_does_not_decide_on_the_next() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No.")]);
    person.types("a");
    // Pressed once more while the first is on its way, and again as the next one comes up.
    assert_eq!(person.types("a"), []);
    person.done(approval(1), Done::Approved(Approved { action: ActionId(7), paused: false }));
    assert_eq!((person.types("a"), person.said()), (vec![], "this is another draft: look at it first"));
    person.waits(SETTLES_AFTER);
    assert_eq!(person.types("a"), ask(approval(2)));
}

#[test]
fn whoever_turns_the_page_decides_at_once() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No.")]);
    assert_eq!(person.types("ja"), ask(approval(2)));
}

#[test]
fn a_long_answer_is_approved_when_all_of_it_was_seen() {
    let long = (0..60).map(|n| format!("line {n}\n")).collect::<String>();
    let mut person = Person::before(vec![card(1, &long)]);
    let mut pages = 0;
    while person.types("a").is_empty() {
        pages += 1;
        assert!(pages < 10 && person.said().starts_with("there is more of it"), "{}", person.said());
    }
    assert_eq!(pages, 4, "{}", person.text(80, 24));
}

#[test]
fn an_edit_starts_a_new_version_that_is_looked_at_anew() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    assert_eq!(person.types("e"), [Order::Edit("Yes.\n".into())]);
    let edit =
        Deed::Edit { draft: DraftId(1), hash: format!("{:064}", 1), body: "No.".into(), effects: None };
    assert_eq!(person.gets(Input::Edited(Ok("No.\n".into()))), ask(edit.clone()));
    let mut edited = card(1, "Yes.").draft;
    (edited.body, edited.hash) = ("No.".into(), "f".repeat(64));
    person.done(edit, Done::Edited(Box::new(edited)));
    assert_eq!((person.types("a"), person.said()), (vec![], "this is another draft: look at it first"));
    person.waits(SETTLES_AFTER);
    let approve = Deed::Approve { draft: DraftId(1), hash: "f".repeat(64), stale_ok: false };
    assert_eq!(person.types("a"), ask(approve));
}

#[test]
fn an_editor_that_fails_or_changes_nothing_changes_nothing() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("e");
    assert_eq!(person.gets(Input::Edited(Ok("Yes.\n\n".into()))), []);
    assert_eq!(person.said(), "d1 is as it was");
    person.waits(SETTLES_AFTER);
    person.types("e");
    assert_eq!(person.gets(Input::Edited(Err("ended with 1".into()))), []);
    assert_eq!((person.said(), person.shows()), ("ended with 1", Some(1)));
}

#[test]
fn whoever_is_second_is_told_and_keeps_the_text() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No.")]);
    person.types("e");
    person.gets(Input::Edited(Ok("My words.".into())));
    let edit =
        Deed::Edit { draft: DraftId(1), hash: format!("{:064}", 1), body: "My words.".into(), effects: None };
    let asked = person.refused(edit, "the draft is approved already");
    assert_eq!(asked, [Order::Ask(Request::Show(DraftId(1)))]);
    let mut view = card(1, "Yes.");
    view.draft.state = DraftState::Approved;
    person.gets(Input::Answer(Answer::Shown(DraftId(1), Box::new(Ok(view)))));
    assert_eq!(person.said(), "d1 is approved already, decided elsewhere; what you wrote is kept");
    assert_eq!(person.shows(), Some(2));
    assert!(person.model.farewell().contains("your text for d1 was not taken:\n\nMy words.\n"));
}

#[test]
fn an_approval_that_comes_second_shows_what_there_is_now() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("a");
    person.refused(approval(1), "the draft d1 changed");
    let mut view = card(1, "Yes, but.");
    view.draft.hash = "f".repeat(64);
    person.gets(Input::Answer(Answer::Shown(DraftId(1), Box::new(Ok(view)))));
    // Not with a key that was on its way.
    assert_eq!(person.types("a"), []);
    person.waits(SETTLES_AFTER);
    let approve = Deed::Approve { draft: DraftId(1), hash: "f".repeat(64), stale_ok: false };
    assert_eq!(person.types("a"), ask(approve));
}

#[test]
fn what_others_decide_and_change_is_told() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No."), card(3, "So.")]);
    person.types("j");
    let mut changed = card(2, "No!");
    changed.draft.hash = "f".repeat(64);
    person.looks(vec![changed.clone(), card(3, "So.")]);
    assert_eq!((person.shows(), person.said()), (Some(2), "d2 was changed elsewhere: look at it again"));
    changed.draft.stale = true;
    person.looks(vec![changed, card(3, "So.")]);
    assert_eq!(person.said(), "something new came into the thread of d2");
    // Gone: the next one comes up, and what became of it is asked for.
    let asked = person.looks(vec![card(3, "So.")]);
    assert_eq!((person.shows(), asked), (Some(3), vec![Order::Ask(Request::Show(DraftId(2)))]));
    assert_eq!(person.types("a"), []);
}

#[test]
fn a_note_is_not_for_a_draft_that_came_up_meanwhile() {
    let mut person = Person::before(vec![card(1, "Yes."), card(2, "No.")]);
    person.types("rtoo short");
    person.looks(vec![card(2, "No.")]);
    assert_eq!(person.model.mode, Mode::Deciding);
    assert_eq!(person.presses(KeyCode::Enter), []);
    assert!(person.model.farewell().contains("too short"));
}

#[test]
fn rejections_go_with_a_word() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("rno");
    let reject = |retry| Deed::Reject { draft: DraftId(1), note: "no".into(), retry };
    assert_eq!(person.presses(KeyCode::Enter), ask(reject(false)));
    person.refused(reject(false), "later");
    person.types("r");
    person.presses(KeyCode::Tab);
    person.types("no");
    assert_eq!(person.presses(KeyCode::Enter), ask(reject(true)));
    person.refused(reject(true), "later");
    // Another try without a word would be the same again.
    person.types("t");
    assert_eq!(person.presses(KeyCode::Enter), []);
    assert!(matches!(&person.model.mode, Mode::Typing { what: Typed::Rejection { retry: true }, .. }));
}

#[test]
fn put_away_and_dismissed() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("d");
    let until = |seconds| person_until(NOW, seconds);
    assert_eq!(person.presses(KeyCode::Enter), ask(Deed::Defer { draft: DraftId(1), until: until(86_400) }));
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("d");
    person.gets(Input::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
    person.types("soon");
    assert_eq!((person.presses(KeyCode::Enter), person.said()), (vec![], "a span looks like 90s, 2h, 3d"));
    person.presses(KeyCode::Esc);
    person.types("xspam");
    let dismiss = Deed::Dismiss { draft: DraftId(1), case: CaseId(11), reason: "spam".into() };
    assert_eq!(person.presses(KeyCode::Enter), ask(dismiss));
}

fn person_until(from: Timestamp, seconds: u64) -> Timestamp {
    from.plus(SETTLES_AFTER).plus(Duration::from_secs(seconds))
}

#[test]
fn effects_are_checked_one_by_one() {
    let mut view = card(1, "Yes.");
    view.draft.envelope.effects = vec![Effect::parse("close"), Effect::parse("respond: accepted")];
    let item = view.items.first_mut().unwrap();
    item.offers = vec![
        Offer::plain("close", "Close it"),
        Offer::one_of("respond", "Answer", &["accepted", "declined"]),
        Offer::text("label", "Label it", "its name"),
    ];
    let effects = |effects: &[&str]| Deed::Edit {
        draft: DraftId(1),
        hash: format!("{:064}", 1),
        body: "Yes.".into(),
        effects: Some(effects.iter().map(|&text| text.to_owned()).collect()),
    };
    let mut person = Person::before(vec![view]);
    let mut takes = |keys: &[KeyCode], expected: &[&str]| {
        let asked = keys.iter().map(|code| person.presses(*code)).last().unwrap();
        assert_eq!(asked, ask(effects(expected)), "{}", person.text(80, 24));
        person.refused(effects(expected), "no");
        person.model.choice = 0;
    };
    use KeyCode::{Char, Enter, Tab};
    takes(&[Char(' ')], &["respond: accepted"]);
    takes(&[Tab, Char(' ')], &["close"]);
    // The list: close, respond: accepted, respond: declined, label. Values of one verb exclude each other.
    takes(
        &[Char('4'), Char('b'), Char('u'), Char('g'), Enter],
        &["close", "respond: accepted", "label: bug"],
    );
    takes(&[Char('3')], &["close", "respond: declined"]);
}

#[test]
fn a_send_is_taken_back_while_it_waits() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.model.sends = vec![send(3, ActionState::Sent, 0), send(2, ActionState::Approved, 20)];
    assert!(person.text(80, 24).contains("a2 to pat@example.org leaves in 20s (u takes it back)"));
    person.waits(Duration::from_secs(18));
    assert!(person.text(80, 24).contains("leaves in 2s"));
    assert_eq!(person.types("u"), ask(Deed::TakeBack(ActionId(2))));
    person.refused(Deed::TakeBack(ActionId(2)), "a2 is sending");
    person.waits(Duration::from_secs(5));
    assert_eq!((person.types("u"), person.said()), (vec![], "nothing waits that could be taken back"));
}

#[test]
fn stale_and_blocked_drafts_do_not_leave_by_one_key() {
    let mut stale = card(1, "Yes.");
    stale.draft.stale = true;
    let mut blocked = card(2, "No.");
    blocked.blocked = Some("the connector is off".into());
    let mut person = Person::before(vec![stale, blocked]);
    assert_eq!(person.types("a"), []);
    let anyway = Deed::Approve { draft: DraftId(1), hash: format!("{:064}", 1), stale_ok: true };
    assert_eq!(person.types("A"), ask(anyway));
    person.refused(approval(1), "no");
    assert_eq!((person.types("ja"), person.said()), (vec![], "d2 cannot be sent: the connector is off"));
}

#[test]
fn pasted_text_is_no_decision() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    assert_eq!(person.gets(Input::Pasted("a".into())), []);
    person.types("r");
    person.gets(Input::Pasted("two\nlines".into()));
    let reject = Deed::Reject { draft: DraftId(1), note: "two lines".into(), retry: false };
    assert_eq!(person.presses(KeyCode::Enter), ask(reject));
}

#[test]
fn without_an_answer_what_was_there_stays() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.gets(Input::Answer(Answer::Looked(Err("nobody listens".into()))));
    let screen = person.text(80, 24);
    assert!(screen.contains("THE DAEMON DOES NOT ANSWER") && screen.contains("Yes."), "{screen}");
    // It is asked again, and not all the time.
    assert_eq!(person.gets(Input::Tick), []);
    person.waits(Duration::from_secs(2));
    assert_eq!(person.gets(Input::Tick).len(), 1);
    assert_eq!(person.gets(Input::Tick), []);
}

#[test]
fn nothing_is_decided_on_a_screen_that_shows_nothing() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.gets(Input::Size(20, 5));
    assert_eq!(person.types("a"), []);
}

#[test]
fn left_by_q_and_by_control_c() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    assert_eq!(person.types("q"), [Order::Quit]);
    let control_c = || Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    // A line that is typed is left first.
    person.types("r");
    assert_eq!(person.gets(control_c()), []);
    assert_eq!(person.gets(control_c()), [Order::Quit]);
}

#[test]
fn what_was_decided_arrives_before_the_screen_is_left() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    assert_eq!(person.types("aq"), []);
    let approved = || Done::Approved(Approved { action: ActionId(7), paused: false });
    assert_eq!(person.done(approval(1), approved()), [Order::Quit]);
    // Refused: the person is told, and stays.
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("aq");
    assert_eq!(person.refused(approval(1), "no"), [Order::Ask(Request::Show(DraftId(1)))]);
}

/// Everything that can be odd about a draft.
fn odd() -> Person {
    let mut odd = card(1, "Yes, at ten.\n\nKim");
    odd.draft.engine_body = "Yes, at nine.\n\nKim".into();
    odd.draft.envelope.effects = vec![Effect::parse("label: done")];
    odd.draft.stale = true;
    odd.draft.remarks = vec!["the engine was not sure of the hour".into()];
    let item = odd.items.first_mut().unwrap();
    item.title = "Plan\u{202e} 日本語 e\u{301}".into();
    item.body = "日本語の長い行".repeat(8);
    item.hidden = vec![HiddenPart { why: "display:none".into(), text: "ignore\x1b[2J all".into() }];
    item.offers = vec![Offer::plain("close", "Close it")];
    let mut blocked = card(2, "No.");
    blocked.blocked = Some("off".into());
    let mut person = Person::before(vec![odd, blocked, card(3, "So.")]);
    person.model.sends = vec![send(2, ActionState::Approved, 20), send(1, ActionState::Sent, 0)];
    person
}

#[test]
fn at_80_by_24() {
    insta::assert_snapshot!(odd().text(80, 24));
}

#[test]
fn at_120_by_40() {
    insta::assert_snapshot!(odd().text(120, 40));
}

#[test]
fn at_40_by_12() {
    insta::assert_snapshot!(odd().text(40, 12));
}

#[test]
fn in_colour() {
    let terminal = odd().screen(80, 24, true);
    insta::assert_snapshot!(format!("{:#?}", terminal.backend().buffer()));
}

#[test]
fn without_colour_there_is_none() {
    let mut person = odd();
    let terminal = person.screen(80, 24, false);
    let cells = terminal.backend().buffer().content().iter();
    assert!(cells.clone().all(|cell| cell.fg == ratatui::style::Color::Reset));
    // What the colours say is said in words as well.
    let text = person.text(80, 40);
    for word in ["STALE", "HIDDEN", "note", "[x]", "leaves in"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn the_keys_are_explained_on_one_screen() {
    let mut person = Person::before(vec![card(1, "Yes.")]);
    person.types("?");
    insta::assert_snapshot!(person.text(80, 24));
}

#[test]
fn nothing_waits() {
    let mut person = Person::before(Vec::new());
    let text = person.text(80, 24);
    assert!(text.contains("No drafts wait for you."), "{text}");
    assert_eq!(person.types("aedxj1 u"), []);
    assert_eq!(person.model.farewell(), "no drafts wait for you\n");
}
