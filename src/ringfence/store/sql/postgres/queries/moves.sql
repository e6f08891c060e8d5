-- Whoever follows the trail holds a lock of its own, so that nobody rings where nobody listens.

-- name: start_new_call
SELECT
    start_new_call($1, $2::float8, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20),
    CASE WHEN pg_try_advisory_lock(7240001, 4) THEN NOT pg_advisory_unlock(7240001, 4) ELSE true END

-- name: end_call
SELECT
    end_call($1, $2, $3, $4, $5, $6, $7, $8),
    CASE WHEN pg_try_advisory_lock(7240001, 4) THEN NOT pg_advisory_unlock(7240001, 4) ELSE true END

-- name: hold_listening
SELECT pg_advisory_lock_shared(7240001, 4)
