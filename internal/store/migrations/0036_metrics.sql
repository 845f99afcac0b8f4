-- What is counted for metrics, as package metric encodes it. A write adds rows to metric_batches, which a task merges into blocks.
-- counted is lists of combinations with their cells, id a random number that tells a write that is repeated.
CREATE TABLE metric_batches (
    id      BIGINT NOT NULL,
    part    INTEGER NOT NULL,
    family  TEXT NOT NULL,
    written BIGINT NOT NULL,
    counted {{bytes}} NOT NULL,
    PRIMARY KEY (id, part)
);
CREATE INDEX metric_batches_by_family ON metric_batches (family);
CREATE INDEX metric_batches_by_age ON metric_batches (written);

-- The combinations of values that blocks count under. digest is of values, which can be longer than an index takes; seen is when
-- the newest block that counts under it began, to the day.
CREATE TABLE metric_labels (
    no     {{row_number}},
    family TEXT NOT NULL,
    digest TEXT NOT NULL,
    labels TEXT NOT NULL,
    seen   BIGINT NOT NULL,
    UNIQUE (family, digest)
);

-- The cells of a combination in an hour (span 60) or a day (1440); labels 0 is everything that the family has counted.
CREATE TABLE metric_blocks (
    family TEXT NOT NULL,
    labels BIGINT NOT NULL,
    began  BIGINT NOT NULL,
    span   INTEGER NOT NULL,
    cells  {{bytes}} NOT NULL,
    PRIMARY KEY (family, labels, began, span)
);
CREATE INDEX metric_blocks_by_age ON metric_blocks (span, began);
