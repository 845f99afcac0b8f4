-- Codes with which people sign in, once each. digest is the SHA-256 hex digest of a code. A code counts while the user's
-- epoch is the one it was made in, so what voids tokens voids codes. signed_in, in seconds, is when the sign-in began that
-- a code goes on with, 0 for a code that begins one; expires is in microseconds.
CREATE TABLE sign_in_codes (
    digest    {{text_by_bytes}} PRIMARY KEY,
    user_id   {{text_by_bytes}} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    epoch     BIGINT NOT NULL,
    signed_in BIGINT NOT NULL,
    expires   BIGINT NOT NULL
);
CREATE INDEX sign_in_codes_by_user ON sign_in_codes (user_id);
