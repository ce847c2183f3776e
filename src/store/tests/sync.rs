//! Pages: what is new, known, ours; which case takes it.

use super::*;

/// Reads the first list, then the second, and compares the second report.
async fn check(before: Vec<Item>, items: Vec<Item>, expected: PageReport) {
    let bench = Bench::new().await;
    bench.read(before).await;
    assert_eq!(bench.read(items).await, expected);
}

#[tokio::test]
async fn new_items_make_cases() {
    let expected = PageReport { new_items: 2, cases_made: 2, ..PageReport::default() };
    check(vec![], vec![item("a"), item("b")], expected).await;
}

#[tokio::test]
async fn known_items_are_seen() {
    check(vec![item("a")], vec![item("a")], PageReport { seen_items: 1, ..PageReport::default() }).await;
}

#[tokio::test]
async fn another_revision_is_an_update_never_a_case() {
    let changed = Item { revision: "2".into(), ..item("a") };
    check(vec![item("a")], vec![changed], PageReport { updated_items: 1, ..PageReport::default() }).await;
}

#[tokio::test]
async fn an_identity_survives_renumbering() {
    let old = Item { identities: vec!["<1@x>".into()], ..item("uid:1001:1") };
    let renumbered = Item { identities: vec!["<1@x>".into()], ..item("uid:2002:9") };
    check(vec![old], vec![renumbered], PageReport { seen_items: 1, ..PageReport::default() }).await;
}

#[tokio::test]
async fn twice_on_one_page_is_once() {
    let same = Item { identities: vec!["guid".into()], ..item("a") };
    let other_key = Item { key: "b".into(), ..same.clone() };
    let expected = PageReport { new_items: 1, cases_made: 1, seen_items: 2, ..PageReport::default() };
    check(vec![], vec![same.clone(), same, other_key], expected).await;
}

#[tokio::test]
async fn answers_join_on_one_page_and_on_the_next() {
    let expected = PageReport { new_items: 2, cases_joined: 2, ..PageReport::default() };
    check(vec![item("a")], vec![answer("b", "a"), answer("c", "b")], expected).await;
    let expected = PageReport { new_items: 2, cases_made: 1, cases_joined: 1, ..PageReport::default() };
    check(vec![], vec![item("a"), answer("b", "a")], expected).await;
}

#[tokio::test]
async fn every_disposition_is_counted() {
    let with = |key: &str, disposition| Item { disposition, ..item(key) };
    let items = vec![
        with("a", Disposition::NoReply { reason: "out of office".into() }),
        with("b", Disposition::Own),
        with("c", Disposition::Baseline),
        with("d", Disposition::Quarantined { reason: "no text".into() }),
    ];
    let expected = PageReport {
        new_items: 1,
        own_items: 1,
        baseline_items: 1,
        quarantined_items: 1,
        cases_made: 2,
        ..PageReport::default()
    };
    check(vec![], items, expected).await;
}

#[tokio::test]
async fn baseline_threads_do_not_hold_cases_back() {
    let bench = Bench::new().await;
    bench.read(vec![Item { disposition: Disposition::Baseline, ..item("old") }]).await;
    let report = bench.read(vec![answer("new", "old"), answer("newer", "old")]).await;
    assert_eq!((report.cases_made, report.cases_joined), (1, 1));
}

#[tokio::test]
async fn connectors_and_accounts_do_not_mix() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    let other = PageCommit { connector: "other".into(), ..page(vec![item("a")], "c") };
    assert_eq!(bench.store.commit_page(other).await.unwrap().cases_made, 1);
    let account = PageCommit { identity: "new@example.org".into(), ..page(vec![item("a")], "c2") };
    assert_eq!(bench.store.commit_page(account).await.unwrap().cases_made, 1);
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!((state.identity.as_str(), state.items_known), ("new@example.org", 1));
    // Back to the first account: its own cursor and ledger are still there.
    let back = PageCommit { cursor: None, ..page(vec![item("a")], "") };
    assert_eq!(bench.store.commit_page(back).await.unwrap().seen_items, 1);
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!((state.identity.as_str(), state.cursor), ("me@example.org", Some(Cursor("c".into()))));
}

#[tokio::test]
async fn the_state_of_a_connector_counts() {
    let bench = Bench::new().await;
    assert_eq!(bench.store.sync_state("mail").await.unwrap(), None);
    bench.read(vec![Item { disposition: Disposition::Baseline, ..item("a") }]).await;
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!((state.items_known, state.items_baseline, state.last_new_item_at), (1, 1, None));
    bench.clock.advance(HOLD);
    bench.read(vec![item("b")]).await;
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!((state.items_known, state.items_baseline), (2, 1));
    assert_eq!(state.last_new_item_at, Some(START.plus(HOLD)));
}

#[tokio::test]
async fn pages_that_wait_together_report_apart() {
    let bench = Bench::new().await;
    let commits = (0..40).map(|number| {
        let key = format!("k{}", number % 20);
        bench.store.commit_page(page(vec![item(&key)], &number.to_string()))
    });
    let reports = futures_util::future::join_all(commits).await;
    let made: u64 = reports.iter().map(|report| report.as_ref().unwrap().cases_made).sum();
    let seen: u64 = reports.iter().map(|report| report.as_ref().unwrap().seen_items).sum();
    assert_eq!((made, seen), (20, 20));
}

