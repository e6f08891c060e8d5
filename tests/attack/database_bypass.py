"""Raw SQL that an application process might try in order to get past the rules; each must be refused.

Takes: nothing.  Gives: `BYPASSES`, statements over the rows that `test_database_bypass.py` puts there.
Never: is a list of what works.

The rows: `send` writes to the far side and `look` reads; call `p` waits for votes under request `a-p`, `q` has its
vote under `a-q`, `r` runs, `d` is done, `u` is in doubt; carol and alice proposed them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["sqlite", "postgres"]
BOTH: tuple[Dialect, ...] = ("sqlite", "postgres")


@dataclass(frozen=True, kw_only=True)
class Bypass:
    """One attempt: what it is after, and the statement."""

    aim: str
    statement: str
    on: tuple[Dialect, ...] = BOTH


_CALL = "id, session, agent, proposers, tool, fingerprint, arguments, arguments_digest, idempotency_key, status, proposed_at"
_NEW = "'n', 's', 'ana', '[]', 'send', (SELECT fingerprint FROM tools WHERE name = 'send'), '{}', 'd', 'k'"
_EVENT = '"2030", "x", null, null, null, null, "d"'
_TOLD = f'[["w", 1, {_EVENT}, "{"0" * 64}", "h", "{{}}"]]'


def _start(*, tool: str = "look", agent: str = "ana", key: str = "k", digest: str = "d", told: str = _TOLD) -> str:
    """A start the short way, which a server does with its owner's rights."""
    contract = f"(SELECT fingerprint FROM tools WHERE name = '{tool}')"
    return (
        f"SELECT start_new_call('on', 0, 'n', 's', '{agent}', NULL, NULL, '[]', '{tool}', {contract}, NULL, '{{}}',"
        f" '{digest}', '{key}', '2030', 'w', '2030', '2031', 'w', '{told}')"
    )


_SQLITE: tuple[Dialect, ...] = ("sqlite",)
_POSTGRES: tuple[Dialect, ...] = ("postgres",)

