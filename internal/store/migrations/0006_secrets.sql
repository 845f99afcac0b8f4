-- The keys that seal values here, oldest first; the newest seals. Keys themselves are never in the database: proof is
-- the key's id sealed under it, so that a service with another key notices at its start.
CREATE TABLE secret_keys (
    no      {{row_number}},
    id      TEXT NOT NULL UNIQUE,
    proof   {{bytes}} NOT NULL,
    created BIGINT NOT NULL
);

-- Every sealed value of the installation, whatever it belongs to, so that a rotation of the keys can't forget one. The
-- reference keeps a key registered, and so in use, as long as a value needs it.
CREATE TABLE secrets (
    name   {{text_by_bytes}} PRIMARY KEY,
    sealed {{bytes}} NOT NULL,
    key_id TEXT NOT NULL REFERENCES secret_keys (id)
);
CREATE INDEX secrets_by_key ON secrets (key_id);
