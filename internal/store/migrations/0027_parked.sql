-- Turns that wait for the client: what their runs were, and the step that the next turn begins at if one ends here. See
-- session.Parked. A session has one of both, a run or a parked turn.
CREATE TABLE parked (
    session_no  BIGINT PRIMARY KEY REFERENCES sessions (no) ON DELETE CASCADE,
    agent_no    BIGINT NOT NULL,
    turn        BIGINT NOT NULL,
    first_ord   BIGINT NOT NULL,
    opening     BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    step        TEXT NOT NULL,
    transitions BIGINT NOT NULL,
    calls       BIGINT NOT NULL,
    began       BIGINT NOT NULL,
    caller      TEXT NOT NULL,
    next_step   TEXT NOT NULL
);
CREATE INDEX parked_by_revision ON parked (agent_no, revision);

-- The calls that a parked turn waits for, in order. Their arguments are sealed, in secrets.
CREATE TABLE pending_calls (
    session_no BIGINT NOT NULL REFERENCES parked (session_no) ON DELETE CASCADE,
    ord        BIGINT NOT NULL,
    event_id   {{text_by_bytes}} NOT NULL,
    call_id    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    tool_name  TEXT NOT NULL,
    overrides  TEXT NOT NULL,
    output     TEXT NOT NULL,
    PRIMARY KEY (session_no, event_id)
);
