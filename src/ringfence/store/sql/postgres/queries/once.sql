-- name: key
SELECT invocation_id, arguments_digest, expires_at FROM idempotency_keys WHERE agent = $1 AND tool = $2 AND key = $3

-- name: enlist
INSERT INTO workers (id, since, alive_until)
SELECT $1::text, coalesce(max(number), 0), $2::text FROM invocations
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until

-- name: lost_workers
SELECT id FROM workers WHERE gone_at IS NULL AND alive_until <= $1 AND id <> $2

-- name: running_calls
-- Every call of a worker came after it did, so no index of running calls is kept, and a start pays for none.
SELECT i.id, i.agent, i.tool, t.safety_class, t.safety_class <> 'read' OR t.egress_class = 'write'
FROM invocations AS i
JOIN warrants AS w ON w.invocation_id = i.id
JOIN tools AS t ON t.name = i.tool AND t.fingerprint = i.fingerprint
WHERE i.number > (SELECT since FROM workers WHERE id = $1) AND i.status = 'running' AND w.worker = $1
ORDER BY i.number

-- name: dismiss
UPDATE workers SET gone_at = $2 WHERE id = $1 AND gone_at IS NULL AND alive_until <= $2

-- name: calls
SELECT
    i.id, i.session, i.agent, i.binding, i."user", i.proposers, i.tool, i.fingerprint, i.source_digest, i.arguments,
    i.arguments_digest, i.idempotency_key, i.proposed_at, i.status, i.code, i.outcome,
    a.*
FROM invocations AS i LEFT JOIN approvals_with_votes AS a ON a.invocation_id = i.id
WHERE ($1::text IS NULL OR i.status = $1) AND ($2::text IS NULL OR i.agent = $2)
ORDER BY i.number DESC LIMIT $3

-- name: draw
-- One token, in one statement: refilled by the time that passed, never above its capacity, never drawn below zero.
INSERT INTO buckets (agent, binding, pattern, tokens, at)
VALUES ($1, $2, $3, $4::float8 - 1, $6::float8)
ON CONFLICT (agent, binding, pattern) DO UPDATE SET
    tokens = least($4::float8, buckets.tokens + greatest(0, $6::float8 - buckets.at) * $5::float8) - 1,
    at = greatest(buckets.at, $6::float8)
WHERE least($4::float8, buckets.tokens + greatest(0, $6::float8 - buckets.at) * $5::float8) >= 1

-- name: bucket
SELECT tokens, at FROM buckets WHERE agent = $1 AND binding = $2 AND pattern = $3

-- name: draw_refusal
INSERT INTO rests (session, tokens, at) VALUES ($1, $2::float8 - 1, $4::float8)
ON CONFLICT (session) DO UPDATE SET
    tokens = greatest(0, least($2::float8, rests.tokens + greatest(0, $4::float8 - rests.at) * $3::float8) - 1),
    at = greatest(rests.at, $4::float8),
    rests_until = CASE
        WHEN least($2::float8, rests.tokens + greatest(0, $4::float8 - rests.at) * $3::float8) < 1
        THEN greatest(rests.rests_until, $4::float8 + $5::float8) ELSE rests.rests_until
    END

-- name: resting
SELECT rests_until FROM rests WHERE session = $1 AND rests_until > $2
