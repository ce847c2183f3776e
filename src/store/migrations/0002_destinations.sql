-- A draft is made, and an action approved, for the place to which its connector sends at that moment; 'auto' is 1 where its
-- connector then said outbound = "auto". Empty: made before this was noted, so it goes wherever the connector sends.

ALTER TABLE drafts ADD COLUMN destination TEXT NOT NULL DEFAULT '';
ALTER TABLE drafts ADD COLUMN auto INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actions ADD COLUMN destination TEXT NOT NULL DEFAULT '';

-- Where each connector sent, and by which rule, when it was last on: a draft may be made while it is off.
CREATE TABLE ways_out (
    connector TEXT PRIMARY KEY,
    destination TEXT NOT NULL,
    auto INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
