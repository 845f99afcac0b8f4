-- The account that each agent acts as. With manual, its roles are those of api_roles and of the grants whose holder is the
-- client_id; else they follow from the needs below. derived is the revision of the agent whose needs are written, 0 for none yet.
CREATE TABLE agent_identities (
    agent_no  BIGINT PRIMARY KEY REFERENCES agents (no) ON DELETE CASCADE,
    client_id {{text_by_bytes}} NOT NULL UNIQUE,
    manual    BOOLEAN NOT NULL,
    api_roles TEXT NOT NULL,
    derived   BIGINT NOT NULL
);
INSERT INTO agent_identities (agent_no, client_id, manual, api_roles, derived)
    SELECT no, 'agc_' || {{sqlite}}lower(hex(randomblob(13))){{/sqlite}}{{postgres}}substr(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 1, 26){{/postgres}},
        FALSE, '[]', 0 FROM agents WHERE deleted = 0;

-- What the configurations of tools name that are an agent's own: the key of a corpus, with viewer or editor as the role that it takes,
-- or of another agent, with agent_user. Nothing need exist under the key.
CREATE TABLE agent_needs (
    agent_no BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    key      {{text_by_bytes}} NOT NULL,
    role     TEXT NOT NULL,
    PRIMARY KEY (agent_no, key, role)
);

-- The same of configurations that several agents refer to. derived is the version whose needs are written.
ALTER TABLE tool_configurations ADD COLUMN derived BIGINT NOT NULL DEFAULT 0;
CREATE TABLE tool_configuration_needs (
    configuration_no BIGINT NOT NULL REFERENCES tool_configurations (no) ON DELETE CASCADE,
    key              {{text_by_bytes}} NOT NULL,
    role             TEXT NOT NULL,
    PRIMARY KEY (configuration_no, key, role)
);
