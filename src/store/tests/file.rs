//! The file: modes, migrations, damage, and what a page without news writes.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sqlx::migrate::Migrator;

use super::super::open::{MIGRATIONS, migrations};
use super::*;

fn path(dir: &Path) -> PathBuf {
    dir.join("state").join("work.db")
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn options(dir: &Path) -> StoreOptions {
    StoreOptions { path: path(dir), normal: true, clock: Clock::manual(START) }
}

/// The number of the newest migration.
fn newest() -> i64 {
    MIGRATIONS.last().unwrap().0
}

/// What a later program would bring.
fn with_one_more(sql: &'static str) -> Migrator {
    let more = (newest() + 1, "more", sql);
    migrations(&MIGRATIONS.iter().copied().chain([more]).collect::<Vec<_>>())
}

/// A closed database with one draft in it.
async fn closed() -> tempfile::TempDir {
    let bench = Bench::new().await;
    bench.drafted("a").await;
    bench.store.close().await;
    bench.dir
}

/// Opening fails so, and leaves the file as it was.
async fn check_refused(dir: &Path, expected: &str) {
    let before = std::fs::read(path(dir)).unwrap();
    let error = Store::open(options(dir)).await.expect_err("refused").to_string();
    let shown = error.replace(&path(dir).display().to_string(), "work.db");
    assert_eq!(shown, expected);
    assert!(std::fs::read(path(dir)).unwrap() == before, "the file was touched");
    let names: Vec<_> =
        std::fs::read_dir(dir.join("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["work.db"], "something was left behind");
}

#[tokio::test]
async fn only_its_owner_reads_it() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    let path = path(bench.dir.path());
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&path.with_file_name(format!("work.db{suffix}"))), 0o600, "{suffix}");
    }
}

#[tokio::test]
async fn a_newer_database_is_not_touched() {
    let dir = closed().await;
    let conn = Connection::open(path(dir.path())).unwrap();
    conn.execute_batch(
        "INSERT INTO _sqlx_migrations VALUES (700, 'later', '2027-01-01', 1, x'00', 1); \
         ALTER TABLE cases ADD COLUMN later TEXT;",
    )
    .unwrap();
    drop(conn);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "the database work.db was made by a newer workagent (version {version}, schema 700, this is {version} and knows \
         {})",
        newest()
    );
    check_refused(dir.path(), &expected).await;
}

#[tokio::test]
async fn an_altered_migration_is_refused_with_its_number() {
    let dir = closed().await;
    let conn = Connection::open(path(dir.path())).unwrap();
    conn.execute("UPDATE _sqlx_migrations SET checksum = x'00'", []).unwrap();
    drop(conn);
    let expected = "migration 1 of the database work.db is not the one this program knows";
    check_refused(dir.path(), expected).await;
}

#[tokio::test]
async fn another_file_is_not_a_database() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    std::fs::write(path(dir.path()), "a letter, not a database. ".repeat(100)).unwrap();
    let before = std::fs::read(path(dir.path())).unwrap();
    let error = Store::open(options(dir.path())).await.expect_err("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(std::fs::read(path(dir.path())).unwrap() == before);
}

