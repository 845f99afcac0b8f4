-- causes are why the last turns that did not come to their ends did not, a line of JSON for each.
ALTER TABLE sessions ADD COLUMN causes TEXT NOT NULL DEFAULT '';
