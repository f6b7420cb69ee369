-- What models are asked for, what it costs, and how much of it is allowed.

-- One row for each attempt to get an answer from a provider, there before the provider is asked.
-- Money is in millionths of a dollar; a cost that is not known is NULL, never 0.
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
CREATE INDEX model_call_open ON model_call (node) WHERE outcome = 'open';

-- Sums of the rows above by day and by everything that reports ask for; an empty text is none.
CREATE TABLE usage_day (
    tenant UUID NOT NULL,
    day BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    project TEXT NOT NULL,
    person TEXT NOT NULL,
    agent TEXT NOT NULL,
    bead TEXT NOT NULL,
    convoy TEXT NOT NULL,
    requests BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    input BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write_5m BIGINT NOT NULL,
    cache_write_1h BIGINT NOT NULL,
    output BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    server_tools BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (tenant, day, provider, model, project, person, agent, bead, convoy)
--postgres:);
--sqlite:) WITHOUT ROWID;

CREATE TABLE budget (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    scope TEXT NOT NULL,
    period TEXT NOT NULL,
    cap BIGINT NOT NULL,
    warn_percent BIGINT NOT NULL,
    starts BIGINT NOT NULL,
    spent BIGINT NOT NULL,
    held BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, scope, period)
);

-- Tokens by which agents reach models, as hashes.
CREATE TABLE agent_token (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL PRIMARY KEY,
    person UUID NOT NULL REFERENCES person (id),
    hash BYTEA NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    project UUID,
    agent TEXT,
    bead TEXT,
    convoy TEXT,
    -- Patterns of models, a line each; empty means all.
    models TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX agent_token_by_agent ON agent_token (tenant, agent);

-- Servers that ask models, and until when they are believed to be alive.
CREATE TABLE model_node (
    id UUID NOT NULL PRIMARY KEY,
    alive_until BIGINT NOT NULL
);
--postgres:GRANT SELECT, INSERT, UPDATE, DELETE ON model_node TO godel_system;
