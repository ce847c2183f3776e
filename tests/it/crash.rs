//! Killed at a named point and started again: nothing is lost, nothing is done twice, nothing is stuck, and every
//! record is whole.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

use workagent::control::wire::ReviewView;
use workagent::runtime::points::Point;

use crate::support::binary::{Daemon, wait_until};
use crate::support::proof::{Expected, check};
use crate::support::scene::{Plan, Scene};

/// Two questions, a thread of two, an automatic answer, two notes.
fn scene(plan: Plan<'_>) -> (Scene, Expected) {
    let (scene, mut expected) = (Scene::new(plan), Expected::default());
    for (id, headers, answers) in [
        ("one", "", 1),
        ("two", "", 1),
        ("ask", "", 0),
        ("ask-again", "In-Reply-To: <ask@example.org>\nReferences: <ask@example.org>\n", 1),
        ("away", "Auto-Submitted: auto-replied\n", 0),
    ] {
        scene.deliver(id, headers);
        expected.mail(id, answers..=answers);
    }
    for id in ["cake", "party"] {
        scene.drop_note(id);
        expected.note(id);
    }
    (scene, expected)
}

/// It is killed at the crash point that it was started with.
fn dies(daemon: Daemon, point: &str) {
    let (status, log) = daemon.end();
    assert_eq!(status.signal(), Some(9), "{point} was not passed: {status}\n{log}");
}

/// Kills at each of these in turn, then lets it run.
fn survives(kills: &[(Point, u32)]) {
    let (scene, expected) = scene(Plan::default());
    for (point, passing) in kills {
        let crash_at = format!("{point}:{passing}");
        dies(scene.start(Some(&crash_at)), &crash_at);
    }
    let daemon = scene.daemon(&[]);
    let records = check(&scene, &expected);
    assert_eq!(records.len(), 6);
    daemon.stop();
}

macro_rules! survived {
    ($($test:ident: $(($point:ident, $passing:literal)),+;)*) => {
        $(#[test]
        fn $test() {
            survives(&[$((Point::$point, $passing)),+]);
        })*

        const SURVIVED: &[&[Point]] = &[$(&[$(Point::$point),+]),*];
    };
}

survived! {
    after_recovery: (AfterRecovery, 1);
    after_poll: (AfterPoll, 1);
    before_commit: (BeforeCommit, 1);
    after_commit: (AfterCommit, 1);
    after_tidying: (AfterTidying, 1);
    after_routing: (AfterRouting, 1);
    after_claim: (AfterClaim, 1);
    after_begin: (AfterBegin, 1);
    after_engine: (AfterEngine, 1);
    after_draft: (AfterDraft, 1);
    after_approval: (AfterApproval, 1);
    after_sending: (AfterSending, 1);
    after_wire: (AfterWire, 1);
    before_receipt: (BeforeReceipt, 1);
    after_receipt: (AfterReceipt, 1);

    after_the_second_commit: (AfterCommit, 2);
    after_the_second_claim: (AfterClaim, 2);
    after_the_third_draft: (AfterDraft, 3);
    after_the_second_approval: (AfterApproval, 2);
    after_the_second_sending: (AfterSending, 2);
    after_the_second_wire: (AfterWire, 2);
    after_the_third_wire: (AfterWire, 3);
    before_the_third_receipt: (BeforeReceipt, 3);

    twice_after_poll: (AfterPoll, 1), (AfterPoll, 2);
    three_times_after_claim: (AfterClaim, 1), (AfterClaim, 2), (AfterClaim, 1);
    after_sending_and_when_asked: (AfterSending, 1), (AfterConfirm, 1);
    after_wire_and_when_asked: (AfterWire, 1), (AfterConfirm, 1);
    after_wire_and_in_recovery: (AfterWire, 2), (AfterRecovery, 1);
    twice_after_wire: (AfterWire, 1), (AfterWire, 1);
    all_the_way: (BeforeCommit, 1), (AfterCommit, 1), (AfterBegin, 1), (AfterDraft, 1), (BeforeReceipt, 1);
}

#[test]
fn every_point_was_survived() {
    let name = |point: &Point| point.name();
    let survived: BTreeSet<&str> = SURVIVED.iter().copied().flatten().map(name).collect();
    assert_eq!(survived, Point::ALL.iter().map(name).collect());
}

/// Whoever approved has heard nothing, and asks again.
#[test]
fn an_approval_by_hand_is_one() {
    let (scene, expected) = scene(Plan { outbound: "reviewed", ..Plan::default() });
    let open = || -> Vec<ReviewView> { scene.json(&["review", "list", "--json"]) };
    let approve = |drafts: &[ReviewView]| {
        let ids: Vec<String> = drafts.iter().map(|view| view.draft.id.to_string()).collect();
        let args: Vec<&str> =
            ["review", "approve"].into_iter().chain(ids.iter().map(String::as_str)).collect();
        scene.run(&args)
    };

    let mut daemon = scene.start(Some("after-approval:2"));
    scene.listens(&mut daemon);
    let mut drafts = Vec::new();
    wait_until("five drafts", || {
        drafts = open();
        drafts.len() == 5
    });
    let unheard = approve(&drafts);
    assert_eq!(unheard.code, Some(1), "{unheard:?}");
    dies(daemon, "after-approval:2");

    let daemon = scene.daemon(&[]);
    let again = approve(&drafts[1..2]);
    assert!(again.code == Some(1) && again.err.contains("approved"), "{again:?}");
    let rest = open();
    assert_eq!(rest.len(), 3, "the one that nobody heard of is approved");
    assert_eq!(approve(&rest).code, Some(0));
    check(&scene, &expected);
    daemon.stop();
}
