-- The tables, and the rules that hold whatever program writes to them.
--
--   tools                one row per contract ever registered; never changes
--   pins, sightings      what is accepted of a tool of a source, and what the source was last seen to offer
--   ledger_version       one number that moves with pins and sightings
--   sessions             whose conversation it is; never changes
--   invocations          one row per call; status moves only along the legal moves
--   approvals, votes     one request for votes per call; moving it moves the call
--   warrants             permission to run, used up by being inserted: the insert itself sets the call running
--   standing_*           what operators approved in advance, who signed it, which call used it
--   freezes              what an operator stopped
--   audit_*              the chained trail, its bodies, its signed checkpoints, and who let bodies go
--
-- Times are ISO-8601 in UTC with microseconds, compared byte by byte. A refusal is `code: reason`.
-- Functions are PL/pgSQL, which keeps a plan where plain SQL would make it anew at every call. They run with the rights
-- of whoever asks, unless they move a row on behalf of another: those are the owner's.
-- A row that decides is locked before it is looked at, so that two who ask at once are answered one after the other.

CREATE TABLE tools (
    name text NOT NULL,
    fingerprint text NOT NULL,
    document text NOT NULL,
    safety_class text NOT NULL CHECK (safety_class IN ('read', 'write', 'network', 'financial', 'privileged')),
    egress_class text NOT NULL CHECK (egress_class IN ('none', 'read_only', 'write')),
    approval_route text NOT NULL,
    description_hash text NOT NULL,
    registered_at text COLLATE "C" NOT NULL,
    requires_approval boolean NOT NULL GENERATED ALWAYS AS (
        coalesce(
            NOT (
                egress_class IN ('none', 'read_only')
                AND safety_class IN ('read', 'write', 'network')
                AND approval_route NOT IN ('human', 'dual')
            ),
            true
        )
    ) STORED,
    PRIMARY KEY (name, fingerprint),
    CHECK ((document::json ->> 'name') IS NOT DISTINCT FROM name),
    CHECK ((document::json ->> 'safety') IS NOT DISTINCT FROM safety_class),
    CHECK ((document::json ->> 'egress') IS NOT DISTINCT FROM egress_class),
    CHECK ((document::json ->> 'approval') IS NOT DISTINCT FROM approval_route)
);

CREATE TABLE pins (
    source text NOT NULL,
    tool text NOT NULL,
    fingerprint text NOT NULL,
    source_digest text NOT NULL,
    trust text NOT NULL CHECK (trust IN ('untrusted', 'imported', 'pinned')),
    accepted_by text,
    at text COLLATE "C" NOT NULL,
    retired_at text COLLATE "C",
    PRIMARY KEY (source, tool)
);
CREATE INDEX pins_of_tool ON pins (tool, fingerprint);

CREATE TABLE sightings (
    source text NOT NULL,
    tool text NOT NULL,
    fingerprint text NOT NULL,
    source_digest text NOT NULL,
    faults text NOT NULL CHECK (json_typeof(faults::json) = 'array'),
    presence text NOT NULL CHECK (presence IN ('offered', 'gone')),
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (source, tool)
);

CREATE TABLE ledger_version (
    number integer PRIMARY KEY CHECK (number = 1),
    version bigint NOT NULL
);
INSERT INTO ledger_version (number, version) VALUES (1, 1);

CREATE TABLE sessions (
    id text PRIMARY KEY,
    agent text NOT NULL,
    binding text,
    "user" text,
    opened_at text COLLATE "C" NOT NULL
);

CREATE TABLE invocations (
    number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL UNIQUE,
    session text NOT NULL,
    agent text NOT NULL,
    binding text,
    "user" text,
    proposers text NOT NULL CHECK (json_typeof(proposers::json) = 'array'),
    tool text NOT NULL,
    fingerprint text,
    source_digest text,
    arguments text NOT NULL,
    arguments_digest text NOT NULL,
    idempotency_key text NOT NULL,
    status text NOT NULL,
    approval_status text,
    approval_reason text,
    code text,
    outcome text,
    cost_estimate text,
    proposed_at text COLLATE "C" NOT NULL,
    started_at text COLLATE "C",
    completed_at text COLLATE "C",
    CHECK (fingerprint IS NOT NULL OR status IN ('proposed', 'refused'))
) WITH (fillfactor = 70);
CREATE INDEX invocations_alike ON invocations (session, tool, arguments_digest) WHERE approval_status IS NOT NULL;
CREATE INDEX invocations_waiting ON invocations (tool)
WHERE approval_status IS NOT NULL AND status IN ('pending', 'queued');

