-- Documents that were replaced. Their rows stay for a short time, for queries that have found them and read their texts
-- (document.ReplacedFor): with -no for a shelf, so that they belong to no generation. shelf is the one that they were of, at
-- is when they were replaced, in microseconds.
CREATE TABLE replaced (
    doc_no BIGINT PRIMARY KEY REFERENCES documents (no) ON DELETE CASCADE,
    shelf  BIGINT NOT NULL,
    at     BIGINT NOT NULL
);
CREATE INDEX replaced_by_age ON replaced (at, doc_no);

-- The document that the one of doc_no was put in the place of; 0 where there was none.
ALTER TABLE changes ADD COLUMN old_no BIGINT NOT NULL DEFAULT 0;

-- A file that was renamed keeps its vectors: they are looked up by the digest of its bytes.
CREATE INDEX documents_by_digest ON documents (shelf, digest, no);
