//! The database's own life: gone, replaced by an older copy, another's, and killed in the middle of a migration.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::super::open::{MIGRATIONS, migrations};
use super::*;
use crate::model::environment::Environment;
use crate::model::outbound::{ActionState, Payload};

fn path(dir: &Path) -> PathBuf {
    dir.join("state").join("work.db")
}

fn options(dir: &Path) -> StoreOptions {
    StoreOptions { path: path(dir), normal: true, clock: Clock::manual(START) }
}

async fn open_expected(dir: &Path, expected: &Expected) -> Result<Store> {
    Store::open_expected(options(dir), expected).await
}

/// Opening fails so, and leaves everything as it was.
async fn check_refused(dir: &Path, expected: &Expected, said: &str) {
    let files = || {
        let entries = std::fs::read_dir(dir.join("state")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    let before = files();
    let error = open_expected(dir, expected).await.expect_err("refused");
    assert!(error.unusable().is_some(), "{error:?}");
    assert_eq!(error.to_string().replace(&path(dir).display().to_string(), "work.db"), said);
    assert!(files() == before, "something was touched");
}

/// A closed database, and what its state knows of it.
async fn closed() -> (tempfile::TempDir, Life) {
    let bench = Bench::new().await;
    bench.drafted("a").await;
    let life = bench.store.stamp().await.unwrap();
    bench.store.close().await;
    (bench.dir, life)
}

#[tokio::test]
async fn one_that_is_gone_is_missed() {
    let (dir, life) = closed().await;
    let known = Expected::Known(life.clone());
    std::fs::remove_file(path(dir.path())).unwrap();
    check_refused(dir.path(), &known, "the database work.db is gone: there was one here").await;
    std::fs::write(path(dir.path()), "").unwrap();
    check_refused(dir.path(), &known, "the database work.db is gone: there was one here").await;
    let elsewhere = Expected::Known(Life { path: "/old/work.db".into(), ..life });
    check_refused(dir.path(), &elsewhere, "the database work.db is gone: it was /old/work.db until now")
        .await;
    open_expected(dir.path(), &Expected::First).await.unwrap().close().await;
}

#[tokio::test]
async fn one_that_was_begun_is_the_same_after_a_kill_at_its_first_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    let begun = Expected::Known(Life { id: "begun".into(), stamp: 0, path: path(dir.path()) });
    // The mark tells no more than this until a start came to its end.
    for _ in 0..2 {
        let store = open_expected(dir.path(), &begun).await.unwrap();
        assert_eq!(store.life().id, "begun");
        assert_eq!(store.last_restore().await.unwrap(), None);
        store.close().await;
    }
}

#[tokio::test]
async fn a_log_without_its_database_is_not_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    std::fs::write(dir.path().join("state/work.db-wal"), "frames").unwrap();
    for expected in [Expected::First, Expected::Anything] {
        check_refused(dir.path(), &expected, "the database work.db is gone: only its log is left").await;
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    let conn = Connection::open(path(dir.path())).unwrap();
    conn.execute_batch("CREATE TABLE albums (id INTEGER); CREATE TABLE photos (id INTEGER)").unwrap();
    let said = "the database work.db is not one of workagent: it has the tables albums, photos";
    check_refused(dir.path(), &Expected::First, said).await;
    // It may even be kept by the same library.
    conn.execute_batch(
        "CREATE TABLE _sqlx_migrations (version BIGINT, checksum BLOB); INSERT INTO _sqlx_migrations VALUES (1, x'00')",
    )
    .unwrap();
    drop(conn);
    let said =
        "the database work.db is not one of workagent: it has the tables _sqlx_migrations, albums, photos";
    check_refused(dir.path(), &Expected::First, said).await;
}

#[tokio::test]
async fn damage_is_said_and_not_touched() {
    let (dir, life) = closed().await;
    let mut bytes = std::fs::read(path(dir.path())).unwrap();
    for byte in &mut bytes[4096 * 2..4096 * 12] {
        *byte = 0xAA;
    }
    std::fs::write(path(dir.path()), &bytes).unwrap();
    let error = open_expected(dir.path(), &Expected::Known(life)).await.expect_err("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(std::fs::read(path(dir.path())).unwrap() == bytes, "the file was touched");
}

#[tokio::test]
async fn the_program_that_wrote_last_is_named() {
    let (dir, _) = closed().await;
    let conn = Connection::open(path(dir.path())).unwrap();
    conn.execute_batch(
        "INSERT INTO _sqlx_migrations VALUES (700, 'later', '2027-01-01', 1, x'00', 1); \
         INSERT INTO programs (version, schema, at) VALUES ('7.1.0', 700, 1)",
    )
    .unwrap();
    drop(conn);
    let ours = env!("CARGO_PKG_VERSION");
    let newest = MIGRATIONS.last().unwrap().0;
    let said = format!(
        "the database work.db was made by a newer workagent (version 7.1.0, schema 700, this is {ours} and knows \
         {newest})"
    );
    check_refused(dir.path(), &Expected::First, &said).await;
}

/// Three cases: an open draft, an approved send, a send under way.
async fn busy() -> Bench {
    let bench = Bench::new().await;
    bench.drafted("open").await;
    for key in ["approved", "sending"] {
        let draft = bench.drafted(key).await;
        let id = bench.store.approve(draft.id, &draft.hash, HOLD, "me", false).await.unwrap();
        if key == "sending" {
            let payload = Payload { marker: "m".into(), bytes: vec![1] };
            bench.store.mark_sending(id, payload).await.unwrap();
        }
    }
    bench
}

async fn states(store: &Store) -> Vec<ActionState> {
    let mut actions = store.actions(None, 10).await.unwrap();
    actions.sort_by_key(|action| action.id);
    actions.iter().map(|action| action.state).collect()
}

#[tokio::test]
async fn an_older_copy_in_its_place_sends_nothing_by_itself() {
    let bench = busy().await;
    let (dir, aside) = (bench.dir.path(), bench.dir.path().join("copy.db"));
    assert_eq!(
        copy_database(&path(dir), &Expected::Anything, &aside).await.unwrap(),
        MIGRATIONS.last().unwrap().0
    );
    let life = bench.store.stamp().await.unwrap();
    bench.store.close().await;
    std::fs::copy(&aside, path(dir)).unwrap();
    let store = open_expected(dir, &Expected::Known(life.clone())).await.unwrap();
    assert_eq!(states(&store).await, [ActionState::Uncertain, ActionState::Uncertain]);
    assert!(store.is_restored(crate::model::ids::ActionId(1)).await.unwrap());
    let draft = store.open_drafts(true).await.unwrap().remove(0);
    assert!(!draft.auto && draft.remarks.iter().any(|remark| remark.contains("was put back")), "{draft:?}");
    let restored = store.last_restore().await.unwrap().unwrap();
    assert_eq!(restored.why, "an older copy of the database was put in its place");
    // The stamps meet again: the next start is an ordinary one.
    let now = store.life().clone();
    store.close().await;
    let store = open_expected(dir, &Expected::Known(now)).await.unwrap();
    assert_eq!(store.last_restore().await.unwrap(), Some(restored));
    store.close().await;
}

#[tokio::test]
async fn the_same_database_is_never_taken_for_an_older_one() {
    let bench = busy().await;
    let life = bench.store.life().clone();
    drop(bench.store);
    // As after a kill: the database has come as far as its mark, or further.
    let store = open_expected(bench.dir.path(), &Expected::Known(life)).await.unwrap();
    assert_eq!(store.last_restore().await.unwrap(), None);
    assert_eq!(states(&store).await, [ActionState::Approved, ActionState::Sending]);
    store.close().await;
}

#[tokio::test]
async fn one_from_elsewhere_sends_nothing_by_itself() {
    let bench = busy().await;
    let life = bench.store.life().clone();
    bench.store.close().await;
    let other = Expected::Known(Life { id: "another".into(), ..life });
    let store = open_expected(bench.dir.path(), &other).await.unwrap();
    assert_eq!(states(&store).await, [ActionState::Uncertain, ActionState::Uncertain]);
    store.close().await;
    let store = open_expected(bench.dir.path(), &Expected::First).await.unwrap();
    let why = store.last_restore().await.unwrap().unwrap().why;
    assert_eq!(why, "the database was brought here from elsewhere");
    store.close().await;
}

#[tokio::test]
async fn only_what_is_younger_than_the_restore_may_go_by_itself() {
    let mut bench = Bench::new().await;
    bench.store.close().await;
    bench.store = open_expected(bench.dir.path(), &Expected::First).await.unwrap();
    let way = WayOut { connector: "mail".into(), destination: String::new(), auto: true };
    bench.store.set_ways_out(vec![way]).await.unwrap();
    let at = |seconds: i64| Some(Timestamp(START.0 + seconds * 1000));
    for (key, at, expected) in [("older", at(-1), false), ("undated", None, false), ("younger", at(1), true)]
    {
        bench.read(vec![Item { at, ..item(key) }]).await;
        bench.route().await;
        let lease = bench.claim().await;
        let run = bench.begin(&lease).await;
        let id = bench.store.finish_run(reply(&lease, run, "Yes.")).await.unwrap().unwrap();
        let draft = bench.store.draft(id).await.unwrap();
        assert_eq!((draft.auto, draft.remarks.len()), (expected, if expected { 1 } else { 2 }), "{key}");
    }
    bench.store.close().await;
}

#[tokio::test]
async fn copies_from_before_migrations_are_few() {
    let (dir, _) = closed().await;
    let mut list = MIGRATIONS.to_vec();
    for step in 1..=5 {
        list.push((MIGRATIONS.last().unwrap().0 + step, "more", "UPDATE life SET value = value"));
        let store =
            Store::open_with(options(dir.path()), &Expected::Anything, &migrations(&list)).await.unwrap();
        store.close().await;
    }
    let newest = MIGRATIONS.last().unwrap().0;
    let kept: Vec<i64> = before_migrations(&path(dir.path())).into_iter().map(|(_, number)| number).collect();
    assert_eq!(kept, [newest + 3, newest + 4, newest + 5]);
}

/// So slow that it is killed before it ends.
const SLOW: &str = "CREATE TABLE half (n INTEGER); \
     INSERT INTO half WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) \
     SELECT n FROM c";

fn later(sql: &'static str) -> sqlx::migrate::Migrator {
    let more = (MIGRATIONS.last().unwrap().0 + 1, "more", sql);
    migrations(&MIGRATIONS.iter().copied().chain([more]).collect::<Vec<_>>())
}

/// Not a test: what the process below does.
#[tokio::test]
async fn in_role() {
    let Some(dir) = Environment::capture().get("WORKAGENT_TEST_MIGRATE").map(PathBuf::from) else { return };
    let opened = Store::open_with(options(&dir), &Expected::Anything, &later(SLOW)).await;
    panic!("it was to be killed: {opened:?}");
}

#[tokio::test]
async fn a_migration_killed_half_way_leaves_a_whole_database_and_a_copy() {
    let (dir, life) = closed().await;
    #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["store::tests::life::in_role", "--exact", "--test-threads=1"])
        .env("WORKAGENT_TEST_MIGRATE", dir.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Its first rows are on disk as soon as they do not fit into memory any more.
    let log = dir.path().join("state/work.db-wal");
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while std::fs::metadata(&log).map_or(0, |meta| meta.len()) < 1024 * 1024 {
        assert!(std::time::Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let newest = MIGRATIONS.last().unwrap().0;
    let [(copy, number)] = &before_migrations(&path(dir.path()))[..] else { panic!("no copy") };
    assert_eq!((*number, check_copy(copy).await.unwrap()), (newest + 1, newest));
    // The program from before goes on as if nothing had been tried; the new one comes through.
    let store = open_expected(dir.path(), &Expected::Known(life)).await.unwrap();
    assert_eq!(store.open_drafts(true).await.unwrap().len(), 1);
    assert_eq!(store.last_restore().await.unwrap(), None);
    store.close().await;
    let quick = later("CREATE TABLE half (n INTEGER)");
    let store = Store::open_with(options(dir.path()), &Expected::Anything, &quick).await.unwrap();
    assert_eq!(store.open_drafts(true).await.unwrap().len(), 1);
    store.close().await;
    let conn = Connection::open(path(dir.path())).unwrap();
    assert_eq!(conn.query_row("SELECT count(*) FROM half", [], |row| row.get::<_, i64>(0)), Ok(0));
}