CREATE TABLE approvals (
    id text PRIMARY KEY,
    invocation_id text NOT NULL UNIQUE,
    digest text NOT NULL,
    card text NOT NULL CHECK (json_typeof(card::json) = 'object'),
    votes_needed integer NOT NULL CHECK (votes_needed >= 1),
    voter_group text,
    proposers text NOT NULL CHECK (json_typeof(proposers::json) = 'array'),
    expires_at text COLLATE "C" NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'void')),
    code text,
    resolved_at text COLLATE "C"
);
CREATE INDEX approvals_open ON approvals (expires_at) WHERE status = 'pending';

CREATE TABLE votes (
    approval_id text NOT NULL,
    voter text NOT NULL,
    digest text NOT NULL,
    decision text NOT NULL CHECK (decision IN ('approve', 'reject')),
    reason text,
    door text NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (approval_id, voter)
);

CREATE VIEW approvals_with_votes AS
SELECT
    id, invocation_id, status, digest, card, votes_needed, voter_group, proposers, expires_at,
    (
        SELECT coalesce(json_agg(json_build_array(v.digest, voter, decision, reason, door, v.at) ORDER BY v.at, voter), '[]')::text
        FROM votes AS v WHERE v.approval_id = approvals.id
    ) AS votes
FROM approvals;

CREATE TABLE warrants (
    invocation_id text PRIMARY KEY,
    basis text NOT NULL CHECK (basis IN ('allowed', 'votes')),
    approval_id text,
    digest text NOT NULL,
    consumed_at text COLLATE "C" NOT NULL,
    CHECK ((basis = 'votes') = (approval_id IS NOT NULL))
);

CREATE TABLE standing_grants (
    id text PRIMARY KEY,
    agent text NOT NULL,
    tool text NOT NULL,
    fingerprint text NOT NULL,
    source_digest text NOT NULL,
    conditions text NOT NULL CHECK (json_typeof(conditions::json) = 'object'),
    answers text NOT NULL CHECK (json_typeof(answers::json) = 'array'),
    max_uses integer NOT NULL CHECK (max_uses BETWEEN 1 AND 10000),
    because text NOT NULL,
    digest text NOT NULL,
    given_at text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C" NOT NULL CHECK (expires_at > given_at),
    ended_at text COLLATE "C",
    ended_by text,
    ended_why text,
    CHECK ((ended_at IS NULL) = (ended_why IS NULL))
);
CREATE INDEX standing_grants_open ON standing_grants (agent, tool) WHERE ended_at IS NULL;

CREATE TABLE standing_signatures (
    grant_id text NOT NULL,
    operator text NOT NULL,
    digest text NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (grant_id, operator)
);

CREATE TABLE standing_uses (
    grant_id text NOT NULL,
    invocation_id text NOT NULL,
    at text COLLATE "C" NOT NULL,
    PRIMARY KEY (grant_id, invocation_id)
);
CREATE INDEX standing_uses_of_call ON standing_uses (invocation_id);

CREATE TABLE freezes (
    number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL UNIQUE,
    agent text,
    tool text,
    by text NOT NULL,
    because text NOT NULL,
    at text COLLATE "C" NOT NULL,
    lifted_at text COLLATE "C",
    lifted_by text,
    CHECK (agent IS NULL OR tool IS NULL),
    CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
);
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
        SELECT coalesce(json_agg(operator ORDER BY s.at, operator), '[]')::text
        FROM standing_signatures AS s WHERE grant_id = standing_grants.id
    ) AS signed_by,
    (SELECT count(*) FROM standing_uses WHERE grant_id = standing_grants.id) AS uses
FROM standing_grants;

-- A pin is in force while its source was not seen to offer anything else.
CREATE VIEW contracts_in_force AS
SELECT pins.tool, pins.fingerprint
FROM pins LEFT JOIN sightings ON sightings.source = pins.source AND sightings.tool = pins.tool
WHERE pins.retired_at IS NULL AND pins.trust <> 'untrusted' AND (
    sightings.tool IS NULL
    OR (sightings.fingerprint = pins.fingerprint AND sightings.source_digest = pins.source_digest)
);

-- An event's id is its place: the number of its transaction, then its number within it. Whoever reads in this order,
-- and only transactions older than every one under way, misses nothing, and writers need not wait for each other.
CREATE TABLE audit_events (
    id bigint PRIMARY KEY CHECK (id > 0),
    writer text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    agent text,
    tool text,
    safety text,
    invocation_id text,
    body_digest text NOT NULL,
    previous text NOT NULL,
    hash text NOT NULL,
    UNIQUE (writer, seq)
);

CREATE TABLE audit_bodies (
    event bigint PRIMARY KEY CHECK (event > 0),
    body text NOT NULL
);

CREATE TABLE audit_checkpoints (
    number bigint PRIMARY KEY CHECK (number > 0),
    statement text NOT NULL,
    signature bytea NOT NULL
);

