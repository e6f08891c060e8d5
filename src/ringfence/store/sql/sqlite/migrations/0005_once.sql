-- What must not happen twice, too often, or unseen.
--
--   idempotency_keys  which call has a key; reserved by the warrant that starts the call, free again when it failed
--   workers           the processes that run calls, and until when each is known to be alive
--   buckets           how many calls of a kind an agent has left; refilled by time
--   rests             sessions that were refused too often and rest for a while
--
-- A key is free where its call failed, which is only recorded where nothing can have happened, or where its time is
-- over and its call has ended. `INSERT OR REPLACE` is how a free key is taken; a key that is not free refuses any insert.

CREATE TABLE idempotency_keys (
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    arguments_digest TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    reserved_at TEXT NOT NULL,
    expires_at TEXT NOT NULL CHECK (expires_at > reserved_at),
    PRIMARY KEY (agent, tool, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
    id TEXT NOT NULL PRIMARY KEY,
    since INTEGER NOT NULL,
    alive_until TEXT NOT NULL,
    gone_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX workers_known ON workers (alive_until) WHERE gone_at IS NULL;

CREATE TABLE buckets (
    agent TEXT NOT NULL,
    binding TEXT NOT NULL,
    pattern TEXT NOT NULL,
    tokens REAL NOT NULL CHECK (tokens >= 0),
    at REAL NOT NULL,
    PRIMARY KEY (agent, binding, pattern)
) STRICT, WITHOUT ROWID;

CREATE TABLE rests (
    session TEXT NOT NULL PRIMARY KEY,
    tokens REAL NOT NULL CHECK (tokens >= 0),
    at REAL NOT NULL,
    rests_until REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

ALTER TABLE warrants ADD COLUMN worker TEXT;
ALTER TABLE warrants ADD COLUMN key_until TEXT;

CREATE TRIGGER idempotency_keys_reserve BEFORE INSERT ON idempotency_keys
BEGIN
    SELECT CASE
        WHEN NOT EXISTS (
            SELECT 1 FROM invocations AS i JOIN warrants AS w ON w.invocation_id = i.id
            WHERE i.id = NEW.invocation_id AND i.agent = NEW.agent AND i.tool = NEW.tool
                AND i.idempotency_key = NEW.key AND i.arguments_digest = NEW.arguments_digest
                AND i.status IN ('proposed', 'queued')
        )
        THEN RAISE(ABORT, 'misuse: a key is reserved by the warrant that starts its call')
    END;
    SELECT CASE
        WHEN was.status = 'failed' OR (NEW.reserved_at >= k.expires_at AND was.status = 'completed')
        THEN NULL
        WHEN k.arguments_digest IS NOT NEW.arguments_digest
        THEN RAISE(ABORT, 'idempotency_conflict: the key was used with other arguments')
        WHEN was.status = 'in_doubt'
        THEN RAISE(ABORT, 'in_doubt: a call with this key may or may not have taken effect')
        ELSE RAISE(ABORT, 'in_flight: a call with this key was started already')
    END
    FROM idempotency_keys AS k LEFT JOIN invocations AS was ON was.id = k.invocation_id
    WHERE k.agent = NEW.agent AND k.tool = NEW.tool AND k.key = NEW.key;
END;
CREATE TRIGGER idempotency_keys_fixed BEFORE UPDATE ON idempotency_keys
BEGIN SELECT RAISE(ABORT, 'misuse: a key stays with its call'); END;
CREATE TRIGGER idempotency_keys_kept BEFORE DELETE ON idempotency_keys
WHEN (SELECT status FROM invocations WHERE id = OLD.invocation_id) IS NOT 'failed'
BEGIN SELECT RAISE(ABORT, 'misuse: a key is kept while its call counts'); END;

CREATE TRIGGER workers_begin BEFORE INSERT ON workers
WHEN NEW.gone_at IS NOT NULL OR EXISTS (SELECT 1 FROM workers WHERE id = NEW.id AND gone_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'misuse: a worker that is gone does not come back'); END;
CREATE TRIGGER workers_fixed BEFORE UPDATE ON workers
WHEN NEW.id IS NOT OLD.id OR NEW.since IS NOT OLD.since OR OLD.gone_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'misuse: a worker that is gone does not come back'); END;
CREATE TRIGGER workers_kept BEFORE DELETE ON workers
BEGIN SELECT RAISE(ABORT, 'misuse: a worker is kept'); END;

CREATE TRIGGER warrants_keyed BEFORE INSERT ON warrants
WHEN NEW.key_until IS NULL
BEGIN
    SELECT RAISE(ABORT, 'misuse: a call that changes something reserves its key')
    FROM invocations AS i JOIN tools AS t ON t.name = i.tool AND t.fingerprint = i.fingerprint
    WHERE i.id = NEW.invocation_id AND (t.safety_class <> 'read' OR t.egress_class = 'write');
END;
DROP TRIGGER warrants_used;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants
BEGIN
    INSERT OR REPLACE INTO idempotency_keys (
        agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at
    )
    SELECT agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at, NEW.key_until
    FROM invocations WHERE id = NEW.invocation_id AND NEW.key_until IS NOT NULL;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
END;

-- Each event names the one before it, and the database holds it to that.
CREATE TRIGGER audit_events_linked BEFORE INSERT ON audit_events
WHEN NEW.previous IS NOT CASE NEW.seq
    WHEN 1 THEN '0000000000000000000000000000000000000000000000000000000000000000'
    ELSE (SELECT hash FROM audit_events WHERE writer = NEW.writer AND seq = NEW.seq - 1)
END
BEGIN SELECT RAISE(ABORT, 'misuse: an event names the one before it'); END;
