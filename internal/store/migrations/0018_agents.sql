-- Agents. One that is deleted keeps its row, with deleted set and without a key, until its sessions are swept; revision is
-- that of its current configuration.
CREATE TABLE agents (
    no       {{row_number}},
    key      {{text_by_bytes}} UNIQUE,
    revision BIGINT NOT NULL,
    enabled  BOOLEAN NOT NULL,
    created  BIGINT NOT NULL,
    updated  BIGINT NOT NULL,
    deleted  BIGINT NOT NULL
);
CREATE INDEX agents_by_age ON agents (created, key) WHERE deleted = 0;
CREATE INDEX agents_deleted ON agents (no) WHERE deleted > 0;

-- The configurations of an agent as JSON: the current one, and those that a turn has begun with and may go on with. replaced is
-- when the next one took its place, 0 for the current one.
CREATE TABLE agent_revisions (
    agent_no   BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    revision   BIGINT NOT NULL,
    definition TEXT NOT NULL,
    replaced   BIGINT NOT NULL,
    PRIMARY KEY (agent_no, revision)
);
CREATE INDEX agent_revisions_replaced ON agent_revisions (replaced) WHERE replaced > 0;

-- Roles on agents, as grants are roles on corpora.
CREATE TABLE agent_grants (
    holder   {{text_by_bytes}} NOT NULL,
    ord      INTEGER NOT NULL,
    agent_no BIGINT NOT NULL,
    role     TEXT NOT NULL,
    PRIMARY KEY (holder, ord)
);
CREATE INDEX agent_grants_by_agent ON agent_grants (agent_no, holder);
