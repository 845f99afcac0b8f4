-- Chats. What a list shows of one, and whether it takes turns, are those of its first turn. turns is the number of turns
-- that it was ever given, and the ord of the newest one. Whoever changes the turns of a chat writes its row first, so that
-- changes at once follow one another.
CREATE TABLE chats (
    no      {{row_number}},
    id      {{text_by_bytes}} NOT NULL UNIQUE,
    turns   BIGINT NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX chats_by_age ON chats (created, id);

-- The turns of a chat from 1 on, without those that were deleted, which are always the last ones.
CREATE TABLE turns (
    chat_no  BIGINT NOT NULL REFERENCES chats (no) ON DELETE CASCADE,
    ord      BIGINT NOT NULL,
    id       {{text_by_bytes}} NOT NULL UNIQUE,
    enabled  BOOLEAN NOT NULL,
    created  BIGINT NOT NULL,
    question TEXT NOT NULL,
    answer   TEXT NOT NULL,
    PRIMARY KEY (chat_no, ord)
);

-- One row for each corpus that any turn of a chat searched, with the first turn that did: it goes with that turn. A corpus
-- is named by its row, since a later one may have its key; a corpus that is deleted leaves its row here.
CREATE TABLE chat_corpora (
    chat_no   BIGINT NOT NULL,
    corpus_no BIGINT NOT NULL,
    ord       BIGINT NOT NULL,
    PRIMARY KEY (chat_no, corpus_no),
    FOREIGN KEY (chat_no, ord) REFERENCES turns (chat_no, ord) ON DELETE CASCADE
);
