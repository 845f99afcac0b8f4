-- describe is whether the session was made without a description and still waits for one to be written.
ALTER TABLE sessions ADD COLUMN describe BOOLEAN NOT NULL DEFAULT FALSE;
