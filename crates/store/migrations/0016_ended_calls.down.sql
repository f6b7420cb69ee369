--postgres:LOCK TABLE model_ended IN ACCESS EXCLUSIVE MODE;
CREATE TABLE model_call (
    tenant UUID NOT NULL,
    id UUID NOT NULL,
    request UUID NOT NULL,
    attempt BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- The server that carries it out; who finds a row of a dead one open settles it.
    node UUID NOT NULL,
    person UUID NOT NULL,
    project UUID,
    agent TEXT,
    bead TEXT,
    convoy TEXT,
    agent_token UUID,
    client_session TEXT,
    dialect TEXT NOT NULL,
    asked TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    streamed BIGINT NOT NULL,
    worst BIGINT,
    -- What is held back in which budget: 16 bytes of id and 8 of amount for each.
    held BYTEA NOT NULL,
    outcome TEXT NOT NULL,
    status BIGINT,
    input BIGINT NOT NULL DEFAULT 0,
    cache_read BIGINT NOT NULL DEFAULT 0,
    cache_write_5m BIGINT NOT NULL DEFAULT 0,
    cache_write_1h BIGINT NOT NULL DEFAULT 0,
    output BIGINT NOT NULL DEFAULT 0,
    reasoning BIGINT NOT NULL DEFAULT 0,
    server_tools BIGINT NOT NULL DEFAULT 0,
    cost BIGINT,
    estimated BIGINT NOT NULL DEFAULT 0,
    first_byte BIGINT,
    ended_at BIGINT,
    error TEXT,
    PRIMARY KEY (tenant, id)
--postgres:);
--sqlite:) WITHOUT ROWID;
ALTER TABLE model_call ADD COLUMN paid_by TEXT NOT NULL DEFAULT 'key';
ALTER TABLE model_call ADD COLUMN price TEXT;
ALTER TABLE model_call ADD COLUMN saved_by_cache BIGINT NOT NULL DEFAULT 0;
ALTER TABLE model_call ADD COLUMN saved_by_routing BIGINT NOT NULL DEFAULT 0;
--postgres:GRANT SELECT, INSERT, UPDATE, DELETE ON model_call TO godel_system;
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO model_call (tenant, id, request, attempt, at, node, person, project, agent, bead, convoy, agent_token, client_session,
    dialect, asked, provider, model, streamed, worst, held, paid_by, outcome, status, input, cache_read,
    cache_write_5m, cache_write_1h, output, reasoning, server_tools, cost, estimated, first_byte, ended_at,
    error, price, saved_by_cache, saved_by_routing)
--postgres:SELECT tenant, id, COALESCE((call::json ->> 'request')::uuid, id),
--postgres:    COALESCE((call::json ->> 'attempt')::bigint, 1), (call::json ->> 'at')::bigint, tenant,
--postgres:    (call::json ->> 'person')::uuid, (call::json ->> 'project')::uuid, call::json ->> 'agent',
--postgres:    call::json ->> 'bead', call::json ->> 'convoy', (call::json ->> 'token')::uuid,
--postgres:    call::json ->> 'session', call::json ->> 'dialect', call::json ->> 'asked',
--postgres:    call::json ->> 'provider', COALESCE(call::json ->> 'model', call::json ->> 'asked'),
--postgres:    COALESCE((call::json ->> 'streamed')::bigint, 0), (call::json ->> 'worst')::bigint, ''::bytea,
--postgres:    COALESCE(call::json ->> 'paid_by', 'key'), call::json ->> 'outcome',
--postgres:    (call::json ->> 'status')::bigint, COALESCE((call::json ->> 'input')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'cache_read')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'cache_write_5m')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'cache_write_1h')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'output')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'reasoning')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'server_tools')::bigint, 0), (call::json ->> 'cost')::bigint,
--postgres:    COALESCE((call::json ->> 'estimated')::bigint, 0), (call::json ->> 'first_byte')::bigint,
--postgres:    (call::json ->> 'ended_at')::bigint, call::json ->> 'error', call::json ->> 'price',
--postgres:    COALESCE((call::json ->> 'saved_by_cache')::bigint, 0),
--postgres:    COALESCE((call::json ->> 'saved_by_routing')::bigint, 0)
--sqlite:SELECT tenant, id, COALESCE(unhex(call ->> 'request', '-'), id), COALESCE(call ->> 'attempt', 1),
--sqlite:    call ->> 'at', tenant, unhex(call ->> 'person', '-'), unhex(call ->> 'project', '-'),
--sqlite:    call ->> 'agent', call ->> 'bead', call ->> 'convoy', unhex(call ->> 'token', '-'),
--sqlite:    call ->> 'session', call ->> 'dialect', call ->> 'asked', call ->> 'provider',
--sqlite:    COALESCE(call ->> 'model', call ->> 'asked'), COALESCE(call ->> 'streamed', 0), call ->> 'worst',
--sqlite:    x'', COALESCE(call ->> 'paid_by', 'key'), call ->> 'outcome', call ->> 'status',
--sqlite:    COALESCE(call ->> 'input', 0), COALESCE(call ->> 'cache_read', 0),
--sqlite:    COALESCE(call ->> 'cache_write_5m', 0), COALESCE(call ->> 'cache_write_1h', 0),
--sqlite:    COALESCE(call ->> 'output', 0), COALESCE(call ->> 'reasoning', 0),
--sqlite:    COALESCE(call ->> 'server_tools', 0), call ->> 'cost', COALESCE(call ->> 'estimated', 0),
--sqlite:    call ->> 'first_byte', call ->> 'ended_at', call ->> 'error', call ->> 'price',
--sqlite:    COALESCE(call ->> 'saved_by_cache', 0), COALESCE(call ->> 'saved_by_routing', 0)
FROM model_ended;
--postgres:RESET ROLE;
DROP TABLE model_ended;
