//! The whole way in one process: real units, real record, real connectors on files.

mod destinations;
mod effects;
mod engines;
mod money;

use std::time::Duration;

use workagent::daemon::assembly::{Assembly, fit_to_plan};
use workagent::model::case::{Case, CaseState};
use workagent::model::draft::Draft;
use workagent::model::outbound::ActionState;
use workagent::model::pause::Pause;
use workagent::model::time::Clock;

use crate::support::way::{INBOX, POLITE, ROUTE, START, Way, mail, shell};

#[tokio::test]
async fn a_mail_is_answered_once_after_approval() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
    assert!(way.sent().is_empty(), "nothing leaves without a decision");
    let drafts = way.drafts().await;
    assert_eq!(drafts[0].body, "Thank you for the plan.");
    way.approve(&drafts[0]).await.unwrap();
    way.cycle().await;
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 sent\n");
    assert_eq!(way.sent().len(), 1);
}

#[tokio::test]
async fn an_approval_is_of_the_version_that_was_seen() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let seen = way.drafts().await.remove(0);
    let edited =
        way.assembly().store.edit_draft(seen.id, &seen.hash, "Another text.".into(), None).await.unwrap();
    let error = way.approve(&seen).await.unwrap_err().to_string();
    assert!(error.contains("changed"), "{error}");
    way.approve(&edited).await.unwrap();
    way.cycle().await;
    let bytes = std::fs::read_to_string(&way.sent()[0]).unwrap();
    assert!(bytes.contains("Another text.") && !bytes.contains("Thank you"), "{bytes}");
}

#[tokio::test]
async fn a_further_mail_joins_and_a_new_draft_takes_the_place_of_the_old() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let old = way.drafts().await.remove(0);
    way.deliver(
        "2",
        &mail("b", "Re: the plan", "In-Reply-To: <a@example.org>\nReferences: <a@example.org>\n"),
    );
    way.cycle().await;
    let new = way.drafts().await;
    assert_eq!((way.cases().await.len(), new.len()), (1, 1));
    assert_ne!(new[0].id, old.id);
    assert!(way.approve(&old).await.is_err());
}

#[tokio::test]
async fn an_out_of_office_without_a_header_is_answered_at_most_once() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "Out of office", ""));
    way.cycle().await;
    let drafts = way.drafts().await;
    assert_eq!(drafts.len(), 1, "worth a warning, not more");
    way.approve(&drafts[0]).await.unwrap();
    way.cycle().await;
    way.deliver("2", &mail("b", "Out of office", "In-Reply-To: <a@example.org>\n"));
    way.cycle().await;
    assert_eq!(
        way.shown().await,
        "c1 dismissed: a second mail within a day that looks like an automatic reply\n"
    );
}

#[tokio::test]
async fn our_own_answer_read_back_is_no_work() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let drafts = way.drafts().await;
    way.approve(&drafts[0]).await.unwrap();
    way.cycle().await;
    // A provider files what was sent into the mailbox that is read.
    let sent = way.sent().remove(0);
    std::fs::copy(&sent, way.path().join("in/new/9.copy")).unwrap();
    for _ in 0..3 {
        way.cycle().await;
    }
    assert_eq!(way.shown().await, "c1 sent\n");
}

