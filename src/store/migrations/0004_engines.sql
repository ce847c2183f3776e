-- What is known of engines over their runs, of people that were written to, and what a run tells of itself.

-- A limit of a plan or an empty purse belongs to everything that uses the same login.
CREATE TABLE account_rests (
    account TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The circuit breaker of an engine, as JSON; no row: nothing speaks against it.
CREATE TABLE breakers (
    engine TEXT PRIMARY KEY,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Addresses that something was sent to, in lower case.
CREATE TABLE correspondents (
    address TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO correspondents (address)
SELECT lower(j.value) FROM actions a
CROSS JOIN action_bodies b ON b.action_id = a.id CROSS JOIN json_each(b.envelope, '$.to') j
WHERE a.state = 'sent';

-- However a receipt comes into the record, whoever got the answer is known from there on.
CREATE TRIGGER actions_sent AFTER UPDATE OF state ON actions WHEN new.state = 'sent' AND old.state <> 'sent'
BEGIN
    INSERT OR IGNORE INTO correspondents (address)
    SELECT lower(j.value) FROM action_bodies b CROSS JOIN json_each(b.envelope, '$.to') j WHERE b.action_id = new.id;
END;

ALTER TABLE runs ADD COLUMN session TEXT;
ALTER TABLE runs ADD COLUMN model TEXT;
ALTER TABLE runs ADD COLUMN program TEXT;
-- The replay that this run was for; such a run makes no draft and moves no case.
ALTER TABLE runs ADD COLUMN replay INTEGER;

ALTER TABLE case_heads ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';

-- What an engine was told, secrets masked. The oldest go first.
CREATE TABLE run_prompts (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id),
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    prompt TEXT NOT NULL
) STRICT;

CREATE INDEX run_prompts_at ON run_prompts (at, run_id, bytes);

CREATE TABLE replays (
    id INTEGER PRIMARY KEY,
    case_id INTEGER NOT NULL REFERENCES cases (id),
    engine TEXT NOT NULL,
    prompt TEXT,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done')),
    run_id INTEGER,
    outcome TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    remarks TEXT NOT NULL DEFAULT '[]',
    asked_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;

CREATE INDEX replays_waiting ON replays (engine, id) WHERE state = 'waiting';
CREATE INDEX replays_case ON replays (case_id);
