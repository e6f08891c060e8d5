-- What sources were last seen to offer, so that a changed contract is out of use in every process at once,
-- and retention, so that old bodies can go while the chain stays.
--
--   sightings         what each source offered last; with the pins it decides which contracts are in force
--   ledger_version    one number that moves with pins and sightings; every process asks for it before a call
--   audit_retentions  who removed bodies up to which time; append-only, and no body goes without such a row

ALTER TABLE pins ADD COLUMN retired_at TEXT;

CREATE TABLE sightings (
    source TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    source_digest TEXT NOT NULL,
    faults TEXT NOT NULL CHECK (json_type(faults) = 'array'),
    presence TEXT NOT NULL CHECK (presence IN ('offered', 'gone')),
    at TEXT NOT NULL,
    PRIMARY KEY (source, tool)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sightings_known BEFORE INSERT ON sightings
WHEN NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
BEGIN SELECT RAISE(ABORT, 'misuse: a sighting names a registered contract'); END;

CREATE TRIGGER pins_through_the_gate BEFORE UPDATE OF trust ON pins
WHEN NEW.trust = 'pinned' AND EXISTS (
    SELECT 1 FROM sightings
    WHERE source = NEW.source AND tool = NEW.tool AND fingerprint = NEW.fingerprint AND faults <> '[]'
)
BEGIN SELECT RAISE(ABORT, 'definition_changed: a contract that failed the gate cannot be accepted'); END;

CREATE TABLE ledger_version (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO ledger_version (number, version) VALUES (1, 1);

CREATE TRIGGER ledger_version_once BEFORE INSERT ON ledger_version
BEGIN SELECT RAISE(ABORT, 'misuse: there is one version of the ledger'); END;
CREATE TRIGGER ledger_version_grows BEFORE UPDATE ON ledger_version WHEN NEW.version <= OLD.version OR NEW.number <> 1
BEGIN SELECT RAISE(ABORT, 'misuse: the version of the ledger only grows'); END;
CREATE TRIGGER ledger_version_kept BEFORE DELETE ON ledger_version
BEGIN SELECT RAISE(ABORT, 'misuse: the version of the ledger is kept'); END;

CREATE TRIGGER pins_new AFTER INSERT ON pins
BEGIN UPDATE ledger_version SET version = version + 1; END;
CREATE TRIGGER pins_moved AFTER UPDATE ON pins
BEGIN UPDATE ledger_version SET version = version + 1; END;
CREATE TRIGGER sightings_new AFTER INSERT ON sightings
BEGIN UPDATE ledger_version SET version = version + 1; END;
CREATE TRIGGER sightings_moved AFTER UPDATE ON sightings
BEGIN UPDATE ledger_version SET version = version + 1; END;
CREATE TRIGGER sightings_gone AFTER DELETE ON sightings
BEGIN UPDATE ledger_version SET version = version + 1; END;

-- A pin is in force while its source was not seen to offer anything else. The source digests of pin and sighting
-- differ only where changed code is held back.
CREATE VIEW contracts_in_force AS
SELECT pins.tool, pins.fingerprint
FROM pins LEFT JOIN sightings ON sightings.source = pins.source AND sightings.tool = pins.tool
WHERE pins.retired_at IS NULL AND pins.trust <> 'untrusted' AND (
    sightings.tool IS NULL
    OR (sightings.fingerprint = pins.fingerprint AND sightings.source_digest = pins.source_digest)
);

CREATE INDEX invocations_waiting ON invocations (tool) WHERE status IN ('pending', 'queued');

CREATE TRIGGER warrants_in_force BEFORE INSERT ON warrants
WHEN EXISTS (
        SELECT 1 FROM invocations
        WHERE id = NEW.invocation_id AND fingerprint IS NOT NULL AND status IN ('proposed', 'queued')
    )
    AND NOT EXISTS (
        SELECT 1 FROM invocations JOIN contracts_in_force USING (tool, fingerprint) WHERE id = NEW.invocation_id
    )
BEGIN SELECT RAISE(ABORT, 'tool_not_found: no such tool'); END;
CREATE TRIGGER approvals_in_force BEFORE INSERT ON approvals
WHEN EXISTS (
        SELECT 1 FROM invocations WHERE id = NEW.invocation_id AND fingerprint IS NOT NULL AND status = 'proposed'
    )
    AND NOT EXISTS (
        SELECT 1 FROM invocations JOIN contracts_in_force USING (tool, fingerprint) WHERE id = NEW.invocation_id
    )
BEGIN SELECT RAISE(ABORT, 'tool_not_found: no such tool'); END;

CREATE TABLE audit_retentions (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    before TEXT NOT NULL,
    by TEXT NOT NULL CHECK (by <> ''),
    at TEXT NOT NULL,
    CHECK (before <= at)
) STRICT;

CREATE TRIGGER audit_retentions_append BEFORE INSERT ON audit_retentions
WHEN NEW.number <= (SELECT max(number) FROM audit_retentions)
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_retentions_fixed BEFORE UPDATE ON audit_retentions
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_retentions_kept BEFORE DELETE ON audit_retentions
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;

DROP TRIGGER audit_bodies_kept;
CREATE TRIGGER audit_bodies_kept BEFORE DELETE ON audit_bodies
WHEN NOT EXISTS (
    SELECT 1 FROM audit_events JOIN audit_retentions ON audit_events.at < audit_retentions.before
    WHERE audit_events.id = OLD.event AND audit_events.invocation_id IS NOT NULL
)
BEGIN SELECT RAISE(ABORT, 'misuse: a body is kept until an operator lets it go'); END;