#[tokio::test]
async fn the_undo_window_lets_a_send_be_taken_back() {
    let way = Way::new(&[
        ("inbox.connector.toml", &INBOX.replace("0s", "30s")),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.deliver("2", &mail("b", "the other plan", ""));
    way.cycle().await;
    for draft in way.drafts().await {
        way.approve(&draft).await.unwrap();
    }
    way.cycle().await;
    assert!(way.sent().is_empty());
    let first = way.actions().await.pop().unwrap();
    way.assembly().store.cancel_action(first.id).await.unwrap();
    way.clock.advance(Duration::from_secs(31));
    way.cycle().await;
    assert_eq!(way.sent().len(), 1);
    let states: Vec<ActionState> = way.actions().await.iter().map(|action| action.state).collect();
    assert_eq!(states, [ActionState::Sent, ActionState::Cancelled]);
}

/// A house with an undo window and one approved answer in it.
async fn in_the_undo_window() -> Way {
    let (way, _) = approved_with_an_undo_window().await;
    way.cycle().await;
    way
}

/// The same before its next cycle, with the draft.
async fn approved_with_an_undo_window() -> (Way, Draft) {
    let way = Way::new(&[
        ("inbox.connector.toml", &INBOX.replace("0s", "30s")),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let draft = way.drafts().await.remove(0);
    way.approve(&draft).await.unwrap();
    (way, draft)
}

#[tokio::test]
async fn what_comes_into_the_thread_in_the_undo_window_holds_the_send_and_asks() {
    let way = in_the_undo_window().await;
    way.deliver("2", &mail("b", "Re: the plan", "In-Reply-To: <a@example.org>\n"));
    way.cycle().await;
    let action = way.actions().await.remove(0);
    assert_eq!(action.state, ActionState::Held);
    let why = action.last_error.unwrap();
    assert!(why.starts_with("something came or changed at its source after the approval"), "{why}");
    way.clock.advance(Duration::from_secs(60));
    way.cycle().await;
    assert!(way.sent().is_empty());
    // The person looked, and means it all the same.
    way.assembly().bundle.desk.release(action.id, "inbox", false).await.unwrap();
    way.cycle().await;
    assert_eq!(way.sent().len(), 1);
}

#[tokio::test]
async fn an_edit_at_the_source_in_the_undo_window_holds_the_send() {
    let way = in_the_undo_window().await;
    let case = way.cases().await.remove(0).id;
    let store = &way.assembly().store;
    let mut item = store.case_items(case, 10).await.unwrap().remove(0);
    (item.revision, item.body) = ("another".to_owned(), "Forget it.".to_owned());
    let known = store.sync_state("inbox").await.unwrap().unwrap();
    let page = workagent::store::PageCommit {
        connector: "inbox".to_owned(),
        identity: known.identity,
        items: vec![item],
        cursor: None,
        generation: 1,
    };
    assert_eq!(store.commit_page(page).await.unwrap().updated_items, 1);
    assert_eq!(way.actions().await[0].state, ActionState::Held);
    way.clock.advance(Duration::from_secs(60));
    way.cycle().await;
    assert!(way.sent().is_empty());
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_at_review_and_not_approved() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let store = &way.assembly().store;
    let desk = &way.assembly().bundle.desk;
    let draft = way.drafts().await.remove(0);
    assert_eq!(desk.blocked(&draft), None);
    // A mail knows no labels.
    let effects = Some(vec![workagent::model::effect::Effect::with("label", "bug")]);
    let draft = store.edit_draft(draft.id, &draft.hash, "Thank you.".into(), effects).await.unwrap();
    let why = desk.blocked(&draft).unwrap();
    let refused = way.approve(&draft).await.unwrap_err().to_string();
    assert_eq!(refused, format!("{} cannot be sent as it is: {why}", draft.id));
    assert_eq!(way.shown().await, "c1 review\n");
    assert!(way.actions().await.is_empty());
}

#[tokio::test]
async fn a_rehearsal_sends_nothing_and_says_what_it_would_have() {
    let way = Way::new(&[
        ("workagent.daemon.toml", "[daemon]\nmode = \"rehearsal\"\n"),
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let drafts = way.drafts().await;
    way.approve(&drafts[0]).await.unwrap();
    way.cycle().await;
    assert!(way.sent().is_empty());
    let action = way.actions().await.remove(0);
    assert_eq!(action.state, ActionState::Held);
    assert!(action.last_error.unwrap().contains("would have gone to pat@example.org"));
}

#[tokio::test]
async fn a_pause_holds_over_a_restart_and_loses_nothing() {
    let mut way = Way::usual().await;
    way.assembly().store.pause(None, Pause { since: START, until: None }).await.unwrap();
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    way.start().await;
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 queued\n");
    way.assembly().store.resume(None).await.unwrap();
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
}

#[tokio::test]
async fn outbound_auto_approves_by_rule_and_never_refuses_by_rule() {
    for (rule, sent) in [("auto", 1), ("never", 0)] {
        let way = Way::new(&[
            (
                "inbox.connector.toml",
                &INBOX.replace("[maildir]", &format!("outbound = \"{rule}\"\n[maildir]")),
            ),
            ("polite.engine.toml", POLITE),
            ("answers.route.toml", ROUTE),
        ])
        .await;
        way.deliver("1", &mail("a", "the plan", ""));
        way.cycle().await;
        way.cycle().await;
        assert_eq!(way.sent().len(), sent, "{rule}");
        if rule == "never" {
            let draft = way.drafts().await.remove(0);
            assert!(way.approve(&draft).await.unwrap_err().to_string().contains("never"));
        }
    }
}

#[tokio::test]
async fn a_hopeless_case_is_parked_for_the_user_and_a_retry_buys_one_more() {
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &shell("cat > /dev/null; echo no >&2; exit 3")),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    for _ in 0..20 {
        way.cycle().await;
        way.clock.advance(Duration::from_secs(3600));
    }
    let case = way.cases().await.remove(0);
    assert_eq!(case.state, CaseState::Parked);
    assert_eq!(case.until, None, "{:?}", case.reason);
    let tries = case.attempts;
    way.assembly().store.retry_case(case.id).await.unwrap();
    for _ in 0..5 {
        way.cycle().await;
        way.clock.advance(Duration::from_secs(7200));
    }
    let case = way.cases().await.remove(0);
    assert_eq!((case.state, case.attempts), (CaseState::Parked, tries + 1));
}

#[tokio::test]
async fn a_declared_fall_back_is_used_and_said() {
    let route = ROUTE.replace("[\"polite\"]", "[\"broken\", \"polite\"]\non = [\"config\"]");
    let broken = "[engine]\nengine = \"command\"\n[command]\nprogram = \"/nowhere/engine\"\n[install]\nenabled = true\n";
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("broken.engine.toml", broken),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", &route),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    for _ in 0..3 {
        way.cycle().await;
    }
    let draft = way.drafts().await.remove(0);
    assert!(draft.made_by.contains("polite") && draft.made_by.contains("broken"), "{}", draft.made_by);
}

#[tokio::test]
async fn without_a_declared_fall_back_the_case_waits_with_the_reason() {
    let broken = "[engine]\nengine = \"command\"\n[command]\nprogram = \"/nowhere/engine\"\n[install]\nenabled = true\n";
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", broken),
        ("other.engine.toml", POLITE),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let shown = way.shown().await;
    assert!(shown.starts_with("c1 parked: polite: config:"), "{shown}");
    assert!(shown.contains("/nowhere/engine"), "{shown}");
}

#[tokio::test]
async fn the_day_s_runs_are_a_limit() {
    let engine = format!("{POLITE}[budget]\ndaily_runs = 2\n");
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &engine),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    for number in 0..4 {
        way.deliver(&number.to_string(), &mail(&format!("m{number}"), &format!("plan {number}"), ""));
    }
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 2);
    let parked: Vec<Case> =
        way.cases().await.into_iter().filter(|case| case.state == CaseState::Parked).collect();
    assert_eq!(parked.len(), 2);
    assert!(parked.iter().all(|case| case.until.is_some()), "{parked:?}");
    way.clock.advance(Duration::from_secs(86_400));
    way.cycle().await;
    assert_eq!(way.drafts().await.len(), 4);
}

#[tokio::test]
async fn what_no_route_takes_waits_for_the_user() {
    let way = Way::new(&[("inbox.connector.toml", INBOX), ("polite.engine.toml", POLITE)]).await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 parked: no route takes it (there are no routes)\n");
}

#[tokio::test]
async fn a_rejection_with_a_note_gives_the_engine_another_try() {
    let engine = shell("if grep -q 'be shorter'; then echo short; else echo a very long text; fi");
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &engine),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let draft = way.drafts().await.remove(0);
    assert_eq!(draft.body.trim(), "a very long text");
    way.assembly().store.reject(draft.id, "be shorter", true).await.unwrap();
    way.cycle().await;
    assert_eq!(way.drafts().await.remove(0).body.trim(), "short");
}

#[tokio::test]
async fn a_cycle_s_summary_is_stable_json() {
    let way = Way::usual().await;
    way.deliver("1", &mail("a", "the plan", ""));
    let summary = way.cycle().await;
    let json = serde_json::to_string_pretty(&summary).unwrap();
    insta::assert_snapshot!(json);
}

#[tokio::test]
async fn an_engine_that_is_off_is_not_silently_replaced() {
    let route = ROUTE.replace("[\"polite\"]", "[\"first\", \"polite\"]");
    let first = POLITE.replace("enabled = true", "enabled = false");
    let mut way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("first.engine.toml", &first),
        ("polite.engine.toml", POLITE),
        ("answers.route.toml", &route),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    let shown = way.shown().await;
    assert!(shown.starts_with("c1 parked:") && shown.contains("first"), "{shown}");

    way.unit("answers.route.toml", &route.replace("[match]", "on = [\"config\"]\n[match]"));
    way.start().await;
    way.deliver("2", &mail("b", "the other plan", ""));
    way.cycle().await;
    let draft = way.drafts().await.remove(0);
    assert!(draft.made_by.contains("fell back from first"), "{}", draft.made_by);
}

#[tokio::test]
async fn a_case_queued_for_an_engine_that_is_gone_is_routed_anew() {
    let mut way = Way::usual().await;
    way.assembly().store.pause(None, Pause { since: START, until: None }).await.unwrap();
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 queued\n");
    std::fs::rename(way.path().join("units/polite.engine.toml"), way.path().join("units/kind.engine.toml"))
        .unwrap();
    way.unit("answers.route.toml", &ROUTE.replace("polite", "kind"));
    way.start().await;
    let Assembly { store, bundle, .. } = way.assembly();
    fit_to_plan(store, &bundle.plan, None).await.unwrap();
    way.assembly().store.resume(None).await.unwrap();
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");
}

#[tokio::test]
async fn a_send_that_was_taken_back_can_be_drafted_anew() {
    let (way, draft) = approved_with_an_undo_window().await;
    let action = way.actions().await.remove(0);
    way.assembly().store.cancel_action(action.id).await.unwrap();
    way.assembly().store.retry_case(action.case).await.unwrap();
    way.cycle().await;
    let anew = way.drafts().await.remove(0);
    assert_ne!(anew.id, draft.id);
    way.approve(&anew).await.unwrap();
    way.clock.advance(Duration::from_secs(31));
    way.cycle().await;
    assert_eq!(way.sent().len(), 1);
}

#[tokio::test]
async fn a_program_that_always_says_more_is_not_asked_without_end() {
    let connector = r#"
[connector]
platform = "command"
[command]
program = "/bin/sh"
args = ["-c", "cat > /dev/null; echo x >> {root}/starts; echo '{\"type\":\"done\",\"more\":true}'"]
[install]
enabled = true
"#;
    let way = Way::new(&[("greedy.connector.toml", connector)]).await;
    way.cycle().await;
    // The first answer sets a position; the second brings nothing.
    assert_eq!(std::fs::read_to_string(way.path().join("starts")).unwrap().lines().count(), 2);
}

#[tokio::test]
async fn files_too_young_at_the_first_look_are_old_all_the_same() {
    let connector = r#"
[connector]
platform = "directory"
[directory]
path = "{root}/in/cur"
settle = "2s"
[install]
enabled = true
"#;
    let mut way = Way::new(&[("drop.connector.toml", connector)]).await;
    // The clock of the files is the machine's.
    way.clock = Clock::system();
    way.start().await;
    std::fs::write(way.path().join("in/cur/old.md"), "there before it was switched on").unwrap();
    way.cycle().await;
    tokio::time::sleep(Duration::from_millis(2200)).await;
    way.cycle().await;
    assert_eq!(way.shown().await, "");
}

#[tokio::test]
async fn what_an_engine_hides_in_its_reply_does_not_leave() {
    let engine = shell("cat > /dev/null; printf 'safe\\342\\200\\256 text\\302\\2331m'");
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &engine),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    assert_eq!(way.drafts().await.remove(0).body, "safe text1m");
}

