-- What calls take from caps, so that every process counts together; and keys whose time a wrong clock cannot shorten.
--
--   spendings  what one call took from one cap: reserved where the call starts, settled where it ends
--
-- Amounts are whole billionths of the cap's unit. What was spent in a time is the sum of its rows, so a row is never
-- removed; it is moved once: to what the call cost, or to nothing where the call never ran.

CREATE TABLE spendings (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent text NOT NULL,
    binding text NOT NULL,
    cap text NOT NULL,
    invocation_id text NOT NULL,
    basis text NOT NULL CHECK (basis IN ('amount', 'cost')),
    amount bigint NOT NULL CHECK (amount >= 0),
    most bigint NOT NULL CHECK (most BETWEEN 0 AND 9000000000000000000),
    since double precision NOT NULL,
    at double precision NOT NULL CHECK (at > since),
    settled_at text COLLATE "C",
    UNIQUE (invocation_id, agent, binding, cap)
);
CREATE INDEX spendings_in_time ON spendings (agent, binding, cap, at) INCLUDE (amount);

-- Two who spend from one cap wait for each other here, and the second sees what the first took.
CREATE FUNCTION spendings_reserve() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE taken numeric;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.agent || chr(1) || NEW.binding || chr(1) || NEW.cap, 7240002));
    IF NEW.settled_at IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM invocations
        WHERE id = NEW.invocation_id AND agent = NEW.agent AND status IN ('proposed', 'queued')
    ) THEN
        RAISE EXCEPTION 'misuse: what a call spends is reserved where it starts';
    END IF;
    taken := (
        SELECT coalesce(sum(amount), 0) FROM spendings
        WHERE agent = NEW.agent AND binding = NEW.binding AND cap = NEW.cap AND at > NEW.since
    );
    IF NEW.amount > NEW.most - taken THEN
        RAISE EXCEPTION 'spend_cap_reached: a cap of this agent leaves too little for this call';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER spendings_reserve BEFORE INSERT ON spendings FOR EACH ROW EXECUTE FUNCTION spendings_reserve();

CREATE FUNCTION spendings_settled() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE stands text;
BEGIN
    IF OLD.settled_at IS NOT NULL OR NEW.settled_at IS NULL THEN
        RAISE EXCEPTION 'misuse: what a call spent is settled once';
    END IF;
    IF (NEW.number, NEW.agent, NEW.binding, NEW.cap, NEW.invocation_id, NEW.basis, NEW.most, NEW.since, NEW.at)
        IS DISTINCT FROM
        (OLD.number, OLD.agent, OLD.binding, OLD.cap, OLD.invocation_id, OLD.basis, OLD.most, OLD.since, OLD.at)
    THEN
        RAISE EXCEPTION 'misuse: what a call spent stays its own';
    END IF;
    stands := (SELECT status FROM invocations WHERE id = OLD.invocation_id);
    IF stands NOT IN ('completed', 'failed', 'in_doubt') THEN
        RAISE EXCEPTION 'misuse: what a call spent is settled where it ends';
    END IF;
    IF OLD.basis = 'amount' AND NEW.amount <> OLD.amount AND NOT (NEW.amount = 0 AND stands = 'failed') THEN
        RAISE EXCEPTION 'misuse: an amount is given back whole, by a call that failed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER spendings_settled BEFORE UPDATE ON spendings FOR EACH ROW EXECUTE FUNCTION spendings_settled();
CREATE TRIGGER spendings_kept BEFORE DELETE ON spendings
FOR EACH ROW EXECUTE FUNCTION never('misuse: what was spent stays on record');
CREATE TRIGGER z_truncated BEFORE TRUNCATE ON spendings
FOR EACH STATEMENT EXECUTE FUNCTION never('misuse: nothing on record is removed');

-- No key is free again before one that was reserved earlier: a clock that is set back and then right again must not
-- make a short time of a long one.
CREATE INDEX idempotency_keys_until ON idempotency_keys (expires_at);
CREATE OR REPLACE FUNCTION warrants_used() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.key_until IS NOT NULL THEN
        INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at)
        SELECT agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at,
            greatest(NEW.key_until, (SELECT max(expires_at) FROM idempotency_keys))
        FROM invocations WHERE id = NEW.invocation_id;
    END IF;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;