CREATE TABLE audit_retentions (
    number bigint PRIMARY KEY CHECK (number > 0),
    before text COLLATE "C" NOT NULL,
    by text NOT NULL CHECK (by <> ''),
    at text COLLATE "C" NOT NULL,
    CHECK (before <= at)
);

-- A database that was restored elsewhere begins to count its transactions anew; this is added to them.
CREATE TABLE audit_offset (
    number integer PRIMARY KEY CHECK (number = 1),
    transactions bigint NOT NULL CHECK (transactions >= 0)
);
INSERT INTO audit_offset (number, transactions) VALUES (1, 0);

CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;

-- The first place of the transaction of this moment.
CREATE FUNCTION audit_place() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (pg_current_xact_id()::text::bigint + (SELECT transactions FROM ringfence.audit_offset)) << 20;
END $$;

-- Every place below this is settled: its transaction has ended, and so has every one before it.
CREATE FUNCTION audit_settled() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (SELECT transactions FROM ringfence.audit_offset)
    ) << 20;
END $$;

CREATE FUNCTION now_text() RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00'
$$;

-- Held shared by whatever asks or starts, and alone by whatever moves a pin, a sighting or a freeze.
CREATE FUNCTION hold_rulings(alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF alone THEN PERFORM pg_advisory_xact_lock(7240001, 1); ELSE PERFORM pg_advisory_xact_lock_shared(7240001, 1); END IF;
END $$;

CREATE FUNCTION rulings_held() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN PERFORM hold_rulings(true); RETURN NULL; END $$;
CREATE TRIGGER a_held BEFORE INSERT OR UPDATE OR DELETE ON pins FOR EACH STATEMENT EXECUTE FUNCTION rulings_held();
CREATE TRIGGER a_held BEFORE INSERT OR UPDATE OR DELETE ON sightings FOR EACH STATEMENT EXECUTE FUNCTION rulings_held();
CREATE TRIGGER a_held BEFORE INSERT OR UPDATE OR DELETE ON freezes FOR EACH STATEMENT EXECUTE FUNCTION rulings_held();

CREATE FUNCTION is_frozen(an_agent text, a_tool text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM ringfence.freezes
        WHERE lifted_at IS NULL AND (agent IS NULL OR agent = an_agent) AND (tool IS NULL OR tool = a_tool)
    );
END $$;

-- tools
CREATE TRIGGER tools_fixed BEFORE UPDATE ON tools
FOR EACH ROW EXECUTE FUNCTION never('misuse: a registered contract never changes');
CREATE TRIGGER tools_kept BEFORE DELETE ON tools
FOR EACH ROW EXECUTE FUNCTION never('misuse: a registered contract is kept');

-- pins and sightings
CREATE FUNCTION pins_admit() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint) THEN
        RAISE EXCEPTION 'misuse: a pin names a registered contract';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM pins WHERE source = NEW.source AND tool = NEW.tool) THEN
            RAISE EXCEPTION 'definition_changed: the tool has a pin already';
        END IF;
        IF NEW.trust = 'pinned' AND current_user = 'ringfence_application' THEN
            RAISE EXCEPTION 'operator_required: only an operator vouches for a contract';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.source, NEW.tool) IS DISTINCT FROM (OLD.source, OLD.tool) THEN
        RAISE EXCEPTION 'misuse: a pin stays with its tool';
    END IF;
    IF NEW.fingerprint <> OLD.fingerprint AND NEW.accepted_by IS NULL THEN
        RAISE EXCEPTION 'definition_changed: a changed contract waits for a person';
    END IF;
    IF NEW.trust = 'pinned' AND EXISTS (
        SELECT 1 FROM sightings
        WHERE source = NEW.source AND tool = NEW.tool AND fingerprint = NEW.fingerprint AND faults <> '[]'
    ) THEN
        RAISE EXCEPTION 'definition_changed: a contract that failed the gate cannot be accepted';
    END IF;
    IF current_user = 'ringfence_application' AND (
        (NEW.fingerprint, NEW.accepted_by, NEW.retired_at) IS DISTINCT FROM (OLD.fingerprint, OLD.accepted_by, OLD.retired_at)
        OR (NEW.trust = 'pinned' AND OLD.trust <> 'pinned')
    ) THEN
        RAISE EXCEPTION 'operator_required: only an operator moves a pin';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER pins_admit BEFORE INSERT OR UPDATE ON pins FOR EACH ROW EXECUTE FUNCTION pins_admit();
CREATE TRIGGER pins_kept BEFORE DELETE ON pins FOR EACH ROW EXECUTE FUNCTION never('misuse: a pin is kept');

CREATE FUNCTION sightings_known() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint) THEN
        RAISE EXCEPTION 'misuse: a sighting names a registered contract';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sightings_known BEFORE INSERT ON sightings FOR EACH ROW EXECUTE FUNCTION sightings_known();

