-- Who changed what. Rows are added before a change and get their outcome once; nothing else may touch them, whichever
-- program asks: the triggers refuse it. An id begins with the time in microseconds, so its order is that of time.
-- status 0 is an outcome not known (yet).
CREATE TABLE audit_events (
    no         {{row_number}},
    id         {{text_by_bytes}} NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    actor_id   TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    credential TEXT NOT NULL,
    action     TEXT NOT NULL,
    target     TEXT NOT NULL,
    changes    TEXT NOT NULL,
    address    TEXT NOT NULL,
    request_id TEXT NOT NULL,
    status     INTEGER NOT NULL
);
CREATE INDEX audit_events_by_actor ON audit_events (actor_id, id);
CREATE INDEX audit_events_by_name ON audit_events (actor_name, id);
CREATE INDEX audit_events_by_credential ON audit_events (credential, id);
CREATE INDEX audit_events_by_action ON audit_events (action, id);

{{sqlite}}
CREATE TRIGGER audit_events_keep BEFORE DELETE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be deleted');
END;
-- REPLACE deletes without asking the trigger of deletes.
CREATE TRIGGER audit_events_fresh BEFORE INSERT ON audit_events
WHEN EXISTS (SELECT 1 FROM audit_events WHERE id = NEW.id OR no = NEW.no)
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be replaced');
END;
CREATE TRIGGER audit_events_once BEFORE UPDATE ON audit_events
WHEN OLD.status <> 0 OR NEW.status = 0 OR (OLD.no, OLD.id, OLD.kind, OLD.actor_id, OLD.actor_name, OLD.credential, OLD.action,
    OLD.target, OLD.changes, OLD.address, OLD.request_id) IS NOT (NEW.no, NEW.id, NEW.kind, NEW.actor_id, NEW.actor_name,
    NEW.credential, NEW.action, NEW.target, NEW.changes, NEW.address, NEW.request_id)
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be changed');
END;
{{/sqlite}}
{{postgres}}
CREATE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events cannot be %', TG_ARGV[0];
END $$;
CREATE TRIGGER audit_events_keep BEFORE DELETE ON audit_events
FOR EACH ROW EXECUTE FUNCTION audit_events_refuse('deleted');
CREATE TRIGGER audit_events_whole BEFORE TRUNCATE ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION audit_events_refuse('deleted');
CREATE TRIGGER audit_events_once BEFORE UPDATE ON audit_events
FOR EACH ROW WHEN (OLD.status <> 0 OR NEW.status = 0 OR (OLD.no, OLD.id, OLD.kind, OLD.actor_id, OLD.actor_name, OLD.credential,
    OLD.action, OLD.target, OLD.changes, OLD.address, OLD.request_id) IS DISTINCT FROM (NEW.no, NEW.id, NEW.kind, NEW.actor_id,
    NEW.actor_name, NEW.credential, NEW.action, NEW.target, NEW.changes, NEW.address, NEW.request_id))
EXECUTE FUNCTION audit_events_refuse('changed');
{{/postgres}}
