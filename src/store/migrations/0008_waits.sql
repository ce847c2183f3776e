-- What a parked case waits for, as a word; NULL: parked before there were words.
ALTER TABLE cases ADD COLUMN waits TEXT;

-- What was announced where, so that it is announced once. Forgotten when it is mended.
CREATE TABLE announced (
    channel TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (channel, key)
) STRICT, WITHOUT ROWID;

-- What was parked before knows by its last run that it is a question.
UPDATE cases SET waits = 'question' WHERE state = 'parked' AND (SELECT r.outcome FROM runs r
    WHERE r.case_id = cases.id AND r.replay IS NULL ORDER BY r.id DESC LIMIT 1) = 'question';
