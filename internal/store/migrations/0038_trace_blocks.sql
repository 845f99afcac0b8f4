-- What agents have done, in blocks: the spans of one turn that a commit has ended, as JSON by start and id, with their texts, sealed together
-- under a key of their own; NULL where there are none, or none any more. Ids of traces begin with their time, so that new rows lie together.
-- began and ended are the starts of the first span and of the last one, id is that of the first one, parents are of all, flags, tools and tokens
-- what a trace is summed up from; NULL, '' and 0 in rows that this file has made, whose spans have them.
CREATE TABLE trace_blocks (
    no            {{sqlite}}INTEGER PRIMARY KEY{{/sqlite}}{{postgres}}BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY{{/postgres}},
    trace         {{text_by_bytes}} NOT NULL,
    began         BIGINT NOT NULL,
    id            {{text_by_bytes}} NOT NULL,
    ended         BIGINT NOT NULL,
    agent_no      BIGINT NOT NULL,
    agent_key     TEXT NOT NULL,
    session_no    BIGINT NOT NULL,
    session_key   TEXT NOT NULL,
    flags         BIGINT,
    tools         TEXT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    parents       TEXT NOT NULL,
    spans         TEXT NOT NULL,
    sealed        {{bytes}}
);

-- Where a session has texts. Nobody reads those of a session that is deleted; the sweep removes them.
CREATE TABLE trace_texts (
    session_no BIGINT NOT NULL,
    trace      {{text_by_bytes}} NOT NULL,
    PRIMARY KEY (session_no, trace)
) {{sqlite}}WITHOUT ROWID{{/sqlite}};

-- The texts of old rows stay sealed span by span, in hexadecimal digits.
INSERT INTO trace_blocks (trace, began, id, ended, agent_no, agent_key, session_no, session_key, flags, tools, input_tokens, output_tokens, parents, spans, sealed)
    SELECT trace, MIN(started), MIN(id), MAX(started), MIN(agent_no),
{{sqlite}}
        MIN(json_extract(body, '$.agent')), session_no, MIN(json_extract(body, '$.session')), NULL, '', 0, 0, COALESCE(group_concat(DISTINCT NULLIF(parent, '')), ''),
        json_group_array(json_patch(body, json_object('id', id, 'parent', parent, 'operation', operation, 'started', started,
            'failed', json(CASE WHEN failed THEN 'true' ELSE 'false' END), 'class', class))),
        CAST(NULLIF(json_group_object(id, sealed) FILTER (WHERE sealed IS NOT NULL), '{}') AS BLOB)
    FROM (SELECT s.*, NULLIF(hex(c.sealed), '') AS sealed, (ROW_NUMBER() OVER (PARTITION BY s.trace, s.session_no, s.agent_no ORDER BY s.started, s.id) - 1) / 200 AS part
{{/sqlite}}{{postgres}}
        MIN(body::jsonb ->> 'agent'), session_no, MIN(body::jsonb ->> 'session'), NULL, '', 0, 0, COALESCE(string_agg(DISTINCT NULLIF(parent, ''), ','), ''),
        jsonb_agg(body::jsonb || jsonb_build_object('id', id, 'parent', parent, 'operation', operation, 'started', started, 'failed', failed, 'class', class))::text,
        convert_to((json_object_agg(id, encode(sealed, 'hex')) FILTER (WHERE sealed IS NOT NULL))::text, 'UTF8')
    FROM (SELECT s.*, c.sealed, (ROW_NUMBER() OVER (PARTITION BY s.trace, s.session_no, s.agent_no ORDER BY s.started, s.id) - 1) / 200 AS part
{{/postgres}}
        FROM spans s LEFT JOIN span_contents c ON c.session_no = s.session_no AND c.trace = s.trace AND c.span = s.id) rows_of_turns
    GROUP BY trace, session_no, agent_no, part ORDER BY trace;
INSERT INTO trace_texts (session_no, trace) SELECT DISTINCT session_no, trace FROM span_contents;
CREATE UNIQUE INDEX trace_blocks_by_trace ON trace_blocks (trace, began, id, ended);
DROP TABLE span_contents;
DROP TABLE spans;

-- Marks of status and operations become one of both, which the flags have.
INSERT INTO trace_marks (mark, started, trace_no, flags, duration, agent_no)
    SELECT 'kind/' || (flags & 262143), started, trace_no, flags, duration, agent_no FROM trace_marks WHERE mark = 'all';
DELETE FROM trace_marks WHERE mark LIKE 'status/%' OR mark LIKE 'operation/%';
UPDATE traces SET marks = marks || '
kind/' || (SELECT flags & 262143 FROM trace_marks m WHERE m.mark = 'all' AND m.started = traces.started AND m.trace_no = traces.no);
