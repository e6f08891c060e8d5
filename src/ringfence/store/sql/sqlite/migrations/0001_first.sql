-- The tables, and the rules that hold whatever program writes to them.
--
--   tools              one row per contract ever registered; never changes
--   pins               what is on record about a tool of a source
--   sessions           whose conversation it is; never changes
--   invocations        one row per call; status moves only along the legal moves
--   approvals          one request for votes per call; moving it moves the call
--   votes              one word per person; never changes
--   warrants           permission to run, used up by being inserted: the insert itself sets the call running
--   audit_events       the chained trail; append-only
--   audit_bodies       what each event says, apart from the chain; append-only
--   audit_checkpoints  signed heads of all chains; append-only
--
-- Times are ISO-8601 in UTC with microseconds, so that they compare as text. A refusal is `code: reason`.
-- References are held by triggers, because SQLite ignores foreign keys on a connection that did not ask for them;
-- `INSERT OR REPLACE` passes by delete triggers, so tables that never change also refuse a second row of the same key.

CREATE TABLE tools (
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    document TEXT NOT NULL CHECK (json_valid(document)),
    safety_class TEXT NOT NULL CHECK (safety_class IN ('read', 'write', 'network', 'financial', 'privileged')),
    egress_class TEXT NOT NULL CHECK (egress_class IN ('none', 'read_only', 'write')),
    approval_route TEXT NOT NULL,
    description_hash TEXT NOT NULL,
    registered_at TEXT NOT NULL,
    requires_approval INTEGER NOT NULL GENERATED ALWAYS AS (
        CASE
            WHEN egress_class IN ('none', 'read_only')
                AND safety_class IN ('read', 'write', 'network')
                AND approval_route NOT IN ('human', 'dual')
            THEN 0 ELSE 1
        END
    ) STORED,
    PRIMARY KEY (name, fingerprint),
    CHECK (json_extract(document, '$.name') IS name),
    CHECK (json_extract(document, '$.safety') IS safety_class),
    CHECK (json_extract(document, '$.egress') IS egress_class),
    CHECK (json_extract(document, '$.approval') IS approval_route)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tools_once BEFORE INSERT ON tools
WHEN EXISTS (SELECT 1 FROM tools WHERE name = NEW.name AND fingerprint = NEW.fingerprint)
BEGIN SELECT RAISE(ABORT, 'misuse: a registered contract never changes'); END;
CREATE TRIGGER tools_fixed BEFORE UPDATE ON tools
BEGIN SELECT RAISE(ABORT, 'misuse: a registered contract never changes'); END;
CREATE TRIGGER tools_kept BEFORE DELETE ON tools
BEGIN SELECT RAISE(ABORT, 'misuse: a registered contract is kept'); END;

CREATE TABLE pins (
    source TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    source_digest TEXT NOT NULL,
    trust TEXT NOT NULL CHECK (trust IN ('untrusted', 'imported', 'pinned')),
    accepted_by TEXT,
    at TEXT NOT NULL,
    PRIMARY KEY (source, tool)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER pins_once BEFORE INSERT ON pins
BEGIN
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM pins WHERE source = NEW.source AND tool = NEW.tool)
        THEN RAISE(ABORT, 'definition_changed: the tool has a pin already')
        WHEN NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
        THEN RAISE(ABORT, 'misuse: a pin names a registered contract')
    END;
END;
CREATE TRIGGER pins_whose BEFORE UPDATE OF source, tool ON pins
BEGIN SELECT RAISE(ABORT, 'misuse: a pin stays with its tool'); END;
CREATE TRIGGER pins_accepted BEFORE UPDATE OF fingerprint ON pins
BEGIN
    SELECT CASE
        WHEN NEW.accepted_by IS NULL
        THEN RAISE(ABORT, 'definition_changed: a changed contract waits for a person')
        WHEN NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
        THEN RAISE(ABORT, 'misuse: a pin names a registered contract')
    END;
END;
CREATE TRIGGER pins_kept BEFORE DELETE ON pins
BEGIN SELECT RAISE(ABORT, 'misuse: a pin is kept'); END;

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    binding TEXT,
    user TEXT,
    opened_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sessions_once BEFORE INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'misuse: a session keeps its agent, binding and user'); END;
CREATE TRIGGER sessions_fixed BEFORE UPDATE ON sessions
BEGIN SELECT RAISE(ABORT, 'misuse: a session keeps its agent, binding and user'); END;
CREATE TRIGGER sessions_kept BEFORE DELETE ON sessions
BEGIN SELECT RAISE(ABORT, 'misuse: a session is kept'); END;

