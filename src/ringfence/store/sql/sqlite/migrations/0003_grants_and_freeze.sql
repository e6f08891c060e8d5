-- Standing grants and the stop button.
--
--   standing_grants      what operators approved in advance, within bounds; only its end can be written, once
--   standing_signatures  which operators signed it; never changes
--   standing_uses        one row per call that rests on a grant; inserted in the transaction that starts the call
--   freezes              what an operator stopped; only its lifting can be written, once
--
-- A warrant that rests on standing grants is `allowed`, and its uses stand beside it: a tool that needs an approval on
-- record runs by votes or by at least one use.

CREATE TABLE standing_grants (
    id TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    source_digest TEXT NOT NULL,
    conditions TEXT NOT NULL CHECK (json_type(conditions) = 'object'),
    answers TEXT NOT NULL CHECK (json_type(answers) = 'array'),
    max_uses INTEGER NOT NULL CHECK (max_uses BETWEEN 1 AND 10000),
    because TEXT NOT NULL,
    digest TEXT NOT NULL,
    given_at TEXT NOT NULL,
    expires_at TEXT NOT NULL CHECK (expires_at > given_at),
    ended_at TEXT,
    ended_by TEXT,
    ended_why TEXT,
    CHECK ((ended_at IS NULL) = (ended_why IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX standing_grants_open ON standing_grants (agent, tool) WHERE ended_at IS NULL;

CREATE TABLE standing_signatures (
    grant_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    digest TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (grant_id, operator)
) STRICT, WITHOUT ROWID;

CREATE TABLE standing_uses (
    grant_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (grant_id, invocation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX standing_uses_of_call ON standing_uses (invocation_id);

CREATE TABLE freezes (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    id TEXT NOT NULL UNIQUE,
    agent TEXT,
    tool TEXT,
    by TEXT NOT NULL,
    because TEXT NOT NULL,
    at TEXT NOT NULL,
    lifted_at TEXT,
    lifted_by TEXT,
    CHECK (agent IS NULL OR tool IS NULL),
    CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
) STRICT;
CREATE INDEX freezes_active ON freezes (agent, tool) WHERE lifted_at IS NULL;

CREATE VIEW standing_grants_with_signatures AS
SELECT
    id, agent, tool, fingerprint, source_digest, conditions, answers, max_uses, because, digest, given_at, expires_at,
    ended_at, ended_by, ended_why,
    (
        SELECT safety_class FROM tools
        WHERE name = standing_grants.tool AND tools.fingerprint = standing_grants.fingerprint
    ) AS safety,
    (
        SELECT json_group_array(operator)
        FROM (SELECT operator FROM standing_signatures WHERE grant_id = standing_grants.id ORDER BY at, operator)
    ) AS signed_by,
    (SELECT count(*) FROM standing_uses WHERE grant_id = standing_grants.id) AS uses
FROM standing_grants;

CREATE TRIGGER standing_grants_begin BEFORE INSERT ON standing_grants
BEGIN
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM standing_grants WHERE id = NEW.id)
        THEN RAISE(ABORT, 'misuse: a standing grant is given once')
        WHEN NEW.ended_at IS NOT NULL OR NEW.ended_by IS NOT NULL
        THEN RAISE(ABORT, 'misuse: a standing grant begins open')
        WHEN NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
        THEN RAISE(ABORT, 'misuse: a standing grant names a registered contract')
    END;
END;
CREATE TRIGGER standing_grants_fixed BEFORE UPDATE OF
    id, agent, tool, fingerprint, source_digest, conditions, answers, max_uses, because, digest, given_at, expires_at
ON standing_grants
BEGIN SELECT RAISE(ABORT, 'misuse: what was granted does not change'); END;
CREATE TRIGGER standing_grants_end BEFORE UPDATE OF ended_at, ended_by, ended_why ON standing_grants
WHEN OLD.ended_at IS NOT NULL OR NEW.ended_at IS NULL
BEGIN SELECT RAISE(ABORT, 'misuse: a standing grant ends once'); END;
CREATE TRIGGER standing_grants_kept BEFORE DELETE ON standing_grants
BEGIN SELECT RAISE(ABORT, 'misuse: a standing grant is kept'); END;

CREATE TRIGGER standing_signatures_admit BEFORE INSERT ON standing_signatures
BEGIN
    SELECT CASE
        WHEN standing_grants.id IS NULL
        THEN RAISE(ABORT, 'misuse: there is no such standing grant')
        WHEN ended_at IS NOT NULL
        THEN RAISE(ABORT, 'misuse: the standing grant has ended')
        WHEN NEW.at >= expires_at
        THEN RAISE(ABORT, 'misuse: the standing grant has expired')
        WHEN NEW.digest IS NOT standing_grants.digest
        THEN RAISE(ABORT, 'misuse: the signature is for something else than what is granted')
        WHEN EXISTS (SELECT 1 FROM standing_signatures WHERE grant_id = NEW.grant_id AND operator = NEW.operator)
        THEN RAISE(ABORT, 'misuse: an operator signs a standing grant once')
    END
    FROM (SELECT NEW.grant_id AS wanted) LEFT JOIN standing_grants ON standing_grants.id = wanted;
END;
CREATE TRIGGER standing_signatures_fixed BEFORE UPDATE ON standing_signatures
BEGIN SELECT RAISE(ABORT, 'misuse: a signature does not change'); END;
CREATE TRIGGER standing_signatures_kept BEFORE DELETE ON standing_signatures
BEGIN SELECT RAISE(ABORT, 'misuse: a signature is kept'); END;

CREATE TRIGGER standing_uses_admit BEFORE INSERT ON standing_uses
BEGIN
    SELECT CASE
        WHEN g.id IS NULL
        THEN RAISE(ABORT, 'approval_void: there is no such standing grant')
        WHEN g.ended_at IS NOT NULL
        THEN RAISE(ABORT, 'approval_void: the standing grant has ended')
        WHEN NEW.at >= g.expires_at
        THEN RAISE(ABORT, 'approval_void: the standing grant has expired')
        WHEN (SELECT count(*) FROM standing_uses WHERE grant_id = NEW.grant_id) >= g.max_uses
        THEN RAISE(ABORT, 'approval_void: the standing grant is used up')
        WHEN EXISTS (SELECT 1 FROM standing_uses WHERE grant_id = NEW.grant_id AND invocation_id = NEW.invocation_id)
        THEN RAISE(ABORT, 'approval_void: a call uses a standing grant once')
        WHEN NOT EXISTS (
            SELECT 1 FROM invocations AS i
            WHERE i.id = NEW.invocation_id AND i.status IN ('proposed', 'queued') AND i.agent = g.agent
                AND i.tool = g.tool AND i.fingerprint = g.fingerprint AND i.source_digest = g.source_digest
        )
        THEN RAISE(ABORT, 'approval_void: the standing grant is not for this call')
        WHEN (
            SELECT count(*) FROM standing_signatures
            WHERE grant_id = NEW.grant_id AND operator NOT IN (
                SELECT value FROM invocations, json_each(invocations.proposers)
                WHERE invocations.id = NEW.invocation_id
            )
        ) < 1
        THEN RAISE(ABORT, 'approval_void: whoever proposed a call cannot have granted it')
    END
    FROM (SELECT NEW.grant_id AS wanted) LEFT JOIN standing_grants AS g ON g.id = wanted;
END;
CREATE TRIGGER standing_uses_fixed BEFORE UPDATE ON standing_uses
BEGIN SELECT RAISE(ABORT, 'misuse: a use does not change'); END;
CREATE TRIGGER standing_uses_kept BEFORE DELETE ON standing_uses
BEGIN SELECT RAISE(ABORT, 'misuse: a use is kept'); END;

-- A grant was given for one contract and one code; where the pin moves on from either, the grant ends for good.
CREATE TRIGGER standing_grants_void AFTER UPDATE OF fingerprint, source_digest ON pins
WHEN NEW.fingerprint IS NOT OLD.fingerprint OR NEW.source_digest IS NOT OLD.source_digest
BEGIN
    UPDATE standing_grants
    SET ended_at = NEW.at,
        ended_why = CASE WHEN fingerprint IS NEW.fingerprint THEN 'code_changed' ELSE 'definition_changed' END
    WHERE tool = NEW.tool AND ended_at IS NULL
        AND (fingerprint IS NOT NEW.fingerprint OR source_digest IS NOT NEW.source_digest);
END;

CREATE TRIGGER freezes_begin BEFORE INSERT ON freezes
WHEN NEW.lifted_at IS NOT NULL OR EXISTS (SELECT 1 FROM freezes WHERE id = NEW.id OR number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'misuse: a freeze begins once, and in force'); END;
CREATE TRIGGER freezes_fixed BEFORE UPDATE ON freezes
WHEN OLD.lifted_at IS NOT NULL OR NEW.lifted_at IS NULL OR NEW.number IS NOT OLD.number OR NEW.id IS NOT OLD.id
    OR NEW.agent IS NOT OLD.agent OR NEW.tool IS NOT OLD.tool OR NEW.by IS NOT OLD.by
    OR NEW.because IS NOT OLD.because OR NEW.at IS NOT OLD.at
BEGIN SELECT RAISE(ABORT, 'misuse: a freeze is only lifted, and once'); END;
CREATE TRIGGER freezes_kept BEFORE DELETE ON freezes
BEGIN SELECT RAISE(ABORT, 'misuse: a freeze is kept'); END;

CREATE TRIGGER approvals_frozen BEFORE INSERT ON approvals
WHEN EXISTS (
    SELECT 1 FROM freezes, invocations
    WHERE lifted_at IS NULL AND invocations.id = NEW.invocation_id
        AND (freezes.agent IS NULL OR freezes.agent = invocations.agent)
        AND (freezes.tool IS NULL OR freezes.tool = invocations.tool)
)
BEGIN SELECT RAISE(ABORT, 'frozen: an operator has frozen calls'); END;

DROP TRIGGER warrants_admit;
CREATE TRIGGER warrants_admit BEFORE INSERT ON warrants
BEGIN
    SELECT CASE
        WHEN status IS NULL
        THEN RAISE(ABORT, 'misuse: there is no such call')
        WHEN status = 'running'
        THEN RAISE(ABORT, 'in_flight: the call is running already')
        WHEN status NOT IN ('proposed', 'queued')
        THEN RAISE(ABORT, 'approval_void: the call can no longer be started')
        WHEN EXISTS (
            SELECT 1 FROM freezes
            WHERE lifted_at IS NULL
                AND (freezes.agent IS NULL OR freezes.agent = invocations.agent)
                AND (freezes.tool IS NULL OR freezes.tool = invocations.tool)
        )
        THEN RAISE(ABORT, 'frozen: an operator has frozen calls')
        WHEN NEW.basis = 'allowed' AND approval_status IS NOT NULL
        THEN RAISE(ABORT, 'approval_void: a call that asked for votes runs by votes alone')
        WHEN NEW.basis = 'allowed' AND (
            SELECT requires_approval FROM tools WHERE name = tool AND tools.fingerprint = invocations.fingerprint
        ) IS NOT 0 AND NOT EXISTS (
            SELECT 1 FROM standing_uses WHERE standing_uses.invocation_id = NEW.invocation_id
        )
        THEN RAISE(ABORT, 'approval_void: the tool needs an approval on record')
        WHEN NEW.basis = 'votes' AND NOT EXISTS (
            SELECT 1 FROM approvals
            WHERE id = NEW.approval_id AND invocation_id = NEW.invocation_id
                AND approvals.status = 'approved' AND digest = NEW.digest
        )
        THEN RAISE(ABORT, 'approval_void: the votes are not for this call as it would run')
        WHEN NEW.basis = 'votes' AND NEW.consumed_at >= (
            SELECT expires_at FROM approvals WHERE approvals.id = NEW.approval_id
        )
        THEN RAISE(ABORT, 'approval_expired: the approval has expired')
        WHEN NEW.basis = 'allowed' AND EXISTS (
            SELECT 1 FROM tools
            WHERE name = tool AND tools.fingerprint = invocations.fingerprint
                AND (safety_class = 'privileged' OR approval_route = 'dual')
        ) AND NOT EXISTS (
            SELECT 1 FROM standing_uses AS u
            WHERE u.invocation_id = NEW.invocation_id AND 2 <= (
                SELECT count(*) FROM standing_signatures AS s
                WHERE s.grant_id = u.grant_id AND s.operator NOT IN (
                    SELECT value FROM json_each(invocations.proposers)
                )
            )
        )
        THEN RAISE(ABORT, 'approval_void: the call needs a standing grant that two operators signed')
    END
    FROM (SELECT NEW.invocation_id AS wanted) LEFT JOIN invocations ON id = wanted;
END;
