//! The raw limit: the very rows the store writes, by hand, with prepared statements on one rusqlite connection that
//! shares SQLite itself with the store. No look-ups, no channel, no thread; two commits for one claim and its end.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

const SCHEMA: &str = include_str!("../../src/store/migrations/0001_first.sql");

pub struct Raw {
    conn: Connection,
    next: i64,
}

impl Raw {
    pub fn open(dir: &Path, normal: bool) -> Self {
        let conn = Connection::open(dir.join("raw.db")).unwrap();
        let synchronous = if normal { "NORMAL" } else { "FULL" };
        conn.execute_batch(&format!(
            "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; \
             PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;"
        ))
        .unwrap();
        conn.set_prepared_statement_cache_capacity(64);
        conn.execute_batch(SCHEMA).unwrap();
        conn.execute("INSERT INTO connectors (name, identity, since) VALUES ('mail', 'me', 1)", []).unwrap();
        Self { conn, next: 1 }
    }

    /// So many items, so many in a commit.
    pub fn put(&mut self, count: i64, batch: i64, body: &str) -> Duration {
        let start = Instant::now();
        let mut left = count;
        while left > 0 {
            let size = batch.min(left);
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            for id in self.next..self.next + size {
                put_one(&tx, id, body);
            }
            tx.prepare_cached(
                "UPDATE connectors SET cursor = ?1, items_known = items_known + ?2 WHERE id = 1",
            )
            .unwrap()
            .execute(params![format!("{{\"uid\":{}}}", self.next + size), size])
            .unwrap();
            tx.commit().unwrap();
            self.next += size;
            left -= size;
        }
        start.elapsed()
    }

    /// What `admit` does, not timed: `put` leaves cases new.
    pub fn queue_all(&mut self) {
        self.conn.execute("UPDATE cases SET state = 'queued', engine = 'e' WHERE state = 'new'", []).unwrap();
    }

    /// Claims and ends so many cases, so many in a commit.
    pub fn work(&mut self, count: i64, batch: i64) -> Duration {
        let start = Instant::now();
        let mut left = count;
        while left > 0 {
            let size = batch.min(left);
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            let claimed = claim(&tx, size);
            tx.commit().unwrap();
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            for (case, run) in claimed {
                end(&tx, case, run);
            }
            tx.commit().unwrap();
            left -= size;
        }
        start.elapsed()
    }
}

fn put_one(tx: &Transaction<'_>, id: i64, body: &str) {
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        tx.prepare_cached(sql).unwrap().execute(values).unwrap();
    };
    run(
        "INSERT INTO cases (id, connector, state, items, newest_item, made_at, changed_at) \
         VALUES (?1, 1, 'new', 1, ?1, 1, 1)",
        params![id],
    );
    run(
        "INSERT INTO case_heads (case_id, kind, title, author) VALUES (?1, 'mail', 'About the plan', 'Pat')",
        params![id],
    );
    run(
        "INSERT INTO items (id, connector, key, revision, case_id, disposition, read_at) \
         VALUES (?1, 1, ?2, '1', ?1, 0, 1)",
        params![id, format!("uid:0000000007:{id:010}")],
    );
    run("INSERT INTO item_bodies (item_id, body) VALUES (?1, ?2)", params![id, body]);
    run(
        "INSERT INTO case_threads (connector, thread, case_id) VALUES (1, ?2, ?1)",
        params![id, format!("<{id:010}@example.org>")],
    );
    run(
        "INSERT INTO journal (case_id, at, event, detail) VALUES (?1, 1, 'item', ?2)",
        params![id, format!("i{id} read under generation 1")],
    );
}

fn claim(tx: &Transaction<'_>, size: i64) -> Vec<(i64, i64)> {
    let mut statement = tx
        .prepare_cached(
            "UPDATE cases SET state = 'running', attempts = attempts + 1, token = token + 1, lease_until = 9, \
             changed_at = 2 WHERE id IN (SELECT id FROM cases WHERE state = 'queued' AND engine = 'e' \
             ORDER BY priority DESC, id LIMIT ?1) RETURNING id",
        )
        .unwrap();
    let ids: Vec<i64> = statement.query_map([size], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut claimed = Vec::with_capacity(ids.len());
    for case in ids {
        tx.prepare_cached(
            "INSERT INTO runs (case_id, engine, attempt, outcome, started_at, generation) \
             VALUES (?1, 'e', 1, 'running', 2, 1)",
        )
        .unwrap()
        .execute([case])
        .unwrap();
        claimed.push((case, tx.last_insert_rowid()));
        tx.prepare_cached(
            "INSERT INTO journal (case_id, at, event, detail) VALUES (?1, 2, 'claimed', 'attempt 1')",
        )
        .unwrap()
        .execute([case])
        .unwrap();
    }
    claimed
}

fn end(tx: &Transaction<'_>, case: i64, run: i64) {
    tx.prepare_cached(
        "UPDATE runs SET outcome = 'nothing-to-do', detail = 'no-op', ended_at = 3 WHERE id = ?1",
    )
    .unwrap()
    .execute([run])
    .unwrap();
    tx.prepare_cached(
        "UPDATE cases SET state = 'closed', lease_until = NULL, changed_at = 3 WHERE id = ?1 AND token = 1 \
         AND state = 'running'",
    )
    .unwrap()
    .execute([case])
    .unwrap();
    tx.prepare_cached("INSERT INTO journal (case_id, at, event, detail) VALUES (?1, 3, 'closed', ?2)")
        .unwrap()
        .execute(params![case, format!("r{run} nothing-to-do: no-op")])
        .unwrap();
}
