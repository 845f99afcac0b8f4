-- The history of queries. body is the request and the spans, packed by store/queries; the other columns are what a
-- list filters by and shows. No reference to corpora: a record outlives the corpora that it searched.
CREATE TABLE queries (
    no          {{row_number}},
    id          {{text_by_bytes}} NOT NULL UNIQUE,
    started     BIGINT NOT NULL,
    latency     BIGINT NOT NULL,
    query       TEXT NOT NULL,
    chat_id     TEXT NOT NULL,
    agent_key   TEXT NOT NULL,
    session_key TEXT NOT NULL,
    generation  TEXT,
    consistency DOUBLE PRECISION,
    body        {{bytes}} NOT NULL
);
CREATE INDEX queries_by_age ON queries (started, id);
CREATE INDEX queries_by_chat ON queries (chat_id, started, id) WHERE chat_id <> '';

-- One row for each corpus that a query searched, in the order of the request. The key is the one at that time; the
-- number tells the corpus from a later one of the same key.
CREATE TABLE query_corpora (
    query_no   BIGINT NOT NULL REFERENCES queries (no) ON DELETE CASCADE,
    ord        INTEGER NOT NULL,
    corpus_no  BIGINT NOT NULL,
    corpus_key TEXT NOT NULL,
    PRIMARY KEY (query_no, ord)
);
CREATE INDEX query_corpora_by_key ON query_corpora (corpus_key, query_no);
