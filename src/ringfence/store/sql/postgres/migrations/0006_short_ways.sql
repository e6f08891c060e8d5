-- The moves that every call makes, judged once instead of once by every row.
--
-- Three functions have the owner's rights: they judge by themselves what they write, and the triggers of the rows that
-- they add leave the owner alone. Whoever adds a row by other means is judged by those triggers as ever. No function of
-- the owner's takes a row as it is told: each is the one row of a rule that was just held.

-- Events as one JSON text, a row of `audit_events` with its body for each; each names the one before it.
-- The rights are those of whoever asks: without the owner's, the triggers judge every row again.
-- `fresh` says that the transaction has written nothing yet, so that no event of it is looked for.
CREATE FUNCTION append_events(told jsonb, fresh boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    count integer := jsonb_array_length(told);
    one jsonb;
    a_writer text := told -> 0 ->> 0;
    first_seq bigint := told -> 0 ->> 1;
    place bigint;
    before text := repeat('0', 64);
BEGIN
    SELECT (pg_current_xact_id()::text::bigint + transactions) << 20 INTO place FROM audit_offset;
    IF NOT fresh THEN
        place := coalesce((SELECT max(id) FROM audit_events WHERE id > place AND id < place + (1 << 20)), place);
    END IF;
    IF first_seq IS DISTINCT FROM 1 THEN
        before := (SELECT hash FROM audit_events WHERE writer = a_writer AND seq = first_seq - 1);
    END IF;
    FOR n IN 0 .. count - 1 LOOP
        one := told -> n;
        IF one ->> 0 IS DISTINCT FROM a_writer OR (one ->> 1)::bigint IS DISTINCT FROM first_seq + n
            OR one ->> 9 IS DISTINCT FROM before
        THEN
            RAISE EXCEPTION 'misuse: an event names the one before it';
        END IF;
        before := one ->> 10;
    END LOOP;
    WITH one AS MATERIALIZED (
        SELECT place + nth AS id, e FROM jsonb_array_elements(told) WITH ORDINALITY AS each (e, nth)
    ), kept AS (
        INSERT INTO audit_events (
            id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash
        )
        SELECT
            id, e ->> 0, (e ->> 1)::bigint, e ->> 2, e ->> 3, e ->> 4, e ->> 5, e ->> 6, e ->> 7, e ->> 8, e ->> 9,
            e ->> 10
        FROM one
    )
    INSERT INTO audit_bodies (event, body) SELECT id, e ->> 11 FROM one;
    RETURN true;
END $$;

CREATE OR REPLACE FUNCTION keep_events(told text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN PERFORM append_events(told::jsonb, pg_current_xact_id_if_assigned() IS NULL); END $$;

DROP TRIGGER audit_events_append ON audit_events;
CREATE TRIGGER audit_events_append BEFORE INSERT ON audit_events
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION audit_events_append();
DROP TRIGGER audit_bodies_append ON audit_bodies;
CREATE TRIGGER audit_bodies_append BEFORE INSERT ON audit_bodies
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION audit_bodies_append();
-- The triggers and the function number events by their transaction, and so above nothing.
ALTER TABLE audit_events DROP CONSTRAINT audit_events_id_check;
ALTER TABLE audit_bodies DROP CONSTRAINT audit_bodies_event_check;

-- Who wants a key that another call has: it is free where that call failed or its time is over, else this says why not.
-- Two who want one key wait for each other here, and the second sees what the first did.
CREATE FUNCTION free_key(an_agent text, a_tool text, a_key text, a_digest text, at text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE kept idempotency_keys%ROWTYPE; was text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(an_agent || chr(1) || a_tool || chr(1) || a_key, 7240001));
    SELECT * INTO kept FROM idempotency_keys WHERE agent = an_agent AND tool = a_tool AND key = a_key;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    was := (SELECT status FROM invocations WHERE id = kept.invocation_id);
    IF was = 'failed' OR (at >= kept.expires_at AND was = 'completed') THEN
        DELETE FROM idempotency_keys WHERE agent = an_agent AND tool = a_tool AND key = a_key;
        RETURN;
    END IF;
    IF kept.arguments_digest IS DISTINCT FROM a_digest THEN
        RAISE EXCEPTION 'idempotency_conflict: the key was used with other arguments';
    END IF;
    IF was = 'in_doubt' THEN
        RAISE EXCEPTION 'in_doubt: a call with this key may or may not have taken effect';
    END IF;
    RAISE EXCEPTION 'in_flight: a call with this key was started already';
END $$;

-- True where nobody had the key.
CREATE FUNCTION reserve_key(
    an_agent text, a_tool text, a_key text, a_digest text, an_id text, a_time text, until text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at)
    VALUES (an_agent, a_tool, a_key, a_digest, an_id, a_time, until)
    ON CONFLICT (agent, tool, key) DO NOTHING;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM free_key(an_agent, a_tool, a_key, a_digest, a_time);
    INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at)
    VALUES (an_agent, a_tool, a_key, a_digest, an_id, a_time, until);
    RETURN false;
END $$;

CREATE OR REPLACE FUNCTION idempotency_keys_reserve() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM invocations AS i JOIN warrants AS w ON w.invocation_id = i.id
        WHERE i.id = NEW.invocation_id AND i.agent = NEW.agent AND i.tool = NEW.tool
            AND i.idempotency_key = NEW.key AND i.arguments_digest = NEW.arguments_digest
            AND i.status IN ('proposed', 'queued')
    ) THEN
        RAISE EXCEPTION 'misuse: a key is reserved by the warrant that starts its call';
    END IF;
    PERFORM free_key(NEW.agent, NEW.tool, NEW.key, NEW.arguments_digest, NEW.reserved_at);
    RETURN NEW;
