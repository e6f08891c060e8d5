-- An event and what it says are one row, so that a commit writes one table less.
--
--   audit_events  the chained trail with its bodies; append-only, but for bodies that an operator lets go
--   audit_bodies  what each event says, to be read as before
--   audit_strays  bodies whose events were gone already when this migration came; evidence, and never changed

ALTER TABLE audit_events ADD COLUMN body TEXT;
DROP TRIGGER audit_events_fixed;
UPDATE audit_events SET body = (SELECT b.body FROM audit_bodies AS b WHERE b.event = audit_events.id);

CREATE TABLE audit_strays (
    event INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;
INSERT INTO audit_strays (event, body)
SELECT event, body FROM audit_bodies WHERE event NOT IN (SELECT id FROM audit_events);
CREATE TRIGGER audit_strays_append BEFORE INSERT ON audit_strays
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_strays_fixed BEFORE UPDATE ON audit_strays
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_strays_kept BEFORE DELETE ON audit_strays
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;

DROP TABLE audit_bodies;
CREATE VIEW audit_bodies AS SELECT id AS event, body FROM audit_events WHERE body IS NOT NULL;

-- A body whose event had moved used to lie where the event had been. Now a place that is left empty shows it.
DROP TRIGGER audit_events_append;
CREATE TRIGGER audit_events_append BEFORE INSERT ON audit_events
WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM audit_events)
    OR EXISTS (SELECT 1 FROM audit_events WHERE writer = NEW.writer AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_events_fixed BEFORE UPDATE ON audit_events
BEGIN
    SELECT CASE
        WHEN NEW.body IS NOT NULL OR OLD.body IS NULL OR (
            NEW.id, NEW.writer, NEW.seq, NEW.at, NEW.kind, NEW.agent, NEW.tool, NEW.safety, NEW.invocation_id,
            NEW.body_digest, NEW.previous, NEW.hash
        ) IS NOT (
            OLD.id, OLD.writer, OLD.seq, OLD.at, OLD.kind, OLD.agent, OLD.tool, OLD.safety, OLD.invocation_id,
            OLD.body_digest, OLD.previous, OLD.hash
        )
        THEN RAISE(ABORT, 'misuse: the trail is only appended to')
        WHEN OLD.invocation_id IS NULL OR NOT EXISTS (SELECT 1 FROM audit_retentions WHERE OLD.at < before)
        THEN RAISE(ABORT, 'misuse: a body is kept until an operator lets it go')
    END;
END;
