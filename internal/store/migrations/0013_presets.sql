-- Generation presets of the customer. llm names a language model as the registry finds it, so that one registered again
-- under its name answers again. NULL parameters are left to the model; max_results 0 is not said; extra is JSON, null for
-- none.
CREATE TABLE presets (
    id                {{text_by_bytes}} PRIMARY KEY,
    name              {{text_by_bytes}} NOT NULL UNIQUE,
    description       TEXT NOT NULL,
    llm               TEXT NOT NULL,
    template          TEXT NOT NULL,
    max_results       BIGINT NOT NULL,
    max_tokens        BIGINT,
    temperature       DOUBLE PRECISION,
    frequency_penalty DOUBLE PRECISION,
    presence_penalty  DOUBLE PRECISION,
    extra             TEXT NOT NULL,
    enabled           BOOLEAN NOT NULL,
    created           BIGINT NOT NULL,
    updated           BIGINT NOT NULL
);
CREATE INDEX presets_by_age ON presets (created, id);

-- The one that is used where none is named; no row is the platform's. A table of its own, so that two changes at once
-- leave one default.
CREATE TABLE default_preset (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    preset {{text_by_bytes}} NOT NULL REFERENCES presets (id) ON DELETE CASCADE
);
CREATE INDEX default_preset_by_preset ON default_preset (preset);
