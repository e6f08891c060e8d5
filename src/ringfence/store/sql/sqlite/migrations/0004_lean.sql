-- What a start pays for: indexes that only waiting calls are kept in, and the way from a call to its pin.
--
-- `latest_like` looks for calls that people were asked about; a call that nobody was asked about need not be in
-- its index. A queued call that nobody was asked about exists only inside the transaction that starts it.

DROP INDEX invocations_alike;
CREATE INDEX invocations_alike ON invocations (session, tool, arguments_digest) WHERE approval_status IS NOT NULL;
DROP INDEX invocations_waiting;
CREATE INDEX invocations_waiting ON invocations (tool) WHERE approval_status IS NOT NULL AND status IN ('pending', 'queued');
CREATE INDEX pins_of_tool ON pins (tool, fingerprint);

DROP TRIGGER warrants_in_force;
CREATE TRIGGER warrants_in_force BEFORE INSERT ON warrants
BEGIN
    SELECT RAISE(ABORT, 'tool_not_found: no such tool') FROM invocations AS i
    WHERE i.id = NEW.invocation_id AND i.fingerprint IS NOT NULL AND i.status IN ('proposed', 'queued')
        AND NOT EXISTS (
            SELECT 1 FROM contracts_in_force AS c WHERE c.tool = i.tool AND c.fingerprint = i.fingerprint
        );
END;

-- The same moves as before; a list of sixteen is put into a table of its own at each move, comparisons are not.
DROP TRIGGER invocations_move;
CREATE TRIGGER invocations_move BEFORE UPDATE OF status ON invocations
BEGIN
    SELECT CASE
        WHEN CASE OLD.status
            WHEN 'proposed' THEN NEW.status = 'refused' OR NEW.status = 'pending' OR NEW.status = 'queued'
            WHEN 'pending' THEN
                NEW.status = 'queued' OR NEW.status = 'rejected' OR NEW.status = 'expired' OR NEW.status = 'void'
            WHEN 'queued' THEN
                NEW.status = 'running' OR NEW.status = 'refused' OR NEW.status = 'void' OR NEW.status = 'cancelled'
            WHEN 'running' THEN NEW.status = 'completed' OR NEW.status = 'failed' OR NEW.status = 'in_doubt'
            WHEN 'in_doubt' THEN NEW.status = 'completed' OR NEW.status = 'failed'
        END IS NOT 1
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