#[tokio::test]
async fn an_update_replaces_the_text_and_makes_the_draft_stale() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![Item { revision: "2".into(), body: "Changed.".into(), ..item("a") }]).await;
    let record = bench.store.case_record(draft.case).await.unwrap();
    assert_eq!(record.items.iter().map(|item| item.body.as_str()).collect::<Vec<_>>(), ["Changed."]);
    assert!(record.drafts[0].stale);
    assert_eq!(record.case.state, CaseState::Review);
    assert_eq!(bench.events(draft.case).await[4..], ["item", "stale"]);
}

#[tokio::test]
async fn a_new_item_in_review_makes_the_case_new_and_the_draft_stale() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.read(vec![answer("b", "a")]).await;
    let case = bench.case(draft.case).await;
    assert_eq!((case.state, case.items), (CaseState::New, 2));
    assert!(bench.store.draft(draft.id).await.unwrap().stale);
    let facts = bench.store.new_cases(10).await.unwrap();
    assert_eq!(facts[0].newest.key, "b");
    // The next draft takes the place of the stale one.
    bench.route().await;
    let lease = bench.claim().await;
    assert!(!lease.case.is_used_up(CASE_ATTEMPTS_MAX), "a new item is new work");
    let run = bench.begin(&lease).await;
    let second = bench.store.finish_run(reply(&lease, run, "Both.")).await.unwrap().unwrap();
    let open: Vec<_> = bench.store.open_drafts(true).await.unwrap().iter().map(|draft| draft.id).collect();
    assert_eq!(open, [second]);
}

#[tokio::test]
async fn a_new_item_while_running_makes_the_draft_stale_at_once() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.read(vec![answer("b", "a")]).await;
    assert_eq!(bench.case(lease.case.id).await.state, CaseState::Running);
    let draft = bench.store.finish_run(reply(&lease, run, "Yes.")).await.unwrap().unwrap();
    assert!(bench.store.draft(draft).await.unwrap().stale);
    assert_eq!(bench.case(lease.case.id).await.state, CaseState::New);
}

#[tokio::test]
async fn a_new_item_while_running_is_not_closed_away() {
    let bench = Bench::new().await;
    let (lease, run) = bench.running("a").await;
    bench.read(vec![answer("b", "a")]).await;
    let nothing = RunEnd::NothingToDo { reason: "thanks only".into() };
    bench.store.finish_run(finish(&lease, run, nothing)).await.unwrap();
    assert_eq!(bench.case(lease.case.id).await.state, CaseState::New);
}

/// An out-of-office in the thread of a case in review is recorded and undoes nothing.
#[tokio::test]
async fn an_automatic_answer_joins_without_a_stir() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let automatic = Disposition::NoReply { reason: "out of office".into() };
    bench.read(vec![Item { disposition: automatic, ..answer("b", "a") }]).await;
    let case = bench.case(draft.case).await;
    assert_eq!((case.state, case.items), (CaseState::Review, 2));
    assert!(!bench.store.draft(draft.id).await.unwrap().stale);
    // The loop guard sees it with the next one.
    bench.read(vec![answer("c", "b")]).await;
    let facts = bench.store.new_cases(10).await.unwrap();
    assert!(facts[0].automatic_before);
    assert_eq!(facts[0].newest.key, "c");
}

#[tokio::test]
async fn finished_cases_wake_for_a_new_item() {
    for wanted in [CaseState::Closed, CaseState::Dismissed, CaseState::Parked, CaseState::Dead] {
        let bench = Bench::new().await;
        let (lease, run) = bench.running("a").await;
        let end = match wanted {
            CaseState::Closed => finish(&lease, run, RunEnd::NothingToDo { reason: "x".into() }),
            CaseState::Parked => finish(&lease, run, RunEnd::Question { text: "x".into() }),
            _ => failed(&lease, run, AfterFailure::Dead { reason: "x".into() }),
        };
        bench.store.finish_run(end).await.unwrap();
        if wanted == CaseState::Dismissed {
            bench.store.dismiss_case(lease.case.id, "x").await.unwrap();
        }
        assert_eq!(bench.case(lease.case.id).await.state, wanted);
        bench.read(vec![answer("b", "a")]).await;
        let case = bench.case(lease.case.id).await;
        assert_eq!((case.state, case.reason), (CaseState::New, None), "{wanted:?}");
    }
}

#[tokio::test]
async fn wakes_the_lanes_it_concerns() {
    let bench = Bench::new().await;
    let woken =
        async |lane: &Notify| tokio::time::timeout(Duration::from_secs(5), lane.notified()).await.is_ok();
    bench.read(vec![item("a")]).await;
    assert!(woken(&bench.store.wakeups().ingest).await);
    bench.route().await;
    assert!(woken(&bench.store.wakeups().worker).await);
    let lease = bench.claim().await;
    let run = bench.begin(&lease).await;
    bench.store.finish_run(reply(&lease, run, "Yes.")).await.unwrap();
    assert!(woken(&bench.store.wakeups().review).await);
    let draft = bench.store.open_drafts(false).await.unwrap().remove(0);
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    assert!(woken(&bench.store.wakeups().outbound).await);
}