CREATE TABLE invocations (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    binding TEXT,
    user TEXT,
    proposers TEXT NOT NULL CHECK (json_type(proposers) = 'array'),
    tool TEXT NOT NULL,
    fingerprint TEXT,
    source_digest TEXT,
    arguments TEXT NOT NULL,
    arguments_digest TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    status TEXT NOT NULL,
    approval_status TEXT,
    approval_reason TEXT,
    code TEXT,
    outcome TEXT,
    cost_estimate TEXT,
    proposed_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    CHECK (fingerprint IS NOT NULL OR status IN ('proposed', 'refused'))
) STRICT;
CREATE INDEX invocations_alike ON invocations (session, tool, arguments_digest);

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    invocation_id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    card TEXT NOT NULL CHECK (json_valid(card)),
    votes_needed INTEGER NOT NULL CHECK (votes_needed >= 1),
    voter_group TEXT,
    proposers TEXT NOT NULL CHECK (json_type(proposers) = 'array'),
    expires_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'void')),
    code TEXT,
    resolved_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status = 'pending';

CREATE TABLE votes (
    approval_id TEXT NOT NULL,
    voter TEXT NOT NULL,
    digest TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('approve', 'reject')),
    reason TEXT,
    door TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (approval_id, voter)
) STRICT, WITHOUT ROWID;

CREATE VIEW approvals_with_votes AS
SELECT
    id, invocation_id, status, digest, card, votes_needed, voter_group, proposers, expires_at,
    (
        SELECT json_group_array(json_array(digest, voter, decision, reason, door, at))
        FROM (SELECT * FROM votes WHERE approval_id = approvals.id ORDER BY at, voter)
    ) AS votes
FROM approvals;