#[tokio::test]
async fn damage_is_said() {
    let dir = closed().await;
    let mut bytes = std::fs::read(path(dir.path())).unwrap();
    let page = 4096;
    // Every page but the first two: the schema still reads, the trees do not.
    for byte in &mut bytes[page * 2..page * 12] {
        *byte = 0xAA;
    }
    std::fs::write(path(dir.path()), bytes).unwrap();
    let error = Store::open(options(dir.path())).await.expect_err("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn a_migration_keeps_a_copy_of_what_was() {
    let dir = closed().await;
    let more = with_one_more("ALTER TABLE flags ADD COLUMN more TEXT");
    let store = Store::open_with(options(dir.path()), &Expected::Anything, &more).await.unwrap();
    assert_eq!(store.open_drafts(true).await.unwrap().len(), 1);
    store.close().await;
    let copy = path(dir.path()).with_file_name(format!("work.db.before-{}", newest() + 1));
    assert_eq!(mode(&copy), 0o600);
    let conn = Connection::open(copy).unwrap();
    let count = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM drafts"), 1);
    assert_eq!(count("SELECT max(version) FROM _sqlx_migrations"), newest());
    // The older program says what is the matter, and touches nothing.
    let error = Store::open(options(dir.path())).await.expect_err("newer");
    let StoreError::Newer { found, known, .. } = error else { panic!("{error}") };
    assert_eq!((found, known), (newest() + 1, newest()));
}

#[tokio::test]
async fn a_migration_that_breaks_leaves_no_half_state() {
    let dir = closed().await;
    let broken =
        "CREATE TABLE half (id INTEGER); INSERT INTO half VALUES (1); INSERT INTO nowhere VALUES (1)";
    Store::open_with(options(dir.path()), &Expected::Anything, &with_one_more(broken))
        .await
        .expect_err("the migration fails");
    let store = Store::open(options(dir.path())).await.unwrap();
    assert_eq!(store.open_drafts(true).await.unwrap().len(), 1);
    store.close().await;
    let conn = Connection::open(path(dir.path())).unwrap();
    let half = conn.query_row("SELECT count(*) FROM sqlite_master WHERE name = 'half'", [], |row| row.get(0));
    assert_eq!(half, Ok(0));
}

#[tokio::test]
async fn close_empties_the_log_and_ends_everything() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    bench.store.close().await;
    let wal = path(bench.dir.path()).with_file_name("work.db-wal");
    assert!(std::fs::metadata(wal).map_or(true, |meta| meta.len() == 0));
    assert!(matches!(bench.store.set_flag("x", None).await, Err(StoreError::Closed)));
    bench.store.close().await;
}

#[tokio::test]
async fn what_waits_is_taken_before_the_close() {
    let bench = Bench::new().await;
    let commits = (0..50).map(|number: u32| {
        let store = bench.store.clone();
        async move { store.commit_page(page(vec![item(&number.to_string())], "c")).await }
    });
    let (reports, ()) = tokio::join!(futures_util::future::join_all(commits), bench.store.close());
    let made = reports.iter().filter(|report| report.is_ok()).count();
    let store = open(bench.dir.path(), &bench.clock).await.unwrap();
    assert_eq!(store.cases(None, 100).await.unwrap().len(), made);
    store.close().await;
}

/// Size of the log: every written page is in it, since nothing is copied while a test holds a reader.
fn log_bytes(dir: &Path) -> u64 {
    std::fs::metadata(path(dir).with_file_name("work.db-wal")).unwrap().len()
}

#[tokio::test]
async fn a_page_without_news_writes_nothing() {
    let bench = Bench::new().await;
    let items: Vec<Item> = (0..100).map(|number| item(&number.to_string())).collect();
    bench.read(items.clone()).await;
    let before = log_bytes(bench.dir.path());
    let report = bench.read(items.clone()).await;
    assert_eq!(report.seen_items, 100);
    assert_eq!(log_bytes(bench.dir.path()), before);
    // The measure can tell: another cursor is one small write.
    bench.store.commit_page(page(items, "d")).await.unwrap();
    assert!(log_bytes(bench.dir.path()) > before);
}

#[tokio::test]
async fn nothing_is_written_into_a_file_that_has_no_name_any_more() {
    let bench = Bench::new().await;
    bench.read(vec![item("a")]).await;
    let (path, away) = (path(bench.dir.path()), bench.dir.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    let error = bench.store.set_flag("paused", Some("1")).await.expect_err("refused");
    let said = crate::model::class::chain(&error);
    assert!(
        said.contains("was removed or replaced while in use") && said.contains("nothing is sent"),
        "{said}"
    );
    // Another file under its name is not the one either.
    std::fs::write(&path, "").unwrap();
    assert!(bench.store.set_flag("paused", Some("1")).await.is_err());
    std::fs::rename(&away, &path).unwrap();
    bench.store.set_flag("paused", Some("1")).await.unwrap();
}
