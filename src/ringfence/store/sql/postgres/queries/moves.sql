-- name: start_new_call
SELECT start_new_call($1, $2::text[], $3, $4, $5, $6, $7::float8, $8)

-- name: end_call
SELECT end_call($1, $2, $3, $4, $5, $6, $7, $8)
