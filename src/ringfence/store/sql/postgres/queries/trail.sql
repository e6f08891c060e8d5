-- name: last_event
SELECT coalesce(max(id), 0) FROM audit_events WHERE id < audit_settled()

-- name: record_events
SELECT keep_events($1)

-- name: links_after
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events LEFT JOIN audit_bodies ON event = id
WHERE id > $1 AND id < audit_settled() ORDER BY id LIMIT $2

-- name: links_by_writer
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events LEFT JOIN audit_bodies ON event = id
ORDER BY writer, seq

-- name: links_through
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events LEFT JOIN audit_bodies ON event = id
WHERE id <= $1 ORDER BY writer, seq

-- name: removable_bodies
SELECT count(*) FROM audit_bodies JOIN audit_events ON id = event WHERE invocation_id IS NOT NULL AND at < $1

-- name: insert_retention
INSERT INTO audit_retentions (number, before, by, at)
SELECT coalesce(max(number), 0) + 1, $1::text, $2::text, $3::text FROM audit_retentions

-- name: remove_bodies
DELETE FROM audit_bodies
WHERE event IN (SELECT id FROM audit_events WHERE invocation_id IS NOT NULL AND at < $1)

-- name: stray_bodies
SELECT count(*) FROM audit_bodies LEFT JOIN audit_events ON id = event WHERE id IS NULL

-- name: heads_after
SELECT DISTINCT ON (writer) writer, seq, hash FROM audit_events
WHERE id > $1 AND id <= $2 ORDER BY writer, seq DESC

-- name: checkpoints_from
SELECT number, statement, signature FROM audit_checkpoints WHERE number >= $1 ORDER BY number

-- name: last_checkpoint
SELECT number, statement, signature FROM audit_checkpoints ORDER BY number DESC LIMIT 1

-- name: insert_checkpoint
INSERT INTO audit_checkpoints (number, statement, signature) VALUES ($1, $2, $3)

-- name: hold_checkpoints
-- One process signs at a time.
SELECT pg_advisory_xact_lock(7240001, 2)

-- name: place_before
SELECT coalesce(min(id), 1) - 1
FROM (SELECT id FROM audit_events WHERE id < audit_settled() ORDER BY id DESC LIMIT $1) AS newest
