-- Instructions that agents refer to, and their versions. latest is the version that references without one name, last the
-- highest number that was ever used.
CREATE TABLE instructions (
    no      {{row_number}},
    id      {{text_by_bytes}} NOT NULL UNIQUE,
    latest  BIGINT NOT NULL,
    last    BIGINT NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX instructions_by_age ON instructions (created, id);

CREATE TABLE instruction_versions (
    instruction_no BIGINT NOT NULL REFERENCES instructions (no) ON DELETE CASCADE,
    version        BIGINT NOT NULL,
    name           {{text_by_bytes}} NOT NULL,
    text           TEXT NOT NULL,
    enabled        BOOLEAN NOT NULL,
    written        BIGINT NOT NULL,
    PRIMARY KEY (instruction_no, version)
);
CREATE INDEX instruction_versions_by_name ON instruction_versions (name);

-- The versions that agents have in a step by their number, of the current configuration of each agent.
CREATE TABLE instruction_pins (
    agent_no    BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    instruction {{text_by_bytes}} NOT NULL,
    version     BIGINT NOT NULL,
    PRIMARY KEY (agent_no, instruction, version)
);
CREATE INDEX instruction_pins_by_version ON instruction_pins (instruction, version);