END $$;
DROP TRIGGER idempotency_keys_reserve ON idempotency_keys;
CREATE TRIGGER idempotency_keys_reserve BEFORE INSERT ON idempotency_keys
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION idempotency_keys_reserve();

CREATE OR REPLACE FUNCTION warrants_used() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.key_until IS NOT NULL THEN
        -- No key is free again before one that was reserved earlier.
        PERFORM reserve_key(
            agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at,
            greatest(NEW.key_until, (SELECT max(expires_at) FROM idempotency_keys))
        )
        FROM invocations WHERE id = NEW.invocation_id;
    END IF;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;

-- What was proposed is looked at only where a statement names it; the rest is told apart without asking for rows.
CREATE TRIGGER invocations_fixed BEFORE UPDATE OF
    number, id, session, agent, binding, "user", proposers, tool, fingerprint, source_digest, arguments,
    arguments_digest, idempotency_key, proposed_at
ON invocations FOR EACH ROW WHEN (
    (
        NEW.number, NEW.id, NEW.session, NEW.agent, NEW.binding, NEW."user", NEW.proposers, NEW.tool, NEW.fingerprint,
        NEW.source_digest, NEW.arguments, NEW.arguments_digest, NEW.idempotency_key, NEW.proposed_at
    ) IS DISTINCT FROM (
        OLD.number, OLD.id, OLD.session, OLD.agent, OLD.binding, OLD."user", OLD.proposers, OLD.tool, OLD.fingerprint,
        OLD.source_digest, OLD.arguments, OLD.arguments_digest, OLD.idempotency_key, OLD.proposed_at
    )
) EXECUTE FUNCTION never('misuse: what was proposed does not change');

