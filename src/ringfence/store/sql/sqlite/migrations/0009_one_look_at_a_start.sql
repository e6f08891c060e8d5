-- What a start is judged by, in one look at its call and its contract, and two ways for a warrant that was used: every
-- start used to look up the same two rows three times over, and to get ready to reserve a key that few of them have.
--
-- The rules are those of `warrants_admit`, `warrants_in_force` and `warrants_keyed`, in the order in which they were asked.

DROP TRIGGER warrants_keyed;
DROP TRIGGER warrants_in_force;
DROP TRIGGER warrants_admit;
CREATE TRIGGER warrants_admit BEFORE INSERT ON warrants
BEGIN
    SELECT CASE
        WHEN i.status IS NULL
        THEN RAISE(ABORT, 'misuse: there is no such call')
        WHEN i.status = 'running'
        THEN RAISE(ABORT, 'in_flight: the call is running already')
        WHEN i.status NOT IN ('proposed', 'queued')
        THEN RAISE(ABORT, 'approval_void: the call can no longer be started')
        WHEN NEW.key_until IS NULL AND (t.safety_class <> 'read' OR t.egress_class = 'write')
        THEN RAISE(ABORT, 'misuse: a call that changes something reserves its key')
        WHEN i.fingerprint IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM contracts_in_force AS c WHERE c.tool = i.tool AND c.fingerprint = i.fingerprint
        )
        THEN RAISE(ABORT, 'tool_not_found: no such tool')
        WHEN EXISTS (
            SELECT 1 FROM freezes AS f
            WHERE f.lifted_at IS NULL AND (f.agent IS NULL OR f.agent = i.agent) AND (f.tool IS NULL OR f.tool = i.tool)
        )
        THEN RAISE(ABORT, 'frozen: an operator has frozen calls')
        WHEN NEW.basis = 'allowed' AND i.approval_status IS NOT NULL
        THEN RAISE(ABORT, 'approval_void: a call that asked for votes runs by votes alone')
        WHEN NEW.basis = 'allowed' AND t.requires_approval IS NOT 0 AND NOT EXISTS (
            SELECT 1 FROM standing_uses AS u WHERE u.invocation_id = NEW.invocation_id
        )
        THEN RAISE(ABORT, 'approval_void: the tool needs an approval on record')
        WHEN NEW.basis = 'votes' AND NOT EXISTS (
            SELECT 1 FROM approvals AS a
            WHERE a.id = NEW.approval_id AND a.invocation_id = NEW.invocation_id
                AND a.status = 'approved' AND a.digest = NEW.digest
        )
        THEN RAISE(ABORT, 'approval_void: the votes are not for this call as it would run')
        WHEN NEW.basis = 'votes' AND NEW.consumed_at >= (SELECT expires_at FROM approvals WHERE id = NEW.approval_id)
        THEN RAISE(ABORT, 'approval_expired: the approval has expired')
        WHEN NEW.basis = 'allowed' AND (t.safety_class = 'privileged' OR t.approval_route = 'dual') AND NOT EXISTS (
            SELECT 1 FROM standing_uses AS u
            WHERE u.invocation_id = NEW.invocation_id AND 2 <= (
                SELECT count(*) FROM standing_signatures AS s
                WHERE s.grant_id = u.grant_id AND s.operator NOT IN (SELECT value FROM json_each(i.proposers))
            )
        )
        THEN RAISE(ABORT, 'approval_void: the call needs a standing grant that two operators signed')
    END
    FROM (SELECT NEW.invocation_id AS wanted)
    LEFT JOIN invocations AS i ON i.id = wanted
    LEFT JOIN tools AS t ON t.name = i.tool AND t.fingerprint = i.fingerprint;
END;

-- One warrant is used in one of two ways. A key is reserved while its call is not running yet.
DROP TRIGGER warrants_used;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants WHEN NEW.key_until IS NULL
BEGIN
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
END;
CREATE TRIGGER warrants_used_with_a_key AFTER INSERT ON warrants WHEN NEW.key_until IS NOT NULL
BEGIN
    INSERT OR REPLACE INTO idempotency_keys (
        agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at
    )
    SELECT agent, tool, idempotency_key, arguments_digest, id, NEW.consumed_at,
        max(NEW.key_until, coalesce((SELECT max(expires_at) FROM idempotency_keys), ''))
    FROM invocations WHERE id = NEW.invocation_id;
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
END;
