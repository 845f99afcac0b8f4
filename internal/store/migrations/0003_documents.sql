-- When a document was made and last changed, in microseconds: a bulk operation leaves alone what is newer than its
-- beginning. 0, in rows from before this migration, is older than anything. updated grows with every change of the row,
-- so it tells one state of a document from the next.
ALTER TABLE documents ADD COLUMN created BIGINT NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN updated BIGINT NOT NULL DEFAULT 0;

-- Counts the replacements of a corpus's filter attributes: an index of another version has other columns.
ALTER TABLE corpora ADD COLUMN schema_version BIGINT NOT NULL DEFAULT 0;
