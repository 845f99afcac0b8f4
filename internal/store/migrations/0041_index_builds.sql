-- Raised to have the search index of a corpus made anew: whoever holds files of a lower number builds beside them.
ALTER TABLE corpora ADD COLUMN index_build BIGINT NOT NULL DEFAULT 0;
