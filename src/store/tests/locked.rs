//! Another process holds the database.

use std::sync::mpsc;

use rusqlite::Connection;

use super::*;

/// A second connection that holds a write transaction until told.
struct Holder {
    release: mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Holder {
    fn new(bench: &Bench) -> Self {
        let path = bench.dir.path().join("state").join("work.db");
        let (release, told) = mpsc::channel();
        let (ready, held) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let conn = Connection::open(path).unwrap();
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            ready.send(()).unwrap();
            let _ = told.recv();
            conn.execute_batch("ROLLBACK").unwrap();
        });
        held.recv().unwrap();
        Self { release, thread }
    }

    fn let_go(self) {
        self.release.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

/// Items arrive, a case finishes, the user approves, while somebody else writes: all wait, none fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_wait_and_lose_nothing() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let (lease, run) = bench.running("b").await;
    let holder = Holder::new(&bench);
    let work = async {
        tokio::join!(
            bench.store.commit_page(page(vec![item("c")], "c2")),
            bench.store.finish_run(reply(&lease, run, "Yes.")),
            bench.store.approve(draft.id, &draft.hash, HOLD, "me", false),
            bench.store.set_flag("paused", Some("x")),
        )
    };
    let mut work = std::pin::pin!(work);
    // Readers are not held up, and see the state before.
    let seen = tokio::select! {
        seen = bench.store.open_drafts(true) => seen.unwrap(),
        _ = &mut work => panic!("nothing can be written now"),
    };
    assert_eq!(seen.len(), 1);
    holder.let_go();
    let (committed, finished, approved, flagged) = work.await;
    assert_eq!(committed.unwrap().cases_made, 1);
    assert!(finished.unwrap().is_some());
    approved.unwrap();
    flagged.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_loops_at_once() {
    let bench = Bench::new().await;
    let loops = (0..8).map(|lane: u32| {
        let store = bench.store.clone();
        async move {
            for number in 0..20 {
                let key = format!("{lane}-{number}");
                store.commit_page(page(vec![item(&key)], &key)).await.unwrap();
            }
        }
    });
    futures_util::future::join_all(loops).await;
    assert_eq!(bench.store.cases(None, 1000).await.unwrap().len(), 160);
}

/// An operation that fails inside a round fails alone.
#[tokio::test]
async fn one_failure_in_a_round_is_one_failure() {
    let bench = Bench::new().await;
    let draft = bench.drafted("a").await;
    let (ok, refused, missing, report) = tokio::join!(
        bench.store.set_flag("x", Some("1")),
        bench.store.approve(draft.id, "another hash", HOLD, "me", false),
        bench.store.retry_case(CaseId(77)),
        bench.store.commit_page(page(vec![item("b")], "c")),
    );
    ok.unwrap();
    assert!(why(refused).starts_with("the draft changed"));
    assert!(missing.is_err());
    assert_eq!(report.unwrap().cases_made, 1);
    assert_eq!(bench.store.flag("x").await.unwrap().as_deref(), Some("1"));
}

/// The statements of a group break: the good ones are run again by themselves.
#[tokio::test]
async fn one_bad_page_among_good_ones() {
    let bench = Bench::new().await;
    let path = bench.dir.path().join("state").join("work.db");
    // Stands for any rule of the database that one row breaks.
    Connection::open(path)
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER no_bad BEFORE INSERT ON items WHEN new.key = 'bad' \
             BEGIN SELECT raise(ABORT, 'a bad row'); END",
        )
        .unwrap();
    let (good, bad, fine) = tokio::join!(
        bench.store.commit_page(page(vec![item("good")], "1")),
        bench.store.commit_page(page(vec![item("bad")], "2")),
        bench.store.commit_page(page(vec![item("fine")], "3")),
    );
    assert_eq!(good.unwrap().cases_made, 1);
    assert!(matches!(bad, Err(StoreError::Sql { .. })));
    assert_eq!(fine.unwrap().cases_made, 1);
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!((state.cursor, state.items_known), (Some(Cursor("3".into())), 2));
}

/// The disk is full: every operation of the round is told, no cursor moves, and the writer lives on.
#[tokio::test]
async fn a_full_disk_is_told_and_survived() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    bench.store.limit_pages(Some(1)).await.unwrap();
    let big = |key: &str| Item { body: "x".repeat(300_000), ..item(key) };
    let long = "y".repeat(300_000);
    let (one, two) = tokio::join!(
        bench.store.commit_page(page(vec![big("b")], "2")),
        bench.store.set_flag("x", Some(&long)),
    );
    assert!(matches!(one, Err(StoreError::Sql { .. })), "{one:?}");
    assert!(matches!(two, Err(StoreError::Sql { .. })), "{two:?}");
    let state = bench.store.sync_state("mail").await.unwrap().unwrap();
    assert_eq!(state.cursor, Some(Cursor("c".into())));
    bench.store.limit_pages(None).await.unwrap();
    let report = bench.store.commit_page(page(vec![big("b")], "2")).await.unwrap();
    assert_eq!(report.cases_made, 1);
}

impl Store {
    /// Plays a full disk: the database may not grow beyond what it is.
    async fn limit_pages(&self, pages: Option<u32>) -> Result<()> {
        self.write_single("limit the database", move |tx| {
            Box::pin(async move {
                let sql = match pages {
                    // A limit below the present size becomes the present size.
                    Some(_) => "PRAGMA max_page_count = 1",
                    None => "PRAGMA max_page_count = 1000000",
                };
                tx.all("limit the database", sqlx::query(sql)).await.map(|_| ())
            })
        })
        .await
    }
}