CREATE FUNCTION ledger_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN UPDATE ledger_version SET version = version + 1; RETURN NULL; END $$;
CREATE TRIGGER pins_moved AFTER INSERT OR UPDATE ON pins FOR EACH ROW EXECUTE FUNCTION ledger_moved();
CREATE TRIGGER sightings_moved AFTER INSERT OR UPDATE OR DELETE ON sightings
FOR EACH ROW EXECUTE FUNCTION ledger_moved();

CREATE FUNCTION standing_grants_void() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF (NEW.fingerprint, NEW.source_digest) IS DISTINCT FROM (OLD.fingerprint, OLD.source_digest) THEN
        UPDATE standing_grants
        SET ended_at = NEW.at,
            ended_why = CASE WHEN fingerprint = NEW.fingerprint THEN 'code_changed' ELSE 'definition_changed' END
        WHERE tool = NEW.tool AND ended_at IS NULL
            AND (fingerprint <> NEW.fingerprint OR source_digest <> NEW.source_digest);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER standing_grants_void AFTER UPDATE ON pins FOR EACH ROW EXECUTE FUNCTION standing_grants_void();

-- sessions
CREATE TRIGGER sessions_fixed BEFORE UPDATE ON sessions
FOR EACH ROW EXECUTE FUNCTION never('misuse: a session keeps its agent, binding and user');
CREATE TRIGGER sessions_kept BEFORE DELETE ON sessions
FOR EACH ROW EXECUTE FUNCTION never('misuse: a session is kept');

-- invocations
CREATE FUNCTION invocations_begin() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.status IS DISTINCT FROM 'proposed' THEN
        RAISE EXCEPTION 'misuse: a call begins as proposed';
    END IF;
    IF num_nonnulls(
        NEW.approval_status, NEW.approval_reason, NEW.code, NEW.outcome, NEW.cost_estimate, NEW.started_at,
        NEW.completed_at
    ) > 0 THEN
        RAISE EXCEPTION 'misuse: a proposed call has no history';
    END IF;
    IF NEW.fingerprint IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint)
    THEN
        RAISE EXCEPTION 'misuse: a call names a registered contract';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER invocations_begin BEFORE INSERT ON invocations FOR EACH ROW EXECUTE FUNCTION invocations_begin();

CREATE FUNCTION invocations_move() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE asked text;
BEGIN
    IF (
        NEW.number, NEW.id, NEW.session, NEW.agent, NEW.binding, NEW."user", NEW.proposers, NEW.tool, NEW.fingerprint,
        NEW.source_digest, NEW.arguments, NEW.arguments_digest, NEW.idempotency_key, NEW.proposed_at
    ) IS DISTINCT FROM (
        OLD.number, OLD.id, OLD.session, OLD.agent, OLD.binding, OLD."user", OLD.proposers, OLD.tool, OLD.fingerprint,
        OLD.source_digest, OLD.arguments, OLD.arguments_digest, OLD.idempotency_key, OLD.proposed_at
    ) THEN
        RAISE EXCEPTION 'misuse: what was proposed does not change';
    END IF;
    IF NOT (CASE OLD.status
        WHEN 'proposed' THEN NEW.status IN ('refused', 'pending', 'queued')
        WHEN 'pending' THEN NEW.status IN ('queued', 'rejected', 'expired', 'void')
        WHEN 'queued' THEN NEW.status IN ('running', 'refused', 'void', 'cancelled')
        WHEN 'running' THEN NEW.status IN ('completed', 'failed', 'in_doubt')
        WHEN 'in_doubt' THEN NEW.status IN ('completed', 'failed')
        ELSE false
    END) THEN
        RAISE EXCEPTION 'misuse: a call does not move this way';
    END IF;
    IF NEW.status = 'running' AND NOT EXISTS (SELECT 1 FROM warrants WHERE invocation_id = OLD.id) THEN
        RAISE EXCEPTION 'approval_void: a call runs only by a warrant';
    END IF;
    IF NEW.status = 'pending' OR OLD.status = 'pending' THEN
        asked := (SELECT status FROM approvals WHERE invocation_id = OLD.id);
        IF NEW.status = 'pending' AND asked IS DISTINCT FROM 'pending' THEN
            RAISE EXCEPTION 'misuse: a call waits only for an open request';
        END IF;
        IF OLD.status = 'pending'
            AND asked IS DISTINCT FROM (CASE NEW.status WHEN 'queued' THEN 'approved' ELSE NEW.status END)
        THEN
            RAISE EXCEPTION 'misuse: a waiting call moves with its request';
        END IF;
    END IF;
    IF (NEW.approval_status, NEW.approval_reason) IS DISTINCT FROM (OLD.approval_status, OLD.approval_reason)
        AND NOT EXISTS (
            SELECT 1 FROM approvals AS a
            WHERE a.invocation_id = OLD.id AND a.status = NEW.approval_status AND NEW.approval_reason IS NOT DISTINCT FROM (
                SELECT v.reason FROM votes AS v WHERE v.approval_id = a.id AND v.decision = 'reject'
            )
        )
    THEN
        RAISE EXCEPTION 'misuse: a call repeats what its request says';
    END IF;
    IF OLD.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at THEN
        RAISE EXCEPTION 'misuse: what is on record changes only with a move';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER invocations_move BEFORE UPDATE ON invocations FOR EACH ROW EXECUTE FUNCTION invocations_move();