CREATE OR REPLACE FUNCTION invocations_move() RETURNS trigger
LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE asked text;
BEGIN
    IF NOT (CASE OLD.status
        WHEN 'proposed' THEN NEW.status IN ('refused', 'pending', 'queued')
        WHEN 'pending' THEN NEW.status IN ('queued', 'rejected', 'expired', 'void')
        WHEN 'queued' THEN NEW.status IN ('running', 'refused', 'void', 'cancelled')
        WHEN 'running' THEN NEW.status IN ('completed', 'failed', 'in_doubt')
        WHEN 'in_doubt' THEN NEW.status IN ('completed', 'failed')
        ELSE false
    END) THEN
        RAISE EXCEPTION 'misuse: a call does not move this way';
    END IF;
    IF NEW.status = 'running' THEN
        IF NOT EXISTS (SELECT 1 FROM warrants WHERE invocation_id = OLD.id) THEN
            RAISE EXCEPTION 'approval_void: a call runs only by a warrant';
        END IF;
    END IF;
    IF NEW.status = 'pending' OR OLD.status = 'pending' THEN
        asked := (SELECT status FROM approvals WHERE invocation_id = OLD.id);
        IF NEW.status = 'pending' AND asked IS DISTINCT FROM 'pending' THEN
            RAISE EXCEPTION 'misuse: a call waits only for an open request';
        END IF;
        IF OLD.status = 'pending'
            AND asked IS DISTINCT FROM (CASE NEW.status WHEN 'queued' THEN 'approved' ELSE NEW.status END)
        THEN
            RAISE EXCEPTION 'misuse: a waiting call moves with its request';
        END IF;
    END IF;
    IF (NEW.approval_status, NEW.approval_reason) IS DISTINCT FROM (OLD.approval_status, OLD.approval_reason) THEN
        IF NOT EXISTS (
            SELECT 1 FROM approvals AS a
            WHERE a.invocation_id = OLD.id AND a.status = NEW.approval_status AND NEW.approval_reason IS NOT DISTINCT FROM (
                SELECT v.reason FROM votes AS v WHERE v.approval_id = a.id AND v.decision = 'reject'
            )
        ) THEN
            RAISE EXCEPTION 'misuse: a call repeats what its request says';
        END IF;
    END IF;
    IF OLD.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at THEN
        RAISE EXCEPTION 'misuse: what is on record changes only with a move';
    END IF;
    IF NEW.fingerprint IS NULL AND NEW.status <> 'refused' THEN
        RAISE EXCEPTION 'misuse: a call without a contract can only be refused';
    END IF;
    RETURN NEW;
END $$;

