-- What a process needs of the trace of a turn to go on with it, as JSON; '' while nothing of it is written. See trace.Thread. Of a parked
-- turn it is that of the trace in which the turn goes on.
ALTER TABLE runs ADD COLUMN trace TEXT NOT NULL DEFAULT '';
ALTER TABLE parked ADD COLUMN trace TEXT NOT NULL DEFAULT '';
