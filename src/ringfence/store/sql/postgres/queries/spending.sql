-- name: spend
INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at)
VALUES ($1, $2, $3, $4, $5, $6::bigint, $7::bigint, $8::float8, $9::float8)

-- name: spent
SELECT coalesce(sum(amount), 0)::numeric FROM spendings WHERE agent = $1 AND binding = $2 AND cap = $3 AND at > $4::float8

-- name: settle_cost
UPDATE spendings SET amount = CASE basis WHEN 'cost' THEN $2::bigint ELSE amount END, settled_at = $3
WHERE invocation_id = $1 AND settled_at IS NULL

-- name: give_back
UPDATE spendings SET amount = 0, settled_at = $2 WHERE invocation_id = $1 AND settled_at IS NULL
