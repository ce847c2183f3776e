-- Who alone may decide on a channel. A pairing holds for the place it was made with.
CREATE TABLE pairings (
    channel TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    user TEXT NOT NULL,
    address TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- References that there are not, said since then.
    wrong INTEGER NOT NULL DEFAULT 0,
    wrong_since INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A code that waits to be said: its digest, until when it holds, how often another was said.
CREATE TABLE pairing_codes (
    channel TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    digest TEXT NOT NULL,
    until INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- How far a channel was heard, and the messages that were taken.
CREATE TABLE channel_cursors (
    channel TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    cursor TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_messages (
    id INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    UNIQUE (channel, message)
) STRICT;

-- What needs the user, by channel: since when it is known there, and when it was told. Forgotten when it is decided.
CREATE TABLE notices (
    channel TEXT NOT NULL,
    subject TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    told_at INTEGER,
    PRIMARY KEY (channel, subject)
) STRICT, WITHOUT ROWID;

-- When notices were told, for the most in an hour.
CREATE TABLE notice_times (
    id INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX notice_times_channel ON notice_times (channel, at);

-- By what a message names what it decides: one version of a draft, one question. Good for one decision.
CREATE TABLE notice_references (
    channel TEXT NOT NULL,
    reference TEXT NOT NULL,
    subject TEXT NOT NULL,
    version TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (channel, reference)
) STRICT, WITHOUT ROWID;

CREATE INDEX notice_references_subject ON notice_references (channel, subject, version) WHERE used_at IS NULL;

-- Nobody ever asked by it; `notices` is in its place.
DROP TABLE announced;
