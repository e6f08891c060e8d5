-- What calls take from caps, so that every process counts together; and keys whose time a wrong clock cannot shorten.
--
--   spendings  what one call took from one cap: reserved where the call starts, settled where it ends
--
-- Amounts are whole billionths of the cap's unit. What was spent in a time is the sum of its rows, so a row is never
-- removed; it is moved once: to what the call cost, or to nothing where the call never ran.

CREATE TABLE spendings (
    number INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    binding TEXT NOT NULL,
    cap TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    basis TEXT NOT NULL CHECK (basis IN ('amount', 'cost')),
    amount INTEGER NOT NULL CHECK (amount >= 0),
    most INTEGER NOT NULL CHECK (most BETWEEN 0 AND 9000000000000000000),
    since REAL NOT NULL,
    at REAL NOT NULL CHECK (at > since),
    settled_at TEXT,
    UNIQUE (invocation_id, agent, binding, cap)
) STRICT;
CREATE INDEX spendings_in_time ON spendings (agent, binding, cap, at, amount);

CREATE TRIGGER spendings_reserve BEFORE INSERT ON spendings
BEGIN
    SELECT CASE
        WHEN NEW.settled_at IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM invocations
            WHERE id = NEW.invocation_id AND agent = NEW.agent AND status IN ('proposed', 'queued')
        )
        THEN RAISE(ABORT, 'misuse: what a call spends is reserved where it starts')
        WHEN NEW.amount > NEW.most - (
            SELECT coalesce(sum(amount), 0) FROM spendings
            WHERE agent = NEW.agent AND binding = NEW.binding AND cap = NEW.cap AND at > NEW.since
        )
        THEN RAISE(ABORT, 'spend_cap_reached: a cap of this agent leaves too little for this call')
    END;
END;
CREATE TRIGGER spendings_settled BEFORE UPDATE ON spendings
BEGIN
    SELECT CASE
        WHEN OLD.settled_at IS NOT NULL OR NEW.settled_at IS NULL
        THEN RAISE(ABORT, 'misuse: what a call spent is settled once')
        WHEN NEW.number IS NOT OLD.number OR NEW.agent IS NOT OLD.agent OR NEW.binding IS NOT OLD.binding
            OR NEW.cap IS NOT OLD.cap OR NEW.invocation_id IS NOT OLD.invocation_id OR NEW.basis IS NOT OLD.basis
            OR NEW.most IS NOT OLD.most OR NEW.since IS NOT OLD.since OR NEW.at IS NOT OLD.at
        THEN RAISE(ABORT, 'misuse: what a call spent stays its own')
        WHEN (SELECT status FROM invocations WHERE id = OLD.invocation_id) NOT IN ('completed', 'failed', 'in_doubt')
        THEN RAISE(ABORT, 'misuse: what a call spent is settled where it ends')
        WHEN OLD.basis = 'amount' AND NEW.amount IS NOT OLD.amount AND NOT (
            NEW.amount = 0 AND (SELECT status FROM invocations WHERE id = OLD.invocation_id) = 'failed'
        )
        THEN RAISE(ABORT, 'misuse: an amount is given back whole, by a call that failed')
    END;
END;
CREATE TRIGGER spendings_kept BEFORE DELETE ON spendings
BEGIN SELECT RAISE(ABORT, 'misuse: what was spent stays on record'); END;

-- No key is free again before one that was reserved earlier: a clock that is set back and then right again must not
-- make a short time of a long one.
CREATE INDEX idempotency_keys_until ON idempotency_keys (expires_at);
DROP TRIGGER warrants_used;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants
BEGIN
    INSERT OR REPLACE INTO idempotency_keys (
        agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at
    )
    SELECT agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at,
        max(NEW.key_until, coalesce((SELECT max(expires_at) FROM idempotency_keys), ''))
    FROM invocations WHERE id = NEW.invocation_id AND NEW.key_until IS NOT NULL;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
END;