CREATE TRIGGER invocations_kept BEFORE DELETE ON invocations
FOR EACH ROW EXECUTE FUNCTION never('misuse: a call is kept');

-- approvals and votes
CREATE FUNCTION approvals_begin() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE call invocations%ROWTYPE;
BEGIN
    PERFORM hold_rulings(false);
    SELECT * INTO call FROM invocations WHERE id = NEW.invocation_id FOR UPDATE;
    IF EXISTS (SELECT 1 FROM approvals WHERE id = NEW.id OR invocation_id = NEW.invocation_id) THEN
        RAISE EXCEPTION 'misuse: a call asks for votes once';
    END IF;
    IF NEW.status IS DISTINCT FROM 'pending' OR NEW.code IS NOT NULL OR NEW.resolved_at IS NOT NULL THEN
        RAISE EXCEPTION 'misuse: a request begins as pending';
    END IF;
    IF call.status IS DISTINCT FROM 'proposed' THEN
        RAISE EXCEPTION 'misuse: votes are asked for a proposed call';
    END IF;
    IF is_frozen(call.agent, call.tool) THEN
        RAISE EXCEPTION 'frozen: an operator has frozen calls';
    END IF;
    IF call.fingerprint IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM contracts_in_force AS c WHERE c.tool = call.tool AND c.fingerprint = call.fingerprint
    ) THEN
        RAISE EXCEPTION 'tool_not_found: no such tool';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER approvals_begin BEFORE INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_begin();

CREATE FUNCTION approvals_asked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    UPDATE invocations SET status = 'pending', approval_status = 'pending' WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER approvals_asked AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_asked();

CREATE FUNCTION approvals_move() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF (
        NEW.id, NEW.invocation_id, NEW.digest, NEW.card, NEW.votes_needed, NEW.voter_group, NEW.proposers,
        NEW.expires_at
    ) IS DISTINCT FROM (
        OLD.id, OLD.invocation_id, OLD.digest, OLD.card, OLD.votes_needed, OLD.voter_group, OLD.proposers,
        OLD.expires_at
    ) THEN
        RAISE EXCEPTION 'misuse: what was shown does not change';
    END IF;
    IF NOT (CASE OLD.status
        WHEN 'pending' THEN NEW.status IN ('approved', 'rejected', 'expired', 'void')
        WHEN 'approved' THEN NEW.status = 'void'
        ELSE false
    END) THEN
        RAISE EXCEPTION 'vote_refused: the request does not move this way';
    END IF;
    IF NEW.status = 'approved' AND OLD.votes_needed > (
        SELECT count(*) FROM votes WHERE approval_id = OLD.id AND decision = 'approve'
    ) THEN
        RAISE EXCEPTION 'vote_refused: there are too few votes';
    END IF;
    IF (NEW.status = 'approved') = EXISTS (SELECT 1 FROM votes WHERE approval_id = OLD.id AND decision = 'reject')
        AND NEW.status IN ('approved', 'rejected')
    THEN
        RAISE EXCEPTION 'vote_refused: the votes say otherwise';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER approvals_move BEFORE UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_move();

CREATE FUNCTION approvals_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    UPDATE invocations
    SET status = CASE NEW.status WHEN 'approved' THEN 'queued' ELSE NEW.status END,
        approval_status = NEW.status,
        approval_reason = (SELECT reason FROM votes WHERE approval_id = NEW.id AND decision = 'reject'),
        code = NEW.code,
        completed_at = CASE NEW.status WHEN 'approved' THEN NULL ELSE NEW.resolved_at END
    WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER approvals_moved AFTER UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_moved();
CREATE TRIGGER approvals_kept BEFORE DELETE ON approvals
FOR EACH ROW EXECUTE FUNCTION never('misuse: a request is kept');