#[tokio::test]
async fn a_pause_of_one_unit_stops_no_other_and_ends_by_itself() {
    let way = Way::usual().await;
    let store = &way.assembly().store;
    let pause = Pause { since: START, until: Some(START.plus(Duration::from_secs(600))) };
    store.pause(Some("polite.engine"), pause).await.unwrap();
    way.deliver("1", &mail("a", "the plan", ""));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 queued\n");
    way.clock.advance(Duration::from_secs(600));
    way.cycle().await;
    assert_eq!(way.shown().await, "c1 review\n");

    store.pause(Some("inbox.connector"), Pause { since: START, until: None }).await.unwrap();
    store.pause(Some("other.connector"), Pause { since: START, until: None }).await.unwrap();
    way.approve(&way.drafts().await[0]).await.unwrap();
    way.clock.advance(Duration::from_secs(60));
    way.cycle().await;
    assert_eq!(way.actions().await[0].state, ActionState::Approved);
    store.resume(Some("inbox.connector")).await.unwrap();
    way.cycle().await;
    assert_eq!(way.actions().await[0].state, ActionState::Sent);
    assert!(store.pauses().await.unwrap().of("other.connector").is_some());
}

#[tokio::test]
async fn an_answer_wakes_the_case_that_asked() {
    let ask = "if grep -q 'the second Friday'; then echo '{\"reply\":\"See you then.\"}'; \
               else echo '{\"question\":\"which Friday?\"}'; fi";
    let engine = shell(ask).replace("[command]", "[command]\noutput = \"json\"");
    let way = Way::new(&[
        ("inbox.connector.toml", INBOX),
        ("polite.engine.toml", &engine),
        ("answers.route.toml", ROUTE),
    ])
    .await;
    way.deliver("1", &mail("a", "lunch", ""));
    way.cycle().await;
    let store = &way.assembly().store;
    let case = way.cases().await.remove(0);
    assert_eq!(
        (case.state, case.reason.as_deref(), case.until),
        (CaseState::Parked, Some("which Friday?"), None)
    );
    store.answer_case(case.id, "the second Friday").await.unwrap();
    // Once: it asks nothing now.
    assert!(store.answer_case(case.id, "the third").await.is_err());
    for _ in 0..2 {
        way.cycle().await;
    }
    assert_eq!(way.drafts().await[0].body, "See you then.", "{}", way.shown().await);
    let record = store.case_record(case.id).await.unwrap();
    let answered = record.journal.iter().find(|row| row.event == "answered").unwrap();
    assert_eq!(answered.detail, "You asked a question earlier; the answer is: the second Friday");
}
