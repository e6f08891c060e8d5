-- name: give_grant
INSERT INTO standing_grants (
    id, agent, tool, fingerprint, source_digest, conditions, answers, max_uses, because, digest, given_at, expires_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: sign_grant
INSERT INTO standing_signatures (grant_id, operator, digest, at) VALUES ($1, $2, $3, $4)

-- name: end_grant
UPDATE standing_grants SET ended_at = $2, ended_by = $3, ended_why = $4 WHERE id = $1

-- name: use_grant
INSERT INTO standing_uses (grant_id, invocation_id, at) VALUES ($1, $2, $3)

-- name: standing_grant
SELECT * FROM standing_grants_with_signatures WHERE id = $1

-- name: standing_grants
SELECT * FROM standing_grants_with_signatures ORDER BY given_at, id

-- name: open_grants
SELECT * FROM standing_grants_with_signatures
WHERE agent = $1 AND tool = $2 AND ended_at IS NULL AND expires_at > $3 AND uses < max_uses
ORDER BY expires_at, id
