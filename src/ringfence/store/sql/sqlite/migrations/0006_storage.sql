-- What tools keep for themselves.
--
--   storage_rows  rows of a tool, of a session or of an agent; always of one agent, and of no second
--   storage_use   how many rows and bytes each of these has, and each agent in all (`all`); kept by triggers alone
--
-- A row is written by a call of its own agent while that call runs: of the tool whose row it is, or of the session. The
-- label says which call wrote it last, and how far its content can be trusted.

CREATE TABLE storage_rows (
    agent TEXT NOT NULL CHECK (agent <> ''),
    scope TEXT NOT NULL CHECK (scope IN ('tool', 'session', 'agent')),
    owner TEXT NOT NULL,
    key TEXT NOT NULL CHECK (length(CAST(key AS BLOB)) BETWEEN 1 AND 512 AND instr(key, char(0)) = 0),
    value TEXT NOT NULL CHECK (json_valid(value) AND length(CAST(value AS BLOB)) <= 1048576),
    bytes INTEGER NOT NULL GENERATED ALWAYS AS (length(CAST(key AS BLOB)) + length(CAST(value AS BLOB))) STORED,
    written_at TEXT NOT NULL,
    expires_at TEXT CHECK (expires_at > written_at),
    by_tool TEXT NOT NULL,
    by_invocation TEXT NOT NULL,
    trust TEXT NOT NULL DEFAULT 'untrusted' CHECK (trust IN ('untrusted', 'trusted')),
    PRIMARY KEY (agent, scope, owner, key),
    CHECK ((scope = 'agent') = (owner = '')),
    CHECK (scope <> 'tool' OR by_tool = owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX storage_rows_expiring ON storage_rows (expires_at, agent) WHERE expires_at IS NOT NULL;

CREATE TABLE storage_use (
    agent TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('tool', 'session', 'agent', 'all')),
    owner TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (agent, scope, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER storage_rows_written BEFORE INSERT ON storage_rows
BEGIN
    SELECT RAISE(ABORT, 'misuse: a row of storage is changed, and never replaced')
    FROM storage_rows
    WHERE agent = NEW.agent AND scope = NEW.scope AND owner = NEW.owner AND key = NEW.key;
    SELECT RAISE(ABORT, 'misuse: a row of storage is written by a running call of its own')
    WHERE NOT EXISTS (
        SELECT 1 FROM invocations
        WHERE id = NEW.by_invocation AND agent = NEW.agent AND tool = NEW.by_tool AND status = 'running'
            AND (NEW.scope <> 'session' OR session = NEW.owner)
    );
END;
CREATE TRIGGER storage_rows_changed BEFORE UPDATE ON storage_rows
BEGIN
    SELECT RAISE(ABORT, 'misuse: a row of storage stays where it is')
    WHERE (NEW.agent, NEW.scope, NEW.owner, NEW.key) IS NOT (OLD.agent, OLD.scope, OLD.owner, OLD.key);
    SELECT RAISE(ABORT, 'misuse: a row of storage is written by a running call of its own')
    WHERE NOT EXISTS (
        SELECT 1 FROM invocations
        WHERE id = NEW.by_invocation AND agent = NEW.agent AND tool = NEW.by_tool AND status = 'running'
            AND (NEW.scope <> 'session' OR session = NEW.owner)
    );
END;

CREATE TRIGGER storage_rows_added AFTER INSERT ON storage_rows
BEGIN
    INSERT INTO storage_use (agent, scope, owner, count, bytes)
    VALUES (NEW.agent, NEW.scope, NEW.owner, 1, NEW.bytes), (NEW.agent, 'all', '', 1, NEW.bytes)
    ON CONFLICT (agent, scope, owner) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER storage_rows_grown AFTER UPDATE ON storage_rows WHEN NEW.bytes <> OLD.bytes
BEGIN
    UPDATE storage_use SET bytes = bytes - OLD.bytes + NEW.bytes
    WHERE agent = NEW.agent AND (scope, owner) IN (VALUES (NEW.scope, NEW.owner), ('all', ''));
END;
CREATE TRIGGER storage_rows_removed AFTER DELETE ON storage_rows
BEGIN
    UPDATE storage_use SET count = count - 1, bytes = bytes - OLD.bytes
    WHERE agent = OLD.agent AND (scope, owner) IN (VALUES (OLD.scope, OLD.owner), ('all', ''));
    DELETE FROM storage_use
    WHERE agent = OLD.agent AND (scope, owner) IN (VALUES (OLD.scope, OLD.owner), ('all', '')) AND count = 0;
END;
