-- The secrets of agents. Each change of them is a state, numbered by agents.secrets, and a row is a value from the state in which it
-- was set to that in which it was replaced or removed, 0 for none: a turn reads them in the state that it began with. The values are
-- sealed, in secrets.
ALTER TABLE agents ADD COLUMN secrets BIGINT NOT NULL DEFAULT 0;
CREATE TABLE agent_secrets (
    agent_no BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    name     {{text_by_bytes}} NOT NULL,
    since    BIGINT NOT NULL,
    until    BIGINT NOT NULL,
    ended    BIGINT NOT NULL, -- when, in microseconds; 0 while it counts
    PRIMARY KEY (agent_no, name, since)
);
CREATE INDEX agent_secrets_by_end ON agent_secrets (ended);

-- The state that a turn began with, and whether what it has resolved is sealed: where it waits for the client, too.
ALTER TABLE runs ADD COLUMN secrets BIGINT NOT NULL DEFAULT 0;
ALTER TABLE parked ADD COLUMN secrets BIGINT NOT NULL DEFAULT 0;
ALTER TABLE parked ADD COLUMN resolved TEXT NOT NULL DEFAULT '';
UPDATE parked SET resolved = 'sealed' WHERE EXISTS (SELECT 1 FROM secrets s WHERE s.name = 'parked/' || parked.session_no || '/resolved');
