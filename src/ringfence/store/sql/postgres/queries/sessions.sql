-- name: session
SELECT agent, binding, "user" FROM sessions WHERE id = $1

-- name: open_session
INSERT INTO sessions (id, agent, binding, "user", opened_at)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING
