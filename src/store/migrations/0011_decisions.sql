-- When a draft was decided about, and whether by a person: what may go by itself is judged by the record of that.
ALTER TABLE drafts ADD COLUMN decided_at INTEGER;
ALTER TABLE drafts ADD COLUMN by_person INTEGER NOT NULL DEFAULT 0;

CREATE INDEX drafts_decided ON drafts (connector, decided_at) WHERE by_person = 1;
CREATE INDEX drafts_auto ON drafts (auto, id) WHERE state = 'open';
