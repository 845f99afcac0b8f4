-- Sessions with agents. One that is deleted keeps its row, with deleted set and without a key, until its events are swept.
-- Whoever writes anything of a session writes its row first, so that what is done at once follows one another.
-- last_created is the instant of the newest event in milliseconds, active that of the last event or change in microseconds.
-- failed_ord is the input whose turn has failed with nothing behind it, 0 for none. events and hidden count the rows of the log,
-- so that lists need not.
CREATE TABLE sessions (
    no           {{row_number}},
    agent_no     BIGINT NOT NULL REFERENCES agents (no),
    key          {{text_by_bytes}},
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    enabled      BOOLEAN NOT NULL,
    idle_minutes BIGINT NOT NULL,
    secrets      TEXT NOT NULL,
    step         TEXT NOT NULL,
    usage        TEXT NOT NULL,
    compaction   TEXT NOT NULL,
    created      BIGINT NOT NULL,
    active       BIGINT NOT NULL,
    deleted      BIGINT NOT NULL,
    turn         BIGINT NOT NULL,
    last_ord     BIGINT NOT NULL,
    last_created BIGINT NOT NULL,
    events       BIGINT NOT NULL,
    hidden       BIGINT NOT NULL,
    edits        BIGINT NOT NULL,
    failed_ord   BIGINT NOT NULL,
    UNIQUE (agent_no, key)
);
CREATE INDEX sessions_by_age ON sessions (agent_no, created, key) WHERE deleted = 0;
CREATE INDEX sessions_by_event ON sessions (agent_no, active, key) WHERE deleted = 0;
CREATE INDEX sessions_idle ON sessions (active) WHERE idle_minutes > 0 AND deleted = 0;
CREATE INDEX sessions_deleted ON sessions (no) WHERE deleted > 0;

-- The log of a session, from 1 on, with gaps where events were deleted. hidden is why an event is left out, '' if it is not;
-- tool is of outputs that are no error, '' of everything else.
CREATE TABLE events (
    session_no BIGINT NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    ord        BIGINT NOT NULL,
    id         {{text_by_bytes}} NOT NULL,
    turn       BIGINT NOT NULL,
    type       TEXT NOT NULL,
    created    BIGINT NOT NULL,
    hidden     TEXT NOT NULL,
    tool       TEXT NOT NULL,
    body       TEXT NOT NULL,
    state      TEXT NOT NULL,
    PRIMARY KEY (session_no, ord),
    UNIQUE (session_no, id)
);
CREATE INDEX events_outputs ON events (session_no, tool, ord) WHERE tool <> '' AND hidden = '';

-- By which a client makes sure that a part of an input is taken once: of stored inputs and of those that wait.
CREATE TABLE external_ids (
    session_no  BIGINT NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    external_id {{text_by_bytes}} NOT NULL,
    event_id    {{text_by_bytes}} NOT NULL,
    PRIMARY KEY (session_no, external_id)
);
CREATE INDEX external_ids_by_event ON external_ids (session_no, event_id);

-- Inputs that wait behind a turn, oldest first.
CREATE TABLE inputs (
    no         {{row_number}},
    session_no BIGINT NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    event_id   {{text_by_bytes}} NOT NULL,
    steer      BOOLEAN NOT NULL,
    caller     TEXT NOT NULL,
    parts      TEXT NOT NULL
);
CREATE INDEX inputs_by_session ON inputs (session_no, no);

-- The work on a session: who holds it until when, and the turn in progress. See session.Run.
CREATE TABLE runs (
    session_no  BIGINT PRIMARY KEY REFERENCES sessions (no) ON DELETE CASCADE,
    agent_no    BIGINT NOT NULL,
    holder      TEXT NOT NULL,
    node        TEXT NOT NULL,
    until       BIGINT NOT NULL,
    turn        BIGINT NOT NULL,
    first_ord   BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    step        TEXT NOT NULL,
    transitions BIGINT NOT NULL,
    calls       BIGINT NOT NULL,
    began       BIGINT NOT NULL,
    caller      TEXT NOT NULL,
    resolved    TEXT NOT NULL,
    interrupted BOOLEAN NOT NULL,
    recovered   BIGINT NOT NULL
);
CREATE INDEX runs_by_node ON runs (node);
CREATE INDEX runs_by_lease ON runs (until);
CREATE INDEX runs_by_revision ON runs (agent_no, revision);
