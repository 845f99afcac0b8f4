-- Contents by their SHA-256, each once. refs is how many rows of others name one, holds how many requests in flight go on to do
-- so, touched when either was last changed, in microseconds. pieces names its pieces where they are rows, '' where it is a file.
CREATE TABLE blobs (
    sum     {{text_by_bytes}} PRIMARY KEY,
    size    BIGINT NOT NULL,
    refs    BIGINT NOT NULL,
    holds   BIGINT NOT NULL,
    touched BIGINT NOT NULL,
    pieces  TEXT NOT NULL
);
CREATE INDEX blobs_unused ON blobs (touched) WHERE refs = 0;

-- Contents as rows, for nodes that share nothing but the database. One that is being written stands in blob_drafts.
CREATE TABLE blob_pieces (
    pieces {{text_by_bytes}} NOT NULL,
    n      BIGINT NOT NULL,
    data   {{bytes}} NOT NULL,
    PRIMARY KEY (pieces, n)
);
CREATE TABLE blob_drafts (
    pieces  {{text_by_bytes}} PRIMARY KEY,
    touched BIGINT NOT NULL
);

-- The files of sessions. Times are in microseconds.
CREATE TABLE artifacts (
    session_no  BIGINT NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    id          {{text_by_bytes}} NOT NULL,
    filename    TEXT NOT NULL,
    mime        TEXT NOT NULL,
    size        BIGINT NOT NULL,
    sum         {{text_by_bytes}} NOT NULL,
    description TEXT NOT NULL,
    metadata    TEXT NOT NULL,
    ttl_days    BIGINT NOT NULL,
    created     BIGINT NOT NULL,
    updated     BIGINT NOT NULL,
    expires     BIGINT NOT NULL,
    PRIMARY KEY (session_no, id)
);
CREATE INDEX artifacts_by_age ON artifacts (session_no, created, id);
CREATE INDEX artifacts_by_change ON artifacts (session_no, updated, id);
CREATE INDEX artifacts_by_end ON artifacts (expires);

-- An input with files is two events: opening is how many events the input has that a turn began with.
ALTER TABLE runs ADD COLUMN opening BIGINT NOT NULL DEFAULT 1;
-- The event of the files of an input that waits, '' for none or if event_id is it, and their ids as a JSON list.
ALTER TABLE inputs ADD COLUMN upload_id TEXT NOT NULL DEFAULT '';
ALTER TABLE inputs ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