CREATE FUNCTION votes_admit() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE asked approvals%ROWTYPE;
BEGIN
    SELECT * INTO asked FROM approvals WHERE id = NEW.approval_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'vote_refused: there is no such request';
    END IF;
    IF asked.status <> 'pending' THEN
        RAISE EXCEPTION 'vote_refused: the request takes no more votes';
    END IF;
    IF NEW.at >= asked.expires_at OR now_text() >= asked.expires_at THEN
        RAISE EXCEPTION 'vote_refused: the request has expired, and silence is refusal';
    END IF;
    IF NEW.digest IS DISTINCT FROM asked.digest THEN
        RAISE EXCEPTION 'vote_refused: the vote is for something else than what is asked';
    END IF;
    IF asked.proposers::jsonb ? NEW.voter
        OR (SELECT proposers::jsonb ? NEW.voter FROM invocations WHERE id = asked.invocation_id)
    THEN
        RAISE EXCEPTION 'vote_refused: whoever proposed a call cannot vote on it';
    END IF;
    IF EXISTS (SELECT 1 FROM votes WHERE approval_id = NEW.approval_id AND voter = NEW.voter) THEN
        RAISE EXCEPTION 'vote_refused: a person votes once';
    END IF;
    IF NEW.decision = 'reject' AND trim(coalesce(NEW.reason, '')) = '' THEN
        RAISE EXCEPTION 'vote_refused: a rejection needs a reason';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER votes_admit BEFORE INSERT ON votes FOR EACH ROW EXECUTE FUNCTION votes_admit();
CREATE TRIGGER votes_fixed BEFORE UPDATE ON votes
FOR EACH ROW EXECUTE FUNCTION never('vote_refused: a vote does not change');
CREATE TRIGGER votes_kept BEFORE DELETE ON votes
FOR EACH ROW EXECUTE FUNCTION never('vote_refused: a vote is kept');

-- warrants
CREATE FUNCTION warrants_admit() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE call invocations%ROWTYPE; contract tools%ROWTYPE; asked approvals%ROWTYPE;
BEGIN
    PERFORM hold_rulings(false);
    SELECT * INTO call FROM invocations WHERE id = NEW.invocation_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'misuse: there is no such call';
    END IF;
    IF call.status = 'running' THEN
        RAISE EXCEPTION 'in_flight: the call is running already';
    END IF;
    IF call.status NOT IN ('proposed', 'queued') THEN
        RAISE EXCEPTION 'approval_void: the call can no longer be started';
    END IF;
    IF is_frozen(call.agent, call.tool) THEN
        RAISE EXCEPTION 'frozen: an operator has frozen calls';
    END IF;
    IF call.fingerprint IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM contracts_in_force AS c WHERE c.tool = call.tool AND c.fingerprint = call.fingerprint
    ) THEN
        RAISE EXCEPTION 'tool_not_found: no such tool';
    END IF;
    SELECT * INTO contract FROM tools WHERE name = call.tool AND fingerprint = call.fingerprint;
    IF NEW.basis = 'votes' THEN
        SELECT * INTO asked FROM approvals WHERE id = NEW.approval_id;
        IF (asked.invocation_id, asked.status, asked.digest)
            IS DISTINCT FROM (NEW.invocation_id, 'approved', NEW.digest)
        THEN
            RAISE EXCEPTION 'approval_void: the votes are not for this call as it would run';
        END IF;
        IF NEW.consumed_at >= asked.expires_at OR now_text() >= asked.expires_at THEN
            RAISE EXCEPTION 'approval_expired: the approval has expired';
        END IF;
        RETURN NEW;
    END IF;
    IF call.approval_status IS NOT NULL THEN
        RAISE EXCEPTION 'approval_void: a call that asked for votes runs by votes alone';
    END IF;
    IF contract.requires_approval IS DISTINCT FROM false
        AND NOT EXISTS (SELECT 1 FROM standing_uses WHERE invocation_id = NEW.invocation_id)
    THEN
        RAISE EXCEPTION 'approval_void: the tool needs an approval on record';
    END IF;
    IF (contract.safety_class = 'privileged' OR contract.approval_route = 'dual') AND NOT EXISTS (
        SELECT 1 FROM standing_uses AS u
        WHERE u.invocation_id = NEW.invocation_id AND 2 <= (
            SELECT count(*) FROM standing_signatures AS s
            WHERE s.grant_id = u.grant_id AND NOT call.proposers::jsonb ? s.operator
        )
    ) THEN
        RAISE EXCEPTION 'approval_void: the call needs a standing grant that two operators signed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER warrants_admit BEFORE INSERT ON warrants FOR EACH ROW EXECUTE FUNCTION warrants_admit();

CREATE FUNCTION warrants_used() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
BEGIN
    UPDATE invocations SET status = 'queued' WHERE id = NEW.invocation_id AND status = 'proposed';
    UPDATE invocations SET status = 'running', started_at = NEW.consumed_at WHERE id = NEW.invocation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER warrants_used AFTER INSERT ON warrants FOR EACH ROW EXECUTE FUNCTION warrants_used();
CREATE TRIGGER warrants_fixed BEFORE UPDATE ON warrants
FOR EACH ROW EXECUTE FUNCTION never('approval_void: a warrant is used once');
CREATE TRIGGER warrants_kept BEFORE DELETE ON warrants
FOR EACH ROW EXECUTE FUNCTION never('approval_void: a used warrant is kept');

