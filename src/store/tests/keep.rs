//! Letting go: of what is old and over, of one connector's data; giving room back.

use super::*;
use crate::model::keep::Keep;
use crate::model::outbound::{Payload, Receipt};

const DAY: Duration = Duration::from_secs(86_400);

impl Store {
    /// No page more than there are, as on a full disk; or as many as there may be.
    async fn pages_max(&self, full: bool) {
        let sql = if full { "PRAGMA max_page_count = 1" } else { "PRAGMA max_page_count = 4294967294" };
        self.write("test", move |tx| {
            Box::pin(async move { tx.all("test", sqlx::query(sql)).await.map(drop) })
        })
        .await
        .unwrap();
    }
}

/// One case that was answered and closed, one that was dismissed, one that waits for a person.
async fn lived() -> Bench {
    let bench = Bench::new().await;
    let draft = bench.drafted("sent").await;
    let id = bench.store.approve(draft.id, &draft.hash, Duration::ZERO, "me", false).await.unwrap();
    let payload = Payload { marker: "m".into(), bytes: vec![1] };
    bench.store.mark_sending(id, payload).await.unwrap();
    let receipt = Receipt { remote_id: "r".into(), evidence: "250".into() };
    bench.store.mark_sent(id, receipt).await.unwrap();
    let draft = bench.drafted("dismissed").await;
    bench.store.reject(draft.id, "no", false).await.unwrap();
    bench.drafted("open").await;
    bench.store.wake_due(bench.clock.now().plus(DAY)).await.unwrap();
    bench
}

async fn texts(bench: &Bench) -> Vec<String> {
    let mut texts = Vec::new();
    for case in 1..=3 {
        let record = bench.store.case_record(CaseId(case)).await.unwrap();
        texts.extend(record.items.into_iter().map(|item| item.body));
        texts.extend(record.drafts.into_iter().map(|draft| draft.body));
        texts.extend(record.actions.into_iter().map(|action| action.body));
    }
    texts
}

async fn let_go(bench: &Bench, keep: &Keep) -> u64 {
    let mut all = 0;
    loop {
        match bench.store.let_go(keep).await.unwrap() {
            0 => return all,
            more => all += more,
        }
    }
}

#[tokio::test]
async fn texts_of_what_is_over_go_and_what_waits_stays() {
    let bench = lived().await;
    let keep = Keep { texts: Some(DAY), ..Keep::default() };
    let before = texts(&bench).await;
    assert_eq!(let_go(&bench, &keep).await, 0);
    assert_eq!(texts(&bench).await, before);
    bench.clock.advance(2 * DAY);
    assert_eq!(let_go(&bench, &keep).await, 2);
    let ask = "Could you look at this?";
    assert_eq!(texts(&bench).await, ["", "", "", "", "", ask, "Yes."]);
    let record = bench.store.case_record(CaseId(1)).await.unwrap();
    assert_eq!((record.items[0].cut.unwrap().total_bytes, &*record.items[0].title), (23, "About sent"));
    assert_eq!(record.actions[0].receipt.as_ref().unwrap().evidence, "250");
    // Once is enough.
    assert_eq!(let_go(&bench, &keep).await, 0);
    // It is not read as new for that.
    assert_eq!(bench.read(vec![item("sent")]).await.seen_items, 1);
}

#[tokio::test]
async fn journal_and_runs_go_by_their_own_time() {
    let bench = lived().await;
    bench.clock.advance(2 * DAY);
    let keep = Keep { journal: Some(DAY), runs: Some(3 * DAY), ..Keep::default() };
    assert_eq!(let_go(&bench, &keep).await, 2);
    let of = async |case| {
        let record = bench.store.case_record(CaseId(case)).await.unwrap();
        (record.journal.len(), record.runs.len())
    };
    assert_eq!((of(1).await, of(2).await), ((0, 1), (0, 1)));
    bench.clock.advance(2 * DAY);
    let_go(&bench, &keep).await;
    assert_eq!((of(1).await, of(2).await), ((0, 0), (0, 0)));
    let (lines, runs) = of(3).await;
    assert!(lines > 0 && runs == 1);
}

