-- Who may call, and which requests were carried out already.

CREATE TABLE api_key (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE login (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    hash BYTEA NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    key_id UUID NOT NULL REFERENCES api_key (id),
    expires_at BIGINT NOT NULL
);

CREATE INDEX login_by_expiry ON login (expires_at);

CREATE TABLE idempotency (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    key TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, key)
);

CREATE INDEX idempotency_by_age ON idempotency (tenant, created_at);