-- standing grants
CREATE FUNCTION standing_grants_begin() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.ended_at IS NOT NULL OR NEW.ended_by IS NOT NULL THEN
        RAISE EXCEPTION 'misuse: a standing grant begins open';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM tools WHERE name = NEW.tool AND fingerprint = NEW.fingerprint) THEN
        RAISE EXCEPTION 'misuse: a standing grant names a registered contract';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER standing_grants_begin BEFORE INSERT ON standing_grants
FOR EACH ROW EXECUTE FUNCTION standing_grants_begin();

CREATE FUNCTION standing_grants_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (
        NEW.id, NEW.agent, NEW.tool, NEW.fingerprint, NEW.source_digest, NEW.conditions, NEW.answers, NEW.max_uses,
        NEW.because, NEW.digest, NEW.given_at, NEW.expires_at
    ) IS DISTINCT FROM (
        OLD.id, OLD.agent, OLD.tool, OLD.fingerprint, OLD.source_digest, OLD.conditions, OLD.answers, OLD.max_uses,
        OLD.because, OLD.digest, OLD.given_at, OLD.expires_at
    ) THEN
        RAISE EXCEPTION 'misuse: what was granted does not change';
    END IF;
    IF OLD.ended_at IS NOT NULL OR NEW.ended_at IS NULL THEN
        RAISE EXCEPTION 'misuse: a standing grant ends once';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER standing_grants_end BEFORE UPDATE ON standing_grants
FOR EACH ROW EXECUTE FUNCTION standing_grants_end();
CREATE TRIGGER standing_grants_kept BEFORE DELETE ON standing_grants
FOR EACH ROW EXECUTE FUNCTION never('misuse: a standing grant is kept');

CREATE FUNCTION standing_signatures_admit() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE given standing_grants%ROWTYPE;
BEGIN
    SELECT * INTO given FROM standing_grants WHERE id = NEW.grant_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'misuse: there is no such standing grant';
    END IF;
    IF given.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'misuse: the standing grant has ended';
    END IF;
    IF NEW.at >= given.expires_at OR now_text() >= given.expires_at THEN
        RAISE EXCEPTION 'misuse: the standing grant has expired';
    END IF;
    IF NEW.digest IS DISTINCT FROM given.digest THEN
        RAISE EXCEPTION 'misuse: the signature is for something else than what is granted';
    END IF;
    IF EXISTS (SELECT 1 FROM standing_signatures WHERE grant_id = NEW.grant_id AND operator = NEW.operator) THEN
        RAISE EXCEPTION 'misuse: an operator signs a standing grant once';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER standing_signatures_admit BEFORE INSERT ON standing_signatures
FOR EACH ROW EXECUTE FUNCTION standing_signatures_admit();
CREATE TRIGGER standing_signatures_fixed BEFORE UPDATE ON standing_signatures
FOR EACH ROW EXECUTE FUNCTION never('misuse: a signature does not change');
CREATE TRIGGER standing_signatures_kept BEFORE DELETE ON standing_signatures
FOR EACH ROW EXECUTE FUNCTION never('misuse: a signature is kept');

-- The owner's rights are needed to lock the grant: the application may use one and not touch it.
CREATE FUNCTION standing_uses_admit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE given standing_grants%ROWTYPE; call invocations%ROWTYPE;
BEGIN
    SELECT * INTO given FROM standing_grants WHERE id = NEW.grant_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'approval_void: there is no such standing grant';
    END IF;
    IF given.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'approval_void: the standing grant has ended';
    END IF;
    IF NEW.at >= given.expires_at OR now_text() >= given.expires_at THEN
        RAISE EXCEPTION 'approval_void: the standing grant has expired';
    END IF;
    IF (SELECT count(*) FROM standing_uses WHERE grant_id = NEW.grant_id) >= given.max_uses THEN
        RAISE EXCEPTION 'approval_void: the standing grant is used up';
    END IF;
    IF EXISTS (SELECT 1 FROM standing_uses WHERE grant_id = NEW.grant_id AND invocation_id = NEW.invocation_id) THEN
        RAISE EXCEPTION 'approval_void: a call uses a standing grant once';
    END IF;
    SELECT * INTO call FROM invocations WHERE id = NEW.invocation_id;
    IF call.status IS NULL OR call.status NOT IN ('proposed', 'queued')
        OR (call.agent, call.tool, call.fingerprint, call.source_digest)
            IS DISTINCT FROM (given.agent, given.tool, given.fingerprint, given.source_digest)
    THEN
        RAISE EXCEPTION 'approval_void: the standing grant is not for this call';
    END IF;
    IF NOT EXISTS (
        SELECT 1 FROM standing_signatures WHERE grant_id = NEW.grant_id AND NOT call.proposers::jsonb ? operator
    ) THEN
        RAISE EXCEPTION 'approval_void: whoever proposed a call cannot have granted it';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER standing_uses_admit BEFORE INSERT ON standing_uses
