-- Lists that were offered at a prompt, and what was taken of them. Bounded to the newest few.

CREATE TABLE offer (
    id INTEGER PRIMARY KEY,
    command INTEGER NOT NULL REFERENCES command (id), -- what was then run
    at_ms INTEGER NOT NULL,
    directory INTEGER REFERENCES directory (id), -- NULL: unknown
    words BLOB NOT NULL,    -- before the word that was completed, NUL after each
    typed BLOB NOT NULL,    -- of that word
    offered BLOB NOT NULL,  -- best first: kind letter, native number, blank, text; NUL after each
    taken INTEGER NOT NULL  -- which of them, from 0
);
CREATE INDEX offer_command ON offer (command);
