-- Words in {{}} are the dialect's; see migrate.go. Times are microseconds since 1970 UTC, JSON is text.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value {{bytes}} NOT NULL
);

CREATE TABLE users (
    id        TEXT PRIMARY KEY,
    username  TEXT NOT NULL UNIQUE,
    email     TEXT NOT NULL,
    enabled   BOOLEAN NOT NULL,
    api_roles TEXT NOT NULL,
    created   BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    digest  TEXT NOT NULL UNIQUE,
    owner   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    enabled BOOLEAN NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX api_keys_by_owner ON api_keys (owner);

-- A shelf is one generation of a corpus's documents. A reset gives the corpus a fresh one and a delete removes the
-- corpus, both in one small transaction; the rows of a generation without a corpus are removed in small steps afterwards
-- (documents/sweep.go).
CREATE TABLE shelves (
    no        {{row_number}},
    corpus_no BIGINT NOT NULL
);

CREATE TABLE corpora (
    no                      {{row_number}},
    epoch                   BIGINT NOT NULL,
    seq                     BIGINT NOT NULL,
    shelf                   BIGINT NOT NULL UNIQUE,
    id                      TEXT NOT NULL UNIQUE,
    key                     TEXT NOT NULL UNIQUE,
    name                    TEXT NOT NULL,
    description             TEXT,
    enabled                 BOOLEAN NOT NULL,
    save_history            BOOLEAN NOT NULL,
    queries_are_answers     BOOLEAN NOT NULL,
    documents_are_questions BOOLEAN NOT NULL,
    encoder_name            TEXT NOT NULL,
    encoder_fingerprint     TEXT NOT NULL,
    attributes              TEXT NOT NULL,
    dimensions              TEXT NOT NULL,
    documents               BIGINT NOT NULL,
    parts                   BIGINT NOT NULL,
    characters              BIGINT NOT NULL,
    metadata_characters     BIGINT NOT NULL,
    created                 BIGINT NOT NULL
);
CREATE INDEX corpora_by_age ON corpora (created, no);

CREATE TABLE documents (
    no                  {{row_number}},
    shelf               BIGINT NOT NULL,
    id                  {{text_by_bytes}} NOT NULL,
    title               TEXT NOT NULL,
    metadata            TEXT NOT NULL,
    tables              TEXT NOT NULL,
    images              TEXT NOT NULL,
    digest              TEXT NOT NULL,
    bytes               BIGINT NOT NULL,
    metadata_bytes      BIGINT NOT NULL,
    parts               BIGINT NOT NULL,
    characters          BIGINT NOT NULL,
    metadata_characters BIGINT NOT NULL,
    UNIQUE (shelf, id)
);
CREATE INDEX documents_by_shelf ON documents (shelf, no);

CREATE TABLE parts (
    doc_no     BIGINT NOT NULL REFERENCES documents (no) ON DELETE CASCADE,
    ord        INTEGER NOT NULL,
    text       TEXT NOT NULL,
    heading    TEXT NOT NULL,
    context    TEXT NOT NULL,
    metadata   TEXT NOT NULL,
    lang       TEXT NOT NULL,
    is_title   BOOLEAN NOT NULL,
    dimensions TEXT NOT NULL,
    table_id   TEXT NOT NULL,
    image_id   TEXT NOT NULL,
    gap        TEXT NOT NULL,
    vector     {{bytes}},
    PRIMARY KEY (doc_no, ord)
);

CREATE TABLE images (
    doc_no BIGINT NOT NULL REFERENCES documents (no) ON DELETE CASCADE,
    ord    INTEGER NOT NULL,
    data   {{bytes}} NOT NULL,
    PRIMARY KEY (doc_no, ord)
);

-- No reference to corpora: the changes of a deleted corpus are removed with its last generation.
CREATE TABLE changes (
    corpus_no BIGINT NOT NULL,
    seq       BIGINT NOT NULL,
    op        INTEGER NOT NULL,
    doc_no    BIGINT NOT NULL,
    PRIMARY KEY (corpus_no, seq)
);
