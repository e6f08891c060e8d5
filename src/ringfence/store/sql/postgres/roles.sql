-- Four roles, none of which can sign in by itself. Run this once per cluster, as somebody who may create roles.
--
--   ringfence_owner        owns schema and tables; migrations only
--   ringfence_application  gateways and workers: proposes, asks, starts and ends calls, and writes the trail
--   ringfence_approver     gives votes; console and command line hold it
--   ringfence_operator     pins, standing grants, freezes, retention
--
-- A login that runs gateways is granted `ringfence_application` alone. A login for people who vote or operate is
-- granted the roles of what they do, with `ringfence_application`, under which the rest of a runtime works.
DO $$
DECLARE role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['ringfence_owner', 'ringfence_application', 'ringfence_approver', 'ringfence_operator'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS', role);
        END IF;
    END LOOP;
END $$;

-- In the database that Ringfence is to use; the schema is made by `ringfence db migrate`, which works as the owner.
DO $$
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO ringfence_application, ringfence_approver, ringfence_operator', current_database());
    EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO ringfence_owner', current_database());
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
