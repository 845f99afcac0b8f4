-- What agents have done, in spans, each written with the event that has ended it; the span without a parent ends its trace and
-- comes with the row of traces. Ids of traces begin with their time, so that the rows of a trace, and of one day, lie together.
-- session_no is of sessions, which may be gone. tool, class and the tokens are what a trace is summed up from; the rest is in body.
CREATE TABLE spans (
    trace         {{text_by_bytes}} NOT NULL,
    started       BIGINT NOT NULL,
    id            {{text_by_bytes}} NOT NULL,
    parent        {{text_by_bytes}} NOT NULL,
    operation     TEXT NOT NULL,
    agent_no      BIGINT NOT NULL,
    session_no    BIGINT NOT NULL,
    failed        BOOLEAN NOT NULL,
    class         TEXT NOT NULL,
    tool          TEXT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    body          TEXT NOT NULL,
    PRIMARY KEY (trace, started, id)
) {{sqlite}}WITHOUT ROWID{{/sqlite}};
CREATE INDEX spans_by_parent ON spans (trace, parent);

-- The texts of spans, sealed under a key of their own. Nobody reads those of a session that is deleted; the sweep removes them.
CREATE TABLE span_contents (
    session_no BIGINT NOT NULL,
    trace      {{text_by_bytes}} NOT NULL,
    span       {{text_by_bytes}} NOT NULL,
    sealed     {{bytes}} NOT NULL,
    PRIMARY KEY (session_no, trace, span)
);

-- Traces that have ended. marks are those of trace_marks, a line each.
CREATE TABLE traces (
    no            {{row_number}},
    id            {{text_by_bytes}} NOT NULL UNIQUE,
    started       BIGINT NOT NULL,
    duration      BIGINT NOT NULL,
    agent_no      BIGINT NOT NULL,
    agent_key     {{text_by_bytes}} NOT NULL,
    session_no    BIGINT NOT NULL,
    session_key   {{text_by_bytes}} NOT NULL,
    failed        BOOLEAN NOT NULL,
    input_tokens  BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    marks         TEXT NOT NULL
);

-- By which traces are found: for each trace a row for each thing that a list can ask for, such as status/error or tool/web_get,
-- in the order of lists. What else a list asks for is decided without another row: flags has a bit for each status, operation
-- and class of error in the trace.
CREATE TABLE trace_marks (
    mark     {{text_by_bytes}} NOT NULL,
    started  BIGINT NOT NULL,
    trace_no BIGINT NOT NULL,
    flags    BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    agent_no BIGINT NOT NULL,
    PRIMARY KEY (mark, started, trace_no)
) {{sqlite}}WITHOUT ROWID{{/sqlite}};
