-- Texts are stored once and named by number; the view `history` puts the rows together again.
PRAGMA application_id = 1952539251; -- "tabs" in ASCII

CREATE TABLE command (
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL, -- FNV-1a, 64 bits; equal hashes are told apart by their text
    text BLOB NOT NULL     -- already redacted
);
CREATE INDEX command_hash ON command (hash);

CREATE TABLE directory (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE
);

CREATE TABLE origin (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL, -- 0 live, else the kind of the imported file
    shell TEXT NOT NULL,
    host TEXT NOT NULL,
    session BLOB NOT NULL,
    UNIQUE (session, source, shell, host)
);

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    command INTEGER NOT NULL REFERENCES command (id),
    directory INTEGER REFERENCES directory (id), -- NULL: unknown
    origin INTEGER NOT NULL REFERENCES origin (id),
    exit INTEGER,
    start_ms INTEGER NOT NULL, -- since the Unix epoch, 0: unknown
    duration_ms INTEGER,
    place INTEGER NOT NULL -- order of replay; start_ms made monotone for live rows
);
CREATE INDEX event_command ON event (command, start_ms, origin); -- covers looking for repeats
CREATE INDEX event_place ON event (place);

-- Directories ranked by another tool (zoxide).
CREATE TABLE visited (
    directory INTEGER PRIMARY KEY REFERENCES directory (id),
    rank REAL NOT NULL,
    last_s INTEGER NOT NULL
);

-- Commands that must not come back with an import: salted hashes, never text.
CREATE TABLE forgotten (
    hash BLOB PRIMARY KEY,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE salt (
    value BLOB NOT NULL
);
INSERT INTO salt (value) VALUES (randomblob(16));

CREATE VIEW history AS
SELECT
    event.id AS id,
    command.text AS command,
    directory.path AS cwd,
    event.exit AS exit,
    event.start_ms AS start_ms,
    event.duration_ms AS duration_ms,
    origin.session AS session,
    origin.shell AS shell,
    origin.host AS host,
    CASE origin.source
        WHEN 0 THEN 'live' WHEN 1 THEN 'zsh' WHEN 2 THEN 'bash'
        WHEN 3 THEN 'fish' WHEN 4 THEN 'atuin' ELSE 'other'
    END AS source
FROM event
JOIN command ON command.id = event.command
JOIN origin ON origin.id = event.origin
LEFT JOIN directory ON directory.id = event.directory
ORDER BY event.place, event.id;