-- Who proposed is looked at where a call begins, and cannot change, so no later move looks at it again; that a call
-- without a contract goes nowhere is the rule of its moves.
ALTER TABLE invocations DROP CONSTRAINT invocations_proposers_check, DROP CONSTRAINT invocations_check;
CREATE FUNCTION require_list(told text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF json_typeof(told::json) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'misuse: who proposed a call is a list';
    END IF;
    RETURN true;
END $$;

CREATE OR REPLACE FUNCTION invocations_begin() RETURNS trigger
LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.status IS DISTINCT FROM 'proposed' THEN
        RAISE EXCEPTION 'misuse: a call begins as proposed';
    END IF;
    IF num_nonnulls(
        NEW.approval_status, NEW.approval_reason, NEW.code, NEW.outcome, NEW.cost_estimate, NEW.started_at,
        NEW.completed_at
    ) > 0 THEN
        RAISE EXCEPTION 'misuse: a proposed call has no history';
    END IF;
    IF NEW.fingerprint IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
    THEN
        RAISE EXCEPTION 'misuse: a call names a registered contract';
    END IF;
    PERFORM require_list(NEW.proposers);
    RETURN NEW;
END $$;
DROP TRIGGER invocations_begin ON invocations;
CREATE TRIGGER invocations_begin BEFORE INSERT ON invocations
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION invocations_begin();
DROP TRIGGER warrants_admit ON warrants;
CREATE TRIGGER warrants_admit BEFORE INSERT ON warrants
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION warrants_admit();
DROP TRIGGER warrants_keyed ON warrants;
CREATE TRIGGER warrants_keyed BEFORE INSERT ON warrants
FOR EACH ROW WHEN (NEW.key_until IS NULL) EXECUTE FUNCTION warrants_keyed();
ALTER TABLE warrants DROP CONSTRAINT warrants_basis_check, DROP CONSTRAINT warrants_check;
ALTER TABLE warrants ADD CHECK (
    (basis = 'allowed' AND approval_id IS NULL) OR (basis = 'votes' AND approval_id IS NOT NULL)
);
DROP TRIGGER warrants_used ON warrants;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants
FOR EACH ROW WHEN (current_user <> 'ringfence_owner') EXECUTE FUNCTION warrants_used();

-- An allowed call that nobody has heard of begins as running: its rules are those of `invocations_begin`, `warrants_admit`
-- and `warrants_used`, in their order. Nobody was asked about a call that was not there, and no standing grant was used
-- for it, so it runs only where its contract needs neither. False where the long way has to judge.
DROP FUNCTION start_new_call(text, text[], text, text, text, text, double precision, text);
CREATE FUNCTION start_new_call(
    synchronous text, epoch double precision, an_id text, a_session text, an_agent text, a_binding text, a_user text,
    the_proposers text, a_tool text, a_fingerprint text, a_source text, the_arguments text, their_digest text, a_key text,
    proposed text, a_digest text, a_time text, a_key_until text, a_worker text, told text
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE
    fresh boolean := pg_current_xact_id_if_assigned() IS NULL;
    rests boolean; needs_approval boolean; changes boolean; in_force boolean; frozen boolean; until text; done boolean;
BEGIN
    IF a_fingerprint IS NULL THEN
        RETURN false;
    END IF;
    synchronous := set_config('synchronous_commit', synchronous, true);
    INSERT INTO invocations (
        id, session, agent, binding, "user", proposers, tool, fingerprint, source_digest, arguments, arguments_digest,
        idempotency_key, status, proposed_at, started_at
    )
    VALUES (
        an_id, a_session, an_agent, a_binding, a_user, the_proposers, a_tool, a_fingerprint, a_source, the_arguments,
        their_digest, a_key, 'running', proposed, a_time
    )
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Looked at below in a statement of its own, which sees whatever was moved before this was held.
    PERFORM pg_advisory_xact_lock_shared(7240001, 1);
    SELECT
        EXISTS (SELECT 1 FROM rests AS r WHERE r.session = a_session AND r.rests_until > epoch),
        t.requires_approval,
        t.safety_class <> 'read' OR t.egress_class = 'write',
        EXISTS (SELECT 1 FROM contracts_in_force AS c WHERE c.tool = a_tool AND c.fingerprint = a_fingerprint),
        EXISTS (
            SELECT 1 FROM freezes AS f
            WHERE f.lifted_at IS NULL AND (f.agent IS NULL OR f.agent = an_agent) AND (f.tool IS NULL OR f.tool = a_tool)
        ),
        greatest(a_key_until, (SELECT max(k.expires_at) FROM idempotency_keys AS k))
    INTO rests, needs_approval, changes, in_force, frozen, until
    FROM (SELECT) AS one LEFT JOIN tools AS t ON t.name = a_tool AND t.fingerprint = a_fingerprint;
    IF rests THEN
        RAISE EXCEPTION 'rate_limited: this session was refused too often and rests; wait a minute';
    END IF;
    IF needs_approval IS NULL THEN
        RAISE EXCEPTION 'misuse: a call names a registered contract';
    END IF;
    done := require_list(the_proposers);
    IF frozen THEN
        RAISE EXCEPTION 'frozen: an operator has frozen calls';
    END IF;
    IF NOT in_force THEN
        RAISE EXCEPTION 'tool_not_found: no such tool';
    END IF;
    IF needs_approval THEN
        RAISE EXCEPTION 'approval_void: the tool needs an approval on record';
    END IF;
    IF changes AND a_key_until IS NULL THEN
        RAISE EXCEPTION 'misuse: a call that changes something reserves its key';
    END IF;
    INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until, worker)
    VALUES (an_id, 'allowed', NULL, a_digest, a_time, a_key_until, a_worker);
    IF a_key_until IS NOT NULL THEN
        done := reserve_key(an_agent, a_tool, a_key, their_digest, an_id, a_time, until);
    END IF;
    RETURN append_events(told::jsonb, fresh);
END $$;

-- The end of a call that runs. False where there is no such call.
CREATE OR REPLACE FUNCTION end_call(
    synchronous text, an_id text, a_status text, a_code text, an_outcome text, a_cost text, at text, told text
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE fresh boolean := pg_current_xact_id_if_assigned() IS NULL;
BEGIN
    synchronous := set_config('synchronous_commit', synchronous, true);
    UPDATE invocations
    SET status = a_status, code = a_code, outcome = an_outcome, cost_estimate = a_cost, completed_at = at
    WHERE id = an_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    RETURN append_events(told::jsonb, fresh);
END $$;