CREATE TABLE warrants (
    invocation_id TEXT NOT NULL PRIMARY KEY,
    basis TEXT NOT NULL CHECK (basis IN ('allowed', 'votes')),
    approval_id TEXT,
    digest TEXT NOT NULL,
    consumed_at TEXT NOT NULL,
    CHECK ((basis = 'votes') = (approval_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER invocations_begin BEFORE INSERT ON invocations
BEGIN
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM invocations WHERE id = NEW.id OR number = NEW.number)
        THEN RAISE(ABORT, 'misuse: a call is proposed once')
        WHEN NEW.status IS NOT 'proposed'
        THEN RAISE(ABORT, 'misuse: a call begins as proposed')
        WHEN NEW.approval_status IS NOT NULL OR NEW.approval_reason IS NOT NULL OR NEW.code IS NOT NULL
            OR NEW.outcome IS NOT NULL OR NEW.cost_estimate IS NOT NULL OR NEW.started_at IS NOT NULL
            OR NEW.completed_at IS NOT NULL
        THEN RAISE(ABORT, 'misuse: a proposed call has no history')
        WHEN NEW.fingerprint IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
        THEN RAISE(ABORT, 'misuse: a call names a registered contract')
    END;
END;
CREATE TRIGGER invocations_whose BEFORE UPDATE OF
    id, session, agent, binding, user, proposers, tool, fingerprint, source_digest, arguments,
    arguments_digest, idempotency_key, proposed_at
ON invocations
BEGIN SELECT RAISE(ABORT, 'misuse: what was proposed does not change'); END;
-- `UPDATE OF number` does not see `SET rowid = …`, which under `OR REPLACE` would remove another call.
CREATE TRIGGER invocations_place BEFORE UPDATE ON invocations WHEN NEW.number IS NOT OLD.number
BEGIN SELECT RAISE(ABORT, 'misuse: what was proposed does not change'); END;
CREATE TRIGGER invocations_move BEFORE UPDATE OF status ON invocations
BEGIN
    SELECT CASE
        WHEN OLD.status || '>' || NEW.status NOT IN (
            'proposed>refused', 'proposed>pending', 'proposed>queued',
            'pending>queued', 'pending>rejected', 'pending>expired', 'pending>void',
            'queued>running', 'queued>refused', 'queued>void', 'queued>cancelled',
            'running>completed', 'running>failed', 'running>in_doubt',
            'in_doubt>completed', 'in_doubt>failed'
        )
        THEN RAISE(ABORT, 'misuse: a call does not move this way')
        WHEN NEW.status = 'running' AND NOT EXISTS (SELECT 1 FROM warrants WHERE invocation_id = OLD.id)
        THEN RAISE(ABORT, 'approval_void: a call runs only by a warrant')
        WHEN NEW.status = 'pending'
            AND (SELECT status FROM approvals WHERE invocation_id = OLD.id) IS NOT 'pending'
        THEN RAISE(ABORT, 'misuse: a call waits only for an open request')
        WHEN OLD.status = 'pending'
            AND (SELECT status FROM approvals WHERE invocation_id = OLD.id)
                IS NOT CASE NEW.status WHEN 'queued' THEN 'approved' ELSE NEW.status END
        THEN RAISE(ABORT, 'misuse: a waiting call moves with its request')
    END;
END;
CREATE TRIGGER invocations_approval BEFORE UPDATE OF approval_status, approval_reason ON invocations
WHEN NEW.approval_status IS NOT (SELECT status FROM approvals WHERE invocation_id = OLD.id)
    OR NEW.approval_reason IS NOT (
        SELECT reason FROM votes JOIN approvals ON approvals.id = votes.approval_id
        WHERE invocation_id = OLD.id AND decision = 'reject'
    )
BEGIN SELECT RAISE(ABORT, 'misuse: a call repeats what its request says'); END;
CREATE TRIGGER invocations_facts BEFORE UPDATE OF code, outcome, cost_estimate, started_at, completed_at ON invocations
WHEN OLD.status = NEW.status OR (OLD.started_at IS NOT NULL AND NEW.started_at IS NOT OLD.started_at)
BEGIN SELECT RAISE(ABORT, 'misuse: what is on record changes only with a move'); END;
CREATE TRIGGER invocations_kept BEFORE DELETE ON invocations
BEGIN SELECT RAISE(ABORT, 'misuse: a call is kept'); END;

CREATE TRIGGER approvals_begin BEFORE INSERT ON approvals
BEGIN
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM approvals WHERE id = NEW.id OR invocation_id = NEW.invocation_id)
        THEN RAISE(ABORT, 'misuse: a call asks for votes once')
        WHEN NEW.status IS NOT 'pending' OR NEW.code IS NOT NULL OR NEW.resolved_at IS NOT NULL
        THEN RAISE(ABORT, 'misuse: a request begins as pending')
        WHEN (SELECT status FROM invocations WHERE id = NEW.invocation_id) IS NOT 'proposed'
        THEN RAISE(ABORT, 'misuse: votes are asked for a proposed call')
    END;
END;
CREATE TRIGGER approvals_asked AFTER INSERT ON approvals
BEGIN UPDATE invocations SET status = 'pending', approval_status = 'pending' WHERE id = NEW.invocation_id; END;
CREATE TRIGGER approvals_shown BEFORE UPDATE OF
    id, invocation_id, digest, card, votes_needed, voter_group, proposers, expires_at
ON approvals
BEGIN SELECT RAISE(ABORT, 'misuse: what was shown does not change'); END;
CREATE TRIGGER approvals_move BEFORE UPDATE OF status, code, resolved_at ON approvals
BEGIN
    SELECT CASE
        WHEN OLD.status || '>' || NEW.status NOT IN (
            'pending>approved', 'pending>rejected', 'pending>expired', 'pending>void', 'approved>void'
        )
        THEN RAISE(ABORT, 'vote_refused: the request does not move this way')
        WHEN NEW.status = 'approved' AND OLD.votes_needed > (
            SELECT count(*) FROM votes WHERE approval_id = OLD.id AND decision = 'approve'
        )
        THEN RAISE(ABORT, 'vote_refused: there are too few votes')
        WHEN NEW.status = 'approved' AND EXISTS (
            SELECT 1 FROM votes WHERE approval_id = OLD.id AND decision = 'reject'
        )
        THEN RAISE(ABORT, 'vote_refused: somebody rejected it')
        WHEN NEW.status = 'rejected' AND NOT EXISTS (
            SELECT 1 FROM votes WHERE approval_id = OLD.id AND decision = 'reject'
        )
        THEN RAISE(ABORT, 'vote_refused: nobody rejected it')
    END;
END;
CREATE TRIGGER approvals_moved AFTER UPDATE OF status ON approvals
BEGIN
    UPDATE invocations
    SET status = CASE NEW.status WHEN 'approved' THEN 'queued' ELSE NEW.status END,
        approval_status = NEW.status,
        approval_reason = (SELECT reason FROM votes WHERE approval_id = NEW.id AND decision = 'reject'),
        code = NEW.code,
        completed_at = CASE NEW.status WHEN 'approved' THEN NULL ELSE NEW.resolved_at END
    WHERE id = NEW.invocation_id;
END;
CREATE TRIGGER approvals_kept BEFORE DELETE ON approvals
BEGIN SELECT RAISE(ABORT, 'misuse: a request is kept'); END;

CREATE TRIGGER votes_admit BEFORE INSERT ON votes
BEGIN
    SELECT CASE
        WHEN approvals.id IS NULL
        THEN RAISE(ABORT, 'vote_refused: there is no such request')
        WHEN approvals.status <> 'pending'
        THEN RAISE(ABORT, 'vote_refused: the request takes no more votes')
        WHEN NEW.at >= approvals.expires_at
        THEN RAISE(ABORT, 'vote_refused: the request has expired, and silence is refusal')
        WHEN NEW.digest IS NOT approvals.digest
        THEN RAISE(ABORT, 'vote_refused: the vote is for something else than what is asked')
        WHEN EXISTS (SELECT 1 FROM json_each(approvals.proposers) WHERE value = NEW.voter)
            OR EXISTS (
                SELECT 1 FROM invocations, json_each(invocations.proposers)
                WHERE invocations.id = approvals.invocation_id AND value = NEW.voter
            )
        THEN RAISE(ABORT, 'vote_refused: whoever proposed a call cannot vote on it')
        WHEN EXISTS (SELECT 1 FROM votes WHERE approval_id = NEW.approval_id AND voter = NEW.voter)
        THEN RAISE(ABORT, 'vote_refused: a person votes once')
        WHEN NEW.decision = 'reject' AND trim(coalesce(NEW.reason, '')) = ''
        THEN RAISE(ABORT, 'vote_refused: a rejection needs a reason')
    END
    FROM (SELECT NEW.approval_id AS wanted) LEFT JOIN approvals ON approvals.id = wanted;
END;
CREATE TRIGGER votes_fixed BEFORE UPDATE ON votes
BEGIN SELECT RAISE(ABORT, 'vote_refused: a vote does not change'); END;
CREATE TRIGGER votes_kept BEFORE DELETE ON votes
BEGIN SELECT RAISE(ABORT, 'vote_refused: a vote is kept'); END;

CREATE TRIGGER warrants_admit BEFORE INSERT ON warrants
BEGIN
    SELECT CASE
        WHEN status IS NULL
        THEN RAISE(ABORT, 'misuse: there is no such call')
        WHEN status = 'running'
        THEN RAISE(ABORT, 'in_flight: the call is running already')
        WHEN status NOT IN ('proposed', 'queued')
        THEN RAISE(ABORT, 'approval_void: the call can no longer be started')
        WHEN NEW.basis = 'allowed' AND approval_status IS NOT NULL
        THEN RAISE(ABORT, 'approval_void: a call that asked for votes runs by votes alone')
        WHEN NEW.basis = 'allowed' AND (
            SELECT requires_approval FROM tools WHERE name = tool AND tools.fingerprint = invocations.fingerprint
        ) IS NOT 0
        THEN RAISE(ABORT, 'approval_void: the tool needs an approval on record')
        WHEN NEW.basis = 'votes' AND NOT EXISTS (
            SELECT 1 FROM approvals
            WHERE id = NEW.approval_id AND invocation_id = NEW.invocation_id
                AND approvals.status = 'approved' AND digest = NEW.digest
        )
        THEN RAISE(ABORT, 'approval_void: the votes are not for this call as it would run')
    END
    FROM (SELECT NEW.invocation_id AS wanted) LEFT JOIN invocations ON id = wanted;
END;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants
BEGIN
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
END;
CREATE TRIGGER warrants_fixed BEFORE UPDATE ON warrants
BEGIN SELECT RAISE(ABORT, 'approval_void: a warrant is used once'); END;
CREATE TRIGGER warrants_kept BEFORE DELETE ON warrants
BEGIN SELECT RAISE(ABORT, 'approval_void: a used warrant is kept'); END;

CREATE TABLE audit_events (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    writer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT,
    tool TEXT,
    safety TEXT,
    invocation_id TEXT,
    body_digest TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (writer, seq)
) STRICT;

CREATE TABLE audit_bodies (
    event INTEGER PRIMARY KEY CHECK (event > 0),
    body TEXT NOT NULL
) STRICT;

CREATE TABLE audit_checkpoints (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    statement TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT;

CREATE TRIGGER audit_events_append BEFORE INSERT ON audit_events
WHEN NEW.id <= (SELECT max(id) FROM audit_events)
    OR EXISTS (SELECT 1 FROM audit_events WHERE writer = NEW.writer AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_events_fixed BEFORE UPDATE ON audit_events
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_events_kept BEFORE DELETE ON audit_events
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;

CREATE TRIGGER audit_bodies_append BEFORE INSERT ON audit_bodies
WHEN NEW.event <= (SELECT max(event) FROM audit_bodies)
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_bodies_fixed BEFORE UPDATE ON audit_bodies
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_bodies_kept BEFORE DELETE ON audit_bodies
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;

CREATE TRIGGER audit_checkpoints_append BEFORE INSERT ON audit_checkpoints
WHEN NEW.number <= (SELECT max(number) FROM audit_checkpoints)
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_checkpoints_fixed BEFORE UPDATE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
CREATE TRIGGER audit_checkpoints_kept BEFORE DELETE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'misuse: the trail is only appended to'); END;
