-- The two moves that every call makes, each in one journey to the server: what is said statement by statement elsewhere,
-- said at once. They have no rights of their own; the triggers judge every row as they always do.

-- Events as one JSON text, a row of `audit_events` with its body for each, in the order of the chain.
CREATE FUNCTION keep_events(told text) RETURNS void LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE one json; place bigint;
BEGIN
    FOR one IN SELECT json_array_elements(told::json) LOOP
        INSERT INTO audit_events (
            writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash
        )
        VALUES (
            one ->> 0, (one ->> 1)::bigint, one ->> 2, one ->> 3, one ->> 4, one ->> 5, one ->> 6, one ->> 7,
            one ->> 8, one ->> 9, one ->> 10
        )
        RETURNING id INTO place;
        INSERT INTO audit_bodies (event, body) VALUES (place, one ->> 11);
    END LOOP;
END $$;

-- An allowed call that nobody has heard of: proposed, warranted and running. False where its id is known already.
CREATE FUNCTION start_new_call(
    synchronous text, call text[], a_digest text, at text, a_key_until text, a_worker text, epoch double precision,
    told text
) RETURNS boolean LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM rests WHERE session = call[2] AND rests_until > epoch) THEN
        RAISE EXCEPTION 'rate_limited: this session was refused too often and rests; wait a minute';
    END IF;
    PERFORM set_config('synchronous_commit', synchronous, true);
    INSERT INTO invocations (
        id, session, agent, binding, "user", proposers, tool, fingerprint, source_digest, arguments, arguments_digest,
        idempotency_key, status, proposed_at
    )
    VALUES (
        call[1], call[2], call[3], call[4], call[5], call[6], call[7], call[8], call[9], call[10], call[11], call[12],
        'proposed', call[13]
    )
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until, worker)
    VALUES (call[1], 'allowed', NULL, a_digest, at, a_key_until, a_worker);
    PERFORM keep_events(told);
    RETURN true;
END $$;

-- The end of a call that runs. False where there is no such call.
CREATE FUNCTION end_call(
    synchronous text, an_id text, a_status text, a_code text, an_outcome text, a_cost text, at text,
    told text
) RETURNS boolean LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    PERFORM set_config('synchronous_commit', synchronous, true);
    UPDATE invocations
    SET status = a_status, code = a_code, outcome = an_outcome, cost_estimate = a_cost, completed_at = at
    WHERE id = an_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM keep_events(told);
    RETURN true;
END $$;
