-- Times are milliseconds since 1970-01-01 UTC. Hot rows are small; what is only read with one case at hand lies apart.
-- A reference is declared where the child has an index on it; without one the database would have to walk the child.

CREATE TABLE generations (
    id INTEGER PRIMARY KEY,
    plan_hash TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- One row for each account a connector ever had; the newest `since` of a name is the present one.
CREATE TABLE connectors (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    identity TEXT NOT NULL,
    cursor TEXT,
    last_new_item_at INTEGER,
    items_known INTEGER NOT NULL DEFAULT 0,
    items_baseline INTEGER NOT NULL DEFAULT 0,
    since INTEGER NOT NULL,
    UNIQUE (name, identity)
) STRICT;

CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connectors (id),
    state TEXT NOT NULL CHECK (state IN ('new', 'queued', 'running', 'review', 'approved', 'sent', 'closed',
        'parked', 'dead', 'dismissed')),
    engine TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_extra INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    until INTEGER,
    -- An item came while the case was running or approved.
    news INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL,
    newest_item INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    route TEXT,
    reason TEXT
) STRICT;

-- Every case is in exactly one of these, and a claim walks its index in order.
CREATE INDEX cases_new ON cases (id) WHERE state = 'new';
CREATE INDEX cases_ready ON cases (engine, priority DESC, id) WHERE state = 'queued';
CREATE INDEX cases_leased ON cases (lease_until) WHERE state = 'running';
CREATE INDEX cases_review ON cases (id) WHERE state = 'review';
CREATE INDEX cases_approved ON cases (id) WHERE state = 'approved';
CREATE INDEX cases_parked ON cases (until) WHERE state = 'parked';
CREATE INDEX cases_sent ON cases (changed_at) WHERE state = 'sent';
CREATE INDEX cases_closed ON cases (changed_at) WHERE state = 'closed';
CREATE INDEX cases_dead ON cases (changed_at) WHERE state = 'dead';
CREATE INDEX cases_dismissed ON cases (changed_at) WHERE state = 'dismissed';

CREATE TABLE case_heads (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id),
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT NOT NULL
) STRICT;

-- The ledger of everything ever read. The unique key is in the source's own order: appending is cheap.
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connectors (id),
    key TEXT NOT NULL,
    revision TEXT NOT NULL,
    case_id INTEGER REFERENCES cases (id),
    -- 0 work, 1 no reply wanted, 2 own, 3 baseline, 4 quarantined, 5 work that looks automatic
    disposition INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    UNIQUE (connector, key)
) STRICT;

CREATE INDEX items_case ON items (case_id, id) WHERE case_id IS NOT NULL;

CREATE TABLE item_bodies (
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    body TEXT NOT NULL
) STRICT;

CREATE TABLE item_identities (
    connector INTEGER NOT NULL,
    identity TEXT NOT NULL,
    item_id INTEGER NOT NULL,
    PRIMARY KEY (connector, identity)
) STRICT, WITHOUT ROWID;

CREATE TABLE case_threads (
    connector INTEGER NOT NULL,
    thread TEXT NOT NULL,
    case_id INTEGER NOT NULL,
    PRIMARY KEY (connector, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    case_id INTEGER NOT NULL REFERENCES cases (id),
    engine TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '',
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_micro_usd INTEGER,
    cost_source TEXT NOT NULL DEFAULT '',
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    generation INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_case ON runs (case_id);
CREATE INDEX runs_budget ON runs (engine, started_at);

CREATE TABLE drafts (
    id INTEGER PRIMARY KEY,
    case_id INTEGER NOT NULL REFERENCES cases (id),
    run_id INTEGER NOT NULL,
    connector TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'superseded')),
    stale INTEGER NOT NULL DEFAULT 0,
    deferred_until INTEGER,
    made_at INTEGER NOT NULL,
    hash TEXT NOT NULL,
    generation INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX drafts_case ON drafts (case_id);
-- The database itself holds that a case has at most one open draft.
CREATE UNIQUE INDEX drafts_open ON drafts (case_id) WHERE state = 'open';
CREATE INDEX drafts_deferred ON drafts (deferred_until) WHERE state = 'open' AND deferred_until IS NOT NULL;

CREATE TABLE draft_bodies (
    draft_id INTEGER PRIMARY KEY REFERENCES drafts (id),
    envelope TEXT NOT NULL,
    body TEXT NOT NULL,
    engine_body TEXT NOT NULL,
    made_by TEXT NOT NULL,
    remarks TEXT NOT NULL
) STRICT;

CREATE TABLE actions (
    id INTEGER PRIMARY KEY,
    case_id INTEGER NOT NULL REFERENCES cases (id),
    -- One approval, one action: the last line of defence against sending twice.
    draft_id INTEGER NOT NULL UNIQUE REFERENCES drafts (id),
    connector TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('approved', 'sending', 'sent', 'uncertain', 'held', 'dead', 'cancelled')),
    not_before INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    approved_at INTEGER NOT NULL,
    sending_at INTEGER,
    key TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL
) STRICT;

CREATE INDEX actions_due ON actions (state, not_before, id);
CREATE INDEX actions_case ON actions (case_id);

CREATE TABLE action_bodies (
    action_id INTEGER PRIMARY KEY REFERENCES actions (id),
    envelope TEXT NOT NULL,
    body TEXT NOT NULL,
    marker TEXT,
    payload BLOB,
    remote_id TEXT,
    evidence TEXT,
    last_error TEXT
) STRICT;

-- Names by which our own actions are known again when they are read back.
CREATE TABLE own_marks (
    connector TEXT NOT NULL,
    mark TEXT NOT NULL,
    action_id INTEGER NOT NULL REFERENCES actions (id),
    PRIMARY KEY (connector, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    case_id INTEGER NOT NULL REFERENCES cases (id),
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX journal_case ON journal (case_id);

CREATE TABLE cooldowns (
    engine TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE flags (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