#[tokio::test]
async fn many_that_ended_at_one_moment_all_have_their_turn() {
    let bench = Bench::new().await;
    let count = crate::model::limits::KEEP_CASES_STEP * 2 + 3;
    bench.read((0..count).map(|number| item(&number.to_string())).collect()).await;
    let cases = bench.store.new_cases(count).await.unwrap();
    let to = Admission::Dismiss { reason: "no".into() };
    bench.store.admit(cases.into_iter().map(|facts| (facts.case.id, to.clone())).collect()).await.unwrap();
    bench.clock.advance(2 * DAY);
    let keep = Keep { texts: Some(DAY), ..Keep::default() };
    assert_eq!(let_go(&bench, &keep).await, count as u64);
}

#[tokio::test]
async fn a_connector_s_data_goes_and_what_was_sent_stays_provable() {
    let bench = lived().await;
    let other = PageCommit { connector: "other".into(), ..page(vec![item("theirs")], "c") };
    bench.store.commit_page(other).await.unwrap();
    assert_eq!(why(bench.store.purge("nobody", false).await), "there is no record of a connector nobody");
    let hash = bench.store.actions(None, 10).await.unwrap()[0].hash.clone();
    let gone = bench.store.purge("mail", false).await.unwrap();
    assert_eq!((gone.cases, gone.items, gone.drafts, gone.sends), (3, 3, 3, 1));
    let cases = bench.store.cases(None, 10).await.unwrap();
    let shown: Vec<_> =
        cases.iter().map(|case| (case.id.0, case.connector.as_str(), case.title.as_str())).collect();
    assert_eq!(shown, [(4, "other", "About theirs"), (1, "mail", "(purged)")]);
    let action = bench.store.actions(None, 10).await.unwrap().remove(0);
    assert_eq!(
        (&action.hash, action.body.as_str(), action.receipt.unwrap().evidence),
        (&hash, "", "250".to_owned())
    );
    assert_eq!(action.envelope, Envelope::default());
    assert_eq!(bench.store.sync_state("mail").await.unwrap().and_then(|state| state.cursor), None);
    assert!(bench.store.open_drafts(true).await.unwrap().is_empty());
    // All of it, in the end.
    bench.store.purge("mail", true).await.unwrap();
    assert!(bench.store.actions(None, 10).await.unwrap().is_empty());
    assert_eq!(bench.store.cases(None, 10).await.unwrap().len(), 1);
    assert!(bench.store.sync_state("mail").await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_under_way_is_not_let_go_of() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
    let said = "1 sends of mail are not over: release or cancel them first";
    assert_eq!(why(bench.store.purge("mail", true).await), said);
    bench.running("b").await;
    let said = "an engine works on 1 cases of mail just now";
    assert_eq!(why(bench.store.purge("mail", true).await), said);
}

#[tokio::test]
async fn room_is_given_back() {
    let bench = Bench::new().await;
    let long = "x".repeat(60_000);
    for number in 0..50 {
        bench.read(vec![Item { body: long.clone(), ..item(&number.to_string()) }]).await;
    }
    assert!(!bench.store.shrink().await.unwrap(), "nothing is free yet");
    bench.store.purge("mail", false).await.unwrap();
    while bench.store.shrink().await.unwrap() {}
    bench.store.close().await;
    let size = std::fs::metadata(bench.dir.path().join("state/work.db")).unwrap().len();
    assert!(size < 2_000_000, "{size} bytes");
}

/// A disk that is full: nothing half, what is there is still readable, and it goes on when there is room.
#[tokio::test]
async fn a_full_disk_takes_nothing_and_loses_nothing() {
    let bench = lived().await;
    let before = texts(&bench).await;
    bench.store.pages_max(true).await;
    let items = (0..20).map(|number| Item { body: "x".repeat(60_000), ..item(&format!("full{number}")) });
    let error = bench.store.commit_page(page(items.clone().collect(), "later")).await.expect_err("no room");
    let said = crate::model::class::chain(&error);
    assert!(said.contains("full") && error.class() == crate::model::class::ErrorClass::NETWORK, "{said}");
    assert_eq!(texts(&bench).await, before);
    assert_eq!(bench.store.sync_state("mail").await.unwrap().unwrap().cursor, Some(Cursor("c".into())));
    bench.store.pages_max(false).await;
    assert_eq!(bench.store.commit_page(page(items.collect(), "later")).await.unwrap().new_items, 20);
}
