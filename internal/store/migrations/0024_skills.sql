-- reminders are the texts that were rendered for the session, as a JSON object by reminder; '' for none.
ALTER TABLE sessions ADD COLUMN reminders TEXT NOT NULL DEFAULT '';
