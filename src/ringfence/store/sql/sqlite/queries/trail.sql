-- name: last_event
SELECT coalesce(max(id), 0) FROM audit_events

-- name: insert_event
INSERT INTO audit_events (
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM audit_events), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)

-- name: links_after
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events
WHERE id > ?1 ORDER BY id LIMIT ?2

-- name: links_by_writer
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events
ORDER BY writer, seq

-- name: links_through
SELECT
    id, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash, body
FROM audit_events
WHERE id <= ?1 ORDER BY writer, seq

-- name: removable_bodies
SELECT count(*) FROM audit_events WHERE body IS NOT NULL AND invocation_id IS NOT NULL AND at < ?1

-- name: insert_retention
INSERT INTO audit_retentions (number, before, by, at)
SELECT coalesce(max(number), 0) + 1, ?1, ?2, ?3 FROM audit_retentions

-- name: remove_bodies
UPDATE audit_events SET body = NULL WHERE body IS NOT NULL AND invocation_id IS NOT NULL AND at < ?1

-- name: stray_bodies
-- Events stand at every place from the first to the last, so a place without one is where an event was.
SELECT (SELECT count(*) FROM audit_strays) + coalesce(max(id), 0) - count(*) FROM audit_events

-- name: heads_after
SELECT writer, max(seq), hash FROM audit_events WHERE id > ?1 AND id <= ?2 GROUP BY writer ORDER BY writer

-- name: checkpoints_from
SELECT number, statement, signature FROM audit_checkpoints WHERE number >= ?1 ORDER BY number

-- name: last_checkpoint
SELECT number, statement, signature FROM audit_checkpoints ORDER BY number DESC LIMIT 1

-- name: insert_checkpoint
INSERT INTO audit_checkpoints (number, statement, signature) VALUES (?1, ?2, ?3)

-- name: hold_checkpoints
-- A write holds the whole file already; elsewhere this lets one process sign at a time.
SELECT 1

-- name: place_before
SELECT coalesce(min(id), 1) - 1 FROM (SELECT id FROM audit_events ORDER BY id DESC LIMIT ?1)