FOR EACH ROW EXECUTE FUNCTION standing_uses_admit();
CREATE TRIGGER standing_uses_fixed BEFORE UPDATE ON standing_uses
FOR EACH ROW EXECUTE FUNCTION never('misuse: a use does not change');
CREATE TRIGGER standing_uses_kept BEFORE DELETE ON standing_uses
FOR EACH ROW EXECUTE FUNCTION never('misuse: a use is kept');

-- freezes
CREATE FUNCTION freezes_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.lifted_at IS NOT NULL THEN
            RAISE EXCEPTION 'misuse: a freeze begins once, and in force';
        END IF;
    ELSIF OLD.lifted_at IS NOT NULL OR NEW.lifted_at IS NULL
        OR (NEW.number, NEW.id, NEW.agent, NEW.tool, NEW."by", NEW.because, NEW.at)
            IS DISTINCT FROM (OLD.number, OLD.id, OLD.agent, OLD.tool, OLD."by", OLD.because, OLD.at)
    THEN
        RAISE EXCEPTION 'misuse: a freeze is only lifted, and once';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER freezes_move BEFORE INSERT OR UPDATE ON freezes FOR EACH ROW EXECUTE FUNCTION freezes_move();
CREATE TRIGGER freezes_kept BEFORE DELETE ON freezes FOR EACH ROW EXECUTE FUNCTION never('misuse: a freeze is kept');

-- the trail
CREATE FUNCTION audit_events_append() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE first bigint := audit_place(); before text;
BEGIN
    NEW.id := coalesce((SELECT max(id) FROM audit_events WHERE id > first AND id < first + (1 << 20)), first) + 1;
    before := CASE
        WHEN NEW.seq = 1 THEN repeat('0', 64)
        ELSE (SELECT hash FROM audit_events WHERE writer = NEW.writer AND seq = NEW.seq - 1)
    END;
    IF NEW.previous IS DISTINCT FROM before THEN
        RAISE EXCEPTION 'misuse: an event names the one before it';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_events_append BEFORE INSERT ON audit_events
FOR EACH ROW EXECUTE FUNCTION audit_events_append();
CREATE TRIGGER audit_events_fixed BEFORE UPDATE ON audit_events
FOR EACH ROW EXECUTE FUNCTION never('misuse: the trail is only appended to');
CREATE TRIGGER audit_events_kept BEFORE DELETE ON audit_events
FOR EACH ROW EXECUTE FUNCTION never('misuse: the trail is only appended to');

CREATE FUNCTION audit_bodies_append() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NEW.event <= audit_place() THEN
        RAISE EXCEPTION 'misuse: the trail is only appended to';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_bodies_append BEFORE INSERT ON audit_bodies
FOR EACH ROW EXECUTE FUNCTION audit_bodies_append();
CREATE TRIGGER audit_bodies_fixed BEFORE UPDATE ON audit_bodies
FOR EACH ROW EXECUTE FUNCTION never('misuse: the trail is only appended to');
CREATE FUNCTION audit_bodies_kept() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM audit_events AS e JOIN audit_retentions AS r ON e.at < r.before
        WHERE e.id = OLD.event AND e.invocation_id IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'misuse: a body is kept until an operator lets it go';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER audit_bodies_kept BEFORE DELETE ON audit_bodies FOR EACH ROW EXECUTE FUNCTION audit_bodies_kept();

CREATE FUNCTION numbered_on() RETURNS trigger LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
DECLARE last bigint;
BEGIN
    EXECUTE format('SELECT coalesce(max(number), 0) FROM %I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME) INTO last;
    IF NEW.number <> last + 1 THEN
        RAISE EXCEPTION 'misuse: the trail is only appended to';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_checkpoints_append BEFORE INSERT ON audit_checkpoints
FOR EACH ROW EXECUTE FUNCTION numbered_on();
CREATE TRIGGER audit_checkpoints_fixed BEFORE UPDATE OR DELETE ON audit_checkpoints
FOR EACH ROW EXECUTE FUNCTION never('misuse: the trail is only appended to');
CREATE TRIGGER audit_retentions_append BEFORE INSERT ON audit_retentions
FOR EACH ROW EXECUTE FUNCTION numbered_on();
CREATE TRIGGER audit_retentions_fixed BEFORE UPDATE OR DELETE ON audit_retentions
FOR EACH ROW EXECUTE FUNCTION never('misuse: the trail is only appended to');

DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'ringfence' LOOP
        EXECUTE format(
            'CREATE TRIGGER z_truncated BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION never(%L)',
            name, 'misuse: nothing on record is removed'
        );
    END LOOP;
END $$;
