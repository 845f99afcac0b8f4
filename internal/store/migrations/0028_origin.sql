-- origin is the call of a tool that has made the session, as JSON; '' where a client or something else has. See session.Origin.
ALTER TABLE sessions ADD COLUMN origin TEXT NOT NULL DEFAULT '';
