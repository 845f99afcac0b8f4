-- Files that changed places: each takes its vectors from the document that the other has just replaced.
ALTER TABLE replaced ADD COLUMN digest TEXT NOT NULL DEFAULT '';
CREATE INDEX replaced_by_digest ON replaced (shelf, digest, doc_no);
