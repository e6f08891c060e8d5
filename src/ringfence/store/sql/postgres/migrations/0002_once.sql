-- What must not happen twice, too often, or unseen.
--
--   idempotency_keys  which call has a key; reserved by the warrant that starts the call, free again when it failed
--   workers           the processes that run calls, and until when each is known to be alive
--   buckets           how many calls of a kind an agent has left; refilled by time
--   rests             sessions that were refused too often and rest for a while

CREATE TABLE idempotency_keys (
    agent text NOT NULL,
    tool text NOT NULL,
    key text NOT NULL,
    arguments_digest text NOT NULL,
    invocation_id text NOT NULL,
    reserved_at text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C" NOT NULL CHECK (expires_at > reserved_at),
    PRIMARY KEY (agent, tool, key)
);

CREATE TABLE workers (
    id text PRIMARY KEY,
    since bigint NOT NULL,
    alive_until text COLLATE "C" NOT NULL,
    gone_at text COLLATE "C"
);
CREATE INDEX workers_known ON workers (alive_until) WHERE gone_at IS NULL;

CREATE TABLE buckets (
    agent text NOT NULL,
    binding text NOT NULL,
    pattern text NOT NULL,
    tokens double precision NOT NULL CHECK (tokens >= 0),
    at double precision NOT NULL,
    PRIMARY KEY (agent, binding, pattern)
);

CREATE TABLE rests (
    session text PRIMARY KEY,
    tokens double precision NOT NULL CHECK (tokens >= 0),
    at double precision NOT NULL,
    rests_until double precision NOT NULL DEFAULT 0
);

ALTER TABLE warrants ADD COLUMN worker text;
ALTER TABLE warrants ADD COLUMN key_until text COLLATE "C";

-- Two who want one key wait for each other here, and the second sees what the first did.
CREATE FUNCTION idempotency_keys_reserve() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE kept idempotency_keys%ROWTYPE; was text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.agent || chr(1) || NEW.tool || chr(1) || NEW.key, 7240001));
    IF NOT EXISTS (
        SELECT 1 FROM invocations AS i JOIN warrants AS w ON w.invocation_id = i.id
        WHERE i.id = NEW.invocation_id AND i.agent = NEW.agent AND i.tool = NEW.tool
            AND i.idempotency_key = NEW.key AND i.arguments_digest = NEW.arguments_digest
            AND i.status IN ('proposed', 'queued')
    ) THEN
        RAISE EXCEPTION 'misuse: a key is reserved by the warrant that starts its call';
    END IF;
    SELECT * INTO kept FROM idempotency_keys WHERE agent = NEW.agent AND tool = NEW.tool AND key = NEW.key;
    IF NOT FOUND THEN
        RETURN NEW;
    END IF;
    was := (SELECT status FROM invocations WHERE id = kept.invocation_id);
    IF was = 'failed' OR (NEW.reserved_at >= kept.expires_at AND was = 'completed') THEN
        DELETE FROM idempotency_keys WHERE agent = NEW.agent AND tool = NEW.tool AND key = NEW.key;
        RETURN NEW;
    END IF;
    IF kept.arguments_digest IS DISTINCT FROM NEW.arguments_digest THEN
        RAISE EXCEPTION 'idempotency_conflict: the key was used with other arguments';
    END IF;
    IF was = 'in_doubt' THEN
        RAISE EXCEPTION 'in_doubt: a call with this key may or may not have taken effect';
    END IF;
    RAISE EXCEPTION 'in_flight: a call with this key was started already';
END $$;
CREATE TRIGGER idempotency_keys_reserve BEFORE INSERT ON idempotency_keys
FOR EACH ROW EXECUTE FUNCTION idempotency_keys_reserve();
CREATE TRIGGER idempotency_keys_fixed BEFORE UPDATE ON idempotency_keys
FOR EACH ROW EXECUTE FUNCTION never('misuse: a key stays with its call');

CREATE FUNCTION workers_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.gone_at IS NOT NULL THEN
            RAISE EXCEPTION 'misuse: a worker that is gone does not come back';
        END IF;
    ELSIF (NEW.id, NEW.since) IS DISTINCT FROM (OLD.id, OLD.since) OR OLD.gone_at IS NOT NULL THEN
        RAISE EXCEPTION 'misuse: a worker that is gone does not come back';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER workers_move BEFORE INSERT OR UPDATE ON workers FOR EACH ROW EXECUTE FUNCTION workers_move();
CREATE TRIGGER workers_kept BEFORE DELETE ON workers FOR EACH ROW EXECUTE FUNCTION never('misuse: a worker is kept');

CREATE FUNCTION warrants_keyed() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.key_until IS NULL AND EXISTS (
        SELECT 1 FROM invocations AS i JOIN tools AS t ON t.name = i.tool AND t.fingerprint = i.fingerprint
        WHERE i.id = NEW.invocation_id AND (t.safety_class <> 'read' OR t.egress_class = 'write')
    ) THEN
        RAISE EXCEPTION 'misuse: a call that changes something reserves its key';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER warrants_keyed BEFORE INSERT ON warrants FOR EACH ROW EXECUTE FUNCTION warrants_keyed();

CREATE OR REPLACE FUNCTION warrants_used() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.key_until IS NOT NULL THEN
        INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at)
        SELECT agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at, NEW.key_until
        FROM invocations WHERE id = NEW.invocation_id;
    END IF;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['idempotency_keys', 'workers', 'buckets', 'rests'] LOOP
        EXECUTE format(
            'CREATE TRIGGER z_truncated BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION never(%L)',
            name, 'misuse: nothing on record is removed'
        );
    END LOOP;
END $$;
