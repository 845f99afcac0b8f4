-- Identity: users with what the contract shows of them, keys of both kinds, application clients, and grants on corpora.
-- users and api_keys are made anew, since neither may be NULL where it was not before on both databases alike. Before
-- this migration there was one user, the owner, and its key.
CREATE TABLE old_users AS SELECT * FROM users;
CREATE TABLE old_keys AS SELECT * FROM api_keys;
DROP TABLE api_keys;
DROP TABLE users;

-- folded and folded_email are what makes two names one (account.Fold). metadata is a JSON object and member_of, the
-- names of groups, a JSON list.
CREATE TABLE users (
    id           {{text_by_bytes}} PRIMARY KEY,
    username     TEXT NOT NULL,
    folded       {{text_by_bytes}} NOT NULL UNIQUE,
    email        TEXT NOT NULL,
    folded_email {{text_by_bytes}} NOT NULL UNIQUE,
    description  TEXT NOT NULL,
    enabled      BOOLEAN NOT NULL,
    metadata     TEXT NOT NULL,
    member_of    TEXT NOT NULL,
    api_roles    TEXT NOT NULL,
    created      BIGINT NOT NULL,
    updated      BIGINT NOT NULL
);
CREATE INDEX users_by_age ON users (created, id);
INSERT INTO users (id, username, folded, email, folded_email, description, enabled, metadata, member_of, api_roles, created, updated)
    SELECT id, username, LOWER(username), email, LOWER(email), '', enabled, '{}', '[]', api_roles, created, created FROM old_users;

-- prefix and tail are the ends of the secret, for its mask. style is personal, serving, serving_and_indexing, or empty
-- for a key with roles. owner is whose rights a personal key has, and NULL for the others, which have their own; creator
-- is the user or credential that made the key.
CREATE TABLE api_keys (
    id        {{text_by_bytes}} PRIMARY KEY,
    name      TEXT NOT NULL,
    digest    {{text_by_bytes}} NOT NULL UNIQUE,
    prefix    TEXT NOT NULL,
    tail      TEXT NOT NULL,
    style     TEXT NOT NULL,
    owner     {{text_by_bytes}} REFERENCES users (id) ON DELETE CASCADE,
    creator   {{text_by_bytes}} NOT NULL,
    enabled   BOOLEAN NOT NULL,
    api_roles TEXT NOT NULL,
    created   BIGINT NOT NULL
);
CREATE INDEX api_keys_by_age ON api_keys (created, id, owner, style);
CREATE INDEX api_keys_by_owner ON api_keys (owner, created, id);
CREATE INDEX api_keys_by_creator ON api_keys (creator, created, id);
INSERT INTO api_keys (id, name, digest, prefix, tail, style, owner, creator, enabled, api_roles, created)
    SELECT id, name, digest, 'zut_', '', 'personal', owner, owner, enabled, '[]', created FROM old_keys;

DROP TABLE old_keys;
DROP TABLE old_users;

CREATE TABLE app_clients (
    id          {{text_by_bytes}} PRIMARY KEY,
    client_id   {{text_by_bytes}} NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    enabled     BOOLEAN NOT NULL,
    digest      TEXT NOT NULL,
    tail        TEXT NOT NULL,
    api_roles   TEXT NOT NULL,
    created     BIGINT NOT NULL,
    updated     BIGINT NOT NULL
);
CREATE INDEX app_clients_by_age ON app_clients (created, id);

-- Roles on corpora. holder is the id of a user, key or client; ord keeps the order in which the roles were given. A
-- corpus is named by its number, which no later corpus gets: a grant ends with its corpus and says nothing about another
-- one of the same key. No reference to corpora: what was granted on a deleted one stays, and reads leave it out.
CREATE TABLE grants (
    holder    {{text_by_bytes}} NOT NULL,
    ord       INTEGER NOT NULL,
    corpus_no BIGINT NOT NULL,
    role      TEXT NOT NULL,
    PRIMARY KEY (holder, ord)
);
CREATE INDEX grants_by_corpus ON grants (corpus_no, holder);
