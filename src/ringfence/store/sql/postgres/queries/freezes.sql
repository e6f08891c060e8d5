-- name: freeze
INSERT INTO freezes (id, agent, tool, by, because, at) VALUES ($1, $2, $3, $4, $5, $6)

-- name: unfreeze
UPDATE freezes SET lifted_at = $3, lifted_by = $4 WHERE lifted_at IS NULL AND agent IS NOT DISTINCT FROM $1 AND tool IS NOT DISTINCT FROM $2

-- name: freezes_since
SELECT id, agent, tool, by, because, at, lifted_at, lifted_by FROM freezes
WHERE lifted_at IS NULL OR lifted_at > $1
ORDER BY number

-- name: waiting_in_scope
SELECT a.* FROM approvals_with_votes AS a JOIN invocations AS i ON i.id = a.invocation_id
WHERE i.status IN ('pending', 'queued') AND ($1::text IS NULL OR i.agent = $1) AND ($2::text IS NULL OR i.tool = $2)
ORDER BY a.expires_at, a.id

-- name: tool_on_record
SELECT 1 FROM tools WHERE name = $1 LIMIT 1
