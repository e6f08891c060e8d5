-- name: start_new_call
SELECT start_new_call(
    $1, $2::text[], $3, $4, $5, $6, $7::float8, $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[],
    $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[]
)

-- name: end_call
SELECT end_call(
    $1, $2, $3, $4, $5, $6, $7, $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[],
    $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[]
)
