-- Background work. due is when the job may be claimed: at once, when it is to be tried again, or when the lease of the
-- worker that has it runs out. An unfinished job has completed = 0.
CREATE TABLE jobs (
    no         {{row_number}},
    id         {{text_by_bytes}} NOT NULL UNIQUE,
    type       TEXT NOT NULL,
    state      TEXT NOT NULL,
    account    TEXT NOT NULL,
    created_by TEXT NOT NULL,
    corpora    TEXT NOT NULL,
    lane       TEXT NOT NULL,
    comment    TEXT NOT NULL,
    created    BIGINT NOT NULL,
    started    BIGINT NOT NULL,
    completed  BIGINT NOT NULL,
    attempt    INTEGER NOT NULL,
    due        BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    input      TEXT NOT NULL,
    progress   TEXT NOT NULL
);
CREATE INDEX jobs_by_age ON jobs (account, created, id);
CREATE INDEX jobs_unfinished ON jobs (account, no) WHERE completed = 0;
CREATE INDEX jobs_by_lane ON jobs (lane, no) WHERE completed = 0;
CREATE INDEX jobs_ended ON jobs (completed) WHERE completed > 0;

-- Which corpora a job works on, by the keys that they had.
CREATE TABLE job_corpora (
    job_no BIGINT NOT NULL REFERENCES jobs (no) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    PRIMARY KEY (key, job_no)
);
CREATE INDEX job_corpora_by_job ON job_corpora (job_no);

-- When each account was last served, as a number that each claim raises.
CREATE TABLE job_turns (
    account TEXT PRIMARY KEY,
    turn    BIGINT NOT NULL
);

-- One row: claims are made one after another, so what a claim reads holds until it has written.
CREATE TABLE job_clock (
    one  INTEGER PRIMARY KEY,
    turn BIGINT NOT NULL
);
INSERT INTO job_clock (one, turn) VALUES (1, 0);
