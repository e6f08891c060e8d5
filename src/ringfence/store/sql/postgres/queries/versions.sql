-- name: schema_exists
SELECT to_regnamespace('ringfence') IS NOT NULL, to_regclass('ringfence.schema_versions') IS NOT NULL

-- name: create_schema
CREATE SCHEMA ringfence

-- name: create_versions
CREATE TABLE ringfence.schema_versions (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at text NOT NULL
)

-- name: version
SELECT coalesce(max(version), 0) FROM ringfence.schema_versions

-- name: insert_version
INSERT INTO ringfence.schema_versions (version, name, applied_at) VALUES ($1, $2, $3)

-- name: hold_migrations
SELECT pg_advisory_xact_lock(7240001, 3)

-- name: level_offset
-- A database that was restored from a dump counts its transactions anew; places go on behind the last one kept.
UPDATE ringfence.audit_offset
SET transactions = transactions + lacking
FROM (
    SELECT (max(id) >> 20) + 1 - pg_current_xact_id()::text::bigint
        - (SELECT transactions FROM ringfence.audit_offset) AS lacking
    FROM ringfence.audit_events
) AS gap
WHERE lacking > 0

-- name: standing_of_login
-- Whoever owns a table can drop its triggers, and a superuser passes by everything.
SELECT
    session_user,
    (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
    (
        SELECT count(*) FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
        WHERE relnamespace = to_regnamespace('ringfence')
            AND (rolname = session_user OR pg_has_role(session_user, relowner, 'MEMBER'))
    ),
    pg_has_role(session_user, 'ringfence_application', 'MEMBER')
