-- Each replacing of a secret that was tried: its name and version and what came of it, never a value.
CREATE TABLE rotations (
    id INTEGER PRIMARY KEY,
    secret TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The version that is stored since; NULL: the old value stayed.
    version INTEGER,
    how TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX rotations_secret ON rotations (secret, id);
