-- What a run counts for against budgets: what was set aside before it, then what it cost, or still all of that where
-- nobody knows. Millionths of a US dollar.
ALTER TABLE runs ADD COLUMN spent_micro_usd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN reserved_micro_usd INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN cache_read_tokens INTEGER;
ALTER TABLE runs ADD COLUMN cache_write_tokens INTEGER;

UPDATE runs SET spent_micro_usd = cost_micro_usd WHERE cost_micro_usd > 0;

-- Sums over a day or a month of one engine and of all; free runs are in neither.
CREATE INDEX runs_spent ON runs (started_at, spent_micro_usd) WHERE spent_micro_usd > 0;
CREATE INDEX runs_engine_spent ON runs (engine, started_at, spent_micro_usd) WHERE spent_micro_usd > 0;
