-- The files that documents were read from, where the service keeps them (setting keep_files). A row goes with its document, in
-- the transaction that removes it: its reference to the content must be taken back, which a cascade can't do.
CREATE TABLE document_files (
    doc_no BIGINT PRIMARY KEY,
    name   TEXT NOT NULL,
    mime   TEXT NOT NULL,
    size   BIGINT NOT NULL,
    sum    {{text_by_bytes}} NOT NULL
);
