-- Refresh tokens that their endpoints have replaced, by a digest of the credentials that they came from; what is valid now is
-- sealed in secrets under rotated/<id>. version counts the changes. While one is spent, holder has it until the instant
-- locked; a row of version 0 is such a lock alone.
CREATE TABLE rotated_tokens (
    id      {{text_by_bytes}} PRIMARY KEY,
    version BIGINT NOT NULL,
    holder  TEXT NOT NULL,
    locked  BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE INDEX rotated_tokens_by_age ON rotated_tokens (updated);
