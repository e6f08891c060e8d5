-- name: insert_tool
INSERT INTO tools (
    name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at
)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
WHERE NOT EXISTS (SELECT 1 FROM tools WHERE name = ?1 AND fingerprint = ?2)

-- name: pins
SELECT source, tool, fingerprint, source_digest, trust FROM pins

-- name: insert_pin
INSERT INTO pins (source, tool, fingerprint, source_digest, trust, accepted_by, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)

-- name: update_pin
UPDATE pins
SET source_digest = ?4, trust = ?5, accepted_by = coalesce(?6, accepted_by), at = ?7
WHERE source = ?1 AND tool = ?2 AND fingerprint = ?3

-- name: repin
UPDATE pins
SET fingerprint = ?3, source_digest = ?4, trust = ?5, accepted_by = ?6, at = ?7
WHERE source = ?1 AND tool = ?2 AND fingerprint = ?8
