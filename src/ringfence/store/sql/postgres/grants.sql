-- What each role may do, and nothing else. Applied anew after every migration, as the owner.

REVOKE ALL ON SCHEMA ringfence FROM PUBLIC, ringfence_application, ringfence_approver, ringfence_operator;
REVOKE ALL ON ALL TABLES IN SCHEMA ringfence FROM PUBLIC, ringfence_application, ringfence_approver, ringfence_operator;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA ringfence FROM PUBLIC, ringfence_application, ringfence_approver, ringfence_operator;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ringfence FROM PUBLIC, ringfence_application, ringfence_approver, ringfence_operator;

GRANT USAGE ON SCHEMA ringfence TO ringfence_application, ringfence_approver, ringfence_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA ringfence TO ringfence_application, ringfence_approver, ringfence_operator;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ringfence TO ringfence_application, ringfence_approver, ringfence_operator;
-- These have the owner's rights, for moves that are the application's alone.
REVOKE EXECUTE ON FUNCTION start_new_call, end_call FROM ringfence_approver, ringfence_operator;

-- Whatever a role does, it says so in the trail.
GRANT INSERT ON audit_events, audit_bodies TO ringfence_application, ringfence_approver, ringfence_operator;

-- Calls, from proposal to end. A request moves by votes; without them it can only expire or be void.
GRANT INSERT ON sessions, invocations, approvals, warrants, standing_uses, audit_checkpoints TO ringfence_application;
GRANT UPDATE (status, code, outcome, cost_estimate, completed_at) ON invocations TO ringfence_application;
GRANT UPDATE (status, code, resolved_at) ON approvals TO ringfence_application;
-- Who is alive, and how much is left; a key is reserved by the database itself, with the warrant.
GRANT INSERT ON workers, buckets, rests TO ringfence_application;
GRANT UPDATE (alive_until, gone_at) ON workers TO ringfence_application;
GRANT UPDATE (tokens, at) ON buckets TO ringfence_application;
GRANT INSERT ON spendings TO ringfence_application;
GRANT UPDATE (amount, settled_at) ON spendings TO ringfence_application;
GRANT UPDATE (tokens, at, rests_until) ON rests TO ringfence_application;

-- What was found at start: contracts and first sights. Who vouches for a contract is an operator.
GRANT INSERT ON tools, pins TO ringfence_application;
GRANT INSERT, DELETE ON sightings TO ringfence_application;
GRANT UPDATE (presence, at) ON sightings TO ringfence_application;
GRANT UPDATE (source_digest, trust, accepted_by, at) ON pins TO ringfence_application;

-- What tools keep is the application's to read and write. How much there is, triggers count.
REVOKE SELECT ON storage_rows FROM ringfence_approver, ringfence_operator;
GRANT INSERT, DELETE ON storage_rows TO ringfence_application;
GRANT UPDATE (value, by_tool, by_invocation, trust, written_at, expires_at) ON storage_rows TO ringfence_application;

GRANT INSERT ON votes TO ringfence_approver;
GRANT UPDATE (status, code, resolved_at) ON approvals TO ringfence_approver;

GRANT INSERT ON tools, pins, standing_grants, standing_signatures, freezes, audit_retentions TO ringfence_operator;
GRANT INSERT, DELETE ON sightings TO ringfence_operator;
GRANT UPDATE (presence, at) ON sightings TO ringfence_operator;
GRANT UPDATE (fingerprint, source_digest, trust, accepted_by, at, retired_at) ON pins TO ringfence_operator;
GRANT UPDATE (ended_at, ended_by, ended_why) ON standing_grants TO ringfence_operator;
GRANT UPDATE (lifted_at, lifted_by) ON freezes TO ringfence_operator;
GRANT UPDATE (status, code, outcome, cost_estimate, completed_at) ON invocations TO ringfence_operator;
GRANT UPDATE (status, code, resolved_at) ON approvals TO ringfence_operator;
GRANT DELETE ON audit_bodies TO ringfence_operator;
