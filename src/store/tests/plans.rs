//! Every hot statement goes by index: none scans cases, items or actions, none sorts in a temporary tree.

use rusqlite::Connection;

use super::super::open::MIGRATIONS;
use super::super::{
    around, auto, channels, day, drafts, ingest, journal, keep, leases, life, money, notices, outbox, pages,
    parked, pauses, pending, people, records, recovery, rests, rows, runs,
};
use super::*;

fn database() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    for (_, _, sql) in MIGRATIONS {
        conn.execute_batch(sql).unwrap();
    }
    conn
}

/// The plan's lines, for each statement of the text.
fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for one in sql.split("; ").filter(|one| !one.trim().is_empty()) {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {one}")).unwrap_or_else(|error| {
            panic!("{error}: {one}");
        });
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().unwrap() {
            lines.push(row.get::<_, String>(3).unwrap());
        }
    }
    lines
}

#[test]
fn hot_statements_go_by_index() {
    let conn = database();
    let hot = [
        ("drafts that go by themselves", auto::CANDIDATES),
        ("kinds of cases", auto::KINDS),
        ("decisions", auto::DECIDED),
        ("fresh", pages::look::FRESH),
        ("names", pages::look::NAMES),
        ("new rows", pages::write::NEW_ROWS),
        ("touch", pages::write::TOUCH),
        ("stale", pages::write::STALE),
        ("hold", pages::write::HOLD),
        ("answered by hand", pages::write::BY_HAND),
        ("refused sends", outbox::REFUSED_SENDS),
        ("hasten", outbox::HASTEN),
        ("updated", pages::write::UPDATED),
        ("new cases", ingest::NEW_CASES),
        ("newest", ingest::NEWEST),
        ("answered", ingest::ANSWERED),
        ("admit", ingest::ADMIT),
        ("claim", leases::CLAIM),
        ("ready", leases::READY),
        ("renew", leases::RENEW),
        ("case items", leases::CASE_ITEMS),
        ("give back", leases::GIVE_BACK),
        ("interrupt", leases::INTERRUPT),
        ("fenced", runs::FENCED),
        ("runs since", runs::RUNS_SINCE),
        ("runs begun", runs::RUNS_BEGUN),
        ("waiting for", rests::WAITING_FOR),
        ("pass on", rests::PASS_ON),
        ("wake of", rests::WAKE_OF),
        ("engine spent", money::ENGINE_SPENT),
        ("all spent", money::ALL_SPENT),
        ("case spent", money::CASE_SPENT),
        ("case spent on an engine", money::CASE_ENGINE_SPENT),
        ("add runs", runs::ADD_RUNS),
        ("over budget", runs::OVER_BUDGET),
        ("to finish", runs::TO_FINISH),
        ("supersede", runs::SUPERSEDE),
        ("add drafts", runs::ADD_DRAFTS),
        ("ways out", runs::WAYS_OUT),
        ("finish", runs::FINISH),
        ("label", runs::LABEL),
        ("last session", records::LAST_SESSION),
        ("keep prompt", records::KEEP_PROMPT),
        ("name prompt", records::NAME_PROMPT),
        ("prompt of", records::PROMPT_OF),
        ("from here", day::FROM_HERE),
        ("last line", day::LAST_LINE),
        ("of a day", day::OF_DAY),
        ("cases of a day", day::CASES_OF),
        ("move", drafts::MOVE),
        ("draft", drafts::BY_ID),
        ("draft rounds", drafts::ROUNDS),
        ("reference of", channels::REFERENCE_OF),
        ("gone", notices::GONE),
        ("untold", notices::UNTOLD),
        ("notice times", notices::TIMES),
        ("items around", around::ITEMS),
        ("cases around", around::CASES),
        ("runs around", rows::RUNS_BY_ID),
        ("due", outbox::DUE),
        ("parked", parked::PARKED),
        ("deferred", parked::DEFERRED),
        ("held", parked::HELD),
        ("cases by id", parked::BY_IDS),
        ("nudge", pending::NUDGE),
        ("next nudge", pending::NEXT_NUDGE),
        ("pauses", pauses::PAUSES),
        ("waits", people::WAITS),
        ("notes", drafts::NOTES),
        ("wake", pending::WAKE),
        ("close", pending::CLOSE),
        ("next parked", pending::NEXT_PARKED),
        ("next draft", pending::NEXT_DRAFT),
        ("next action", pending::NEXT_ACTION),
        ("next lease", pending::NEXT_LEASE),
        ("expired", recovery::EXPIRED),
        ("return", recovery::RETURN),
        ("uncertain", recovery::UNCERTAIN),
        ("stamp", life::STAMP),
        ("over", keep::OVER),
        ("dismissed", keep::DISMISSED),
        ("texts", keep::TEXTS),
        ("journal", keep::JOURNAL),
        ("newest of the journal", journal::NEWEST),
        ("runs", keep::RUNS),
        ("is restored", life::IS_RESTORED),
        ("for a person", life::FOR_A_PERSON),
    ];
    let mut faults = Vec::new();
    for (name, sql) in hot {
        for line in plan(&conn, sql) {
            // A given list, or the one row of a subquery, is walked; a table is not.
            let scan = line.starts_with("SCAN")
                && !line.contains("VIRTUAL TABLE")
                && !line.contains("CONSTANT ROW")
                && !line.contains("(subquery");
            // These hold only what is in one state: what is walked is what is wanted.
            let of_a_state = line.contains("INDEX cases_") || line.contains("INDEX drafts_open");
            let own_index = line.contains("USING") && of_a_state;
            if (scan && !own_index) || line.contains("TEMP B-TREE") {
                faults.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn counts_and_lists_walk_the_index_of_their_state() {
    let conn = database();
    for state in CaseState::ALL {
        let lines = plan(&conn, people::newest_in(state)).join("\n");
        let index = if state == CaseState::Queued {
            "cases_ready".to_owned()
        } else if state == CaseState::Running {
            "cases_leased".to_owned()
        } else {
            format!("cases_{}", state.word())
        };
        assert!(lines.contains(&index), "{state:?}: {lines}");
    }
    let counted = plan(&conn, people::COUNT_CASES);
    assert!(
        counted.iter().all(|line| !line.starts_with("SCAN cases") || line.contains("INDEX cases_")),
        "{counted:?}"
    );
}

#[test]
fn claims_come_in_index_order() {
    let lines = plan(&database(), leases::READY);
    assert!(lines.iter().any(|line| line.contains("cases_ready (engine=?)")), "{lines:?}");
}
