-- The life of the database itself: whose it is, who wrote in it, and when an earlier state of it was put back.

-- `id`: the same for this database and all its copies. `stamp`: counts up, so that a copy is known from what came after.
CREATE TABLE life (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Programs that opened it, one row whenever it is another than the time before. An older program that meets a newer
-- database reads the newest row to say which version it was: these columns stay as they are.
CREATE TABLE programs (
    id INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    schema INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- What came in before such a moment may have been answered in the time that this record has forgotten.
CREATE TABLE restores (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    -- When the copy was made, where that is known.
    copied_at INTEGER,
    why TEXT NOT NULL
) STRICT;

-- Sends that were not over when the copy was made: the platform is asked, and nothing is sent again by itself.
CREATE TABLE restored_actions (
    action_id INTEGER PRIMARY KEY REFERENCES actions (id)
) STRICT;
