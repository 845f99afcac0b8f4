-- What a change made, by the parameter that names it; '' where it made nothing. It is set together with the status, and
-- the triggers of 0008 refuse every other update, so it is as final as the rest.
ALTER TABLE audit_events ADD COLUMN made TEXT NOT NULL DEFAULT '';
