-- Tools that were created, as JSON; those that come with the program have no rows. version is raised by every change.
CREATE TABLE tools (
    no         {{row_number}},
    id         {{text_by_bytes}} NOT NULL UNIQUE,
    name       {{text_by_bytes}} NOT NULL UNIQUE,
    version    BIGINT NOT NULL,
    definition TEXT NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL
);
CREATE INDEX tools_by_age ON tools (created, id);

-- The tools that the current configuration of each agent refers to, which can't be deleted.
CREATE TABLE tool_uses (
    agent_no BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    tool     {{text_by_bytes}} NOT NULL,
    PRIMARY KEY (agent_no, tool)
);
CREATE INDEX tool_uses_by_tool ON tool_uses (tool);
