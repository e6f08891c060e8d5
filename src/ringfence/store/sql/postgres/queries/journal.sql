-- name: propose
INSERT INTO invocations (
    id, session, agent, binding, "user", proposers, tool, fingerprint, source_digest, arguments, arguments_digest,
    idempotency_key, status, proposed_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'proposed', $13)
ON CONFLICT (id) DO NOTHING

-- name: standing_of_call
SELECT status, tool, fingerprint, arguments_digest, agent, session FROM invocations WHERE id = $1 FOR UPDATE

-- name: refuse
UPDATE invocations SET status = 'refused', code = $2, completed_at = $3 WHERE id = $1

-- name: use_warrant
INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until, worker)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: finish
UPDATE invocations SET status = $2, code = $3, outcome = $4, cost_estimate = $5, completed_at = $6 WHERE id = $1

-- name: withdraw_request
UPDATE approvals SET status = $2, code = $3, resolved_at = $4 WHERE invocation_id = $1

-- name: withdraw_call
UPDATE invocations SET status = $2, code = $3, completed_at = $4 WHERE id = $1

-- name: recorded
SELECT
    i.id, i.session, i.agent, i.binding, i."user", i.proposers, i.tool, i.fingerprint, i.source_digest, i.arguments,
    i.arguments_digest, i.idempotency_key, i.proposed_at, i.status, i.code, i.outcome,
    a.*
FROM invocations AS i LEFT JOIN approvals_with_votes AS a ON a.invocation_id = i.id
WHERE i.id = $1

-- name: latest_like
-- Only calls that people were asked about: one refused in between must not hide an older rejection.
SELECT id FROM invocations
WHERE session = $1 AND tool = $2 AND arguments_digest = $3 AND approval_status IS NOT NULL
ORDER BY number DESC LIMIT 1
