-- People, what they may do, their secrets, and the record of what they did.

ALTER TABLE tenant ADD COLUMN disabled_at BIGINT;
-- What work in the project may use, as JSON.
ALTER TABLE project ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';

CREATE TABLE person (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    password TEXT,
    created_at BIGINT NOT NULL,
    seen_at BIGINT,
    UNIQUE (tenant, name)
);

-- Somebody without a row here works in all projects of the tenant.
CREATE TABLE membership (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    person UUID NOT NULL REFERENCES person (id),
    project UUID NOT NULL,
    PRIMARY KEY (tenant, person, project)
);

-- Keys had no owner before: they belong to the tenant's owner, who has the id of the tenant.
-- On PostgreSQL the owner of a table may not see its rows, so the system's role moves them.
--postgres:GRANT INSERT ON person TO godel_system;
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO person (tenant, id, name, role, status, created_at)
SELECT tenant, tenant, 'owner', 'admin', 'active', created_at FROM tenant;
--postgres:RESET ROLE;

DROP TABLE login;
ALTER TABLE api_key RENAME TO old_api_key;
CREATE TABLE api_key (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL PRIMARY KEY,
    person UUID NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    used_at BIGINT
);
--postgres:GRANT INSERT ON api_key TO godel_system;
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO api_key (tenant, id, person, name, hash, prefix, scopes, created_at, revoked_at)
SELECT tenant, id, tenant, name, hash, prefix, '', created_at, revoked_at FROM old_api_key;
--postgres:RESET ROLE;
DROP TABLE old_api_key;
CREATE INDEX api_key_by_person ON api_key (tenant, person);

-- A login that lasts: of a browser, or of a program that refreshes its tokens.
CREATE TABLE session (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL PRIMARY KEY,
    person UUID NOT NULL REFERENCES person (id),
    -- The key that opened it: without the key there is no session.
    api_key UUID REFERENCES api_key (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX session_by_person ON session (tenant, person);
CREATE INDEX session_by_expiry ON session (expires_at);

-- Secrets of logins, as hashes: of links, cookies, refresh tokens and tickets.
CREATE TABLE token (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    hash BYTEA NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    person UUID NOT NULL REFERENCES person (id),
    session UUID REFERENCES session (id),
    api_key UUID REFERENCES api_key (id),
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX token_by_expiry ON token (expires_at);
CREATE INDEX token_by_session ON token (session);

-- Programs that wait for a person to let them in; the tenant is known once somebody did.
CREATE TABLE device (
    tenant UUID REFERENCES tenant (tenant),
    hash BYTEA NOT NULL PRIMARY KEY,
    user_code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    person UUID REFERENCES person (id),
    status TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Values that are encrypted with a key that the master key wraps.
CREATE TABLE secret (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    cipher BYTEA NOT NULL,
    data_key TEXT NOT NULL,
    last4 TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (tenant, name)
);

CREATE TABLE data_key (
    name TEXT NOT NULL PRIMARY KEY,
    master TEXT NOT NULL,
    cipher BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
--postgres:GRANT SELECT, INSERT, UPDATE, DELETE ON data_key TO godel_system;

-- Who did what. Each row is bound to the one before it; `digest` stands for `personal`, which goes
-- when a person is erased.
CREATE TABLE audit (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    person UUID,
    action TEXT NOT NULL,
    resource TEXT NOT NULL,
    result TEXT NOT NULL,
    trace TEXT,
    detail TEXT NOT NULL,
    personal TEXT,
    digest BYTEA NOT NULL,
    mac BYTEA NOT NULL,
    PRIMARY KEY (tenant, seq)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX audit_by_person ON audit (tenant, person, seq);

-- The two ends of a tenant's chain: the newest row, and the newest one that retention took.
CREATE TABLE audit_head (
    tenant UUID NOT NULL PRIMARY KEY REFERENCES tenant (tenant),
    seq BIGINT NOT NULL,
    mac BYTEA NOT NULL,
    seal BYTEA NOT NULL,
    trimmed BIGINT NOT NULL,
    trimmed_mac BYTEA NOT NULL,
    trimmed_seal BYTEA NOT NULL
);
