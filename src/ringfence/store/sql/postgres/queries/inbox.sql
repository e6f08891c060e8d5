-- name: ask
INSERT INTO approvals (id, invocation_id, digest, card, votes_needed, voter_group, proposers, expires_at, status)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: approval
SELECT * FROM approvals_with_votes WHERE id = $1

-- name: open_approvals
SELECT * FROM approvals_with_votes WHERE status = 'pending' AND expires_at > $1 ORDER BY expires_at, id

-- name: overdue_approvals
SELECT a.* FROM approvals_with_votes AS a JOIN invocations AS i ON i.id = a.invocation_id
WHERE a.expires_at <= $1 AND (a.status = 'pending' OR (a.status = 'approved' AND i.status = 'queued'))
ORDER BY a.expires_at, a.id

-- name: vote
INSERT INTO votes (approval_id, digest, voter, decision, reason, door, at) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: resolve
UPDATE approvals SET status = $2, code = $3, resolved_at = $4 WHERE id = $1

-- name: hold_approval
-- Two votes come one after the other: each sees the one before it.
SELECT 1 FROM approvals WHERE id = $1 FOR UPDATE
