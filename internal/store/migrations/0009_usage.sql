-- Tokens that a scope (a model, an agent) has used in each window. began is microseconds since 1970 UTC, as everywhere;
-- span is 1 for a minute, 2 for a day, 3 for a month.
CREATE TABLE token_usage (
    scope  TEXT NOT NULL,
    span   INTEGER NOT NULL,
    began  BIGINT NOT NULL,
    input  BIGINT NOT NULL,
    output BIGINT NOT NULL,
    PRIMARY KEY (scope, span, began)
);
CREATE INDEX token_usage_by_age ON token_usage (span, began);
