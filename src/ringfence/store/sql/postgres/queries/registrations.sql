-- name: insert_tool
INSERT INTO tools (
    name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name, fingerprint) DO NOTHING

-- name: pins
SELECT source, tool, fingerprint, source_digest, trust, retired_at IS NOT NULL FROM pins

-- name: insert_pin
INSERT INTO pins (source, tool, fingerprint, source_digest, trust, accepted_by, at)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: update_pin
UPDATE pins
SET source_digest = $4, trust = $5, accepted_by = coalesce($6, accepted_by), at = $7
WHERE source = $1 AND tool = $2 AND fingerprint = $3 AND retired_at IS NULL

-- name: move_pin
UPDATE pins
SET fingerprint = $3, source_digest = $4, trust = $5, accepted_by = $6, at = $7, retired_at = NULL
WHERE source = $1 AND tool = $2 AND fingerprint = $8

-- name: revive_pin
UPDATE pins
SET fingerprint = $3, source_digest = $4, trust = $5, accepted_by = $6, at = $7, retired_at = NULL
WHERE source = $1 AND tool = $2 AND retired_at IS NOT NULL

-- name: retire_pin
UPDATE pins SET retired_at = $3, accepted_by = $4, at = $3 WHERE source = $1 AND tool = $2 AND fingerprint = $5

-- name: ledger_version
SELECT version FROM ledger_version

-- name: sightings
SELECT source, tool, fingerprint, source_digest, faults, presence FROM sightings

-- name: see
INSERT INTO sightings (source, tool, fingerprint, source_digest, faults, presence, at)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: unsee
DELETE FROM sightings WHERE source = $1 AND tool = $2

-- name: miss
UPDATE sightings SET presence = 'gone', at = $3 WHERE source = $1 AND tool = $2

-- name: sighting
SELECT fingerprint, source_digest, presence FROM sightings WHERE source = $1 AND tool = $2

-- name: contract
SELECT document FROM tools WHERE name = $1 AND fingerprint = $2

-- name: waiting_calls
SELECT id, agent, (SELECT safety_class FROM tools WHERE name = $1 AND tools.fingerprint = $2)
FROM invocations
WHERE tool = $1 AND fingerprint = $2 AND source_digest IS DISTINCT FROM $3::text
    AND approval_status IS NOT NULL AND status IN ('pending', 'queued')
ORDER BY number
