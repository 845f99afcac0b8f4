-- Configurations of tools that several agents refer to, as JSON. version is raised by every change.
CREATE TABLE tool_configurations (
    no         {{row_number}},
    key        {{text_by_bytes}} NOT NULL UNIQUE,
    version    BIGINT NOT NULL,
    definition TEXT NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL
);
CREATE INDEX tool_configurations_by_age ON tool_configurations (created, key);

-- Those that the current configuration of each agent refers to, which can't be deleted.
CREATE TABLE tool_configuration_uses (
    agent_no         BIGINT NOT NULL REFERENCES agents (no) ON DELETE CASCADE,
    configuration_no BIGINT NOT NULL REFERENCES tool_configurations (no) ON DELETE CASCADE,
    PRIMARY KEY (agent_no, configuration_no)
);
CREATE INDEX tool_configuration_uses_by_configuration ON tool_configuration_uses (configuration_no);

-- The tools that each of them refers to, which can't be deleted either.
CREATE TABLE tool_configuration_tools (
    configuration_no BIGINT NOT NULL REFERENCES tool_configurations (no) ON DELETE CASCADE,
    tool             {{text_by_bytes}} NOT NULL,
    PRIMARY KEY (configuration_no, tool)
);
CREATE INDEX tool_configuration_tools_by_tool ON tool_configuration_tools (tool);
