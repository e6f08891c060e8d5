-- What tools keep for themselves.
--
--   storage_rows  rows of a tool, of a session or of an agent; always of one agent, and of no second
--   storage_use   how many rows and bytes each of these has, and each agent in all (`all`); kept by triggers alone
--
-- A row is written by a call of its own agent while that call runs: of the tool whose row it is, or of the session. The
-- label says which call wrote it last, and how far its content can be trusted.

CREATE TABLE storage_rows (
    agent text NOT NULL CHECK (agent <> ''),
    scope text NOT NULL CHECK (scope IN ('tool', 'session', 'agent')),
    owner text NOT NULL,
    key text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 512),
    value text NOT NULL CHECK (octet_length(value) <= 1048576 AND value::json IS NOT NULL),
    bytes bigint NOT NULL GENERATED ALWAYS AS (octet_length(key) + octet_length(value)) STORED,
    written_at text COLLATE "C" NOT NULL,
    expires_at text COLLATE "C" CHECK (expires_at > written_at),
    by_tool text NOT NULL,
    by_invocation text NOT NULL,
    trust text NOT NULL DEFAULT 'untrusted' CHECK (trust IN ('untrusted', 'trusted')),
    PRIMARY KEY (agent, scope, owner, key),
    CHECK ((scope = 'agent') = (owner = '')),
    CHECK (scope <> 'tool' OR by_tool = owner)
);
CREATE INDEX storage_rows_expiring ON storage_rows (expires_at, agent) WHERE expires_at IS NOT NULL;

CREATE TABLE storage_use (
    agent text NOT NULL,
    scope text NOT NULL CHECK (scope IN ('tool', 'session', 'agent', 'all')),
    owner text NOT NULL,
    count bigint NOT NULL CHECK (count >= 0),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (agent, scope, owner)
);

CREATE FUNCTION storage_rows_written() RETURNS trigger
LANGUAGE plpgsql SET search_path = ringfence, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.agent, NEW.scope, NEW.owner, NEW.key) IS DISTINCT FROM (OLD.agent, OLD.scope, OLD.owner, OLD.key)
    THEN
        RAISE EXCEPTION 'misuse: a row of storage stays where it is';
    END IF;
    PERFORM 1 FROM invocations
    WHERE id = NEW.by_invocation AND agent = NEW.agent AND tool = NEW.by_tool AND status = 'running'
        AND (NEW.scope <> 'session' OR session = NEW.owner);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'misuse: a row of storage is written by a running call of its own';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER storage_rows_written BEFORE INSERT OR UPDATE ON storage_rows
FOR EACH ROW EXECUTE FUNCTION storage_rows_written();

-- Of the owner's rights, so that no other role can change what is counted.
CREATE FUNCTION storage_rows_counted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ringfence, pg_temp AS $$
DECLARE one record; more bigint; larger bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        one := OLD; more := -1; larger := -OLD.bytes;
    ELSIF TG_OP = 'INSERT' THEN
        one := NEW; more := 1; larger := NEW.bytes;
    ELSE
        one := NEW; more := 0; larger := NEW.bytes - OLD.bytes;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO storage_use (agent, scope, owner, count, bytes)
        VALUES (one.agent, 'all', '', 0, 0), (one.agent, one.scope, one.owner, 0, 0)
        ON CONFLICT DO NOTHING;
    END IF;
    UPDATE storage_use SET count = count + more, bytes = bytes + larger
    WHERE agent = one.agent AND (scope, owner) IN (('all', ''), (one.scope, one.owner));
    DELETE FROM storage_use
    WHERE agent = one.agent AND (scope, owner) IN (('all', ''), (one.scope, one.owner)) AND count = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER storage_rows_counted AFTER INSERT OR UPDATE OR DELETE ON storage_rows
FOR EACH ROW EXECUTE FUNCTION storage_rows_counted();

CREATE TRIGGER z_truncated BEFORE TRUNCATE ON storage_rows
FOR EACH STATEMENT EXECUTE FUNCTION never('misuse: nothing on record is removed');
CREATE TRIGGER z_truncated BEFORE TRUNCATE ON storage_use
FOR EACH STATEMENT EXECUTE FUNCTION never('misuse: nothing on record is removed');
