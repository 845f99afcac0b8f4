-- Passwords, and the one-time codes with which people set them. hash is empty while there is no password, code (the
-- SHA-256 hex digest of it) while there is no code. Failed attempts write nothing.
CREATE TABLE passwords (
    user_id      {{text_by_bytes}} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash         TEXT NOT NULL,
    code         TEXT NOT NULL,
    code_expires BIGINT NOT NULL
);

-- The epoch of a user's tokens: it grows when the password changes or the user is disabled, and tokens of an earlier one
-- are void. It stands beside the rights, so that checking a token takes one read.
ALTER TABLE users ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
