-- Language models that the customer registered. auth is the credentials with masks for their secrets, as lists show them;
-- the whole of them is sealed in secrets under llm/<id>/auth. auth, headers, parameters (of the call that tests the
-- connection) and capabilities (as stated) are JSON, null for none. idle is in microseconds; 0 there and in the quotas is
-- none. revision counts the changes: it tells every node whether the connection that it has open is the one meant.
CREATE TABLE llms (
    id            {{text_by_bytes}} PRIMARY KEY,
    name          {{text_by_bytes}} NOT NULL UNIQUE,
    description   TEXT NOT NULL,
    enabled       BOOLEAN NOT NULL,
    type          TEXT NOT NULL,
    model         TEXT NOT NULL,
    uri           TEXT NOT NULL,
    auth          TEXT NOT NULL,
    headers       TEXT NOT NULL,
    idle          BIGINT NOT NULL,
    parameters    TEXT NOT NULL,
    capabilities  TEXT NOT NULL,
    rps           BIGINT NOT NULL,
    input_minute  BIGINT NOT NULL,
    input_day     BIGINT NOT NULL,
    input_month   BIGINT NOT NULL,
    output_minute BIGINT NOT NULL,
    output_day    BIGINT NOT NULL,
    output_month  BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    created       BIGINT NOT NULL,
    updated       BIGINT NOT NULL
);
CREATE INDEX llms_by_age ON llms (created, id);

-- The one that answers where no model is named; no row is the embedded one. A table of its own, so that two changes at
-- once leave one default.
CREATE TABLE default_llm (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    llm {{text_by_bytes}} NOT NULL REFERENCES llms (id) ON DELETE CASCADE
);
CREATE INDEX default_llm_by_llm ON default_llm (llm);
