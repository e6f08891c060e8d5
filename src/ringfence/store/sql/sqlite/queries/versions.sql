-- name: tables
SELECT name FROM sqlite_master WHERE type = 'table'

-- name: create_versions
CREATE TABLE schema_versions (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL
) STRICT

-- name: version
SELECT coalesce(max(version), 0) FROM schema_versions

-- name: insert_version
INSERT INTO schema_versions (version, name, applied_at) VALUES (?1, ?2, ?3)
