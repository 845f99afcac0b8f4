-- Glossaries. version is raised by every change of the entries; floor is the version behind which none was removed. One that was
-- deleted has no key, and goes once its entries are swept.
CREATE TABLE glossaries (
    no          {{row_number}},
    key         {{text_by_bytes}} UNIQUE,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    entries     BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    floor       BIGINT NOT NULL,
    created     BIGINT NOT NULL,
    updated     BIGINT NOT NULL,
    deleted     BIGINT NOT NULL
);
CREATE INDEX glossaries_by_age ON glossaries (created, key);

-- Their entries. made and changed are the versions of the glossary that each was written with first and last.
CREATE TABLE glossary_entries (
    glossary_no BIGINT NOT NULL REFERENCES glossaries (no) ON DELETE CASCADE,
    term        {{text_by_bytes}} NOT NULL,
    expansion   TEXT NOT NULL,
    made        BIGINT NOT NULL,
    changed     BIGINT NOT NULL,
    PRIMARY KEY (glossary_no, term)
);
CREATE INDEX glossary_entries_by_change ON glossary_entries (glossary_no, changed);
