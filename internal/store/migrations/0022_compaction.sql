-- Compactions that wait or are in progress, as JSON; '' for a message and for a turn.
ALTER TABLE inputs ADD COLUMN compaction TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN compaction TEXT NOT NULL DEFAULT '';

-- Who has opened a session; '' for those from before.
ALTER TABLE sessions ADD COLUMN made_by TEXT NOT NULL DEFAULT '';

-- What a compaction has summed up stays in reach of references.
DROP INDEX events_outputs;
CREATE INDEX events_outputs ON events (session_no, tool, ord) WHERE tool <> '' AND hidden <> 'manual';
