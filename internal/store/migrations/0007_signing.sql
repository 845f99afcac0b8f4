-- The public parts of the keys that sign access tokens, as JSON Web Keys. The one that is not retired signs; its
-- private part is the secret signing/<kid>.
CREATE TABLE signing_keys (
    kid     {{text_by_bytes}} PRIMARY KEY,
    public  TEXT NOT NULL,
    created BIGINT NOT NULL,
    retired BIGINT
);
