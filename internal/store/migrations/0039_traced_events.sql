-- The trace that has texts of what an event has ended, '' for none: written with the event, so that it takes no row of its own. The sweep of the
-- session finds the texts by it; where the event is deleted before, trace_texts has it. See store/traces.
ALTER TABLE events ADD COLUMN traced TEXT NOT NULL DEFAULT '';