BYPASSES: tuple[Bypass, ...] = (
    # reclassify a tool
    Bypass(aim="a writing tool that needs no approval", statement="UPDATE tools SET egress_class = 'none' WHERE name = 'send'"),
    Bypass(aim="the approval flag itself", statement="UPDATE tools SET requires_approval = NULL WHERE name = 'send'"),
    Bypass(aim="a tool of a lower class", statement="UPDATE tools SET safety_class = 'read' WHERE name = 'send'"),
    Bypass(aim="another contract under a known fingerprint", statement="UPDATE tools SET document = '{}' WHERE name = 'send'"),
    Bypass(aim="a contract that is gone", statement="DELETE FROM tools WHERE name = 'send'"),
    Bypass(aim="a class that its document denies", statement="INSERT INTO tools (name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at) VALUES ('x', 'f', '{\"name\": \"x\", \"safety\": \"read\", \"egress\": \"write\", \"approval\": \"auto\"}', 'read', 'none', 'auto', 'h', '2030')"),
    Bypass(aim="an egress class of nothing", statement="INSERT INTO tools (name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at) VALUES ('x', 'f', '{\"name\": \"x\", \"safety\": \"read\", \"egress\": null, \"approval\": \"auto\"}', 'read', NULL, 'auto', 'h', '2030')"),
    Bypass(aim="a contract replaced in place", statement="INSERT OR REPLACE INTO tools (name, fingerprint, document, safety_class, egress_class, approval_route, description_hash, registered_at) SELECT name, fingerprint, document, 'read', 'none', approval_route, description_hash, registered_at FROM tools WHERE name = 'send'", on=_SQLITE),
    # run without a warrant, or with a worthless one
    Bypass(aim="running by a status alone", statement="UPDATE invocations SET status = 'running' WHERE id = 'q'"),
    Bypass(aim="a call that begins as running", statement=f"INSERT INTO invocations ({_CALL}) VALUES ({_NEW}, 'running', '2030')"),
    Bypass(aim="a call that begins as queued", statement=f"INSERT INTO invocations ({_CALL}) VALUES ({_NEW}, 'queued', '2030')"),
    Bypass(aim="a call of a contract that nobody registered", statement=f"INSERT INTO invocations ({_CALL}) VALUES ('n', 's', 'ana', '[]', 'send', 'other', '{{}}', 'd', 'k', 'proposed', '2030')"),
    Bypass(aim="a warrant without votes", statement="INSERT INTO warrants (invocation_id, basis, digest, consumed_at, key_until) VALUES ('q', 'allowed', 'd', '2030', '2031')"),
    Bypass(aim="a warrant for a call that still waits", statement="INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until) VALUES ('p', 'votes', 'a-p', 'sha256:card-p', '2030', '2031')"),
    Bypass(aim="a warrant by votes for something else", statement="INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until) VALUES ('q', 'votes', 'a-q', 'sha256:other', '2030', '2031')"),
    Bypass(aim="a warrant by votes on another call", statement="INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until) VALUES ('q', 'votes', 'a-p', 'sha256:card-p', '2030', '2031')"),
    Bypass(aim="a warrant after its approval expired", statement="INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at, key_until) VALUES ('q', 'votes', 'a-q', 'sha256:card-q', '2031', '2032')"),
    Bypass(aim="a warrant that reserves no key", statement="INSERT INTO warrants (invocation_id, basis, approval_id, digest, consumed_at) VALUES ('q', 'votes', 'a-q', 'sha256:card-q', '2030')"),
    Bypass(aim="one warrant, used twice", statement="INSERT INTO warrants (invocation_id, basis, digest, consumed_at, key_until) VALUES ('r', 'allowed', 'd', '2030', '2031')"),
    Bypass(aim="a used warrant taken back", statement="DELETE FROM warrants WHERE invocation_id = 'r'"),
    Bypass(aim="a warrant moved to another call", statement="UPDATE warrants SET invocation_id = 'q' WHERE invocation_id = 'r'"),
    Bypass(aim="the short way without votes", statement=_start(tool="send"), on=_POSTGRES),
    Bypass(aim="the short way of nobody's contract", statement=_start(tool="other").replace("(SELECT fingerprint FROM tools WHERE name = 'other')", "'f'"), on=_POSTGRES),
    Bypass(aim="the short way while frozen", statement=_start(agent="nobody"), on=_POSTGRES),
    Bypass(aim="the short way with the key of another", statement=_start(key="key-d", digest="sha256:args"), on=_POSTGRES),
    Bypass(aim="the short way with the key of other arguments", statement=_start(key="key-d"), on=_POSTGRES),
    Bypass(aim="the short way with a trail of its own making", statement=_start(told=f'[["w", 2, {_EVENT}, "nothing", "h", "{{}}"]]'), on=_POSTGRES),
    Bypass(aim="a key reserved by hand", statement="SELECT reserve_key('ana', 'look', 'k', 'd', 'r', '2030', '2031')", on=_POSTGRES),
    # illegal moves, and history
    Bypass(aim="an end without a start", statement="UPDATE invocations SET status = 'completed' WHERE id = 'q'"),
    Bypass(aim="approval by hand", statement="UPDATE invocations SET status = 'queued' WHERE id = 'p'"),
    Bypass(aim="a done call, run again", statement="UPDATE invocations SET status = 'queued' WHERE id = 'd'"),
    Bypass(aim="a done call, failed after all", statement="UPDATE invocations SET status = 'failed' WHERE id = 'd'"),
    Bypass(aim="another outcome of a done call", statement="UPDATE invocations SET outcome = '{}' WHERE id = 'd'"),
    Bypass(aim="a done call, ended again the short way", statement=f"SELECT end_call('on', 'd', 'failed', NULL, NULL, NULL, '2030', '{_TOLD}')", on=_POSTGRES),
    Bypass(aim="an end without a start, the short way", statement=f"SELECT end_call('on', 'q', 'completed', NULL, NULL, NULL, '2030', '{_TOLD}')", on=_POSTGRES),
    Bypass(aim="other arguments after the vote", statement="UPDATE invocations SET arguments = '{\"x\":2}' WHERE id = 'q'"),
    Bypass(aim="another agent's call", statement="UPDATE invocations SET agent = 'ben' WHERE id = 'q'"),
    Bypass(aim="a call that nobody proposed", statement="UPDATE invocations SET proposers = '[]' WHERE id = 'p'"),
    Bypass(aim="a call that never was", statement="DELETE FROM invocations WHERE id = 'd'"),
    # votes
    Bypass(aim="a vote by a proposer", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-p', 'alice', 'sha256:card-p', 'approve', 'sql', '2030')"),
    Bypass(aim="a vote by a stranger", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-p', 'eve', 'sha256:card-p', 'approve', 'sql', '2030')", on=_POSTGRES),
    Bypass(aim="a vote after the time", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-p', 'eve', 'sha256:card-p', 'approve', 'sql', '2031')"),
    Bypass(aim="a vote on what was settled", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-q', 'eve', 'sha256:card-q', 'approve', 'sql', '2030')"),
    Bypass(aim="a vote for another card", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-p', 'eve', 'sha256:other', 'approve', 'sql', '2030')"),
    Bypass(aim="a second vote of one person", statement="INSERT INTO votes (approval_id, voter, digest, decision, door, at) VALUES ('a-q', 'dan', 'sha256:card-q', 'approve', 'sql', '2030')"),
    Bypass(aim="a vote turned round", statement="UPDATE votes SET decision = 'reject' WHERE approval_id = 'a-q'"),
    Bypass(aim="a vote removed", statement="DELETE FROM votes WHERE approval_id = 'a-q'"),
    Bypass(aim="a request approved by hand", statement="UPDATE approvals SET status = 'approved' WHERE id = 'a-p'"),
    Bypass(aim="a request that needs no votes", statement="UPDATE approvals SET votes_needed = 0 WHERE id = 'a-p'"),
    Bypass(aim="a longer time", statement="UPDATE approvals SET expires_at = '2099' WHERE id = 'a-p'"),
    Bypass(aim="another card than was shown", statement="UPDATE approvals SET card = '{}' WHERE id = 'a-p'"),
    Bypass(aim="a request that begins approved", statement="INSERT INTO approvals (id, invocation_id, digest, card, votes_needed, proposers, expires_at, status) VALUES ('z', 'r', 'd', '{}', 1, '[]', '2099', 'approved')"),
    # keys
    Bypass(aim="a key of a call in doubt, given back", statement="DELETE FROM idempotency_keys WHERE invocation_id = 'u'"),
    Bypass(aim="a key moved to another call", statement="UPDATE idempotency_keys SET invocation_id = 'q' WHERE invocation_id = 'u'"),
    Bypass(aim="a key reserved without a start", statement="INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at) VALUES ('ana', 'send', 'key-q', 'sha256:args', 'q', '2030', '2031')"),
    Bypass(aim="a key of nobody", statement="INSERT INTO idempotency_keys (agent, tool, key, arguments_digest, invocation_id, reserved_at, expires_at) VALUES (NULL, 'send', 'key-q', 'sha256:args', 'q', '2030', '2031')"),
    Bypass(aim="a key in doubt, replaced", statement="INSERT OR REPLACE INTO idempotency_keys SELECT agent, tool, key, arguments_digest, 'q', '2030', '2031' FROM idempotency_keys WHERE invocation_id = 'u'", on=_SQLITE),
    # what was spent
    Bypass(aim="money given back by a call that ran", statement="UPDATE spendings SET amount = 0, settled_at = '2030' WHERE invocation_id = 'd'"),
    Bypass(aim="money that was never spent", statement="DELETE FROM spendings"),
    Bypass(aim="money moved to another call", statement="UPDATE spendings SET invocation_id = 'q', settled_at = '2030' WHERE invocation_id = 'd'"),
    Bypass(aim="money that is spent elsewhere", statement="UPDATE spendings SET cap = 'other', settled_at = '2030' WHERE invocation_id = 'd'"),
    Bypass(aim="money settled while its call runs", statement="UPDATE spendings SET settled_at = '2030' WHERE invocation_id = 'r'"),
    Bypass(aim="less money, not said to be settled", statement="UPDATE spendings SET amount = 1 WHERE invocation_id = 'd'"),
    Bypass(aim="money of a call that is over", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at) VALUES ('ana', '', 'c', 'd', 'amount', 1, 9, 0, 1)"),
    Bypass(aim="money of another agent", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at) VALUES ('ben', '', 'c', 'q', 'amount', 1, 9, 0, 1)"),
    Bypass(aim="money below nothing", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at) VALUES ('ana', '', 'c', 'q', 'amount', -5, 9, 0, 1)"),
    Bypass(aim="more money than the cap", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at) VALUES ('ana', '', 'c', 'q', 'amount', 10, 9, 0, 1)"),
    Bypass(aim="a time that is over before it began", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at) VALUES ('ana', '', 'c', 'q', 'amount', 1, 9, 2, 1)"),
    Bypass(aim="money that is spent and settled at once", statement="INSERT INTO spendings (agent, binding, cap, invocation_id, basis, amount, most, since, at, settled_at) VALUES ('ana', '', 'c', 'q', 'amount', 1, 9, 0, 1, '2030')", on=_SQLITE),
    Bypass(aim="a spending put in the place of another", statement="INSERT OR REPLACE INTO spendings (number, agent, binding, cap, invocation_id, basis, amount, most, since, at) SELECT number, agent, binding, cap, invocation_id, basis, 0, most, since, at FROM spendings", on=_SQLITE),
    Bypass(aim="the spendings emptied", statement="TRUNCATE spendings", on=_POSTGRES),
    # what tools keep
    Bypass(aim="a row of another agent", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ben', 'agent', '', 'k', '1', '2030', 'send', 'r')"),
    Bypass(aim="a row of another session", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ana', 'session', 'other', 'k', '1', '2030', 'send', 'r')"),
    Bypass(aim="a row of another tool", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ana', 'tool', 'look', 'k', '1', '2030', 'send', 'r')"),
    Bypass(aim="a row by a call that is over", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ana', 'agent', '', 'k', '1', '2030', 'send', 'd')"),
    Bypass(aim="a row by no call", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ana', 'agent', '', 'k', '1', '2030', 'send', NULL)"),
    Bypass(aim="a row for everybody", statement="INSERT INTO storage_rows (agent, scope, owner, key, value, written_at, by_tool, by_invocation) VALUES ('ana', 'all', '', 'k', '1', '2030', 'send', 'r')"),
    Bypass(aim="room that is not there", statement="INSERT INTO storage_use (agent, scope, owner, count, bytes) VALUES ('ana', 'all', '', -9, 0)"),
    Bypass(aim="a count of one's own", statement="INSERT INTO storage_use (agent, scope, owner, count, bytes) VALUES ('ana', 'all', '', 0, 0)", on=_POSTGRES),
    Bypass(aim="the rows emptied", statement="TRUNCATE storage_rows", on=_POSTGRES),
    # the trail
    Bypass(aim="an event changed", statement="UPDATE audit_events SET kind = 'x'"),
    Bypass(aim="an event removed", statement="DELETE FROM audit_events"),
    Bypass(aim="a body changed", statement="UPDATE audit_bodies SET body = '{}'"),
    Bypass(aim="a body removed", statement="DELETE FROM audit_bodies"),
    Bypass(aim="a body changed in its event", statement="UPDATE audit_events SET body = '{}'", on=_SQLITE),
    Bypass(aim="a body taken out of its event", statement="UPDATE audit_events SET body = NULL", on=_SQLITE),
    Bypass(aim="an event changed as its body goes", statement="UPDATE audit_events SET body = NULL, agent = 'eve'", on=_SQLITE),
    Bypass(aim="a body that belongs to no event", statement="INSERT INTO audit_strays VALUES (7, '{}')", on=_SQLITE),
    Bypass(aim="a checkpoint changed", statement="UPDATE audit_checkpoints SET statement = 'x'"),
    Bypass(aim="a checkpoint removed", statement="DELETE FROM audit_checkpoints"),
    Bypass(aim="an event that hangs in the air", statement="INSERT INTO audit_events (id, writer, seq, at, kind, body_digest, previous, hash) VALUES ((SELECT max(id) + 1 FROM audit_events), 'w', 7, '2030', 'x', 'd', 'nothing', 'h')"),
    Bypass(aim="a chain that begins with a past", statement="INSERT INTO audit_events (id, writer, seq, at, kind, body_digest, previous, hash) VALUES ((SELECT max(id) + 1 FROM audit_events), 'w', 1, '2030', 'x', 'd', 'nothing', 'h')"),
    Bypass(aim="events that hang in the air", statement=f"SELECT keep_events('[[\"w\", 7, {_EVENT}, \"nothing\", \"h\", \"{{}}\"]]')", on=_POSTGRES),
    Bypass(aim="events before the first", statement=f"SELECT keep_events('[[\"w\", 0, {_EVENT}, \"{'0' * 64}\", \"h\", \"{{}}\"]]')", on=_POSTGRES),
    Bypass(aim="an event that skips the one before it", statement=f"SELECT keep_events('[[\"w\", 1, {_EVENT}, \"{'0' * 64}\", \"h\", \"{{}}\"], [\"w\", 3, {_EVENT}, \"h\", \"h3\", \"{{}}\"]]')", on=_POSTGRES),
    Bypass(aim="an event that goes on with another's chain", statement=f"SELECT keep_events('[[\"w\", 1, {_EVENT}, \"{'0' * 64}\", \"h\", \"{{}}\"], [\"v\", 2, {_EVENT}, \"h\", \"h2\", \"{{}}\"]]')", on=_POSTGRES),
    Bypass(aim="events appended by hand", statement=f"SELECT append_events('[[\"w\", 1, {_EVENT}, \"nothing\", \"h\", \"{{}}\"]]', true)", on=_POSTGRES),
    Bypass(aim="an event put in the place of another", statement="INSERT OR REPLACE INTO audit_events (id, writer, seq, at, kind, body_digest, previous, hash) SELECT id, writer, seq, at, 'x', body_digest, previous, hash FROM audit_events LIMIT 1", on=_SQLITE),
    Bypass(aim="the trail emptied", statement="TRUNCATE audit_events", on=_POSTGRES),
    Bypass(aim="the calls emptied", statement="TRUNCATE invocations CASCADE", on=_POSTGRES),
    # pins, grants, freezes
    Bypass(aim="a contract vouched for", statement="UPDATE pins SET fingerprint = 'other', accepted_by = NULL WHERE tool = 'send'"),
    Bypass(aim="a pin removed", statement="DELETE FROM pins WHERE tool = 'send'"),
    Bypass(aim="a pin moved by the application", statement="UPDATE pins SET accepted_by = 'mallory' WHERE tool = 'send'", on=_POSTGRES),
    Bypass(aim="a standing grant of one's own", statement="INSERT INTO standing_grants (id, agent, tool, fingerprint, source_digest, conditions, answers, max_uses, because, digest, given_at, expires_at) SELECT 'g', 'ana', 'send', fingerprint, 'sha256:code', '{}', '[]', 5, 'x', 'd', '2030', '2031' FROM tools WHERE name = 'send'", on=_POSTGRES),
    Bypass(aim="a use of a grant that is not there", statement="INSERT INTO standing_uses (grant_id, invocation_id, at) VALUES ('g', 'q', '2030')"),
    Bypass(aim="a freeze lifted by the application", statement="UPDATE freezes SET lifted_at = '2030', lifted_by = 'x'", on=_POSTGRES),
    Bypass(aim="a freeze forgotten", statement="DELETE FROM freezes"),
    Bypass(aim="a worker that comes back", statement="DELETE FROM workers"),
    # the rules themselves
    Bypass(aim="a trigger dropped", statement="DROP TRIGGER votes_admit", on=_SQLITE),
    Bypass(aim="a trigger dropped", statement="DROP TRIGGER votes_admit ON votes", on=_POSTGRES),
    Bypass(aim="a trigger disabled", statement="ALTER TABLE votes DISABLE TRIGGER ALL", on=_POSTGRES),
    Bypass(aim="triggers that sleep", statement="SET session_replication_role = replica", on=_POSTGRES),
    Bypass(aim="a rule rewritten", statement="CREATE OR REPLACE FUNCTION ringfence.votes_admit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'", on=_POSTGRES),
    Bypass(aim="a trigger of one's own", statement="CREATE TRIGGER mine BEFORE INSERT ON votes BEGIN SELECT 1; END", on=_SQLITE),
    Bypass(aim="a column added", statement="ALTER TABLE votes ADD COLUMN x TEXT"),
    Bypass(aim="a table of its own", statement="CREATE TABLE mine (x TEXT)"),
    Bypass(aim="a temporary table that hides one", statement="CREATE TEMP TABLE freezes (x TEXT)", on=_SQLITE),
    Bypass(aim="the owner's role", statement="SET ROLE ringfence_owner", on=_POSTGRES),
    Bypass(aim="the approver's role", statement="SET ROLE ringfence_approver", on=_POSTGRES),
    Bypass(aim="the operator's role", statement="SET ROLE ringfence_operator", on=_POSTGRES),
    Bypass(aim="a table of one's own", statement="ALTER TABLE votes OWNER TO CURRENT_USER", on=_POSTGRES),
    Bypass(aim="rights of its own", statement="GRANT ringfence_approver TO CURRENT_USER", on=_POSTGRES),
    Bypass(aim="a program on the server", statement="COPY votes FROM PROGRAM 'true'", on=_POSTGRES),
    Bypass(aim="another file beside this one", statement="ATTACH ':memory:' AS other", on=_SQLITE),
    Bypass(aim="a schema that can be written", statement="PRAGMA writable_schema = ON", on=_SQLITE),
    Bypass(aim="checks that sleep", statement="PRAGMA ignore_check_constraints = ON", on=_SQLITE),
    Bypass(aim="a log that forgets", statement="PRAGMA journal_mode = OFF", on=_SQLITE),
    Bypass(aim="the schema as rows", statement="DELETE FROM sqlite_master", on=_SQLITE),
    Bypass(aim="a file written from within", statement="VACUUM INTO '/tmp/ringfence-stolen.db'", on=_SQLITE),
    Bypass(aim="a schema version of its own", statement="UPDATE schema_versions SET version = 99", on=_POSTGRES),
)  # fmt: skip
