-- What an engine was told is let go of after a while; that it was this very text can be told for as long as the run is kept.
-- SHA-256 of the prompt as it was kept, 64 hex digits.
ALTER TABLE runs ADD COLUMN prompt_hash TEXT;
