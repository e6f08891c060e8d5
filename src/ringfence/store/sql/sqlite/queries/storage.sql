-- name: storage_hold
-- One writer has the whole file.
SELECT 1 WHERE ?1 IS NOT NULL

-- name: storage_row
SELECT value, by_tool, by_invocation, trust, written_at, expires_at FROM storage_rows
WHERE agent = ?1 AND scope = ?2 AND owner = ?3 AND key = ?4 AND (expires_at IS NULL OR expires_at > ?5)

-- name: storage_change
UPDATE storage_rows
SET value = ?5, by_tool = ?6, by_invocation = ?7, trust = ?8, written_at = ?9, expires_at = ?10
WHERE agent = ?1 AND scope = ?2 AND owner = ?3 AND key = ?4

-- name: storage_add
INSERT INTO storage_rows (
    agent, scope, owner, key, value, by_tool, by_invocation, trust, written_at, expires_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)

-- name: storage_remove
DELETE FROM storage_rows
WHERE agent = ?1 AND scope = ?2 AND owner = ?3 AND key = ?4 AND (expires_at IS NULL OR expires_at > ?5)

-- name: storage_keys
SELECT key FROM storage_rows
WHERE agent = ?1 AND scope = ?2 AND owner = ?3 AND key > ?4 AND substr(key, 1, length(?5)) = ?5
    AND (expires_at IS NULL OR expires_at > ?6)
ORDER BY key LIMIT ?7

-- name: storage_use
SELECT count, bytes FROM storage_use WHERE agent = ?1 AND scope = ?2 AND owner = ?3

-- name: storage_expired
SELECT DISTINCT agent FROM storage_rows WHERE expires_at <= ?1 ORDER BY agent

-- name: storage_drop_expired
DELETE FROM storage_rows WHERE agent = ?1 AND expires_at <= ?2
