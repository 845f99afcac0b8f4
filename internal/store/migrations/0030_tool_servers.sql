-- Tool servers as people have registered them, as JSON without secrets, which are sealed as tool_server/<id>. due is 1 while a sync
-- is waited for or under way; held_until is when the lease of the node that makes it runs out, 0 for none, and attempts how often
-- it has begun without an end. synced is when the last sync was OK.
CREATE TABLE tool_servers (
    no         {{row_number}},
    id         {{text_by_bytes}} NOT NULL UNIQUE,
    name       {{text_by_bytes}} NOT NULL UNIQUE,
    revision   BIGINT NOT NULL,
    enabled    BOOLEAN NOT NULL,
    definition TEXT NOT NULL,
    status     TEXT NOT NULL,
    message    TEXT NOT NULL,
    synced     BIGINT NOT NULL,
    due        INTEGER NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    attempts   INTEGER NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL
);
CREATE INDEX tool_servers_by_age ON tool_servers (created, id);
CREATE INDEX tool_servers_due ON tool_servers (held_until) WHERE due = 1;

-- The tool server that a tool is of, '' for none.
ALTER TABLE tools ADD COLUMN server {{text_by_bytes}} NOT NULL DEFAULT '';
CREATE INDEX tools_by_server ON tools (server) WHERE server <> '';
